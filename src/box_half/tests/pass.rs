//! One pass as the seed makes it.

use super::bench::{Box_, at, census_of, fingerprint_of};
use crate::box_half::{Line, Memory, Outcome, PassError};
use crate::demo::registry::busy_box;
use crate::platform::{Sidecar, Stamp, keys};
use crate::registry::FINGERPRINT_PREFIX;
use crate::store::{Effect, Fault, FaultyStore, MemoryStore, Operation, ReadStore, StoreError, WriteStore};

async fn generations(store: &dyn WriteStore, label: &str) -> Vec<String> {
    let label = label.parse().expect("a label");
    let listed = store.list(&keys::generations(&label)).await.expect("a listing");
    listed.iter().map(|object| object.key.rsplit('/').next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_pass_publishes_a_generation_a_current_and_a_sidecar_of_one_content() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(200, "v1"));
    let Outcome::Published(published) = edge.pass(&store, 0).await.expect("it publishes") else { panic!("unchanged") };
    assert_eq!(published.generation, "control/registry-snapshots/edge-a1/20261130T100000Z.db");
    let generation = store.get(&published.generation, u64::MAX).await.expect("a generation");
    let current = store.get("control/registry-snapshot/edge-a1.db", u64::MAX).await.expect("current");
    assert_eq!(generation.body, current.body);
    let sidecar = store.get("control/registry-snapshot/edge-a1.json", 4096).await.expect("a sidecar").body;
    assert_eq!(
        String::from_utf8_lossy(&sidecar),
        format!(
            r#"{{"v":1,"box":"edge-a1","fingerprint":"{}","created_at":"2026-11-30T10:00:00Z","bytes":{}}}"#,
            published.fingerprint,
            current.body.len()
        )
    );
    assert!(published.fingerprint.starts_with(FINGERPRINT_PREFIX));
    assert_eq!(fingerprint_of(&current.body), published.fingerprint);
    edge.is_healthy(&store).await;
    assert_eq!(edge.said(), []);
}

#[tokio::test]
async fn an_unchanged_registry_asks_nothing_of_the_store() {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    let calls = store.calls().len();
    for minute in 5..10 {
        assert_eq!(edge.pass(&store, minute).await, Ok(Outcome::Unchanged { pruned: 0 }));
    }
    assert_eq!(store.calls().len(), calls);
    // A new process starts where the bucket is.
    edge.restart(&store).await;
    assert_eq!(edge.pass(&store, 20).await, Ok(Outcome::Unchanged { pruned: 0 }));
    assert_eq!(generations(&store, "edge-a1").await.len(), 1);
}

#[tokio::test]
async fn a_change_of_one_box_scoped_column_alone_is_published() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    for (minute, column) in
        (1..).zip(["caps", "unit", "replication", "environment", "account", "canary", "provisioned", "status"])
    {
        edge.edit(&format!("UPDATE routes SET {column} = 'changed' WHERE rowid = 3"));
        edge.publish(&store, minute).await;
        edge.is_healthy(&store).await;
    }
}

#[tokio::test]
async fn what_another_process_has_committed_is_published_and_nothing_else() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    let writer = rusqlite::Connection::open(edge.path()).expect("it opens");
    writer.execute_batch("UPDATE routes SET caps = 'committed'; BEGIN IMMEDIATE; DELETE FROM routes").expect("it writes");
    edge.publish(&store, 0).await;
    let current = store.get("control/registry-snapshot/edge-a1.db", u64::MAX).await.expect("current");
    let census = census_of(&current.body);
    assert_eq!((census.routes, census.box_scoped["caps"]), (20, 20));
}

#[tokio::test]
async fn eight_generations_stay_and_the_smallest_stamps_go() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v0"));
    for minute in 0..11 {
        edge.edit(&format!("UPDATE routes SET version = 'v{minute}'"));
        edge.publish(&store, minute).await;
    }
    let kept: Vec<String> = (3..11).map(|minute| format!("{}.db", Stamp::at(at(minute)))).collect();
    assert_eq!(generations(&store, "edge-a1").await, kept);
}

#[tokio::test]
async fn a_box_that_may_not_delete_keeps_trying_and_prunes_when_it_may() {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v0"));
    for minute in 0..8 {
        edge.edit(&format!("UPDATE routes SET version = 'v{minute}'"));
        edge.publish(&store, minute).await;
    }
    edge.edit("UPDATE routes SET version = 'v8'");
    let denied = Effect::Fail(StoreError::Denied { subject: "k".into(), detail: "no".into() });
    store.add(Fault::new(denied).on(Operation::Delete).key("registry-snapshots/").times(2));
    for minute in 8..10 {
        let Err(PassError::Failed(error)) = edge.pass(&store, minute).await else { panic!("it pruned") };
        assert!(error.message.starts_with("snapshot: prune "), "{}", error.message);
    }
    // Nothing was remembered, so the whole pass was made again each time (seed).
    assert_eq!(generations(&store, "edge-a1").await.len(), 10);
    edge.publish(&store, 10).await;
    edge.is_healthy(&store).await;
}

#[tokio::test]
async fn a_clock_that_stepped_back_keeps_the_older_generation_and_publishes_the_newer_content() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    let first = store.get(&keys::generation(&edge.label, Stamp::at(at(0))), u64::MAX).await.expect("a generation");
    edge.edit("UPDATE routes SET version = 'v2'");
    let Outcome::Published(published) = edge.pass(&store, 0).await.expect("it publishes") else { panic!("unchanged") };
    assert!(published.generation_existed);
    let kept = store.get(&published.generation, u64::MAX).await.expect("a generation");
    assert_eq!(kept.body, first.body);
    let current = store.get(&keys::current(&edge.label), u64::MAX).await.expect("current");
    assert_eq!(fingerprint_of(&current.body), edge.fingerprint());
}

#[tokio::test]
async fn a_clock_that_is_ahead_is_said_and_current_is_the_newest_all_the_same() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    store.set_clock_ahead_seconds(Some(-86_400));
    for minute in 0..9 {
        edge.edit(&format!("UPDATE routes SET version = 'v{minute}'"));
        edge.publish(&store, 24 * 60 + minute).await;
    }
    assert!(
        edge.said().iter().all(|line| matches!(line, Line::Warning(text) if text.contains("86400 s ahead of the store's"))),
    );
    store.set_clock_ahead_seconds(Some(0));
    edge.edit("UPDATE routes SET version = 'later'");
    edge.publish(&store, 60).await;
    assert_eq!(edge.said(), []);
    // The seed's rule: the future stamps sort last, so the newest generation is the first to go. Current is what counts.
    assert!(!generations(&store, "edge-a1").await.contains(&format!("{}.db", Stamp::at(at(60)))));
    let current = store.get(&keys::current(&edge.label), u64::MAX).await.expect("current");
    assert_eq!(fingerprint_of(&current.body), edge.fingerprint());
}

#[tokio::test]
async fn a_sidecar_that_cannot_be_read_fails_nothing() {
    for bad in ["", "{", "[]", r#"{"v":2,"box":"x"}"#, "\u{feff}{}"] {
        let store = MemoryStore::new("dep");
        let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
        store.insert("control/registry-snapshot/edge-a1.json", bad.to_owned());
        edge.restart(&store).await;
        edge.publish(&store, 0).await;
        edge.is_healthy(&store).await;
    }
}

#[tokio::test]
async fn what_a_killed_pass_left_is_finished_without_a_change() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    let current = store.get(&keys::current(&edge.label), u64::MAX).await.expect("current").body;
    // Killed before the pruning.
    for minute in 1..11 {
        store.insert(&keys::generation(&edge.label, Stamp::at(at(-minute))), current.clone());
    }
    edge.restart(&store).await;
    assert_eq!(edge.pass(&store, 5).await, Ok(Outcome::Unchanged { pruned: 3 }));
    // Killed between current and sidecar, and the registry has gone back since.
    store.insert(&keys::current(&edge.label), vec![0; 10]);
    edge.restart(&store).await;
    edge.publish(&store, 6).await;
    edge.is_healthy(&store).await;
}

#[tokio::test]
async fn a_file_that_is_no_registry_is_never_published() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    edge.edit("ALTER TABLE routes RENAME TO something_else");
    let Err(PassError::Failed(error)) = edge.pass(&store, 5).await else { panic!("published") };
    assert!(error.message.starts_with("snapshot: vacuum: not a registry"), "{}", error.message);
    std::fs::remove_file(edge.path()).expect("removed");
    let Err(PassError::Failed(error)) = edge.pass(&store, 6).await else { panic!("published") };
    assert!(error.message.starts_with("snapshot: fingerprint: "), "{}", error.message);
    assert_eq!(generations(&store, "edge-a1").await.len(), 1);
}

#[tokio::test]
async fn boxes_that_share_a_bucket_never_meet() {
    let store = MemoryStore::new("dep");
    let (mut one, mut ten) = (Box_::new("edge-1", &busy_box(20, "v1")), Box_::new("edge-10", &busy_box(30, "v1")));
    for minute in 0..12 {
        one.edit(&format!("UPDATE routes SET version = 'one{minute}'"));
        ten.edit(&format!("UPDATE routes SET version = 'ten{minute}'"));
        let (one, ten) = tokio::join!(one.pass(&store, minute), ten.pass(&store, minute));
        assert!(one.is_ok() && ten.is_ok());
    }
    one.is_healthy(&store).await;
    ten.is_healthy(&store).await;
    assert_eq!(generations(&store, "edge-1").await.len() + generations(&store, "edge-10").await.len(), 16);
}

#[tokio::test]
async fn a_restarted_loop_remembers_a_fingerprint_of_another_writer_too() {
    let store = MemoryStore::new("dep");
    let edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    let sidecar = Sidecar { label: "edge-a1".into(), fingerprint: edge.fingerprint(), created_at: None, bytes: 7 };
    store.insert(&keys::sidecar(&edge.label), sidecar.to_json().expect("json"));
    store.insert(&keys::current(&edge.label), vec![0; 7]);
    let mut edge = edge;
    edge.memory = Memory::seed(&store, &edge.label).await;
    assert_eq!(edge.pass(&store, 0).await, Ok(Outcome::Unchanged { pruned: 0 }));
}
