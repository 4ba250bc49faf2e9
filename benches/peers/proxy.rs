//! A proxy that lets every request wait before it goes on, and counts.
//!
//! It understands as much of HTTP/1.1 as is needed to tell where a request ends. Nothing is rewritten, so signatures stay
//! valid. The latency is a request's, not a connection's: opening one costs nothing extra here, which favours whoever opens
//! many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use super::Failure;

/// The longest head of a request.
const HEAD_LIMIT_BYTES: usize = 64 * 1024;
/// How much is passed on at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Requests by kind.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// A running proxy. It ends with the runtime.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// Where it listens.
    pub(crate) endpoint: String,
    counts: Arc<Mutex<Counts>>,
}

impl Proxy {
    /// Starts one in front of `upstream`.
    pub(crate) fn start(runtime: &Handle, upstream: &str, latency: Duration) -> Result<Self, Failure> {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let counts = Arc::new(Mutex::new(Counts::new()));
        let (upstream, counted) = (upstream.to_owned(), Arc::clone(&counts));
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (upstream, counted) = (upstream.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    // A connection that breaks off is the client's matter.
                    let _ = serve(client, &upstream, latency, &counted).await;
                });
            }
        });
        Ok(Self { endpoint, counts })
    }

    /// What was asked since the last time.
    pub(crate) fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn serve(client: TcpStream, upstream: &str, latency: Duration, counts: &Mutex<Counts>) -> std::io::Result<()> {
    let server = TcpStream::connect(upstream).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = tokio::spawn(async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = from_server.read(&mut chunk).await?;
            if read == 0 {
                return to_client.shutdown().await;
            }
            to_client.write_all(&chunk[..read]).await?;
        }
    });
    let mut buffer = Vec::new();
    while let Some(head) = read_head(&mut from_client, &mut buffer).await? {
        let request = Request::of(&head);
        *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(request.kind).or_default() += 1;
        tokio::time::sleep(latency).await;
        to_server.write_all(&head).await?;
        pass_on(&mut from_client, &mut to_server, &mut buffer, &request).await?;
    }
    to_server.shutdown().await?;
    answers.await.map_err(std::io::Error::other)?
}

/// The next request's head, its empty line included; what was read beyond it stays in the buffer.
async fn read_head(from: &mut (impl AsyncReadExt + Unpin), buffer: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = buffer.split_off(at + 4);
            return Ok(Some(std::mem::replace(buffer, rest)));
        }
        if buffer.len() > HEAD_LIMIT_BYTES || from.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// Passes on a body of known length.
async fn pass_on(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    buffer: &mut Vec<u8>,
    request: &Request,
) -> std::io::Result<()> {
    let mut left = request.body_bytes;
    let mut chunk = vec![0; if left > 0 { CHUNK_BYTES } else { 0 }];
    let ahead = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    to.write_all(&buffer[..ahead]).await?;
    buffer.drain(..ahead);
    left -= ahead as u64;
    while left > 0 {
        let most = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = from.read(&mut chunk[..most]).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&chunk[..read]).await?;
        left -= read as u64;
    }
    Ok(())
}

/// What has to be known of a request.
struct Request {
    kind: &'static str,
    body_bytes: u64,
}

impl Request {
    fn of(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head);
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let header = |name: &str| {
            let line = head.lines().filter_map(|line| line.split_once(':')).find(|(one, _)| one.eq_ignore_ascii_case(name));
            line.map(|(_, value)| value.trim())
        };
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let kind = match method {
            "GET" if query.contains("delimiter=%2F") => "list of directories",
            "GET" if query.contains("prefix=") || query.contains("list-type=") => "list",
            "GET" => "get",
            "HEAD" => "head",
            "PUT" if header("x-amz-copy-source").is_some() => "copy",
            "PUT" => "put",
            "POST" if query.starts_with("delete") => "bulk delete",
            "DELETE" => "delete",
            _ => "other",
        };
        Self { kind, body_bytes: header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0) }
    }
}
