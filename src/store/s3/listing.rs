//! Listings: every page, or an error. A short list that looks whole would turn pins into victims.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use aws_sdk_s3::primitives::DateTime;
use aws_sdk_s3::types::EncodingType;
use jiff::Timestamp;

use super::S3Store;
use super::errors::{Asked, seconds};
use crate::store::key::{check_key, check_prefix, is_listed, is_whole_key};
use crate::store::{ObjectMeta, ObjectVersion, StoreError};

/// After so many pages without anything new in them the listing is taken to go round in circles.
const EMPTY_PAGES: usize = 100;

/// A listing under way: what was seen, and which page comes next.
struct Pages<'p> {
    prefix: &'p str,
    tokens: HashSet<(String, String)>,
    without_news: usize,
    /// When there was something new last, and how long that may be ago: pages that each come in time do not make a listing
    /// that ends.
    news_at: Instant,
    timeout: Duration,
}

impl<'p> Pages<'p> {
    fn new(prefix: &'p str, timeout: Duration) -> Self {
        Self { prefix, tokens: HashSet::new(), without_news: 0, news_at: Instant::now(), timeout }
    }

    fn incomplete(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Incomplete { subject: format!("listing of {:?}", self.prefix), detail: detail.into() }
    }

    /// The next page's token and version marker, or `None` after the last page.
    fn next(
        &mut self,
        truncated: Option<bool>,
        token: Option<String>,
        marker: Option<String>,
        news: bool,
    ) -> Result<Option<(String, String)>, StoreError> {
        let token = token.filter(|token| !token.is_empty());
        match (truncated, token) {
            (None, _) => Err(self.incomplete("a page does not say whether it is the last")),
            (Some(false), None) => Ok(None),
            (Some(false), Some(_)) => Err(self.incomplete("a page says it is the last, and names a next one")),
            (Some(true), None) => Err(self.incomplete("a page says there are more, and names no next one")),
            (Some(true), Some(token)) => {
                let next = (token, marker.unwrap_or_default());
                if !self.tokens.insert(next.clone()) {
                    return Err(self.incomplete("the store named the same next page twice"));
                }
                self.goes_on(news)?;
                Ok(Some(next))
            }
        }
    }

    /// Whether the next page may be asked for.
    fn goes_on(&mut self, news: bool) -> Result<(), StoreError> {
        if news {
            (self.without_news, self.news_at) = (0, Instant::now());
            return Ok(());
        }
        self.without_news += 1;
        if self.without_news >= EMPTY_PAGES {
            return Err(self.incomplete(format!("{EMPTY_PAGES} pages in a row had nothing new")));
        }
        if self.without_news > 1 && self.news_at.elapsed() >= self.timeout {
            let (pages, timeout) = (self.without_news, seconds(self.timeout));
            return Err(self.incomplete(format!("{pages} pages in a row had nothing new for {timeout}")));
        }
        Ok(())
    }

    /// A key as the store meant it, below the prefix that was asked for.
    fn key(&self, key: Option<&str>, encoding: Option<&EncodingType>) -> Result<String, StoreError> {
        let key = self.text(key.ok_or_else(|| self.incomplete("an entry has no key"))?, encoding)?;
        if key.starts_with(self.prefix) && !key.is_empty() {
            Ok(key)
        } else {
            Err(self.incomplete(format!("it names {key:?}, which is not below the prefix")))
        }
    }

    /// A text as the store meant it: encoded only where the answer says so.
    fn text(&self, text: &str, encoding: Option<&EncodingType>) -> Result<String, StoreError> {
        if encoding == Some(&EncodingType::Url) {
            decode(text).ok_or_else(|| self.incomplete(format!("{text:?} is not a name in URL encoding")))
        } else {
            Ok(text.to_owned())
        }
    }

    fn meta(
        &self,
        key: String,
        bytes: Option<i64>,
        etag: Option<&str>,
        modified: Option<&DateTime>,
    ) -> Result<ObjectMeta, StoreError> {
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        let last_modified = modified.and_then(timestamp);
        match (bytes, etag, last_modified) {
            (Some(bytes), Some(etag), Some(last_modified)) => {
                Ok(ObjectMeta { key, bytes, etag: unquote(etag), last_modified, version_id: None })
            }
            _ => Err(self.incomplete(format!("the entry of {key:?} lacks its size, etag or time"))),
        }
    }
}

impl S3Store {
    /// Every object below a prefix, by key.
    pub(super) async fn all_objects(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        check_listing(prefix)?;
        let mut pages = Pages::new(prefix, self.words().timeout);
        let mut found: BTreeMap<String, ObjectMeta> = BTreeMap::new();
        let mut token = None;
        loop {
            let page = self.page(prefix, None, token).await?;
            self.inner.tally.add_listed(page.contents().len());
            let before = found.len();
            for entry in page.contents() {
                let key = pages.key(entry.key(), page.encoding_type())?;
                let meta = pages.meta(key.clone(), entry.size(), entry.e_tag(), entry.last_modified())?;
                if let Some(other) = found.insert(key, meta.clone())
                    && other.etag != meta.etag
                {
                    return Err(pages.incomplete(format!("it names {:?} twice, with two contents", meta.key)));
                }
            }
            let next = page.next_continuation_token().map(str::to_owned);
            match pages.next(page.is_truncated(), next, None, found.len() > before)? {
                Some((next, _)) => token = Some(next),
                None => return Ok(found.into_values().filter(|object| is_listed(prefix, &object.key)).collect()),
            }
        }
    }

    async fn page(
        &self,
        prefix: &str,
        delimiter: Option<&str>,
        token: Option<String>,
    ) -> Result<ListObjectsV2Output, StoreError> {
        let _permit = self.permit().await;
        self.client()
            .list_objects_v2()
            .bucket(self.bucket())
            .prefix(prefix)
            .set_delimiter(delimiter.map(str::to_owned))
            .encoding_type(EncodingType::Url)
            .set_continuation_token(token)
            .send()
            .await
            .map_err(|error| self.words().fault(Asked::List(prefix), &error))
    }

    /// Every "directory" directly below a prefix, by name.
    pub(super) async fn all_directories(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        check_prefix(prefix)?;
        let mut pages = Pages::new(prefix, self.words().timeout);
        let mut found = BTreeSet::new();
        let mut token = None;
        loop {
            let page = self.page(prefix, Some("/"), token).await?;
            self.inner.tally.add_listed(page.common_prefixes().len());
            let before = found.len();
            for entry in page.common_prefixes() {
                let directory = pages.key(entry.prefix(), page.encoding_type())?;
                let name = directory[prefix.len()..].strip_suffix('/');
                if name.is_none_or(|name| name.contains('/')) {
                    return Err(pages.incomplete(format!("{directory:?} is not directly below the prefix")));
                }
                found.insert(directory);
            }
            // Objects directly below count as news: a page may hold nothing else.
            let news = found.len() > before || !page.contents().is_empty();
            let next = page.next_continuation_token().map(str::to_owned);
            match pages.next(page.is_truncated(), next, None, news)? {
                Some((next, _)) => token = Some(next),
                None => return Ok(found.into_iter().collect()),
            }
        }
    }

    /// Every version and delete marker below a prefix, by key, newest first.
    ///
    /// A bucket that never kept versions answers with its objects under the version `null`; they are handed on as they
    /// are, each the latest of its key: "there is one version" is the truth, and `null` can be opened.
    pub(super) async fn all_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        check_listing(prefix)?;
        let mut pages = Pages::new(prefix, self.words().timeout);
        let mut seen: HashMap<(String, Option<String>), ObjectVersion> = HashMap::new();
        let mut at = None;
        loop {
            let (key_marker, version_marker) = at.unzip();
            let _permit = self.permit().await;
            let page = self
                .client()
                .list_object_versions()
                .bucket(self.bucket())
                .prefix(prefix)
                .encoding_type(EncodingType::Url)
                .set_key_marker(key_marker)
                .set_version_id_marker(version_marker.filter(|marker: &String| !marker.is_empty()))
                .send()
                .await
                .map_err(|error| self.words().fault(Asked::List(prefix), &error))?;
            let encoding = page.encoding_type();
            self.inner.tally.add_listed(page.versions().len() + page.delete_markers().len());
            let before = seen.len();
            let mut on_page = Vec::new();
            for entry in page.versions() {
                let key = pages.key(entry.key(), encoding)?;
                let object = pages.meta(key, entry.size(), entry.e_tag(), entry.last_modified())?;
                on_page.push(version(&pages, object, entry.version_id(), entry.is_latest(), false)?);
            }
            for entry in page.delete_markers() {
                let key = pages.key(entry.key(), encoding)?;
                let object = pages.meta(key, Some(0), Some(""), entry.last_modified())?;
                on_page.push(version(&pages, object, entry.version_id(), entry.is_latest(), true)?);
            }
            // The same entry again, as of a page that came twice, says nothing new; another one of the same name contradicts.
            for entry in on_page {
                let name = (entry.object.key.clone(), entry.object.version_id.clone());
                if let Some(other) = seen.insert(name, entry.clone())
                    && other != entry
                {
                    return Err(pages.incomplete(format!("it names a version of {:?} twice", entry.object.key)));
                }
            }
            let next_key = page.next_key_marker().map(|key| pages.text(key, encoding)).transpose()?;
            let next_version = page.next_version_id_marker().map(str::to_owned);
            at = pages.next(page.is_truncated(), next_key, next_version, seen.len() > before)?;
            if at.is_none() {
                let found = seen.into_values().filter(|version| is_listed(prefix, &version.object.key)).collect();
                return in_order(&pages, found);
            }
        }
    }
}

/// A listing is of everything below a prefix or of one whole key. S3 knows only prefixes, so what merely starts like the key
/// is received, and left out.
fn check_listing(prefix: &str) -> Result<(), StoreError> {
    if is_whole_key(prefix) { check_key(prefix) } else { check_prefix(prefix) }
}

fn version(
    pages: &Pages<'_>,
    mut object: ObjectMeta,
    id: Option<&str>,
    is_latest: Option<bool>,
    is_delete_marker: bool,
) -> Result<ObjectVersion, StoreError> {
    let (Some(id), Some(is_latest)) = (id, is_latest) else {
        return Err(pages.incomplete(format!("a version of {:?} lacks its id or place", object.key)));
    };
    object.version_id = Some(id.to_owned());
    Ok(ObjectVersion { object, is_latest, is_delete_marker })
}

/// By key, newest first. Times are whole seconds: what the store calls the latest comes first whatever its time, and within
/// a second a deletion is taken to follow what it deleted.
fn in_order(pages: &Pages<'_>, mut found: Vec<ObjectVersion>) -> Result<Vec<ObjectVersion>, StoreError> {
    found.sort_by(|a, b| {
        let (old, new) = (&a.object, &b.object);
        old.key.cmp(&new.key).then(b.is_latest.cmp(&a.is_latest)).then(new.last_modified.cmp(&old.last_modified))
    });
    for key in found.chunk_by(|a, b| a.object.key == b.object.key) {
        if key.iter().filter(|version| version.is_latest).count() != 1 {
            return Err(pages.incomplete(format!("not one version of {:?} is the latest", key[0].object.key)));
        }
    }
    Ok(found)
}

/// A time of the SDK as one of ours.
pub(super) fn timestamp(time: &DateTime) -> Option<Timestamp> {
    Timestamp::new(time.secs(), i32::try_from(time.subsec_nanos()).ok()?).ok()
}

/// An etag without its quotes.
pub(super) fn unquote(etag: &str) -> String {
    etag.trim_matches('"').to_owned()
}

/// Undoes S3's URL encoding: `%XX`, and `+` for a space (a real plus is `%2B`).
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_as_s3_encodes_them() {
        assert_eq!(decode("a%20b+c%2Bd/%C3%A9%25").as_deref(), Some("a b c+d/é%"));
        assert_eq!(decode("plain/key.db").as_deref(), Some("plain/key.db"));
        for broken in ["%", "%2", "%zz", "%FF", "%+1"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_listing_in_which_nothing_new_comes_ends_by_number_and_by_time() {
        let after = |timeout: Duration, news_on: usize| {
            let mut pages = Pages::new("control/", timeout);
            (1..=200).find_map(|page| {
                let next = pages.next(Some(true), Some(page.to_string()), None, page == news_on);
                next.err().map(|error| (page, error.to_string()))
            })
        };
        let said = |what: &str| format!("listing of \"control/\": incomplete answer: {what}");
        let hour = Duration::from_hours(1);
        assert_eq!(after(hour, 0), Some((100, said("100 pages in a row had nothing new"))));
        assert_eq!(after(hour, 50), Some((150, said("100 pages in a row had nothing new"))));
        // One empty page is not held against a slow store.
        assert_eq!(after(Duration::ZERO, 0), Some((2, said("2 pages in a row had nothing new for 0 s"))));
        assert_eq!(after(Duration::ZERO, 2), Some((4, said("2 pages in a row had nothing new for 0 s"))));
    }
}
