//! What is done to a request.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream;
use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::asked::{Asked, Kind};
use super::http::Message;
use super::pages::Paging;
use super::{Shared, Upstream, held};

/// How long a client gets to read what arrived before the connection is torn down: a reset takes away what is unread.
const READING: Duration = Duration::from_millis(40);

/// A new content for a key, or none where it is to be left alone.
type Content = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// A way to hurt a request.
#[derive(Clone)]
pub(crate) enum Action {
    /// Nothing is sent on, and nothing is ever answered.
    BlackHole,
    /// Sent on after a while.
    Delay(Duration),
    /// The connection is torn down, and the server never hears of it.
    ResetBefore,
    /// The server does it; the answer is torn off in the middle of its body, or lost where it has none.
    ResetMidBody,
    /// Half of the body, under a length that fits it: nothing looks wrong.
    Truncate,
    /// An error as S3 words it, with these headers; the server never hears of it.
    Answer(u16, &'static str, &'static [(&'static str, &'static str)]),
    /// An answer under another etag than the true one.
    WrongEtag,
    /// Every `Date` is so many seconds off.
    Clock(i64),
    /// Listings in pages.
    Pages(Paging),
    /// The server does it without its condition, as servers do that do not know conditions.
    Unconditional,
    /// The object gets another content on the server first, once a key; then it is sent on.
    Meddle(Arc<Content>),
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(status, code, _) => write!(f, "{status} {code}"),
            Self::Clock(seconds) => write!(f, "clock {seconds:+} s"),
            Self::Pages(paging) => write!(f, "pages {paging:?}"),
            other => f.write_str(match other {
                Self::BlackHole => "black hole",
                Self::Delay(_) => "delay",
                Self::ResetBefore => "reset before",
                Self::ResetMidBody => "reset in the middle",
                Self::Truncate => "truncated",
                Self::WrongEtag => "wrong etag",
                Self::Unconditional => "unconditional",
                _ => "meddled with",
            }),
        }
    }
}

/// What the client gets.
pub(super) enum Next {
    Send(Message),
    /// So much, and then a reset.
    Tear(Vec<u8>),
    Silence,
}

impl Next {
    /// Gives it to the client; whether the connection goes on.
    pub(super) async fn done(self, client: &mut BufReader<TcpStream>) -> io::Result<bool> {
        match self {
            Self::Send(answer) => {
                client.get_mut().write_all(&answer.bytes()).await?;
                Ok(!answer.closes())
            }
            Self::Tear(bytes) => {
                client.get_mut().write_all(&bytes).await?;
                if !bytes.is_empty() {
                    tokio::time::sleep(READING).await;
                }
                client.get_ref().set_zero_linger()?;
                Ok(false)
            }
            Self::Silence => {
                // Until the client goes away.
                let mut nothing = Vec::new();
                client.read_to_end(&mut nothing).await?;
                Ok(false)
            }
        }
    }
}

impl Action {
    pub(super) async fn act(
        self,
        shared: &Shared,
        asked: &Asked,
        request: &Message,
        upstream: &mut Upstream,
    ) -> io::Result<Next> {
        Ok(Next::Send(match self {
            Self::BlackHole => return Ok(Next::Silence),
            Self::ResetBefore => return Ok(Next::Tear(Vec::new())),
            Self::ResetMidBody => {
                let answer = upstream.exchange(request).await?;
                let torn = if answer.has_body() { answer.bytes_up_to(|length| length / 2) } else { Vec::new() };
                return Ok(Next::Tear(torn));
            }
            Self::Delay(pause) => {
                tokio::time::sleep(pause).await;
                upstream.exchange(request).await?
            }
            Self::Truncate => {
                let mut answer = upstream.exchange(request).await?;
                let body = answer.body();
                if !body.is_empty() {
                    answer.rewritten(body[..body.len() / 2].to_vec());
                }
                answer
            }
            Self::Answer(status, code, headers) => refusal(asked, status, code, headers),
            Self::WrongEtag => {
                let mut answer = upstream.exchange(request).await?;
                answer.replace("etag", |etag| etag.chars().rev().collect());
                answer
            }
            Self::Clock(seconds) => {
                let mut answer = upstream.exchange(request).await?;
                answer.replace("date", |_| date(seconds));
                answer
            }
            Self::Pages(paging) => paged(shared, asked, request, upstream, paging).await?,
            Self::Unconditional => unconditional(shared, asked, request).await?,
            Self::Meddle(content) => {
                meddle(shared, asked, content.as_ref()).await?;
                upstream.exchange(request).await?
            }
        }))
    }
}

/// The proxy's idea of now, so many seconds off, as a `Date` has it.
fn date(seconds: i64) -> String {
    let now = Timestamp::now() + SignedDuration::from_secs(seconds);
    DateTimePrinter::new().timestamp_to_rfc9110_string(&now).expect("a date")
}

/// An error of S3. What answers a `HEAD` has no body.
fn refusal(asked: &Asked, status: u16, code: &str, headers: &[(&str, &str)]) -> Message {
    let date = date(0);
    let mut all = vec![("Content-Type", "application/xml"), ("x-amz-request-id", "FAULT"), ("Date", date.as_str())];
    all.extend_from_slice(headers);
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>a fault of the proxy</Message>\
         <RequestId>FAULT</RequestId></Error>"
    );
    Message::answer(status, &all, if asked.kind == Kind::Head { String::new() } else { body })
}

async fn paged(
    shared: &Shared,
    asked: &Asked,
    request: &Message,
    upstream: &mut Upstream,
    paging: Paging,
) -> io::Result<Message> {
    let known = held(&shared.pages).place(asked);
    let (listing, place) = if let Some(place) = known {
        place
    } else {
        let whole = upstream.exchange(request).await?;
        if whole.status() != 200 {
            return Ok(whole);
        }
        (held(&shared.pages).add(asked, &whole, paging), 0)
    };
    let page = held(&shared.pages).page(listing, place);
    let date = date(0);
    Ok(page.map_or_else(
        || refusal(asked, 500, "InternalError", &[]),
        |page| Message::answer(200, &[("Content-Type", "application/xml"), ("Date", date.as_str())], page),
    ))
}

/// The condition is signed, so the request cannot go on without it: the proxy makes one of its own.
async fn unconditional(shared: &Shared, asked: &Asked, request: &Message) -> io::Result<Message> {
    let (client, bucket, key) = (&shared.aside, shared.bucket.as_str(), asked.key.as_str());
    let date = date(0);
    let common = [("Date", date.as_str()), ("Content-Type", "application/xml")];
    match asked.kind {
        Kind::Delete => {
            client.delete_object().bucket(bucket).key(key).send().await.map_err(io::Error::other)?;
            Ok(Message::answer(204, &common[..1], ""))
        }
        Kind::Copy => {
            let source = request.header("x-amz-copy-source").unwrap_or_default();
            let copy = client.copy_object().bucket(bucket).key(key).copy_source(source).send().await;
            let copy = copy.map_err(io::Error::other)?;
            let etag = copy.copy_object_result().and_then(|result| result.e_tag()).unwrap_or_default();
            let body = format!(
                "<CopyObjectResult><ETag>{}</ETag><LastModified>{}</LastModified></CopyObjectResult>",
                etag.replace('"', "&quot;"),
                Timestamp::from_second(Timestamp::now().as_second()).expect("an instant")
            );
            Ok(Message::answer(200, &common, body))
        }
        _ => {
            let body = ByteStream::from(request.body());
            let put = client.put_object().bucket(bucket).key(key).body(body).send().await.map_err(io::Error::other)?;
            Ok(Message::answer(200, &[("Date", date.as_str()), ("ETag", put.e_tag().unwrap_or_default())], ""))
        }
    }
}

async fn meddle(shared: &Shared, asked: &Asked, content: &Content) -> io::Result<()> {
    if held(&shared.meddled).contains(&asked.key) {
        return Ok(());
    }
    let Some(body) = content(&asked.key) else { return Ok(()) };
    held(&shared.meddled).push(asked.key.clone());
    let put = shared.aside.put_object().bucket(&shared.bucket).key(&asked.key).body(ByteStream::from(body));
    put.send().await.map(drop).map_err(io::Error::other)
}
