//! The fault proxy itself: what it leaves alone arrives as it was sent, and what it is told to hurt is hurt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use carlosctl::store::{Body, Put, ReadStore, S3Settings, S3Store, StoreError, WriteStore};

use crate::common::proxy::{Action, Kind, Paging, Proxy, Rule};
use crate::common::servers::{Server, seaweedfs, settings};

/// A bucket of a real server behind a proxy, and the same bucket without one.
struct Behind {
    proxy: Proxy,
    hurt: S3Store,
    plain: S3Store,
}

impl Behind {
    async fn new() -> Self {
        let server: &Server = seaweedfs();
        let bucket = server.bucket();
        let proxy = Proxy::start(server, &bucket);
        let credentials = (server.access_key, server.secret_key);
        let patient = S3Settings { timeout: Duration::from_secs(3), ..settings(&proxy.endpoint, &bucket, credentials) };
        let hurt = S3Store::open(patient).await.expect("it opens");
        Self { proxy, hurt, plain: server.store(&bucket).await }
    }

    fn rule(&self, rule: Rule) {
        self.proxy.rules(vec![rule]);
    }

    fn asked(&self, kind: Kind) -> usize {
        self.proxy.seen().iter().filter(|seen| seen.asked.kind == kind).count()
    }
}

fn body(text: &str) -> Body {
    Body::from(text.as_bytes().to_vec())
}

#[tokio::test]
async fn what_it_is_not_told_to_hurt_passes_unchanged() {
    let behind = Behind::new().await;
    let odd = "control/odd/a b+c%d/é.json";
    let etag = behind.hurt.put(odd, &body("{}"), &Put::Create).await.expect("the signature stays valid");
    assert_eq!(behind.plain.head(odd).await.expect("it is there").etag, etag);
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    behind.hurt.put("control/large", &large.clone().into(), &Put::Create).await.expect("it waits to be told to go on");
    assert!(behind.hurt.get("control/large", 1 << 30).await.expect("it is there").body == large);
    let again = behind.hurt.put(odd, &body("x"), &Put::Create).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    behind.hurt.copy(&behind.hurt.head(odd).await.expect("it is there"), "control/copy").await.expect("a copy");
    let keys: Vec<String> =
        behind.hurt.list("control/").await.expect("a listing").into_iter().map(|object| object.key).collect();
    assert_eq!(keys, ["control/copy", "control/large", odd]);
    behind.hurt.delete(odd).await.expect("it goes");
    assert!(behind.plain.head(odd).await.is_err());
    assert!(behind.proxy.seen().iter().any(|seen| seen.asked.kind == Kind::Read && seen.asked.key == "control/large"));
    assert!(behind.proxy.seen().iter().all(|seen| !seen.struck));
}

#[tokio::test]
async fn silence_resets_and_refusals_strike_the_request_they_are_for() {
    let behind = Behind::new().await;
    behind.plain.put("a/k", &body("0123456789"), &Put::Create).await.expect("it is stored");
    behind.rule(Rule::on(&[Kind::Read], Action::BlackHole));
    let begin = Instant::now();
    assert!(matches!(behind.hurt.get("a/k", 99).await, Err(StoreError::Unavailable { .. })));
    assert!(begin.elapsed() >= Duration::from_secs(3));
    behind.hurt.head("a/k").await.expect("nothing else is hurt");

    behind.rule(Rule::on(&[Kind::Read], Action::ResetMidBody).nth(2));
    for number in 1..=3 {
        behind.hurt.get("a/k", 99).await.expect("one that breaks off is gone on with");
        assert_eq!(behind.asked(Kind::Read), if number == 1 { 1 } else { number + 1 });
    }
    behind.rule(Rule::on(&[Kind::Read], Action::ResetMidBody));
    let mut second = behind.hurt.open("a/k", None).await.expect("its head arrives");
    let mut torn = second.chunks.next().await;
    while matches!(torn, Ok(Some(_))) {
        torn = second.chunks.next().await;
    }
    assert!(matches!(torn, Err(StoreError::Incomplete { .. })), "{torn:?}");

    behind.rule(Rule::on(&[Kind::Read], Action::ResetBefore).nth(1));
    behind.hurt.get("a/k", 99).await.expect("it is asked again");
    assert_eq!(behind.asked(Kind::Read), 2);

    behind.rule(Rule::on(&[Kind::Put], Action::ResetMidBody));
    assert!(matches!(behind.hurt.put("a/l", &body("x"), &Put::Create).await, Err(StoreError::Unavailable { .. })));
    behind.plain.head("a/l").await.expect("only the answer was lost");

    behind.rule(Rule::on(&[], Action::Answer(403, "AccessDenied", &[])).of("a/k"));
    assert!(matches!(behind.hurt.get("a/k", 99).await, Err(StoreError::Denied { .. })));
    behind.hurt.get("a/l", 99).await.expect("another key");
    behind.rule(Rule::on(&[Kind::Read], Action::Delay(Duration::from_millis(300))));
    let begin = Instant::now();
    behind.hurt.get("a/k", 99).await.expect("late, and there");
    assert!(begin.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn answers_are_rewritten() {
    let behind = Behind::new().await;
    let etag = behind.plain.put("a/k", &body("0123456789"), &Put::Create).await.expect("it is stored");
    behind.rule(Rule::on(&[], Action::WrongEtag));
    assert_ne!(behind.hurt.get("a/k", 99).await.expect("it is there").meta.etag, etag);
    behind.rule(Rule::on(&[], Action::Truncate));
    assert_eq!(behind.hurt.get("a/k", 99).await.expect("nothing looks wrong").body, "01234");
    assert!(matches!(behind.hurt.list("a/").await, Err(StoreError::Incomplete { .. })));
    behind.rule(Rule::on(&[], Action::Clock(3600)));
    behind.hurt.head("a/k").await.expect("it is there");
    let ahead = behind.hurt.clock_ahead_seconds().expect("a clock");
    assert!((3590..3610).contains(&ahead), "{ahead}");
    behind.rule(Rule::on(&[Kind::Read], Action::Meddle(Arc::new(|_| Some(b"other".to_vec())))));
    assert_eq!(behind.hurt.get("a/k", 99).await.expect("it is there").body, "other");
    assert_eq!(behind.plain.get("a/k", 99).await.expect("it is there").body, "other");
    assert_eq!(behind.proxy.meddled(), ["a/k"]);
}

#[tokio::test]
async fn conditions_can_be_taken_away() {
    let behind = Behind::new().await;
    behind.plain.put("a/k", &body("theirs"), &Put::Create).await.expect("it is stored");
    behind.rule(Rule::on(&Kind::WRITES, Action::Unconditional));
    behind.hurt.put("a/k", &body("ours"), &Put::Create).await.expect("the server takes it");
    assert_eq!(behind.plain.get("a/k", 99).await.expect("it is there").body, "ours");
    behind.hurt.put("a/k", &body("more"), &Put::Replace("stale".into())).await.expect("the server takes it");
    let mut from = behind.plain.head("a/k").await.expect("it is there");
    from.etag = "stale".to_owned();
    behind.hurt.copy(&from, "a/l").await.expect("the server takes it");
    assert_eq!(behind.plain.get("a/l", 99).await.expect("it is there").body, "more");
    assert!(matches!(behind.hurt.delete_exact("a/k", "x").await, Err(StoreError::Unsupported { .. })), "it is found out");
    behind.plain.head("a/k").await.expect("and nothing was deleted");
}

#[tokio::test]
async fn listings_come_in_pages_that_are_right_or_wrong() {
    let behind = Behind::new().await;
    for number in 0..7 {
        behind.plain.put(&format!("a/{number}/k"), &body("x"), &Put::Create).await.expect("it is stored");
    }
    let whole = behind.plain.list("a/").await.expect("a listing");
    for paging in [Paging::Whole, Paging::Duplicate, Paging::Unsorted] {
        behind.rule(Rule::on(&Kind::LISTS, Action::Pages(paging)));
        assert_eq!(behind.hurt.list("a/").await.expect("a listing"), whole, "{paging:?}");
        assert!(behind.asked(Kind::List) >= 3, "{paging:?}");
        assert_eq!(behind.hurt.list_dirs("a/").await.expect("a listing").len(), 7, "{paging:?}");
        assert_eq!(behind.hurt.list("b/").await.expect("nothing there"), []);
    }
    for paging in [Paging::Missing, Paging::Looping, Paging::Endless, Paging::Failing] {
        behind.rule(Rule::on(&Kind::LISTS, Action::Pages(paging)));
        let errors = [behind.hurt.list("a/").await.map(drop), behind.hurt.list_dirs("a/").await.map(drop)];
        for error in errors {
            assert!(
                matches!(error, Err(StoreError::Incomplete { .. } | StoreError::Unavailable { .. })),
                "{paging:?} {error:?}"
            );
        }
    }
    behind.rule(Rule::on(&Kind::LISTS, Action::Pages(Paging::Whole)));
    assert_eq!(behind.hurt.list_versions("a/").await.expect("a listing").len(), 7);
    assert_eq!(behind.asked(Kind::Versions), 3);
    behind.rule(Rule::on(&Kind::LISTS, Action::Pages(Paging::Looping)));
    assert!(matches!(behind.hurt.list_versions("a/").await, Err(StoreError::Incomplete { .. })));
}
