//! A whole bucket in memory behind a scripted server: pages, prefixes and conditions as S3 has them, and whatever fault a test
//! wants. Every request is remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};

use super::apps::{Bench, release_key, sha256_of};
use super::scripted::{Reply, Request, Scripted};
use super::{Invocation, carlosctl};

/// The bucket's name.
pub(crate) const NAME: &str = "dep";
/// How many keys a page of a listing has, as S3 has it.
const PAGE: usize = 1000;

type Objects = BTreeMap<String, Vec<u8>>;
type Fault = Box<dyn FnMut(&Request, &str) -> Option<Reply> + Send>;

/// A running bucket.
pub(crate) struct Bucket {
    server: Scripted,
    objects: Arc<Mutex<Objects>>,
    fault: Arc<Mutex<Fault>>,
    clock: Arc<Mutex<Option<SignedDuration>>>,
}

impl Bucket {
    /// A bucket with everything that a bench has.
    pub(crate) fn of(bench: &Bench) -> Self {
        Self::holding(bench.deployment.everything())
    }

    /// A bucket with these objects.
    pub(crate) fn holding(objects: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let objects: Arc<Mutex<Objects>> = Arc::new(Mutex::new(objects.into_iter().collect()));
        let fault: Arc<Mutex<Fault>> = Arc::new(Mutex::new(Box::new(|_, _| None)));
        let clock = Arc::new(Mutex::new(None));
        let (held, faulty, ahead) = (Arc::clone(&objects), Arc::clone(&fault), Arc::clone(&clock));
        let server = Scripted::start(move |request| {
            let key = key(request);
            let refused = faulty.lock().expect("no fault panics")(request, &key);
            let reply = refused.unwrap_or_else(|| answer(&mut held.lock().expect("no answer panics"), request, &key));
            match *ahead.lock().expect("no answer panics") {
                Some(ahead) => reply.header("date", &http_date(Timestamp::now() + ahead)),
                None => reply,
            }
        });
        Self { server, objects, fault, clock }
    }

    /// From now on these requests are answered otherwise; the key or prefix is given decoded.
    pub(crate) fn fault(&self, fault: impl FnMut(&Request, &str) -> Option<Reply> + Send + 'static) {
        *self.fault.lock().expect("no fault panics") = Box::new(fault);
    }

    /// From now on every answer has a date, so far ahead of this machine's.
    pub(crate) fn clock(&self, ahead: SignedDuration) {
        *self.clock.lock().expect("no answer panics") = Some(ahead);
    }

    /// What removes an object behind the server's back, for faults.
    pub(crate) fn remover(&self) -> impl Fn(&str) + Send + use<> {
        let objects = Arc::clone(&self.objects);
        move |key| drop(objects.lock().expect("no answer panics").remove(key))
    }

    /// Where it is.
    pub(crate) fn endpoint(&self) -> &str {
        &self.server.endpoint
    }

    /// Every object, our own too.
    pub(crate) fn everything(&self) -> Vec<(String, Vec<u8>)> {
        let objects = self.objects.lock().expect("no answer panics");
        objects.iter().map(|(key, body)| (key.clone(), body.clone())).collect()
    }

    /// Writes an object, as another client would.
    pub(crate) fn put(&self, key: &str, body: impl Into<Vec<u8>>) {
        self.objects.lock().expect("no answer panics").insert(key.to_owned(), body.into());
    }

    /// Every key, but our own.
    pub(crate) fn keys(&self) -> BTreeSet<String> {
        let objects = self.objects.lock().expect("no answer panics");
        objects.keys().filter(|key| !key.starts_with("control/carlosctl/")).cloned().collect()
    }

    /// Every request so far: method, and decoded key or prefix.
    pub(crate) fn requests(&self) -> Vec<(String, String)> {
        self.server.requests().iter().map(|request| (request.method.clone(), key(request))).collect()
    }

    /// Every request so far, in words of S3's own: `LIST prefix`, `DIRS prefix`, or the method and the key.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.server
            .requests()
            .iter()
            .map(|request| {
                let what = match (request.parameter("list-type"), request.parameter("delimiter")) {
                    (Some(_), Some(_)) => "DIRS",
                    (Some(_), None) => "LIST",
                    _ => &request.method,
                };
                format!("{what} {}", key(request))
            })
            .collect()
    }

    /// The command on this bucket, which is its own status store.
    pub(crate) fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        carlosctl(args)
            .arg("--bucket")
            .arg(NAME)
            .env("CARLOS_S3_ENDPOINT", &self.server.endpoint)
            .env("AWS_ACCESS_KEY_ID", "k")
            .env("AWS_SECRET_ACCESS_KEY", "s")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("CARLOS_DATA_DIR", "/nonexistent")
            .env("CARLOS_RELEASE_PUBKEY", release_key().public_text())
    }
}

fn http_date(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// The key of a request for an object, or the prefix of one for a listing.
fn key(request: &Request) -> String {
    match request.parameter("prefix") {
        Some(prefix) if request.parameter("list-type").is_some() => decode(prefix),
        _ => decode(request.path.strip_prefix(&format!("/{NAME}/")).unwrap_or_default()),
    }
}

fn answer(objects: &mut Objects, request: &Request, key: &str) -> Reply {
    if request.parameter("list-type").is_some() {
        return page(objects, request, key);
    }
    if request.query.split('&').any(|one| one.trim_end_matches('=') == "versions") {
        return Reply::error(501, "NotImplemented", "no versions are kept here");
    }
    let etag = |body: &[u8]| format!("\"{}\"", &sha256_of(body)[..32]);
    let now = objects.get(key).map(|body| etag(body));
    let if_match = request.header("if-match");
    let holds = (if_match.is_empty() || now.as_deref() == Some(if_match))
        && (request.header("if-none-match").is_empty() || now.is_none());
    match request.method.as_str() {
        "PUT" | "DELETE" if !if_match.is_empty() && now.is_none() => Reply::error(404, "NoSuchKey", "none"),
        "PUT" | "DELETE" if !holds => Reply::error(412, "PreconditionFailed", "condition"),
        "PUT" if !request.header("x-amz-copy-source").is_empty() => {
            let from = decode(request.header("x-amz-copy-source")).trim_start_matches('/').replacen(&format!("{NAME}/"), "", 1);
            let Some(body) = objects.get(&from).cloned() else { return Reply::error(404, "NoSuchKey", "none") };
            let etag = etag(&body);
            objects.insert(key.to_owned(), body);
            Reply::new(
                200,
                format!(
                    "<CopyObjectResult><ETag>{}</ETag><LastModified>2026-11-15T00:00:00.000Z</LastModified></CopyObjectResult>",
                    etag.replace('"', "&quot;")
                ),
            )
        }
        "PUT" => {
            objects.insert(key.to_owned(), request.body.clone());
            Reply::new(200, "").header("etag", &etag(&request.body))
        }
        "DELETE" => {
            objects.remove(key);
            Reply::new(204, "")
        }
        _ => match objects.get(key) {
            Some(body) => Reply::object(body.clone(), etag(body).trim_matches('"')),
            None => Reply::error(404, "NoSuchKey", "none"),
        },
    }
}

/// A page of a listing. The token is the last key of the page before.
fn page(objects: &Objects, request: &Request, prefix: &str) -> Reply {
    let after = request.parameter("continuation-token").map(decode).unwrap_or_default();
    let below = objects.iter().filter(|(key, _)| key.starts_with(prefix));
    let mut body = String::from("<ListBucketResult><EncodingType>url</EncodingType>");
    if request.parameter("delimiter").is_some() {
        let names: BTreeSet<String> =
            below.filter_map(|(key, _)| Some(format!("{prefix}{}/", key.strip_prefix(prefix)?.split_once('/')?.0))).collect();
        for name in names {
            body.push_str(&format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", encode(&name)));
        }
        body.push_str("<IsTruncated>false</IsTruncated></ListBucketResult>");
        return Reply::new(200, body);
    }
    let mut rest = below.filter(|(key, _)| **key > after).peekable();
    let mut last = String::new();
    for (key, content) in rest.by_ref().take(PAGE) {
        body.push_str(&format!(
            "<Contents><Key>{}</Key><ETag>&quot;{}&quot;</ETag><Size>{}</Size>\
             <LastModified>2026-11-15T00:00:00.000Z</LastModified></Contents>",
            encode(key),
            &sha256_of(content)[..32],
            content.len()
        ));
        last.clone_from(key);
    }
    let more = rest.peek().is_some();
    if more {
        body.push_str(&format!("<NextContinuationToken>{}</NextContinuationToken>", encode(&last)));
    }
    body.push_str(&format!("<IsTruncated>{more}</IsTruncated></ListBucketResult>"));
    Reply::new(200, body)
}

/// As S3 encodes keys in listings: a form, but for the slash.
fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' | b'/' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Percent-decoded; a plus is a plus.
fn decode(text: &str) -> String {
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
