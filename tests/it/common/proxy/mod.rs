//! A TCP proxy in front of a real S3 server that hurts exactly the requests it is told to.
//!
//! Everything else passes through byte for byte, host name and all, so signatures stay valid. A request is known by what
//! it asks for, by its key and query, and by its number among its like. Every request is remembered.

mod action;
mod asked;
mod http;
mod pages;

use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

pub(crate) use self::action::Action;
use self::action::Next;
pub(crate) use self::asked::{Asked, Kind};
use self::http::{Message, read_answer, read_request};
use self::pages::Pages;
pub(crate) use self::pages::Paging;
use super::servers::Server;

/// Every proxy of the process lives here.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts")
});

/// A running proxy in front of one bucket.
pub(crate) struct Proxy {
    pub(crate) endpoint: String,
    shared: Arc<Shared>,
    accepting: tokio::task::JoinHandle<()>,
}

/// Which requests are hurt, and how.
pub(crate) struct Rule {
    kinds: Vec<Kind>,
    part: String,
    /// This key and no other, where one is named.
    key: Option<String>,
    /// Where this is in the key, it is another's business.
    except: &'static str,
    /// Of which one has to be there, where any is named.
    headers: &'static [&'static str],
    first: usize,
    times: usize,
    matched: usize,
    action: Action,
}

impl Rule {
    /// Every request of these kinds; of every kind, where none is named.
    pub(crate) fn on(kinds: &[Kind], action: Action) -> Self {
        Self {
            kinds: kinds.to_vec(),
            part: String::new(),
            key: None,
            except: "",
            headers: &[],
            first: 1,
            times: usize::MAX,
            matched: 0,
            action,
        }
    }

    /// Only those whose key, prefix or query has this in it.
    pub(crate) fn of(mut self, part: &str) -> Self {
        part.clone_into(&mut self.part);
        self
    }

    /// Only those of exactly this key or prefix.
    pub(crate) fn exactly(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// None of those whose key has this in it.
    pub(crate) fn except(mut self, part: &'static str) -> Self {
        self.except = part;
        self
    }

    /// Only those with a header that begins with one of these, in lower case.
    pub(crate) fn with(mut self, headers: &'static [&'static str]) -> Self {
        self.headers = headers;
        self
    }

    /// Only one of them: the first is number 1.
    pub(crate) fn nth(mut self, number: usize) -> Self {
        (self.first, self.times) = (number, 1);
        self
    }

    /// Whether a request of this kind could be meant.
    pub(crate) fn could_want(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn wants(&self, asked: &Asked) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&asked.kind))
            && (asked.key.contains(&self.part) || asked.query.contains(&self.part))
            && self.key.as_ref().is_none_or(|key| *key == asked.key)
            && (self.except.is_empty() || !asked.key.contains(self.except))
            && (self.headers.is_empty() || self.headers.iter().any(|header| asked.has_header(header)))
    }
}

/// One request that was seen, and whether a rule struck it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) asked: Asked,
    pub(crate) struck: bool,
    /// When it arrived, in nanoseconds since 1970.
    pub(crate) at: u64,
}

/// What all connections of a proxy have in common.
struct Shared {
    upstream: String,
    bucket: String,
    aside: aws_sdk_s3::Client,
    rules: Mutex<Vec<Rule>>,
    seen: Mutex<Vec<Seen>>,
    pages: Mutex<Pages>,
    meddled: Mutex<Vec<String>>,
}

impl Proxy {
    /// A proxy that changes nothing yet.
    pub(crate) fn start(server: &Server, bucket: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        listener.set_nonblocking(true).expect("it can wait");
        let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
        let shared = Arc::new(Shared {
            upstream: server.endpoint.trim_start_matches("http://").to_owned(),
            bucket: bucket.to_owned(),
            aside: server.client(),
            rules: Mutex::default(),
            seen: Mutex::default(),
            pages: Mutex::default(),
            meddled: Mutex::default(),
        });
        let all = Arc::clone(&shared);
        let accepting = RUNTIME.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&all);
                // What a broken connection says is the client's to tell.
                tokio::spawn(async move { drop(serve(&shared, stream).await) });
            }
        });
        Self { endpoint, shared, accepting }
    }

    /// From now on, these rules and nothing of before. The first that matches a request is the one.
    pub(crate) fn rules(&self, rules: Vec<Rule>) {
        *held(&self.shared.rules) = rules;
        *held(&self.shared.pages) = Pages::default();
        held(&self.shared.seen).clear();
        held(&self.shared.meddled).clear();
    }

    /// Every request since the rules were set.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        held(&self.shared.seen).clone()
    }

    /// Every object that was changed behind the client's back since the rules were set.
    pub(crate) fn meddled(&self) -> Vec<String> {
        held(&self.shared.meddled).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    /// What happens to this request; it is remembered.
    fn struck(&self, asked: &Asked) -> Option<Action> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let mut struck = None;
        for rule in held(&self.rules).iter_mut().filter(|rule| rule.wants(asked)) {
            rule.matched += 1;
            if struck.is_none() && rule.matched >= rule.first && rule.matched - rule.first < rule.times {
                struck = Some(rule.action.clone());
            }
        }
        held(&self.seen).push(Seen { asked: asked.clone(), struck: struck.is_some(), at });
        struck
    }
}

/// A lock that a panic elsewhere does not take away.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection of a client, to its end.
async fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut client = BufReader::new(stream);
    let mut upstream = Upstream { address: shared.upstream.clone(), connection: None };
    while let Some(request) = read_request(&mut client).await? {
        let asked = Asked::of(&request, &shared.bucket);
        let next = match shared.struck(&asked) {
            None => Next::Send(upstream.exchange(&request).await?),
            Some(action) => action.act(shared, &asked, &request, &mut upstream).await?,
        };
        if !next.done(&mut client).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// The way to the real server: one connection for each of the client's.
struct Upstream {
    address: String,
    connection: Option<BufReader<TcpStream>>,
}

impl Upstream {
    /// Sends a request as it came, and waits for its answer. A connection that ended while it was idle is made anew.
    async fn exchange(&mut self, request: &Message) -> io::Result<Message> {
        if let Some(mut connection) = self.connection.take()
            && let Ok(Some(answer)) = exchange(&mut connection, request).await
        {
            self.keep(connection, &answer);
            return Ok(answer);
        }
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let mut connection = BufReader::new(stream);
        let answer = exchange(&mut connection, request).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.keep(connection, &answer);
        Ok(answer)
    }

    fn keep(&mut self, connection: BufReader<TcpStream>, answer: &Message) {
        self.connection = (!answer.closes()).then_some(connection);
    }
}

async fn exchange(connection: &mut BufReader<TcpStream>, request: &Message) -> io::Result<Option<Message>> {
    connection.get_mut().write_all(&request.bytes()).await?;
    read_answer(connection, request.first.starts_with("HEAD ")).await
}
