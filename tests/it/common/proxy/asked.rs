//! What a request asks for.

use super::http::Message;

/// The kinds of requests that a store understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A page of objects or directories.
    List,
    /// A page of versions.
    Versions,
    /// An object's content.
    Read,
    /// An object's facts.
    Head,
    /// An upload.
    Put,
    /// A copy inside the store.
    Copy,
    /// A deletion.
    Delete,
    /// Many deletions at once.
    DeleteMany,
    /// Anything else.
    Other,
}

impl Kind {
    /// Everything that lists.
    pub(crate) const LISTS: [Self; 2] = [Self::List, Self::Versions];
    /// Everything that reads one object.
    pub(crate) const READS: [Self; 2] = [Self::Read, Self::Head];
    /// Everything that changes the store.
    pub(crate) const WRITES: [Self; 4] = [Self::Put, Self::Copy, Self::Delete, Self::DeleteMany];
}

/// A request, understood.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) kind: Kind,
    pub(crate) method: String,
    /// The key, or the prefix of a listing; decoded.
    pub(crate) key: String,
    /// As it was sent.
    pub(crate) query: String,
    /// Names of all headers, in lower case.
    pub(crate) headers: Vec<String>,
}

impl Asked {
    pub(super) fn of(request: &Message, bucket: &str) -> Self {
        let mut words = request.first.split(' ');
        let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = decode(path);
        let key = path.strip_prefix(&format!("/{bucket}")).unwrap_or(&path).trim_start_matches('/').to_owned();
        let headers: Vec<String> = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let mut asked = Self { kind: Kind::Other, method, key, query: query.to_owned(), headers };
        asked.kind = asked.kind();
        if Kind::LISTS.contains(&asked.kind) {
            asked.key = asked.parameter("prefix").map(decode).unwrap_or_default();
        }
        asked
    }

    fn kind(&self) -> Kind {
        let has = |name: &str| self.query.split('&').any(|pair| pair.split('=').next() == Some(name));
        match self.method.as_str() {
            "GET" if self.key.is_empty() && has("versions") => Kind::Versions,
            "GET" if self.key.is_empty() && has("list-type") => Kind::List,
            "GET" if !self.key.is_empty() => Kind::Read,
            "HEAD" if !self.key.is_empty() => Kind::Head,
            "PUT" if self.has_header("x-amz-copy-source") => Kind::Copy,
            "PUT" if !self.key.is_empty() => Kind::Put,
            "DELETE" if !self.key.is_empty() => Kind::Delete,
            "POST" if has("delete") => Kind::DeleteMany,
            _ => Kind::Other,
        }
    }

    /// A parameter of the query, as it was sent.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether there is a header whose name begins so.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|other| other.starts_with(name))
    }
}

/// Percent-decoded; a plus is a plus.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
