//! Large objects in pieces: all of one object and in order, or an error.

use carlosctl::store::{ReadStore, StoreError};

use crate::common::scripted::{Reply, Request, Scripted};
use crate::common::servers;
use crate::store_errors::patient;

/// As large as a piece is.
const PIECE_BYTES: usize = 8 << 20;

/// Two and a bit pieces, no two of which look alike.
fn body() -> Vec<u8> {
    (0..2 * PIECE_BYTES + 1000).map(|at| u8::try_from(at / 4096 % 251).expect("small")).collect()
}

/// The bytes that a request asks for, as the store means them.
fn asked(request: &Request, whole: usize) -> Option<(usize, usize)> {
    let (first, last) = request.header("range").strip_prefix("bytes=")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse::<usize>().ok()?.min(whole - 1)))
}

fn piece(body: &[u8], (first, last): (usize, usize), etag: &str) -> Reply {
    Reply::new(206, &body[first..=last])
        .header("etag", &format!("\"{etag}\""))
        .header("last-modified", "Sun, 15 Nov 2026 00:00:00 GMT")
        .header("content-range", &format!("bytes {first}-{last}/{}", body.len()))
}

/// A server that knows one object and answers its pieces, but for what `otherwise` says.
fn server(otherwise: impl Fn(&Request, usize) -> Option<Reply> + Send + 'static) -> Scripted {
    let body = body();
    Scripted::start(move |request: &Request| {
        let range = asked(request, body.len()).expect("a piece is asked for");
        otherwise(request, range.0).unwrap_or_else(|| piece(&body, range, "e1"))
    })
}

/// Reads it both ways, of which both must say the same.
async fn read(endpoint: &str) -> Result<Vec<u8>, StoreError> {
    let store = patient(endpoint).await;
    let (in_order, anywhere) = (read_in_order(&store).await, read_anywhere(&store).await);
    match (&in_order, &anywhere) {
        (Ok(one), Ok(other)) => assert!(one == other, "two contents"),
        (Err(_), Err(_)) => {}
        _ => panic!("in order it is {}, from anywhere {}", in_order.is_ok(), anywhere.is_ok()),
    }
    in_order?;
    anywhere
}

async fn read_in_order(store: &dyn ReadStore) -> Result<Vec<u8>, StoreError> {
    let mut reader = store.open("a/k", None).await?;
    let mut read = Vec::new();
    while let Some(chunk) = reader.chunks.next().await? {
        read.extend_from_slice(&chunk);
    }
    assert_eq!(reader.meta.bytes, read.len() as u64);
    Ok(read)
}

async fn read_anywhere(store: &dyn ReadStore) -> Result<Vec<u8>, StoreError> {
    let mut reader = store.open("a/k", None).await?;
    let mut read = vec![0; usize::try_from(reader.meta.bytes).expect("small")];
    let mut so_far = 0;
    while let Some((at, chunk)) = reader.chunks.next_anywhere(so_far).await? {
        let at = usize::try_from(at).expect("small");
        read[at..at + chunk.len()].copy_from_slice(&chunk);
        so_far += chunk.len() as u64;
    }
    assert_eq!(reader.meta.bytes, so_far);
    Ok(read)
}

#[tokio::test]
async fn pieces_arrive_in_order_under_the_etag_of_the_first() {
    let server = server(|_, _| None);
    assert!(read(&server.endpoint).await.expect("all of it") == body());
    let mut asked: Vec<(String, String)> = server
        .requests()
        .iter()
        .map(|request| (request.header("range").to_owned(), request.header("if-match").to_owned()))
        .collect();
    asked.sort_by_key(|(_, condition)| !condition.is_empty());
    let mut later = asked.split_off(2);
    assert_eq!(asked, [("bytes=0-8388607".to_owned(), String::new()), ("bytes=0-8388607".to_owned(), String::new())]);
    later.sort();
    later.dedup();
    assert_eq!(
        later,
        [("bytes=16777216-16778215", "\"e1\""), ("bytes=8388608-16777215", "\"e1\"")]
            .map(|(range, condition)| (range.to_owned(), condition.to_owned()))
    );
    assert_eq!(server.requests().len(), 6, "each piece once, each way");
}

/// A writer between two pieces: a server that compares says so, and one that does not is found out by the etag.
#[tokio::test]
async fn pieces_of_two_objects_are_never_put_together() {
    let compares = server(|_, first| (first > 0).then(|| Reply::error(412, "PreconditionFailed", "another")));
    let ignores = server(|_, first| (first > 0).then(|| piece(&body(), (first, body().len() - 1), "e2")));
    let gone = server(|_, first| (first > 0).then(|| Reply::error(404, "NoSuchKey", "none")));
    for server in [compares, ignores, gone] {
        let error = read(&server.endpoint).await.map(|read| read.len()).expect_err("it is another one");
        assert!(matches!(&error, StoreError::Incomplete { .. }), "{error:?}");
        assert!(error.to_string().contains("changed while it was read"), "{error}");
    }
}

#[tokio::test]
async fn a_piece_that_is_not_what_was_asked_for_is_an_error() {
    type Answer = Box<dyn Fn(usize) -> Reply + Send>;
    let shifted = |first: usize| piece(&body(), (first + 1, body().len() - 1), "e1");
    let short = |first: usize| piece(&body(), (first, first + 9), "e1");
    let whole = |_: usize| Reply::object(body(), "e1");
    let cases: [(&str, Answer); 3] =
        [("another range", Box::new(shifted)), ("did not give", Box::new(short)), ("the whole object", Box::new(whole))];
    for (words, reply) in cases {
        let last = 2 * PIECE_BYTES;
        let server = server(move |_, first| (first == last).then(|| reply(first)));
        let error = read(&server.endpoint).await.map(|read| read.len()).expect_err(words);
        assert!(matches!(&error, StoreError::Incomplete { .. }), "{words}: {error:?}");
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
}

#[tokio::test]
async fn a_piece_that_breaks_off_is_gone_on_with_from_there() {
    let last = 2 * PIECE_BYTES;
    let server = server(move |_, first| (first == last).then(|| piece(&body(), (first, body().len() - 1), "e1").cut_after(10)));
    assert!(read(&server.endpoint).await.expect("all of it") == body());
    let asked: Vec<String> = server.requests().iter().map(|request| request.header("range").to_owned()).collect();
    assert!(asked.contains(&format!("bytes={}-{}", last + 10, body().len() - 1)), "{asked:?}");
}

#[tokio::test]
async fn a_store_that_knows_no_pieces_is_read_as_it_answers() {
    let whole = Scripted::start(|_: &Request| Reply::object(body(), "e1"));
    assert!(read(&whole.endpoint).await.expect("all of it") == body());
    assert_eq!(whole.requests().len(), 2, "one answer, each way");
    // An empty object has no first byte, and some servers say so.
    let empty = Scripted::start(|request: &Request| match request.header("range") {
        "" => Reply::object("", "e1"),
        _ => Reply::error(416, "InvalidRange", "beyond the end"),
    });
    assert!(read(&empty.endpoint).await.expect("nothing").is_empty());
    assert_eq!(empty.requests().len(), 4, "asked again without a range, each way");
}

#[tokio::test]
async fn real_servers_give_pieces() {
    for server in [servers::seaweedfs(), servers::ministack()] {
        let store = server.store(&server.bucket()).await;
        for bytes in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES + 1000] {
            let body = &body()[..bytes];
            let key = format!("k{bytes}");
            carlosctl::store::create(&store, &key, &body.to_vec().into()).await.expect("it is stored");
            let mut reader = store.open(&key, None).await.expect("it opens");
            let (mut read, mut so_far) = (vec![0; bytes], 0);
            while let Some((at, chunk)) = reader.chunks.next_anywhere(so_far).await.expect("a chunk") {
                let at = usize::try_from(at).expect("small");
                read[at..at + chunk.len()].copy_from_slice(&chunk);
                so_far += chunk.len() as u64;
            }
            assert!(read == body, "{bytes} bytes of {}", server.endpoint);
        }
    }
}
