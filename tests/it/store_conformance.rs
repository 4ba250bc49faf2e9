//! One suite for every store: what formats.md section 2 promises, whoever keeps it.

use std::collections::BTreeSet;

use bytes::Bytes;
use carlosctl::store::{
    Body, Capability, DirectoryStore, Expiry, ExpiryRule, MemoryStore, Powers, Put, ReadStore, StoreError, WriteStore, create,
    probe, replace,
};
use futures_util::future::join_all;

use crate::common::servers;

/// What stores may differ in.
#[derive(Clone, Copy, PartialEq)]
struct Habits {
    /// Whether versions and delete markers are kept.
    versions: bool,
    /// Whether any text is a key. SeaweedFS has no name that is key and prefix at once, and stores `\\` as `/`; a directory
    /// has no such names either.
    any_key: bool,
    /// Whether whoever may write may be forbidden to delete, and rules may remove objects.
    policies: bool,
    /// Whether reading what was deleted is told from reading what never was.
    tells_deleted: bool,
}

async fn conformance(store: &dyn WriteStore, habits: Habits) {
    reading(store).await;
    creating_and_replacing(store).await;
    listing(store).await;
    many_objects(store).await;
    odd_keys(store, habits).await;
    copying(store).await;
    deleting(store).await;
    if habits.versions {
        versions(store, habits).await;
    }
    policies(store, habits).await;
    let found = probe(store).await.expect("it can be tried");
    let needed = [Capability::CreateOnly, Capability::ReplaceIf, Capability::DeleteIf];
    assert_eq!(found.require(&needed), Ok(()));
    assert_eq!(keys(store, "control/carlosctl/probe/").await, Vec::<String>::new());
    assert!(store.clock_ahead_seconds().expect("it has a clock").abs() < 60);
}

fn body(text: &str) -> Body {
    Body::from(text.as_bytes().to_vec())
}

async fn put(store: &dyn WriteStore, key: &str, text: &str) -> String {
    store.put(key, &body(text), &Put::Create).await.unwrap_or_else(|error| panic!("{key}: {error}"))
}

async fn keys(store: &dyn WriteStore, prefix: &str) -> Vec<String> {
    let objects = store.list(prefix).await.expect("a listing");
    objects.into_iter().map(|object| object.key).collect()
}

async fn text(store: &dyn WriteStore, key: &str) -> Bytes {
    store.get(key, 1 << 20).await.unwrap_or_else(|error| panic!("{key}: {error}")).body
}

async fn reading(store: &dyn WriteStore) {
    let missing = Err(StoreError::NotFound { key: "read/none".into() });
    assert_eq!(store.get("read/none", 9).await, missing.clone());
    assert_eq!(store.head("read/none").await.map(|_| ()), missing.clone().map(|_| ()));
    assert_eq!(store.open("read/none", None).await.map(|_| ()), missing.map(|_| ()));

    let etag = put(store, "read/k", "0123456789").await;
    let object = store.get("read/k", 10).await.expect("exactly the limit");
    assert_eq!((object.body.as_ref(), object.meta.bytes), (&b"0123456789"[..], 10));
    let too_large = StoreError::TooLarge { key: "read/k".into(), bytes: 10, limit_bytes: 9 };
    assert_eq!(store.get("read/k", 9).await, Err(too_large));
    let head = store.head("read/k").await.expect("it is there");
    let listed = &store.list("read/").await.expect("a listing")[0];
    for meta in [&object.meta, &head, listed] {
        assert_eq!((meta.key.as_str(), meta.bytes, &meta.etag), ("read/k", 10, &etag));
        assert!(!meta.etag.contains('"'), "{meta:?}");
    }
    put(store, "read/empty", "").await;
    assert_eq!(text(store, "read/empty").await, "");
    let mut reader = store.open("read/empty", None).await.expect("it is there");
    assert_eq!(reader.chunks.next().await.expect("its end"), None);
}

async fn creating_and_replacing(store: &dyn WriteStore) {
    let first = put(store, "cas/k", "first").await;
    let conflict = |result: Result<String, StoreError>| matches!(result, Err(StoreError::Conflict { .. }));
    assert!(conflict(store.put("cas/k", &body("again"), &Put::Create).await));
    assert_eq!(text(store, "cas/k").await, "first");
    let second = store.put("cas/k", &body("second"), &Put::Replace(first.clone())).await.expect("the etag is right");
    assert_ne!(first, second);
    assert!(conflict(store.put("cas/k", &body("third"), &Put::Replace(first)).await), "the etag is stale");
    assert!(conflict(store.put("cas/none", &body("x"), &Put::Replace(second.clone())).await), "nothing is there");
    assert_eq!(text(store, "cas/k").await, "second");
    assert!(matches!(store.get("cas/none", 9).await, Err(StoreError::NotFound { .. })));

    assert!(matches!(create(store, "cas/k", &body("x")).await, Err(StoreError::Conflict { .. })));
    let published = replace(store, "cas/k", &body("third"), &second).await.expect("the etag is right");
    assert!(published.acknowledged);
    assert_eq!(store.head("cas/k").await.expect("it is there").etag, published.etag);
    let same = put(store, "cas/same", "third").await;
    assert_eq!(same, published.etag, "equal content has an equal etag: current and generation are compared by it");
}

async fn listing(store: &dyn WriteStore) {
    for key in ["dir/edge-1/a", "dir/edge-10/a", "dir/edge-1/deep/er/b", "dir/plain", "dirty/x"] {
        put(store, key, key).await;
    }
    assert_eq!(keys(store, "dir/").await, ["dir/edge-1/a", "dir/edge-1/deep/er/b", "dir/edge-10/a", "dir/plain"]);
    assert_eq!(keys(store, "dir/edge-1/").await, ["dir/edge-1/a", "dir/edge-1/deep/er/b"]);
    assert_eq!(keys(store, "nowhere/").await, Vec::<String>::new());
    assert_eq!(store.list_dirs("dir/").await.expect("a listing"), ["dir/edge-1/", "dir/edge-10/"]);
    assert_eq!(store.list_dirs("dir/edge-1/").await.expect("a listing"), ["dir/edge-1/deep/"]);
    assert_eq!(store.list_dirs("nowhere/").await.expect("a listing"), Vec::<String>::new());
    assert!(store.list_dirs("").await.expect("a listing").contains(&"dirty/".to_owned()));
    assert_eq!(keys(store, "dir/plain").await, ["dir/plain"], "a whole key is listed alone");
    assert_eq!(keys(store, "dir/edge-1").await, Vec::<String>::new(), "half a name never matches");
    assert!(matches!(store.list_dirs("dir").await, Err(StoreError::BadKey { .. })));
}

/// More than a page, and in byte order: `-` before `/` before digits, as `edge`, `edge-1` and `edge/1` would have it.
async fn many_objects(store: &dyn WriteStore) {
    let expected: BTreeSet<String> = (0..1005).map(|n| format!("many/{}{n:04}/k", ["a-", "a", "a."][n % 3])).collect();
    let writes: Vec<&String> = expected.iter().collect();
    for batch in writes.chunks(16) {
        join_all(batch.iter().map(|key| put(store, key, "x"))).await;
    }
    assert_eq!(keys(store, "many/").await, Vec::from_iter(expected.clone()));
    let directories: Vec<String> = expected.iter().map(|key| key[..key.len() - 1].to_owned()).collect();
    assert_eq!(store.list_dirs("many/").await.expect("a listing"), directories);
}

async fn odd_keys(store: &dyn WriteStore, habits: Habits) {
    let long = format!("odd/{}", [&"x".repeat(250) as &str; 4].join("/"))[..1000].to_owned();
    let odd = ["plus+plus", "a b", "100%", "%2F", "한글-é", "a;b&c=d?e#f", "quote'\"<>", "~tilde", "..dots", "@:,$"];
    let mut expected: BTreeSet<String> = odd.iter().map(|name| format!("odd/{name}/{name}.json")).collect();
    expected.insert(long);
    if habits.any_key {
        expected.extend(["odd/both", "odd/both/below", "odd/back\\slash"].map(str::to_owned));
    }
    for key in &expected {
        let etag = put(store, key, key).await;
        assert_eq!(text(store, key).await, key.as_bytes(), "{key}");
        assert_eq!(store.head(key).await.expect("it is there").etag, etag, "{key}");
    }
    assert_eq!(keys(store, "odd/").await, Vec::from_iter(expected.clone()));
    for name in odd {
        assert_eq!(keys(store, &format!("odd/{name}/")).await, [format!("odd/{name}/{name}.json")]);
    }
    for key in ["", "nul\0", &"k".repeat(1025)] {
        for result in [
            store.get(key, 9).await.map(|_| ()),
            store.head(key).await.map(|_| ()),
            store.open(key, None).await.map(|_| ()),
            store.put(key, &body("x"), &Put::Create).await.map(|_| ()),
            store.delete(key).await,
            store.delete_exact(key, "e").await,
        ] {
            assert!(matches!(result, Err(StoreError::BadKey { .. })), "{key:?}: {result:?}");
        }
    }
    for key in expected {
        store.delete(&key).await.expect("it can be deleted");
    }
    assert_eq!(keys(store, "odd/").await, Vec::<String>::new());
}

async fn copying(store: &dyn WriteStore) {
    put(store, "copy/from + %é", "content").await;
    let from = store.head("copy/from + %é").await.expect("it is there");
    let copy = store.copy(&from, "copy/deep/to + %").await.expect("nothing is there yet");
    assert_eq!((copy.key.as_str(), copy.bytes, &copy.etag), ("copy/deep/to + %", 7, &from.etag));
    assert_eq!(text(store, "copy/deep/to + %").await, "content");
    put(store, "copy/taken", "theirs").await;
    assert!(matches!(store.copy(&from, "copy/taken").await, Err(StoreError::Conflict { .. })));
    assert_eq!(text(store, "copy/taken").await, "theirs");
    store.put("copy/from + %é", &body("changed"), &Put::Replace(from.etag.clone())).await.expect("the etag is right");
    assert!(matches!(store.copy(&from, "copy/other").await, Err(StoreError::Conflict { .. })), "the source changed");
    assert!(store.head("copy/other").await.expect_err("nothing was copied").is_missing());
    store.delete("copy/from + %é").await.expect("it can be deleted");
    assert!(store.copy(&from, "copy/other").await.is_err(), "the source is gone");
}

async fn deleting(store: &dyn WriteStore) {
    let etag = put(store, "del/sub/k", "x").await;
    store.delete("del/sub/k").await.expect("it is there");
    store.delete("del/sub/k").await.expect("a second time is done already");
    store.delete("del/never/was").await.expect("what never was is gone");
    assert!(store.get("del/sub/k", 9).await.expect_err("it is gone").is_missing());
    assert_eq!(keys(store, "del/").await, Vec::<String>::new());

    assert!(store.delete_exact("del/none", &etag).await.expect_err("it is not there").is_missing());
    let old = put(store, "del/exact", "old").await;
    let new = store.put("del/exact", &body("new"), &Put::Replace(old.clone())).await.expect("the etag is right");
    assert!(matches!(store.delete_exact("del/exact", &old).await, Err(StoreError::Conflict { .. })));
    assert_eq!(text(store, "del/exact").await, "new");
    store.delete_exact("del/exact", &new).await.expect("the etag is right");
    assert!(store.head("del/exact").await.expect_err("it is gone").is_missing());
}

async fn versions(store: &dyn WriteStore, habits: Habits) {
    let first = put(store, "ver/k", "first").await;
    store.put("ver/k", &body("second"), &Put::Replace(first.clone())).await.expect("the etag is right");
    put(store, "ver/other", "x").await;
    store.delete("ver/k").await.expect("it is there");
    for error in [store.get("ver/k", 9).await.map(|_| ()), store.head("ver/k").await.map(|_| ())] {
        let error = error.expect_err("it is gone");
        assert!(error.is_missing(), "{error:?}");
        assert_eq!(matches!(error, StoreError::Deleted { .. }), habits.tells_deleted, "{error:?}");
    }

    let found = store.list_versions("ver/").await.expect("they are kept");
    let summary: Vec<_> =
        found.iter().map(|v| (v.object.key.as_str(), v.object.bytes, v.is_latest, v.is_delete_marker)).collect();
    // The times of the first two may be in one second, and then nothing says which came first.
    assert_eq!(summary[0], ("ver/k", 0, true, true));
    assert_eq!(
        BTreeSet::from([summary[1], summary[2]]),
        BTreeSet::from([("ver/k", 5, false, false), ("ver/k", 6, false, false)])
    );
    assert_eq!(summary[3..], [("ver/other", 1, true, false)]);

    let old = found.iter().find(|version| version.object.bytes == 5).expect("the first version").object.clone();
    let mut reader = store.open("ver/k", old.version_id.as_deref()).await.expect("it can be read");
    assert_eq!(reader.chunks.next().await.expect("a piece").expect("some bytes"), "first");
    let copy = store.copy(&old, "ver/rescued").await.expect("a version can be copied");
    assert_eq!((text(store, "ver/rescued").await, &copy.etag), (Bytes::from("first"), &first));
    put(store, "ver/k", "third").await;
    assert_eq!(text(store, "ver/k").await, "third", "a create is not refused by a delete marker");
}

/// No rules, and every power; and asking for both leaves nothing behind, not even a delete marker.
async fn policies(store: &dyn WriteStore, habits: Habits) {
    let (rules, powers) = (store.expiry_rules().await, store.powers("pow/", habits.versions).await);
    if !habits.policies {
        assert!(matches!(rules, Err(StoreError::Unsupported { .. })), "{rules:?}");
        assert!(matches!(powers, Err(StoreError::Unsupported { .. })), "{powers:?}");
        return;
    }
    assert_eq!(rules, Ok(Vec::new()));
    let all = Powers { overwrite: true, delete: true, delete_versions: habits.versions.then_some(true) };
    assert_eq!(powers, Ok(all));
    assert_eq!(keys(store, "pow/").await, Vec::<String>::new());
    if habits.versions {
        assert_eq!(store.list_versions("pow/").await, Ok(Vec::new()));
    }
}

/// Fifty create one key and fifty replace one etag: one of each succeeds, and what it wrote is there.
async fn race(store: &dyn WriteStore, writers: usize) {
    let attempt = |n: usize, condition: Put| async move {
        let outcome = store.put("race/k", &body(&n.to_string()), &condition).await;
        match outcome {
            Ok(_) => Some(n),
            Err(StoreError::Conflict { .. } | StoreError::Busy { .. }) => None,
            Err(error) => panic!("writer {n}: {error}"),
        }
    };
    for round in 0..2 {
        let condition = match round {
            0 => Put::Create,
            _ => Put::Replace(store.head("race/k").await.expect("the first round had a winner").etag),
        };
        let winners: Vec<usize> =
            join_all((0..writers).map(|n| attempt(n + round * 100, condition.clone()))).await.into_iter().flatten().collect();
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        assert_eq!(text(store, "race/k").await, winners[0].to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_conforms() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = DirectoryStore::open(directory.path()).expect("it opens");
    conformance(&store, Habits { versions: false, any_key: false, policies: false, tells_deleted: false }).await;
    race(&store, 50).await;
    assert!(matches!(store.list_versions("a/").await, Err(StoreError::Unsupported { .. })));
}

#[tokio::test]
async fn memory_conforms() {
    conformance(&MemoryStore::new("plain"), Habits { versions: false, any_key: true, policies: true, tells_deleted: true })
        .await;
    let versioned = MemoryStore::versioned("versioned");
    conformance(&versioned, Habits { versions: true, any_key: true, policies: true, tells_deleted: true }).await;
    race(&versioned, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seaweedfs_conforms() {
    let server = servers::seaweedfs();
    let store = server.store(&server.versioned_bucket()).await;
    conformance(&store, Habits { versions: true, any_key: false, policies: true, tells_deleted: false }).await;
    // Its losers wait for a lock in whole seconds, so there are fewer of them.
    race(&store, 10).await;
    let store = server.store(&server.bucket()).await;
    conformance(&store, Habits { versions: false, any_key: false, policies: true, tells_deleted: false }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ministack_conforms() {
    let server = servers::ministack();
    let store = server.store(&server.versioned_bucket()).await;
    conformance(&store, Habits { versions: true, any_key: true, policies: true, tells_deleted: true }).await;
    race(&store, 50).await;
    let store = server.store(&server.bucket()).await;
    conformance(&store, Habits { versions: false, any_key: true, policies: true, tells_deleted: true }).await;
}

#[tokio::test]
async fn a_bucket_that_never_kept_versions_has_one_of_each() {
    for server in [servers::seaweedfs(), servers::ministack()] {
        let store = server.store(&server.bucket()).await;
        put(&store, "ver/k", "only").await;
        let found = store.list_versions("ver/").await.expect("they are listed");
        assert_eq!(found.len(), 1, "{}", server.endpoint);
        assert!(found[0].is_latest && !found[0].is_delete_marker);
        let id = found[0].object.version_id.clone();
        assert_eq!(id.as_deref(), Some("null"));
        let mut reader = store.open("ver/k", id.as_deref()).await.expect("it can be read by that name");
        assert_eq!(reader.chunks.next().await.expect("a piece").expect("some bytes"), "only");
    }
}

#[tokio::test]
async fn a_bucket_that_expires_objects_says_so() {
    for server in [servers::seaweedfs(), servers::ministack()] {
        let bucket = server.versioned_bucket();
        let store = server.store(&bucket).await;
        assert_eq!(store.expiry_rules().await, Ok(Vec::new()), "{}", server.endpoint);
        server.expire(&bucket, "control/carlosctl/drills/", 400);
        let rules = store.expiry_rules().await.expect("they are told");
        let [ExpiryRule { prefix, narrowed: false, effects, .. }] = rules.as_slice() else { panic!("{rules:?}") };
        assert_eq!(prefix, "control/carlosctl/drills/");
        assert!(effects.contains(&Expiry::Current { days: Some(400) }), "{rules:?}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_conditions_is_found_out() {
    let server = servers::rclone();
    let store = server.store(&server.bucket()).await;
    let found = probe(&store).await.expect("it can be tried");
    assert!(!found.create_only && !found.replace_if && !found.delete_if, "{found:?}");
    assert!(found.require(&[Capability::CreateOnly]).is_err());
}

#[tokio::test]
async fn who_may_only_read_is_told_so() {
    let server = servers::seaweedfs();
    let bucket = server.bucket();
    put(&server.store(&bucket).await, "k", "x").await;
    let as_identity = |keys: (&str, &str)| carlosctl::store::S3Store::open(servers::settings(&server.endpoint, &bucket, keys));
    let reader = as_identity(server.read_only.expect("it knows one")).await.expect("it opens");
    assert_eq!(text(&reader, "k").await, "x");
    let nothing = Powers { overwrite: false, delete: false, delete_versions: Some(false) };
    assert_eq!(reader.powers("control/registry-snapshot/", true).await, Ok(nothing));
    let refused = reader.put("new", &body("x"), &Put::Create).await.expect_err("it may only read");
    assert!(matches!(refused, StoreError::Denied { .. }), "{refused:?}");
    assert!(matches!(reader.delete("k").await, Err(StoreError::Denied { .. })));
    assert!(matches!(probe(&reader).await, Err(StoreError::Denied { .. })));

    let wrong = as_identity(("testkey", "wrong")).await.expect("it opens");
    assert!(matches!(wrong.get("k", 9).await, Err(StoreError::Credentials { .. })));
    let unknown = as_identity(("nobody", "x")).await.expect("it opens");
    assert!(matches!(unknown.list("").await, Err(StoreError::Credentials { .. })));
    let elsewhere = server.store("no-such-bucket").await;
    assert!(matches!(elsewhere.list("").await, Err(StoreError::NoStore { .. })));
    assert!(matches!(elsewhere.head("k").await, Err(StoreError::NoStore { .. })));
}
