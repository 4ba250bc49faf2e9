//! This box's report.

use super::bench::{Box_, at};
use crate::box_half::{PassError, ReportPass, Reported};
use crate::demo::registry::{RouteSpec, busy_box};
use crate::platform::BoxReport;
use crate::store::{Effect, Fault, FaultyStore, MemoryStore, Operation, ReadStore, WriteStore};

async fn report(edge: &Box_, store: &dyn WriteStore, prefix: &str, minute: i64) -> Result<Reported, PassError> {
    let Box_ { registry, label, stop, .. } = edge;
    ReportPass { store, prefix, registry, label, default_account: "ops", stop }.run(at(minute)).await
}

async fn read(store: &dyn ReadStore, key: &str) -> BoxReport {
    BoxReport::read(key, &store.get(key, 1 << 20).await.expect("a report").body).expect("it reads")
}

#[tokio::test]
async fn the_builds_of_every_row_that_keeps_a_build_state_are_published() {
    let store = MemoryStore::new("status");
    let mut unread = RouteSpec::new("h2").app("acme", "shop");
    unread.build_state = "{".to_owned();
    let edge = Box_::new("edge-a1", &[RouteSpec::new("h1").app("", "blog").versions("v1", "v0", ""), unread]);
    let reported = report(&edge, &store, "staging/", 0).await.expect("published");
    assert_eq!((reported.key.as_str(), reported.hosts, reported.incomplete), ("staging/status/boxes/edge-a1.json", 2, 1));
    let body = store.get(&reported.key, 4096).await.expect("a report").body;
    assert_eq!(
        String::from_utf8_lossy(&body),
        concat!(
            r#"{"label":"edge-a1","generated_at":"2026-11-30T10:00:00Z","metrics":{"build_states":{"#,
            r#""h1":{"account":"ops","app":"blog","builds":["v1"],"complete":true},"#,
            r#""h2":{"account":"acme","app":"shop","builds":[],"complete":false}},"build_states_err":""}}"#
        )
    );
    edge.edit("UPDATE routes SET build_state = '{\"state\":null,\"known\":true}'");
    assert_eq!(report(&edge, &store, "staging/", 5).await.expect("published").incomplete, 0);
    assert_eq!(read(&store, &reported.key).await.generated_at, Some(at(5)));
}

#[tokio::test]
async fn what_cannot_be_collected_is_said_in_the_report_and_is_no_empty_map() {
    let store = MemoryStore::new("status");
    let edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    for sql in ["UPDATE routes SET version = X'00' WHERE rowid = 1", "ALTER TABLE routes RENAME TO gone"] {
        edge.edit(sql);
        let reported = report(&edge, &store, "", 0).await.expect("published");
        assert!(reported.error.is_some());
        let metrics = read(&store, "status/boxes/edge-a1.json").await.metrics.expect("metrics");
        assert!(metrics.build_states.is_empty());
        assert!(metrics.build_states_err.starts_with("listing routes for build states: "), "{}", metrics.build_states_err);
    }
    std::fs::remove_file(edge.path()).expect("removed");
    assert!(report(&edge, &store, "", 1).await.expect("published").error.is_some());
}

#[tokio::test]
async fn a_report_is_replaced_by_compare_and_swap() {
    let store = FaultyStore::new(MemoryStore::new("status"));
    let edge = Box_::new("edge-a1", &busy_box(20, "v1"));
    let intrude = |times: usize| {
        for number in 0..times {
            store.add(Fault::new(Effect::ChangeBefore(format!("{times}/{number}").into())).on(Operation::Put).times(1));
        }
    };
    intrude(2);
    report(&edge, &store, "", 0).await.expect("published at the third attempt");
    intrude(3);
    let Err(PassError::Failed(error)) = report(&edge, &store, "", 1).await else { panic!("it won") };
    assert_eq!(error.message, "report: status/boxes/edge-a1.json: lost CAS race three times");
}
