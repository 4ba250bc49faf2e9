//! What the S3 store makes of refusals and silence: the right kind, in plain words, in time, and without a secret.

use std::time::{Duration, Instant};

use carlosctl::exit::Exit;
use carlosctl::store::{Body, Put, ReadStore, S3Store, StoreError, WriteStore};

use crate::common::scripted::{Answer, Reply, Request, Scripted, dead_endpoint};
use crate::common::servers::settings;

const ACCESS_KEY: &str = "AKIACANARYCANARY";
const SECRET: &str = "canary/secret/0123456789abcdef";
const TOKEN: &str = "canary-session-token";

/// A store at this endpoint that waits two seconds: for tests of waiting.
pub(crate) async fn impatient(endpoint: &str) -> S3Store {
    waiting(endpoint, Duration::from_secs(2)).await
}

/// A store at this endpoint that waits longer than any test machine is slow: for every other test.
pub(crate) async fn patient(endpoint: &str) -> S3Store {
    waiting(endpoint, Duration::from_mins(1)).await
}

async fn waiting(endpoint: &str, timeout: Duration) -> S3Store {
    let mut settings = settings(endpoint, "dep", (ACCESS_KEY, SECRET));
    settings.timeout = timeout;
    settings.profile = Some("prod".to_owned());
    settings.region = Some("us-east-1".to_owned());
    S3Store::open(settings).await.expect("credentials are given")
}

pub(crate) fn bytes(text: &str) -> Body {
    Body::from(text.as_bytes().to_vec())
}

/// What the four kinds of request say when every one is answered with this.
async fn refused(reply: &Reply) -> [(&'static str, StoreError); 4] {
    let server = Scripted::always(reply.clone());
    let store = patient(&server.endpoint).await;
    let put = store.put("a/k", &bytes("x"), &Put::Create).await;
    [
        ("get", store.get("a/k", 10).await.expect_err("it is refused")),
        ("head", store.head("a/k").await.expect_err("it is refused")),
        ("list", store.list("a/").await.expect_err("it is refused")),
        ("put", put.expect_err("it is refused")),
    ]
}

/// Kind, exit and words of one refusal, a request a line; the same words are said once. Ports differ from run to run.
async fn described(status: u16, code: &str, message: &str, header: Option<(&str, &str)>) -> String {
    let mut reply = Reply::error(status, code, message);
    if let Some((name, value)) = header {
        reply = reply.header(name, value);
    }
    let mut lines: Vec<(String, String)> = Vec::new();
    for (request, error) in refused(&reply).await {
        let said = error.to_string();
        let words = said.split("http://127.0.0.1:").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let words = format!("{} {}", error.exit().code(), words.collect::<Vec<_>>().join("ENDPOINT"));
        match lines.last_mut() {
            Some((requests, same)) if *same == words => requests.push_str(&format!(" {request}")),
            _ => lines.push((request.to_owned(), words)),
        }
    }
    let lines: Vec<String> = lines.iter().map(|(requests, words)| format!("  {requests}: {words}\n")).collect();
    format!("{status} {code}\n{}", lines.concat())
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let region = Some(("x-amz-bucket-region", "eu-west-1"));
    let cases = [
        described(403, "AccessDenied", "Access Denied", None).await,
        described(404, "NoSuchKey", "no", None).await,
        described(404, "NoSuchKey", "no", Some(("x-amz-delete-marker", "true"))).await,
        described(404, "NoSuchBucket", "no", None).await,
        described(400, "ExpiredToken", "The provided token has expired.", None).await,
        described(403, "InvalidAccessKeyId", "no", None).await,
        described(403, "SignatureDoesNotMatch", "no", None).await,
        described(301, "PermanentRedirect", "elsewhere", region).await,
        described(400, "AuthorizationHeaderMalformed", "the region 'us-east-1' is wrong; expecting 'eu-west-1'", None).await,
        described(412, "PreconditionFailed", "no", None).await,
        described(409, "ConditionalRequestConflict", "no", None).await,
        described(501, "NotImplemented", "no", None).await,
        described(500, "InternalError", "oops", None).await,
        described(418, "Teapot", "short and stout", None).await,
    ];
    insta::assert_snapshot!(cases.concat(), @r#"
    403 AccessDenied
      get head: 12 a/k: missing or not permitted (s3://dep at ENDPOINT answered 403 AccessDenied: Access Denied)
      list: 12 a/: listing is not permitted (s3://dep at ENDPOINT answered 403 AccessDenied: Access Denied)
      put: 12 a/k: writing is not permitted (s3://dep at ENDPOINT answered 403 AccessDenied: Access Denied)
    404 NoSuchKey
      get head: 10 a/k: not found
      list: 10 s3://dep at ENDPOINT: no such bucket or directory
      put: 7 a/k: the object is not as expected: nothing is there any more
    404 NoSuchKey
      get head: 10 a/k: deleted; an older version may exist
      list: 10 s3://dep at ENDPOINT: no such bucket or directory
      put: 7 a/k: the object is not as expected: nothing is there any more
    404 NoSuchBucket
      get head list put: 10 s3://dep at ENDPOINT: no such bucket or directory
    400 ExpiredToken
      get head list put: 12 credentials: the session has expired (ExpiredToken, AWS_PROFILE is "prod"; s3://dep at ENDPOINT)
    403 InvalidAccessKeyId
      get head list put: 12 credentials: the store does not know this access key (InvalidAccessKeyId, AWS_PROFILE is "prod"; s3://dep at ENDPOINT)
    403 SignatureDoesNotMatch
      get head list put: 12 credentials: the secret does not belong to the access key (SignatureDoesNotMatch, AWS_PROFILE is "prod"; s3://dep at ENDPOINT)
    301 PermanentRedirect
      get head list put: 14 s3://dep at ENDPOINT: the bucket is in region eu-west-1
    400 AuthorizationHeaderMalformed
      get head list put: 14 s3://dep at ENDPOINT: the bucket is in region eu-west-1
    412 PreconditionFailed
      get: 14 a/k: s3://dep at ENDPOINT answered 412 PreconditionFailed: no
      head: 14 a/k: s3://dep at ENDPOINT answered 412
      list: 14 a/: s3://dep at ENDPOINT answered 412 PreconditionFailed: no
      put: 7 a/k: the object is not as expected: something is there already
    409 ConditionalRequestConflict
      get: 14 a/k: s3://dep at ENDPOINT answered 409 ConditionalRequestConflict: no
      head: 14 a/k: s3://dep at ENDPOINT answered 409
      list: 14 a/: s3://dep at ENDPOINT answered 409 ConditionalRequestConflict: no
      put: 14 a/k: another write of it is under way; nothing was written
    501 NotImplemented
      get: 5 s3://dep at ENDPOINT: what was asked of a/k (501 NotImplemented: no) is not supported or not enforced
      head: 5 s3://dep at ENDPOINT: what was asked of a/k (501) is not supported or not enforced
      list: 5 s3://dep at ENDPOINT: what was asked of a/ (501 NotImplemented: no) is not supported or not enforced
      put: 5 s3://dep at ENDPOINT: what was asked of a/k (501 NotImplemented: no) is not supported or not enforced
    500 InternalError
      get: 14 a/k: s3://dep at ENDPOINT answered 500 InternalError: oops
      head: 14 a/k: s3://dep at ENDPOINT answered 500
      list: 14 a/: s3://dep at ENDPOINT answered 500 InternalError: oops
      put: 14 a/k: s3://dep at ENDPOINT answered 500 InternalError: oops
    418 Teapot
      get head: 1 a/k: s3://dep at ENDPOINT answered 418 Teapot: short and stout
      list: 1 a/: s3://dep at ENDPOINT answered 418 Teapot: short and stout
      put: 1 a/k: s3://dep at ENDPOINT answered 418 Teapot: short and stout
    "#);
}

#[tokio::test]
async fn an_answer_that_is_not_s3s_says_nothing_about_a_key() {
    let server = Scripted::always(Reply::new(404, "<html>nginx</html>"));
    let error = patient(&server.endpoint).await.get("a/k", 10).await.expect_err("it is refused");
    assert!(!error.is_missing(), "{error}");
    assert!(error.to_string().contains("check the endpoint"), "{error}");

    let server = Scripted::always(Reply::new(200, "<html>please log in</html>"));
    let error = patient(&server.endpoint).await.list("").await.expect_err("it is no listing");
    assert!(matches!(error, StoreError::Incomplete { .. }), "{error:?}");
}

#[tokio::test]
async fn clocks_that_disagree_are_named_with_both_times() {
    let ahead = jiff_now() + jiff::SignedDuration::from_mins(40);
    let date = ahead.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    for (status, code) in [(403, "RequestTimeTooSkewed"), (403, "SignatureDoesNotMatch"), (403, "AccessDenied")] {
        let server = Scripted::always(Reply::error(status, code, "The difference is too large.").header("date", &date));
        let store = patient(&server.endpoint).await;
        let error = store.get("a/k", 10).await.expect_err("it is refused");
        let StoreError::ClockSkew { local, store: Some(at) } = &error else { panic!("{code}: {error:?}") };
        assert_eq!(at.as_second(), ahead.as_second(), "{code}");
        assert!((at.as_second() - local.as_second() - 2400).abs() < 60, "{error}");
        assert_eq!(error.exit(), Exit::Clocks);
        let seconds = store.clock_ahead_seconds().expect("the answer had a clock");
        assert!((seconds - 2400).abs() < 60, "{seconds}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the store compares with this machine's clock, so the test must too")]
fn jiff_now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

#[tokio::test]
async fn nothing_that_was_sent_in_confidence_is_repeated() {
    // A server that repeats what it was sent, as error pages do.
    let echo = |request: &Request| {
        let said = format!("{} {}", request.header("authorization"), request.header("x-amz-security-token"));
        let said = format!("{said} {SECRET} {}", "0123456789abcdef".repeat(4));
        let code = request.parameter("prefix").unwrap_or_default().trim_end_matches("%2F").to_owned();
        Reply::error(if code == "Broken" { 500 } else { 403 }, &code, &said)
    };
    let server = Scripted::start(echo);
    let mut settings = settings(&server.endpoint.replace("http://", "http://user:hunter2@"), "dep", (ACCESS_KEY, SECRET));
    settings.credentials = Some(aws_sdk_s3::config::Credentials::new(ACCESS_KEY, SECRET, Some(TOKEN.into()), None, "t"));
    let store = S3Store::open(settings).await.expect("credentials are given");
    let signature = "Signature=0";
    for code in ["AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Broken", "Strange"] {
        let error = store.list(&format!("{code}/")).await.expect_err("it is refused");
        let said = format!("{error} {error:?} {:?} {}", error.hints(), store.describe());
        for secret in [ACCESS_KEY, SECRET, TOKEN, "hunter2", signature, &"0123456789abcdef".repeat(4)] {
            assert!(!said.contains(secret), "{code}: {secret} in {said}");
        }
        assert!(!error.to_string().contains(['\n', '\r', '\u{1b}']), "{error}");
    }
    let sent = &server.requests()[0];
    assert!(sent.header("authorization").contains(ACCESS_KEY), "the canary flew");
    assert_eq!(sent.header("x-amz-security-token"), TOKEN);
}

#[tokio::test]
async fn dead_and_silent_endpoints_are_given_up_in_time() {
    let silent = Scripted::always(Answer::Hang);
    let slammed = Scripted::always(Answer::Close);
    for (endpoint, words) in
        [(dead_endpoint(), "refused"), (silent.endpoint.clone(), "no answer within 2 s"), (slammed.endpoint.clone(), "closed")]
    {
        let store = impatient(&endpoint).await;
        let begin = Instant::now();
        let errors = [
            store.list("a/").await.expect_err("nobody answers"),
            store.get("a/k", 10).await.expect_err("nobody answers"),
            store.put("a/k", &bytes("x"), &Put::Create).await.expect_err("nobody answers"),
        ];
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        for error in errors {
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
            assert_eq!(error.exit(), Exit::Unavailable);
        }
        let said = store.list("a/").await.expect_err("nobody answers").to_string();
        assert!(said.contains(words) && said.contains(&endpoint), "{said}");
    }
}

#[tokio::test]
async fn throttling_is_waited_out_when_reading_and_deleting() {
    let mut calls = 0;
    let server = Scripted::start(move |request: &Request| {
        calls += 1;
        match (calls % 3, request.method.as_str()) {
            (1 | 2, _) => Reply::error(503, "SlowDown", "Please reduce your request rate."),
            (_, "DELETE") => Reply::new(204, ""),
            _ => Reply::object("x", "e"),
        }
    });
    let store = patient(&server.endpoint).await;
    assert_eq!(store.get("a/k", 10).await.expect("the third try succeeds").body, "x");
    store.delete("a/k").await.expect("the third try succeeds");
    assert_eq!(server.requests().len(), 6);

    let server = Scripted::always(Reply::error(503, "SlowDown", "Please reduce your request rate."));
    let error = patient(&server.endpoint).await.get("a/k", 10).await.expect_err("it never ends");
    assert!(error.to_string().contains("503 SlowDown"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_delete_of_nothing_is_done() {
    let server = Scripted::always(Reply::error(404, "NoSuchKey", "none"));
    patient(&server.endpoint).await.delete("a/k").await.expect("it is gone");
}
