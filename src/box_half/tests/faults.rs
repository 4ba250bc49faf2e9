//! Every call failing in turn, every answer lost, and being killed or stopped at every step.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::bench::{Box_, Hooked, When, fingerprint_of};
use crate::box_half::PassError;
use crate::demo::registry::busy_box;
use crate::platform::{Sidecar, keys};
use crate::store::{Effect, Fault, FaultyStore, MemoryStore, ReadStore, StoreError};

/// The bucket of a box that has published nine times, by key.
async fn lived() -> Vec<(String, Bytes)> {
    let store = MemoryStore::new("dep");
    let mut before = Box_::new("edge-a1", &busy_box(40, "v0"));
    for minute in 0..9 {
        before.edit(&format!("UPDATE routes SET version = 'v{minute}'"));
        before.publish(&store, minute).await;
    }
    let mut objects = Vec::new();
    for object in store.list("").await.expect("a listing") {
        objects.push((object.key.clone(), store.get(&object.key, u64::MAX).await.expect("an object").body));
    }
    objects
}

fn bucket(objects: &[(String, Bytes)]) -> MemoryStore {
    let store = MemoryStore::new("dep");
    for (key, body) in objects {
        store.insert(key, body.clone());
    }
    store
}

/// A box that has changed since, with so many routes now.
fn changed(routes: usize) -> Box_ {
    Box_::new("edge-a1", &busy_box(routes, "changed"))
}

/// Current is whole, and where the sidecar does not describe it, a pass was cut short between the two.
async fn nothing_is_broken(edge: &Box_, store: &dyn ReadStore) {
    let current = store.get(&keys::current(&edge.label), u64::MAX).await.expect("current");
    fingerprint_of(&current.body);
    let key = keys::sidecar(&edge.label);
    Sidecar::read(&key, &store.get(&key, 4096).await.expect("a sidecar").body).expect("it reads");
}

/// How many calls a whole pass makes.
async fn calls_of_a_pass(objects: &[(String, Bytes)], routes: usize) -> usize {
    let store = FaultyStore::new(bucket(objects));
    let mut edge = changed(routes);
    edge.restart(&store).await;
    let before = store.calls().len();
    edge.publish(&store, 60).await;
    store.calls().len() - before
}

/// An ordinary change, and an empty registry for which a hold is taken first.
const SHAPES: [usize; 2] = [40, 0];

#[tokio::test]
async fn whichever_call_fails_the_next_pass_heals() {
    let objects = lived().await;
    for routes in SHAPES {
        let calls = calls_of_a_pass(&objects, routes).await;
        assert!(calls > 15, "{calls}");
        let mut edge = changed(routes);
        for nth in 1..=calls {
            let denied = Effect::Fail(StoreError::Denied { subject: "k".into(), detail: "no".into() });
            for effect in [denied, Effect::LoseAcknowledgement] {
                let store = FaultyStore::new(bucket(&objects));
                edge.restart(&store).await;
                store.add(Fault::new(effect).nth(nth));
                let outcome = edge.pass(&store, 60).await;
                nothing_is_broken(&edge, &store).await;
                if let Err(error) = outcome {
                    assert!(matches!(error, PassError::Failed(_)), "{error:?}");
                    edge.publish(&store, 61).await;
                }
                edge.is_healthy(&store).await;
            }
        }
    }
}

#[tokio::test]
async fn killed_at_any_step_the_next_process_heals() {
    let objects = lived().await;
    for routes in SHAPES {
        let calls = calls_of_a_pass(&objects, routes).await;
        let mut edge = changed(routes);
        for nth in 0..calls {
            for killed in [When::Before, When::After] {
                let inner = bucket(&objects);
                edge.restart(&inner).await;
                let seen = AtomicUsize::new(0);
                let hook = |when: When, _: &str| when == killed && seen.fetch_add(1, Ordering::SeqCst) == nth;
                let store = Hooked { inner, hook };
                // The pass hangs at that call and is dropped there.
                let cut = tokio::time::timeout(Duration::from_millis(500), async {
                    while seen.load(Ordering::SeqCst) <= nth {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                });
                tokio::select! {
                    outcome = edge.pass(&store, 60) => panic!("not killed at {nth} {killed:?}: {outcome:?}"),
                    reached = cut => reached.expect("the step was reached"),
                }
                nothing_is_broken(&edge, &store.inner).await;
                edge.restart(&store.inner).await;
                edge.pass(&store.inner, 61).await.expect("it heals");
                edge.is_healthy(&store.inner).await;
            }
        }
    }
}

#[tokio::test]
async fn told_to_stop_current_and_sidecar_are_of_one_pass() {
    let objects = lived().await;
    let calls = calls_of_a_pass(&objects, 40).await;
    let mut edge = changed(40);
    let mut both_written = 0;
    for nth in 0..calls {
        for when in [When::Before, When::After] {
            let inner = bucket(&objects);
            edge.restart(&inner).await;
            let old = inner.head(&keys::current(&edge.label)).await.expect("current").etag;
            let (stopper, stop) = crate::box_half::Stopper::pair();
            edge.stop = stop;
            let seen = AtomicUsize::new(0);
            let hook = |at: When, _: &str| {
                if at == when && seen.fetch_add(1, Ordering::SeqCst) == nth {
                    stopper.stop();
                }
                false
            };
            let store = Hooked { inner, hook };
            let outcome = edge.pass(&store, 60).await;
            assert!(matches!(outcome, Ok(_) | Err(PassError::Stopped)), "{outcome:?}");
            let current = store.inner.get(&keys::current(&edge.label), u64::MAX).await.expect("current");
            let key = keys::sidecar(&edge.label);
            let sidecar = store.inner.get(&key, 4096).await.expect("a sidecar").body;
            let sidecar = Sidecar::read(&key, &sidecar).expect("it reads");
            assert_eq!(sidecar.fingerprint, fingerprint_of(&current.body), "stopped at {nth} {when:?}");
            both_written += usize::from(current.meta.etag != old);
        }
    }
    assert!(both_written > 0 && both_written < 2 * calls, "some stops come before the pair, and some are heard only after it");
}

#[tokio::test]
async fn told_to_stop_a_question_to_the_registry_is_not_waited_for() {
    let store = MemoryStore::new("dep");
    let mut edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    edge.stopper.stop();
    assert_eq!(edge.pass(&store, 0).await, Err(PassError::Stopped));
    assert!(store.list("").await.expect("a listing").is_empty());
}

/// Two processes of one label at the same time, on one registry: one-shot beside a loop.
#[tokio::test]
async fn two_passes_that_race_on_one_label_lose_nothing() {
    let store = MemoryStore::new("dep");
    let mut one = Box_::new("edge-a1", &busy_box(40, "one"));
    let mut two = Box_::new("edge-a1", &busy_box(40, "two"));
    for minute in 0..4 {
        one.edit(&format!("UPDATE routes SET version = 'one{minute}'"));
        two.edit(&format!("UPDATE routes SET version = 'two{minute}'"));
        let want = [one.fingerprint(), two.fingerprint()];
        let _ = tokio::join!(one.pass(&store, 10 * minute), two.pass(&store, 10 * minute + 1));
        let mut have = Vec::new();
        for generation in store.list(&keys::generations(&one.label)).await.expect("a listing") {
            have.push(fingerprint_of(&store.get(&generation.key, u64::MAX).await.expect("a generation").body));
        }
        assert!(want.iter().all(|fingerprint| have.contains(fingerprint)), "a generation is lost");
        nothing_is_broken(&one, &store).await;
    }
    // Alone again, it heals.
    one.edit("UPDATE routes SET version = 'alone'");
    one.publish(&store, 60).await;
    one.is_healthy(&store).await;
}
