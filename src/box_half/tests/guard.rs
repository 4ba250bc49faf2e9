//! A hold first: nothing that has routes is overwritten before it is held.

use super::bench::{Box_, at, census_of};
use crate::box_half::{Line, Outcome, PassError, Published};
use crate::demo::registry::{busy_box, snapshot_bytes};
use crate::platform::{Sidecar, keys};
use crate::store::{Effect, Fault, FaultyStore, MemoryStore, Operation, ReadStore, StoreError};

/// A bucket in which the dead box has published 200 routes, eight times.
async fn lived() -> (FaultyStore<MemoryStore>, Vec<u8>) {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut dead = Box_::new("edge-a1", &busy_box(200, "v1"));
    for minute in 0..8 {
        dead.edit(&format!("UPDATE routes SET version = 'v{minute}'"));
        dead.publish(&store, minute).await;
    }
    let current = store.get("control/registry-snapshot/edge-a1.db", u64::MAX).await.expect("current");
    (store, current.body.to_vec())
}

async fn held(store: &dyn ReadStore, published: &Published) -> Vec<u8> {
    let stamp = published.held.expect("a hold");
    let key = format!("{}current.db", keys::hold(&"edge-a1".parse().expect("a label"), stamp));
    let seal = format!("control/carlosctl/holds/edge-a1/{stamp}/hold.json");
    store.head(&seal).await.expect("the hold is sealed");
    store.get(&key, u64::MAX).await.expect("the held current").body.to_vec()
}

fn published(outcome: Result<Outcome, PassError>) -> Published {
    match outcome.expect("it publishes") {
        Outcome::Published(published) => published,
        unchanged @ Outcome::Unchanged { .. } => panic!("{unchanged:?}"),
    }
}

/// The runbook's hazard: a rebuilt standby of the same label, whose agent starts before anything was restored.
#[tokio::test]
async fn an_unrestored_standby_of_the_same_label_loses_nothing() {
    let (store, good) = lived().await;
    let mut standby = Box_::new("edge-a1", &[]);
    standby.restart(&store).await;
    let first = published(standby.pass(&store, 60).await);
    assert_eq!(held(&store, &first).await, good);
    let said = standby.said();
    let [Line::Warning(line)] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(
        line,
        "agent: registry snapshot: HELD the prior snapshot of edge-a1 first, because this registry has no routes; to restore \
         it: carlosctl restore --from-box edge-a1 --at hold:20261130T110000Z"
    );
    // It goes on for an hour and pushes the last good generation out; the hold has them all.
    for minute in 61..70 {
        standby.edit(&format!("PRAGMA user_version = {minute}"));
        assert_eq!(published(standby.pass(&store, minute).await).held, None, "there is nothing left to hold");
    }
    let copies = store.list("control/carlosctl/holds/edge-a1/20261130T110000Z/").await.expect("a listing");
    assert_eq!(copies.len(), 8 + 3, "eight generations, current, sidecar and the seal");
}

#[tokio::test]
async fn a_collapsed_registry_and_another_boxes_snapshot_are_held_too() {
    for (routes, sidecar_box, because) in
        [(10, "edge-a1", "this registry has 10 routes of the 200"), (300, "edge-z9", "it was written by box \"edge-z9\"")]
    {
        let (store, good) = lived().await;
        let sidecar =
            Sidecar { label: sidecar_box.into(), fingerprint: "x".into(), created_at: Some(at(0)), bytes: good.len() as u64 };
        store.inner().insert("control/registry-snapshot/edge-a1.json", sidecar.to_json().expect("json"));
        let mut edge = Box_::new("edge-a1", &busy_box(routes, "v1"));
        let first = published(edge.pass(&store, 60).await);
        assert_eq!(held(&store, &first).await, good);
        let said = edge.said();
        assert!(said[0].text().contains(because), "{said:?}");
        edge.is_healthy(&store).await;
    }
}

#[tokio::test]
async fn the_seeds_warning_is_said_word_for_word() {
    let store = MemoryStore::new("dep");
    let created_at = "2026-11-30T09:59:59.75Z".parse().ok();
    let sidecar = Sidecar { label: "edge-z9".into(), fingerprint: "x".into(), created_at, bytes: 1 };
    store.insert("control/registry-snapshot/edge-a1.json", sidecar.to_json().expect("json"));
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    assert_eq!(
        edge.said(),
        [Line::Warning(
            "agent: registry snapshot: OVERWRITING a snapshot written by box \"edge-z9\" (this box is \"edge-a1\", prior \
             created_at 2026-11-30T09:59:59Z) — if this box is a standby that has not been restored yet, STOP and preserve the \
             prior snapshot"
                .to_owned()
        )]
    );
}

#[tokio::test]
async fn where_no_hold_can_be_taken_nothing_is_overwritten_and_nothing_is_written() {
    for operation in [Operation::Copy, Operation::Put] {
        let (store, good) = lived().await;
        let denied = StoreError::Denied { subject: "k".into(), detail: "no".into() };
        store.add(Fault::new(Effect::Fail(denied)).on(operation).key("control/carlosctl/holds/"));
        let mut standby = Box_::new("edge-a1", &[]);
        let before = store.list("control/registry-snapshots/").await.expect("a listing");
        for minute in 60..63 {
            let Err(PassError::Failed(error)) = standby.pass(&store, minute).await else { panic!("it went on") };
            assert!(error.message.contains("nothing was overwritten"), "{}", error.message);
        }
        let current = store.get("control/registry-snapshot/edge-a1.db", u64::MAX).await.expect("current");
        assert_eq!(current.body, good);
        assert_eq!(store.list("control/registry-snapshots/").await.expect("a listing"), before);
    }
}

#[tokio::test]
async fn an_ordinary_change_takes_no_hold() {
    let (store, _) = lived().await;
    let mut edge = Box_::new("edge-a1", &busy_box(150, "v1"));
    assert_eq!(published(edge.pass(&store, 60).await).held, None);
    // Growing from nothing, and over an object that has nothing in it.
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &[]);
    assert_eq!(published(edge.pass(&store, 0).await).held, None);
    edge.edit("INSERT INTO routes (host) VALUES ('h')");
    assert_eq!(published(edge.pass(&store, 1).await).held, None);
    store.insert("control/registry-snapshot/edge-a1.db", "");
    edge.edit("INSERT INTO routes (host) VALUES ('i')");
    assert_eq!(published(edge.pass(&store, 2).await).held, None);
}

#[tokio::test]
async fn what_cannot_be_read_is_held_because_it_may_be_of_something_newer() {
    let (store, mut good) = lived().await;
    good[47] = 5;
    store.inner().insert("control/registry-snapshot/edge-a1.db", good.clone());
    let mut edge = Box_::new("edge-a1", &busy_box(200, "v1"));
    let first = published(edge.pass(&store, 60).await);
    assert_eq!(held(&store, &first).await, good);
}

/// A dead box that is not dead: it writes between the look and the replacement.
#[tokio::test]
async fn whoever_writes_in_between_is_held_like_what_was_there() {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut standby = Box_::new("edge-a1", &[]);
    standby.publish(&store, 0).await;
    standby.edit("PRAGMA user_version = 1");
    let alive = snapshot_bytes(&busy_box(200, "alive")).expect("bytes");
    store.add(
        Fault::new(Effect::ChangeBefore(alive.clone().into())).on(Operation::Put).key("registry-snapshot/edge-a1.db").nth(1),
    );
    let second = published(standby.pass(&store, 5).await);
    assert_eq!(held(&store, &second).await, alive);
    let current = store.get("control/registry-snapshot/edge-a1.db", u64::MAX).await.expect("current");
    assert_eq!(census_of(&current.body).routes, 0);
}

#[tokio::test]
async fn three_lost_races_are_a_failure() {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.publish(&store, 0).await;
    let mut others = 0;
    let mut intrude = |key: &str, times: usize| {
        for _ in 0..times {
            others += 1;
            let other = snapshot_bytes(&busy_box(20, &format!("other{others}"))).expect("bytes");
            store.add(Fault::new(Effect::ChangeBefore(other.into())).on(Operation::Put).key(key).times(1));
        }
    };
    for (hour, key) in [(1, "registry-snapshot/edge-a1.db"), (2, "registry-snapshot/edge-a1.json")] {
        let minute = hour * 60;
        intrude(key, 2);
        edge.edit(&format!("UPDATE routes SET caps = '{key}'"));
        edge.publish(&store, minute).await;
        intrude(key, 3);
        edge.edit(&format!("UPDATE routes SET unit = '{key}'"));
        let Err(PassError::Failed(error)) = edge.pass(&store, minute + 1).await else { panic!("it won") };
        assert_eq!(error.message, format!("snapshot: control/{key}: lost CAS race three times"));
        edge.publish(&store, minute + 2).await;
        edge.is_healthy(&store).await;
    }
}

/// The pair is looked at once more: another writer of the label may have replaced current before our sidecar stood.
#[tokio::test]
async fn a_sidecar_beside_another_writers_current_is_not_remembered() {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    let other = snapshot_bytes(&busy_box(20, "other")).expect("bytes");
    store.add(Fault::new(Effect::ChangeAfter(other.into())).on(Operation::Put).key("registry-snapshot/edge-a1.db").nth(1));
    let Err(PassError::Failed(error)) = edge.pass(&store, 0).await else { panic!("remembered") };
    assert!(error.message.contains("another writer of this label"), "{}", error.message);
    edge.publish(&store, 1).await;
    edge.is_healthy(&store).await;
}
