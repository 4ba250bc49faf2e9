use std::time::Instant;

use serde_json::json;

use super::*;
use crate::retention::plan::Input;
use crate::store::{Effect, Fault, FaultyStore, MemoryStore, Operation, ReadStore};

const NOTES: &str = "apps/ops/shop/releases/v1/notes.txt";
const MANIFEST: &str = "apps/ops/shop/releases/v1/manifest.json";
const TAG: &str = "apps/ops/shop/tags/stable.json";

fn bucket() -> FaultyStore<MemoryStore> {
    let store = FaultyStore::new(MemoryStore::new("dep"));
    for key in [NOTES, MANIFEST, "apps/ops/shop/releases/v2/manifest.json", TAG] {
        store.inner().insert(key, key);
    }
    store
}

fn failing(detail: &str) -> Effect {
    Effect::Fail(StoreError::Unavailable { subject: NOTES.to_owned(), detail: detail.to_owned() })
}

fn busy() -> Effect {
    Effect::Fail(StoreError::Busy { key: NOTES.to_owned() })
}

fn denied() -> Effect {
    Effect::Fail(StoreError::Denied { subject: NOTES.to_owned(), detail: "not yours".to_owned() })
}

fn deleting<'a>(store: &'a FaultyStore<MemoryStore>, turns: &'a Turns, is_exact: bool) -> Deleting<'a> {
    Deleting::new(store, turns, is_exact, &|| false, Leave::unattended())
}

/// Deletes the notes of v1, and says what became of them and what was asked of the store meanwhile.
async fn gone(store: &FaultyStore<MemoryStore>, is_exact: bool) -> (Gone, Vec<Operation>) {
    let object = ObjectMeta {
        key: NOTES.to_owned(),
        bytes: 35,
        etag: MemoryStore::new("of the same content").insert(NOTES, NOTES),
        last_modified: jiff::Timestamp::UNIX_EPOCH,
        version_id: None,
    };
    let turns = Turns::new(1);
    let before = store.calls().len();
    let gone = deleting(store, &turns, is_exact).object(&object).await;
    (gone, store.calls().split_off(before).into_iter().map(|(operation, _)| operation).collect())
}

async fn is_there(store: &FaultyStore<MemoryStore>) -> bool {
    store.inner().head(NOTES).await.is_ok()
}

#[tokio::test]
async fn what_an_earlier_attempt_of_ours_deleted_is_deleted_and_what_was_gone_before_is_missing() {
    use Operation::DeleteExact;
    let store = bucket().with(Fault::new(Effect::LoseAcknowledgement).on(DeleteExact).nth(1));
    assert_eq!(gone(&store, true).await, (Gone::Deleted, vec![DeleteExact; 2]));
    assert_eq!(gone(&store, true).await, (Gone::Missing, vec![DeleteExact]));
    // A store that only asked for patience has not deleted it.
    store.add(Fault::new(busy()).on(DeleteExact).nth(1));
    assert_eq!(gone(&store, true).await, (Gone::Missing, vec![DeleteExact; 2]));
}

#[tokio::test]
async fn a_deletion_is_sent_three_times_with_pauses_and_then_looked_after() {
    use Operation::{DeleteExact, Head};
    let asked = vec![DeleteExact, DeleteExact, DeleteExact, Head];
    // Still there: it was never done.
    let store = bucket().with(Fault::new(busy()).on(DeleteExact));
    let started = Instant::now();
    let (gone_, calls) = gone(&store, true).await;
    assert!(matches!(gone_, Gone::Failed(because) if because.contains("another write of it is under way")));
    assert_eq!(calls, asked);
    assert!(started.elapsed() >= PAUSE * 3, "a pause, and one twice as long");
    // Gone, and none of ours can have done it.
    let store = bucket().with(Fault::new(busy()).on(DeleteExact));
    store.inner().delete(NOTES).await.expect("deleted by another");
    assert_eq!(gone(&store, true).await, (Gone::Missing, asked.clone()));
    // Gone, and one of ours whose answer was lost may have done it.
    let store = bucket()
        .with(Fault::new(Effect::LoseAcknowledgement).on(DeleteExact).nth(1))
        .with(Fault::new(failing("no answer")).on(DeleteExact));
    assert_eq!(gone(&store, true).await, (Gone::Deleted, asked.clone()));
    // Nobody can say.
    let store = bucket().with(Fault::new(failing("no answer")));
    assert!(matches!(gone(&store, true).await, (Gone::Unknown(_), calls) if calls == asked));
}

#[tokio::test]
async fn a_refusal_is_not_repeated() {
    let store = bucket().with(Fault::new(denied()).on(Operation::DeleteExact).nth(1));
    assert!(matches!(gone(&store, true).await, (Gone::Failed(_), calls) if calls == [Operation::DeleteExact]));
    assert!(is_there(&store).await);
}

#[tokio::test]
async fn only_a_store_that_compares_etags_is_asked_to() {
    let store = bucket();
    store.inner().insert(NOTES, "written again since");
    assert!(matches!(gone(&store, true).await, (Gone::Failed(_), calls) if calls == [Operation::DeleteExact]));
    assert!(is_there(&store).await);
    assert_eq!(gone(&store, false).await, (Gone::Deleted, vec![Operation::Delete]));
}

/// A plan that deletes v1 and v2, resting on everything that is there.
async fn plan(store: &FaultyStore<MemoryStore>) -> AppPlan {
    let all = store.inner().list("apps/").await.expect("a listing");
    let of = |part: &str| all.iter().find(|object| object.key.ends_with(part)).expect("it is there").clone();
    let class = |key: &str| if key == TAG { Class::Tag } else { Class::Release };
    let inputs: Vec<Input> = all
        .iter()
        .map(|object| Input { class: class(&object.key), key: object.key.clone(), etag: object.etag.clone() })
        .collect();
    let decision = json!({
        "account": "ops", "app": "shop", "keep": 1, "recorded_keep": 1, "status": "evaluated", "refusals": [], "versions": [],
        "compared": {}, "hazards": []
    });
    let victims = json!([
        {"version": "v1", "objects": [of("v1/notes.txt")], "artifacts": [], "absent": [], "manifest": of("v1/manifest.json")},
        {"version": "v2", "objects": [], "artifacts": [], "absent": [], "manifest": of("v2/manifest.json")},
    ]);
    serde_json::from_value(json!({"decision": decision, "inputs": inputs, "victims": victims})).expect("a plan")
}

/// What a run of the plan deleted, what failed and what it left, and how many listings it made.
async fn run(store: &FaultyStore<MemoryStore>, plan: &AppPlan) -> (serde_json::Value, usize) {
    let turns = Turns::new(1);
    let ran = deleting(store, &turns, true).app(plan, &Progress::hidden()).await;
    let ran = json!({"deleted": ran.deleted, "failed": ran.failed, "skipped": ran.skipped});
    (ran, store.calls().iter().filter(|(operation, _)| *operation == Operation::List).count())
}

#[tokio::test]
async fn each_version_is_looked_at_first_and_what_went_is_looked_for_at_last() {
    let store = bucket();
    let plan = plan(&store).await;
    // What is beside the tags and is none protects nothing.
    store.inner().insert("apps/ops/shop/tags/read me", "how we tag");
    let (ran, listings) = run(&store, &plan).await;
    assert_eq!(ran, json!({"deleted": ["v1", "v2"], "failed": [], "skipped": []}));
    assert_eq!(listings, 6 + 6 + 2);
    assert_eq!(store.inner().list("apps/").await.expect("a listing").len(), 2, "the tag and what is beside it are left");
}

#[tokio::test]
async fn nothing_is_looked_for_where_nothing_went() {
    let store = bucket().with(Fault::new(denied()).on(Operation::DeleteExact));
    let plan = plan(&store).await;
    let (ran, listings) = run(&store, &plan).await;
    assert_eq!(ran["failed"], json!([{"version": "v1", "because": format!("{NOTES}: not deleted: {NOTES}: not yours")}]));
    assert_eq!(ran["skipped"], json!([{"version": "v2", "because": "v1 failed before it"}]));
    assert_eq!(listings, 6);
}

#[tokio::test]
async fn where_nobody_knows_whether_an_object_went_the_manifest_and_the_rest_stay() {
    let store = bucket();
    let plan = plan(&store).await;
    store.add(Fault::new(failing("no answer")).key(NOTES));
    let (ran, _) = run(&store, &plan).await;
    let because = format!("{NOTES}: not known whether it was deleted: {NOTES}: no answer");
    assert_eq!(ran["failed"], json!([{"version": "v1", "because": because}]));
    assert_eq!(ran["skipped"], json!([{"version": "v2", "because": "v1 failed before it"}]));
    assert!(store.inner().head(MANIFEST).await.is_ok());
}

/// Each kind of document that protects a version, changed, gone or new since the decision.
#[tokio::test]
async fn whatever_protects_and_is_not_as_decided_stops_the_app() {
    for key in [
        "apps/ops/shop/retention.json",
        "apps/ops/shop/pipeline.json",
        "apps/ops/shop/instances/shop.example.json",
        "apps/ops/shop/channels/stable.json",
        "apps/ops/shop/tags/edge.json",
        TAG,
        "apps/ops/shop/releases/v3/manifest.json",
        "apps/ops/shop/releases/v1/late.txt",
        MANIFEST,
    ] {
        let store = bucket();
        let plan = plan(&store).await;
        store.inner().insert(key, "another");
        let because = format!("{key} changed since it was decided");
        let left = json!([{"version": "v1", "because": because}, {"version": "v2", "because": because}]);
        assert_eq!(run(&store, &plan).await.0, json!({"deleted": [], "failed": [], "skipped": left}), "{key}");
    }
    let store = bucket();
    let plan = plan(&store).await;
    store.inner().delete(TAG).await.expect("deleted by another");
    assert_eq!(run(&store, &plan).await.0["deleted"], json!([]));
}
