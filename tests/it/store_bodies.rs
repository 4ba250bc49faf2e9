//! Listings, bodies and writes of the S3 store against scripted servers: whole, or an error; once, or read back.

use std::time::Duration;

use carlosctl::store::{Body, Put, ReadStore, StoreError, WriteStore, create, probe};

use crate::common::scripted::{Answer, Reply, Request, Scripted, liar};
use crate::store_errors::{bytes, impatient, patient};

/// What a listing of `a/` is when its pages are these, in this order, whatever is asked.
async fn listed(pages: Vec<Reply>) -> Result<Vec<String>, StoreError> {
    let mut pages = pages.into_iter();
    let server = Scripted::start(move |_| pages.next().map_or(Answer::Close, Answer::from));
    let objects = patient(&server.endpoint).await.list("a/").await?;
    Ok(objects.into_iter().map(|object| object.key).collect())
}

#[tokio::test]
async fn pages_are_followed_and_sorted_whatever_their_order() {
    let pages = vec![
        Reply::page(&[("a/z", "1"), ("a/b%2Bc+d%20e", "2")], Some("t1")),
        Reply::page(&[], Some("t2")),
        Reply::page(&[("a/%C3%A9", "3"), ("a/a", "4"), ("a/z", "1")], None),
    ];
    assert_eq!(listed(pages).await.expect("a listing"), ["a/a", "a/b+c d e", "a/z", "a/é"]);
}

#[tokio::test]
async fn a_listing_that_is_not_whole_is_an_error() {
    let truncated_without_token = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
    let silent_about_more = "<ListBucketResult></ListBucketResult>";
    let no_etag = "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a/k</Key><Size>1</Size>\
                   <LastModified>2026-11-15T00:00:00.000Z</LastModified></Contents></ListBucketResult>";
    let last_with_next = "<ListBucketResult><IsTruncated>false</IsTruncated>\
                          <NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
    let broken_off = "<ListBucketResult><IsTruncated>false</IsTruncated>";
    let cases = [
        ("no next one", vec![Reply::new(200, truncated_without_token)]),
        ("whether it is the last", vec![Reply::new(200, silent_about_more)]),
        ("names a next one", vec![Reply::new(200, last_with_next)]),
        ("lacks its size, etag or time", vec![Reply::new(200, no_etag)]),
        ("same next page twice", vec![Reply::page(&[("a/1", "1")], Some("t")), Reply::page(&[("a/2", "1")], Some("t"))]),
        ("not below the prefix", vec![Reply::page(&[("ab/k", "1")], None)]),
        ("two contents", vec![Reply::page(&[("a/k", "1")], Some("t")), Reply::page(&[("a/k", "2")], None)]),
        ("not a name in URL encoding", vec![Reply::page(&[("a/%zz", "1")], None)]),
        ("breaks off", vec![Reply::new(200, broken_off); 3]),
    ];
    for (words, pages) in cases {
        let error = listed(pages).await.expect_err(words);
        assert!(matches!(error, StoreError::Incomplete { .. }), "{words}: {error:?}");
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let failing = vec![Reply::page(&[("a/k", "1")], Some("t")), Reply::error(403, "AccessDenied", "no")];
    assert!(matches!(listed(failing).await, Err(StoreError::Denied { .. })));
    let again = vec![Reply::new(200, broken_off), Reply::page(&[("a/k", "1")], None)];
    assert_eq!(listed(again).await.expect("the second answer is whole").len(), 1);
}

#[tokio::test]
async fn a_listing_that_goes_round_in_circles_ends() {
    let mut page = 0;
    let server = Scripted::start(move |_: &Request| {
        page += 1;
        Reply::page(&[("a/k", "1")], Some(&format!("t{page}")))
    });
    let error = patient(&server.endpoint).await.list("a/").await.expect_err("it never ends");
    assert!(error.to_string().contains("nothing new"), "{error}");
}

#[tokio::test]
async fn directories_and_versions_are_held_to_the_same() {
    let directories = |prefix: &str| {
        let body = format!(
            "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>\
             <CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes></ListBucketResult>"
        );
        Scripted::always(Reply::new(200, body))
    };
    let good = directories("a/b+c/");
    assert_eq!(patient(&good.endpoint).await.list_dirs("a/").await.expect("a listing"), ["a/b c/"]);
    assert_eq!(good.requests()[0].parameter("delimiter"), Some("%2F"));
    for bad in ["a/b/c/", "a/b", "b/", "a/"] {
        let error = patient(&directories(bad).endpoint).await.list_dirs("a/").await;
        assert!(matches!(error, Err(StoreError::Incomplete { .. })), "{bad}: {error:?}");
    }

    let version = |id: &str, latest: bool| {
        format!(
            "<Version><Key>a/k</Key><VersionId>{id}</VersionId><IsLatest>{latest}</IsLatest><ETag>\"e\"</ETag>\
             <Size>1</Size><LastModified>2026-11-15T00:00:00.000Z</LastModified></Version>"
        )
    };
    let versions =
        |entries: String, more: &str| Reply::new(200, format!("<ListVersionsResult>{entries}{more}</ListVersionsResult>"));
    let last = "<IsTruncated>false</IsTruncated>";
    let more = "<IsTruncated>true</IsTruncated><NextKeyMarker>a/k</NextKeyMarker><NextVersionIdMarker>1</NextVersionIdMarker>";
    let cases = [
        ("twice", vec![versions(version("1", true) + &version("1", false), last)]),
        ("not one version", vec![versions(version("1", false), last)]),
        ("no next one", vec![versions(version("1", true), "<IsTruncated>true</IsTruncated>")]),
        ("same next page", vec![versions(version("2", true), more), versions(version("1", false), more)]),
    ];
    for (words, pages) in cases {
        let mut pages = pages.into_iter();
        let server = Scripted::start(move |_| pages.next().map_or(Answer::Close, Answer::from));
        let error = patient(&server.endpoint).await.list_versions("a/").await.expect_err(words);
        assert!(matches!(error, StoreError::Incomplete { .. }) && error.to_string().contains(words), "{words}: {error}");
    }
    // A page that comes twice says nothing new.
    let twice = more.replace(">1<", ">2<");
    let pages = vec![versions(version("2", true), more), versions(version("2", true), &twice), versions(String::new(), last)];
    let mut pages = pages.into_iter();
    let server = Scripted::start(move |_| pages.next().map_or(Answer::Close, Answer::from));
    assert_eq!(patient(&server.endpoint).await.list_versions("a/").await.expect("one version").len(), 1);

    let mut pages = vec![versions(version("2", true), more), versions(version("1", false), last)].into_iter();
    let server = Scripted::start(move |_| pages.next().map_or(Answer::Close, Answer::from));
    let found = patient(&server.endpoint).await.list_versions("a/").await.expect("two pages");
    assert_eq!(found.iter().map(|v| v.object.version_id.as_deref()).collect::<Vec<_>>(), [Some("2"), Some("1")]);
    assert_eq!(server.requests()[1].parameter("key-marker"), Some("a%2Fk"));
    assert_eq!(server.requests()[1].parameter("version-id-marker"), Some("1"));
}

#[tokio::test]
async fn bodies_that_end_early_or_stand_still_are_errors() {
    let short = Scripted::always(Reply::object("0123456789", "e").cut_after(4));
    let store = patient(&short.endpoint).await;
    let error = store.get("a/k", 100).await.expect_err("it is short");
    assert!(matches!(error, StoreError::Incomplete { .. }), "{error:?}");
    assert!(error.to_string().contains("4 of 10 bytes"), "{error}");
    // Three reads, each of which asks for the rest once: the answer is not of the rest.
    assert_eq!(short.requests().len(), 6, "a small object is read again before it is given up");

    let stalled = Scripted::always(Reply::object("0123456789", "e").stall_after(4));
    let mut reader = impatient(&stalled.endpoint).await.open("a/k", None).await.expect("the head arrives");
    assert_eq!(reader.chunks.next().await.expect("a first piece").expect("some bytes"), "0123");
    let error = reader.chunks.next().await.expect_err("nothing more comes");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("stood still for 2 s"), "{error}");
}

#[tokio::test]
async fn a_body_that_breaks_off_goes_on_from_there_with_the_same_content_only() {
    for (etag, range) in [("e", "bytes 4-9/10"), ("f", "bytes 4-9/10"), ("e", "bytes 5-9/10")] {
        let server = Scripted::start(move |request: &Request| match (request.header("range"), request.header("if-match")) {
            (_, "") => Reply::object("0123456789", "e").cut_after(4),
            asked => {
                assert_eq!(asked, ("bytes=4-9", "\"e\""));
                Reply::new(206, "456789").header("etag", &format!("\"{etag}\"")).header("content-range", range)
            }
        });
        let mut reader = patient(&server.endpoint).await.open("a/k", None).await.expect("the head arrives");
        let mut body = Vec::new();
        let end = loop {
            match reader.chunks.next().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                end => break end,
            }
        };
        if etag == "e" && range.contains(" 4-") {
            assert_eq!((end, body.as_slice()), (Ok(None), &b"0123456789"[..]));
        } else {
            assert!(matches!(end, Err(StoreError::Incomplete { .. })), "{etag} {range}: {end:?}");
            assert_eq!(body, b"0123");
        }
    }
}

#[tokio::test]
async fn a_large_object_is_refused_before_it_is_read() {
    let server = Scripted::always(Reply::object("0123456789", "e").stall_after(0));
    let error = patient(&server.endpoint).await.get("a/k", 9).await.expect_err("it is too large");
    assert_eq!(error, StoreError::TooLarge { key: "a/k".into(), bytes: 10, limit_bytes: 9 });
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(64 << 20).expect("it grows");
    // A listener that accepts and never reads: the sockets fill and the upload stops.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("it is bound"));
    let store = impatient(&endpoint).await;
    let body = Body::File(file.path().to_owned());
    let put = store.put("a/k", &body, &Put::Create);
    let error = tokio::time::timeout(Duration::from_secs(10), put).await.expect("in time").expect_err("nobody reads");
    assert!(error.to_string().contains("stood still for 2 s"), "{error}");
}

#[tokio::test]
async fn conditional_writes_are_sent_once_with_their_condition() {
    let server = Scripted::always(Reply::error(503, "SlowDown", "later"));
    let store = patient(&server.endpoint).await;
    let create_error = store.put("a/k+é", &bytes("x"), &Put::Create).await.expect_err("it is refused");
    let replace_error = store.put("a/k", &bytes("x"), &Put::Replace("e1".into())).await.expect_err("it is refused");
    assert!(matches!((create_error, replace_error), (StoreError::Unavailable { .. }, StoreError::Unavailable { .. })));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].path.as_str(), requests[0].header("if-none-match")), ("/dep/a/k%2B%C3%A9", "*"));
    assert_eq!((requests[1].path.as_str(), requests[1].header("if-match")), ("/dep/a/k", "\"e1\""));
}

#[tokio::test]
async fn a_copy_names_its_source_exactly_and_is_made_once() {
    let mut heads = 0;
    let server = Scripted::start(move |request: &Request| match request.method.as_str() {
        "HEAD" => {
            heads += 1;
            if heads == 1 { Reply::new(404, "") } else { Reply::object("x", "e2") }
        }
        _ => Reply::new(200, "<CopyObjectResult><ETag>\"e2\"</ETag></CopyObjectResult>"),
    });
    let from = carlosctl::store::ObjectMeta {
        key: "a b/c+d%/é".to_owned(),
        bytes: 1,
        etag: "e1".to_owned(),
        last_modified: jiff::Timestamp::UNIX_EPOCH,
        version_id: Some("v 1".to_owned()),
    };
    let copy = patient(&server.endpoint).await.copy(&from, "to").await.expect("it is copied");
    assert_eq!((copy.key.as_str(), copy.etag.as_str()), ("to", "e2"));
    let requests = server.requests();
    let put = requests.iter().find(|request| request.method == "PUT").expect("a copy was asked for");
    assert_eq!(put.header("x-amz-copy-source"), "dep/a%20b/c%2Bd%25/%C3%A9?versionId=v%201");
    assert_eq!(put.header("x-amz-copy-source-if-match"), "\"e1\"");
    assert_eq!(put.header("if-none-match"), "*");

    let refusing = Scripted::start(|request: &Request| match request.method.as_str() {
        "HEAD" => Reply::new(404, ""),
        // S3 begins with 200 and says only in the body that it failed.
        _ => Reply::new(200, "<Error><Code>InternalError</Code><Message>oops</Message></Error>"),
    });
    let error = patient(&refusing.endpoint).await.copy(&from, "to").await.expect_err("it failed");
    assert!(matches!(error, StoreError::Unavailable { .. } | StoreError::Other { .. }), "{error:?}");
    assert_eq!(refusing.requests().iter().filter(|request| request.method == "PUT").count(), 1);
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_read_back() {
    let mut stored = None;
    let server = Scripted::start(move |request: &Request| match (request.method.as_str(), &stored) {
        ("PUT", None) => {
            stored = Some(request.body.clone());
            Answer::Close
        }
        ("PUT", Some(_)) => Reply::error(412, "PreconditionFailed", "it is there").into(),
        (_, Some(body)) => Reply::object(body.clone(), "e1").into(),
        (_, None) => Reply::error(404, "NoSuchKey", "no").into(),
    });
    let store = patient(&server.endpoint).await;
    let published = create(&store, "a/k", &bytes("ours")).await.expect("it was stored");
    assert_eq!((published.etag.as_str(), published.acknowledged), ("e1", false));
    let error = create(&store, "a/k", &bytes("theirs")).await.expect_err("it is there");
    assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_ignores_conditions_is_found_out() {
    let server = liar();
    let store = patient(&server.endpoint).await;
    let found = probe(&store).await.expect("it can be tried");
    assert_eq!((found.create_only, found.replace_if, found.delete_if), (false, false, false));
    let error = found.require(&[carlosctl::store::Capability::CreateOnly]).expect_err("it lies");
    assert!(error.to_string().contains("If-None-Match"), "{error}");
    // And one exact etag is never deleted there, whoever asks.
    let etag = store.put("a/k", &bytes("x"), &Put::Create).await.expect("it is written");
    assert!(matches!(store.delete_exact("a/k", &etag).await, Err(StoreError::Unsupported { .. })));
    store.head("a/k").await.expect("it is still there");
}
