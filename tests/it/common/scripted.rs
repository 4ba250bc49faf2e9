//! A loopback HTTP server that answers as the test says, and remembers what it was asked.
//!
//! The script is a closure from a request to an answer, so a test can answer the first page, refuse the second, or keep
//! a whole bucket. Nothing is checked: not the signature, not the host.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A running script. Its threads end with the process.
pub(crate) struct Scripted {
    pub(crate) endpoint: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Percent-encoded, as it was sent; with scheme and host when it was sent to a proxy.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A header's value, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// A parameter of the query, percent-encoded as it was sent.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// What is done with a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Reply(Reply),
    /// The connection is closed without a word, as when an answer is lost.
    Close,
    /// Nothing is ever answered.
    Hang,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    sent: Option<usize>,
    stall: bool,
}

impl Reply {
    /// Any answer with this status and body.
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), sent: None, stall: false }
    }

    /// An error as S3 words it.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>");
        Self::new(status, body).header("content-type", "application/xml")
    }

    /// An object with this body, written on 15 November 2026.
    pub(crate) fn object(body: impl Into<Vec<u8>>, etag: &str) -> Self {
        Self::new(200, body).header("etag", &format!("\"{etag}\"")).header("last-modified", "Sun, 15 Nov 2026 00:00:00 GMT")
    }

    /// A page of a listing: keys with etags, and the next page's token.
    pub(crate) fn page(entries: &[(&str, &str)], next: Option<&str>) -> Self {
        let mut body = String::from("<ListBucketResult><EncodingType>url</EncodingType>");
        for (key, etag) in entries {
            body.push_str(&format!(
                "<Contents><Key>{key}</Key><ETag>&quot;{etag}&quot;</ETag><Size>1</Size>\
                 <LastModified>2026-11-15T00:00:00.000Z</LastModified></Contents>"
            ));
        }
        match next {
            Some(token) => {
                body.push_str(&format!(
                    "<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
                ));
            }
            None => body.push_str("<IsTruncated>false</IsTruncated>"),
        }
        body.push_str("</ListBucketResult>");
        Self::new(200, body)
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Announces the whole body, sends so many bytes of it, and closes the connection.
    pub(crate) fn cut_after(mut self, bytes: usize) -> Self {
        self.sent = Some(bytes);
        self
    }

    /// Announces the whole body, sends so many bytes of it, and then nothing more.
    pub(crate) fn stall_after(mut self, bytes: usize) -> Self {
        self.stall = true;
        self.cut_after(bytes)
    }
}

impl Scripted {
    /// Starts a server with this script.
    pub(crate) fn start<A: Into<Answer>>(script: impl FnMut(&Request) -> A + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, script) = (Arc::clone(&requests), Arc::new(Mutex::new(script)));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some(request) = read_request(&mut reader) {
                        log.lock().expect("no script panics").push(request.clone());
                        let answer = script.lock().expect("no script panics")(&request).into();
                        if !reply(reader.get_mut(), &request, answer) {
                            return;
                        }
                    }
                });
            }
        });
        Self { endpoint, requests }
    }

    /// A server that answers every request the same.
    pub(crate) fn always(answer: impl Into<Answer>) -> Self {
        let answer = answer.into();
        Self::start(move |_| answer.clone())
    }

    /// What was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no script panics").clone()
    }
}

/// An endpoint where nobody listens.
pub(crate) fn dead_endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    format!("http://{}", listener.local_addr().expect("it is bound"))
}

/// A server that takes every condition, answers success, and ignores it.
pub(crate) fn liar() -> Scripted {
    let mut objects: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    Scripted::start(move |request| {
        let etag = |body: &[u8]| format!("{:016x}", body.iter().fold(7_u64, |sum, byte| sum * 31 + u64::from(*byte)));
        match request.method.as_str() {
            "PUT" => {
                let etag = etag(&request.body);
                objects.insert(request.path.clone(), request.body.clone());
                Reply::new(200, "").header("etag", &format!("\"{etag}\""))
            }
            "DELETE" => {
                objects.remove(&request.path);
                Reply::new(204, "")
            }
            _ => match objects.get(&request.path) {
                Some(body) => Reply::object(body.clone(), &etag(body)),
                None => Reply::error(404, "NoSuchKey", "none"),
            },
        }
    })
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, query, headers, body })
}

/// Sends an answer; whether the connection can go on.
fn reply(stream: &mut TcpStream, request: &Request, answer: Answer) -> bool {
    let reply = match answer {
        Answer::Reply(reply) => reply,
        Answer::Close => return false,
        Answer::Hang => {
            std::thread::sleep(Duration::from_mins(10));
            return false;
        }
    };
    let mut head = format!("HTTP/1.1 {} -\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let body = if request.method == "HEAD" { &[][..] } else { &reply.body[..reply.sent.unwrap_or(reply.body.len())] };
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).and_then(|()| stream.flush());
    if reply.stall {
        std::thread::sleep(Duration::from_mins(10));
    }
    sent.is_ok() && reply.sent.is_none()
}
