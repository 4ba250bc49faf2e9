//! A bucket on a scripted server: it behaves like S3 until a test says otherwise, and remembers what it was asked.

use std::collections::BTreeMap;
use std::fs;

use jiff::{SignedDuration, Timestamp};

use crate::common::scripted::{Answer, Reply, Request, Scripted};
use crate::common::{Invocation, carlosctl, deployment::Deployment};
use crate::restore::Standby;

/// What must never be seen in any output.
pub(super) const SECRETS: [&str; 3] = ["AKIACANARY", "canarysecret", "canarytoken"];

/// One object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) body: Vec<u8>,
    pub(super) etag: String,
    pub(super) written: Timestamp,
}

/// Every object, by key.
pub(super) type Objects = BTreeMap<String, Object>;

/// A request, read.
pub(super) struct Asked<'r> {
    pub(super) request: &'r Request,
    /// Decoded; empty for a request of the bucket itself.
    pub(super) key: String,
    /// Decoded; of a listing.
    pub(super) prefix: String,
    /// The page that a listing is asked for, from 0.
    pub(super) page: usize,
}

impl Asked<'_> {
    pub(super) fn is_listing(&self) -> bool {
        self.request.method == "GET" && self.key.is_empty()
    }

    pub(super) fn gets(&self, key: &str) -> bool {
        self.request.method == "GET" && self.key == key
    }
}

/// How the bucket behaves where the test does not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Keys a page.
    pub(super) page: usize,
    /// Another order of the entries for every number; 0 is by key.
    pub(super) shuffle: u64,
    /// How far its clock is ahead; no clock at all when `None`.
    pub(super) ahead: Option<SignedDuration>,
}

impl Default for Manner {
    fn default() -> Self {
        Self { page: 1000, shuffle: 0, ahead: Some(SignedDuration::ZERO) }
    }
}

/// A running bucket.
pub(super) struct Bucket {
    pub(super) server: Scripted,
}

impl Bucket {
    /// A bucket with the objects of a deployment, in which `faults` answers first.
    pub(super) fn of<A: Into<Answer>>(
        deployment: &Deployment,
        manner: Manner,
        faults: impl FnMut(&Asked<'_>, &mut Objects) -> Option<A> + Send + 'static,
    ) -> Self {
        Self::with(objects(deployment), manner, faults)
    }

    /// As [`of`](Self::of), with these objects.
    pub(super) fn with<A: Into<Answer>>(
        mut objects: Objects,
        manner: Manner,
        mut faults: impl FnMut(&Asked<'_>, &mut Objects) -> Option<A> + Send + 'static,
    ) -> Self {
        let server = Scripted::start(move |request: &Request| {
            let asked = read(request);
            let answer = match faults(&asked, &mut objects) {
                Some(answer) => answer.into(),
                None => answer(&asked, &mut objects, manner).into(),
            };
            match (answer, manner.ahead) {
                (Answer::Reply(reply), Some(ahead)) => {
                    Answer::Reply(reply.header("date", &http_date(Timestamp::now() + ahead)))
                }
                (answer, _) => answer,
            }
        });
        Self { server }
    }

    /// A bucket that behaves.
    pub(super) fn healthy(deployment: &Deployment) -> Self {
        Self::of(deployment, Manner::default(), |_, _| None::<Reply>)
    }

    /// The binary on this bucket.
    pub(super) fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        on(&self.server.endpoint, args)
    }

    /// `restore` of the dead box on `standby`.
    pub(super) fn restore<'a>(&self, standby: &Standby, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        // The directory comes first in `Standby`; here the bucket is meant.
        let all = ["restore", "--from-box", "edge-a1", "--this-box", "edge-b2"].into_iter().chain(args);
        self.run(all).arg("--registry").arg(standby.registry()).env("PATH", standby.path())
    }
}

/// The binary on the bucket `dep` of any endpoint.
pub(super) fn on<'a>(endpoint: &str, args: impl IntoIterator<Item = &'a str>) -> Invocation {
    let invocation = carlosctl(args).arg("--bucket").arg("dep").arg("--endpoint-url").arg(endpoint);
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
    let invocation = names.iter().zip(SECRETS).fold(invocation, |invocation, (name, value)| invocation.env(name, value));
    invocation.env("AWS_EC2_METADATA_DISABLED", "true")
}

/// Everything in a deployment, as it would be in a bucket.
pub(super) fn objects(deployment: &Deployment) -> Objects {
    let read = |(key, body): (String, Vec<u8>)| {
        let modified = fs::metadata(deployment.file(&key)).and_then(|facts| facts.modified()).expect("a time");
        let etag =
            format!("{:032x}", body.iter().fold(body.len() as u128, |sum, byte| sum.wrapping_mul(257) + u128::from(*byte)));
        (key, Object { body, etag, written: modified.try_into().expect("a time") })
    };
    deployment.everything().into_iter().map(read).collect()
}

fn read(request: &Request) -> Asked<'_> {
    let parameter = |name: &str| request.parameter(name).map(decode).unwrap_or_default();
    let key = decode(request.path.strip_prefix("/dep").unwrap_or(&request.path)).trim_start_matches('/').to_owned();
    let page = parameter("continuation-token").strip_prefix("page-").and_then(|page| page.parse().ok()).unwrap_or(0);
    Asked { request, key, prefix: parameter("prefix"), page }
}

fn answer(asked: &Asked<'_>, objects: &mut Objects, manner: Manner) -> Reply {
    let found = |object: &Object| {
        Reply::new(200, object.body.clone())
            .header("etag", &format!("\"{}\"", object.etag))
            .header("last-modified", &http_date(object.written))
    };
    match asked.request.method.as_str() {
        "GET" if asked.key.is_empty() => list(asked, objects, manner),
        "GET" | "HEAD" => {
            objects.get(&asked.key).map_or_else(|| Reply::error(404, "NoSuchKey", "The specified key does not exist."), found)
        }
        "PUT" if asked.request.header("if-none-match") == "*" && objects.contains_key(&asked.key) => {
            Reply::error(412, "PreconditionFailed", "At least one of the preconditions did not hold")
        }
        "PUT" => {
            let object =
                Object { body: asked.request.body.clone(), etag: format!("new-{}", objects.len()), written: Timestamp::now() };
            let reply = Reply::new(200, "").header("etag", &format!("\"{}\"", object.etag));
            objects.insert(asked.key.clone(), object);
            reply
        }
        "DELETE" => {
            objects.remove(&asked.key);
            Reply::new(204, "")
        }
        _ => Reply::error(501, "NotImplemented", "not here"),
    }
}

/// A page of a listing, keys encoded as S3 encodes them.
fn list(asked: &Asked<'_>, objects: &Objects, manner: Manner) -> Reply {
    let below = |key: &&String| key.starts_with(&asked.prefix);
    let mut body = String::from("<ListBucketResult><EncodingType>url</EncodingType>");
    if asked.request.parameter("delimiter").is_some() {
        let directories = objects.keys().filter(below).filter_map(|key| {
            let (name, _) = key[asked.prefix.len()..].split_once('/')?;
            Some(format!("{}{name}/", asked.prefix))
        });
        let directories: std::collections::BTreeSet<String> = directories.collect();
        for directory in directories {
            body.push_str(&format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", encode(&directory)));
        }
        body.push_str("<IsTruncated>false</IsTruncated></ListBucketResult>");
        return Reply::new(200, body);
    }
    let mut keys: Vec<&String> = objects.keys().filter(below).collect();
    if manner.shuffle > 0 {
        keys.sort_by_key(|key| {
            key.bytes().fold(manner.shuffle, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        });
    }
    let first = asked.page * manner.page;
    for key in keys.iter().skip(first).take(manner.page) {
        let object = &objects[*key];
        body.push_str(&format!(
            "<Contents><Key>{}</Key><ETag>&quot;{}&quot;</ETag><Size>{}</Size><LastModified>{}</LastModified></Contents>",
            encode(key),
            object.etag,
            object.body.len(),
            object.written.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        ));
    }
    if first + manner.page < keys.len() {
        let next = asked.page + 1;
        body.push_str(&format!("<IsTruncated>true</IsTruncated><NextContinuationToken>page-{next}</NextContinuationToken>"));
    } else {
        body.push_str("<IsTruncated>false</IsTruncated>");
    }
    body.push_str("</ListBucketResult>");
    Reply::new(200, body)
}

fn http_date(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next().expect("two digits")).to_digit(16).expect("a digit");
            bytes.push(u8::try_from(digit() * 16 + digit()).expect("a byte"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// As S3 encodes keys in a listing: a space becomes `+`.
fn encode(key: &str) -> String {
    let mut encoded = String::new();
    for byte in key.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            _ if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
