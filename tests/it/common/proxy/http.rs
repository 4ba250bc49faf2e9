//! HTTP/1.1 as far as a man in the middle needs it: where a message ends, and its bytes as they came.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// One request or answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    /// The request line or the status line, without its line end.
    pub(crate) first: String,
    /// Names as they came, in the order in which they came.
    pub(crate) headers: Vec<(String, String)>,
    /// First line, headers and the empty line, byte for byte.
    head: Vec<u8>,
    /// The body as it was on the wire, chunked or not.
    wire: Vec<u8>,
}

impl Message {
    /// An answer of our own.
    pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut answer = Self { first: format!("HTTP/1.1 {status} -"), headers, ..Self::default() };
        answer.rewritten(body.into());
        answer
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Replaces every header of this name that is there.
    pub(crate) fn replace(&mut self, name: &str, new: impl Fn(&str) -> String) {
        for (_, value) in self.headers.iter_mut().filter(|(other, _)| other.eq_ignore_ascii_case(name)) {
            *value = new(value);
        }
        self.head = self.written_head();
    }

    /// The status of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// The body without the frames of chunks.
    pub(crate) fn body(&self) -> Vec<u8> {
        if !self.is_chunked() {
            return self.wire.clone();
        }
        let (mut body, mut rest) = (Vec::new(), self.wire.as_slice());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let size = chunk_size(&rest[..end]).unwrap_or(0);
            let Some(chunk) = rest.get(end + 1..end + 1 + size).filter(|chunk| !chunk.is_empty()) else { break };
            body.extend_from_slice(chunk);
            rest = rest.get(end + 1 + size + 2..).unwrap_or_default();
        }
        body
    }

    /// Gives it another body, with the length that belongs to it.
    pub(crate) fn rewritten(&mut self, body: Vec<u8>) {
        let framing = ["content-length", "transfer-encoding", "trailer"];
        self.headers.retain(|(name, _)| !framing.iter().any(|frame| name.eq_ignore_ascii_case(frame)));
        self.headers.push(("Content-Length".to_owned(), body.len().to_string()));
        self.head = self.written_head();
        self.wire = body;
    }

    /// Everything as it goes on the wire.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.wire.as_slice()].concat()
    }

    /// The head as it goes on the wire, and so much of the body.
    pub(crate) fn bytes_up_to(&self, part: impl Fn(usize) -> usize) -> Vec<u8> {
        [self.head.as_slice(), &self.wire[..part(self.wire.len())]].concat()
    }

    pub(crate) fn has_body(&self) -> bool {
        !self.wire.is_empty()
    }

    /// Whether the connection ends with it.
    pub(crate) fn closes(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
    }

    fn written_head(&self) -> Vec<u8> {
        let lines: Vec<String> = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{}\r\n{}\r\n", self.first, lines.concat()).into_bytes()
    }
}

/// The next request of a connection; `None` where it ends between two.
pub(crate) async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Message>> {
    let Some(mut request) = read_head(stream).await? else { return Ok(None) };
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    request.wire = read_body(stream, &request, false).await?;
    Ok(Some(request))
}

/// The answer to a request. Interim answers are left out.
pub(crate) async fn read_answer(stream: &mut BufReader<TcpStream>, to_head: bool) -> io::Result<Option<Message>> {
    loop {
        let Some(mut answer) = read_head(stream).await? else { return Ok(None) };
        let status = answer.status();
        if (100..200).contains(&status) {
            continue;
        }
        if !to_head && status != 204 && status != 304 {
            answer.wire = read_body(stream, &answer, true).await?;
        }
        return Ok(Some(answer));
    }
}

async fn read_head(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Message>> {
    let mut message = Message::default();
    loop {
        let begin = message.head.len();
        if stream.read_until(b'\n', &mut message.head).await? == 0 {
            return if begin == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let line = String::from_utf8_lossy(&message.head[begin..]).trim_end().to_owned();
        match line.split_once(':') {
            _ if message.first.is_empty() => message.first = line,
            Some((name, value)) => message.headers.push((name.to_owned(), value.trim().to_owned())),
            None => return Ok(Some(message)),
        }
    }
}

async fn read_body(stream: &mut (impl AsyncBufRead + Unpin), message: &Message, until_the_end: bool) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if message.is_chunked() {
        loop {
            let begin = body.len();
            stream.read_until(b'\n', &mut body).await?;
            let size = chunk_size(&body[begin..])?;
            if size == 0 {
                break;
            }
            read_exactly(stream, &mut body, size + 2).await?;
        }
        // Trailers, up to the empty line.
        loop {
            let begin = body.len();
            stream.read_until(b'\n', &mut body).await?;
            if body[begin..].trim_ascii().is_empty() {
                return Ok(body);
            }
        }
    }
    match message.header("content-length").and_then(|length| length.parse().ok()) {
        Some(length) => read_exactly(stream, &mut body, length).await?,
        None if until_the_end => drop(stream.read_to_end(&mut body).await?),
        None => {}
    }
    Ok(body)
}

async fn read_exactly(stream: &mut (impl AsyncBufRead + Unpin), body: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let begin = body.len();
    body.resize(begin + length, 0);
    stream.read_exact(&mut body[begin..]).await.map(drop)
}

fn chunk_size(line: &[u8]) -> io::Result<usize> {
    let line = String::from_utf8_lossy(line);
    let digits = line.split(';').next().unwrap_or_default().trim();
    usize::from_str_radix(digits, 16).map_err(io::Error::other)
}
