//! Kind: a long listing taken for whole before its end, or in the order in which it happened to come.

use crate::common::deployment::{Deployment, registry};
use crate::common::scripted::Reply;

use super::bucket::{Bucket, Manner, Object, Objects};

const AS_OF: &str = "2026-11-30T12:00:00Z";

/// 130 boxes with eight generations each: more than one page of a thousand.
fn many() -> Objects {
    let mut objects = Objects::new();
    for number in 0..130 {
        let label = format!("edge-{number:03}");
        let sidecar =
            format!(r#"{{"v":1,"box":"{label}","fingerprint":"ab12","created_at":"2026-11-30T08:00:00Z","bytes":1}}"#);
        let mut put = |key: String, body: &[u8], hour: u8| {
            let written = format!("2026-11-30T{hour:02}:00:00Z").parse().expect("an instant");
            objects.insert(key, Object { body: body.to_vec(), etag: format!("e{hour}"), written });
        };
        put(format!("control/registry-snapshot/{label}.db"), b"x", 8);
        put(format!("control/registry-snapshot/{label}.json"), sidecar.as_bytes(), 8);
        for hour in 1..9 {
            put(format!("control/registry-snapshots/{label}/20261130T{hour:02}0000Z.db"), b"x", hour);
        }
    }
    objects
}

/// Row 1: a tool saw the first page only, and whatever was named on the next one did not exist for it.
#[test]
fn every_page_is_counted() {
    let bucket = Bucket::with(many(), Manner::default(), |_, _| None::<Reply>);
    let outcome = bucket.run(["snapshot", "list", "--json", "--as-of", AS_OF]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let document = outcome.json();
    let boxes = document["boxes"].as_array().expect("boxes");
    assert_eq!(boxes.len(), 130);
    let generations: usize = boxes.iter().map(|row| row["generations"].as_array().expect("generations").len()).sum();
    assert_eq!(generations, 1040);
    // Listings and one sidecar a box, nothing else (contract section 2).
    let requests = bucket.server.requests();
    let gets = requests.iter().filter(|request| request.path.starts_with("/dep/control/")).count();
    assert_eq!(gets, 130);
    assert!(requests.iter().all(|request| request.method == "GET"), "{requests:?}");
    assert_eq!(requests.len() - gets, 8, "four prefixes, one of two pages, two legacy keys, the reports");
}

/// Row 1: the second page failed, and the first one was explained as if it were all.
#[test]
fn a_page_that_fails_is_an_error_and_never_a_short_list() {
    for fault in [Reply::error(500, "InternalError", "try again"), Reply::new(200, "<ListBucketResult><Contents>")] {
        let bucket = Bucket::with(many(), Manner::default(), move |asked, _| (asked.page == 1).then(|| fault.clone()));
        for command in [&["snapshot", "list", "--json"][..], &["snapshot", "verify"], &["snapshot", "hold", "list"]] {
            let outcome = bucket.run(command.iter().copied()).run();
            assert_eq!((outcome.code, outcome.stdout.as_str()), (14, ""), "{outcome}");
            assert!(outcome.stderr.contains("control/registry-snapshots/"), "{outcome}");
        }
    }
}

/// Row 6: some stores do not list by key, so the last entry of the last page was not the newest.
#[test]
fn whatever_the_order_of_the_listing_the_answer_is_the_same() {
    let deployment = Deployment::new();
    for (hour, routes) in (1..9).zip((20..).step_by(10)) {
        deployment.pass("edge-a1", &format!("2026-11-30T{hour:02}:00:00Z"), &registry(routes, "v5"));
    }
    let ask = |shuffle: u64, args: &[&str]| {
        let manner = Manner { page: 5, shuffle, ..Manner::default() };
        let bucket = Bucket::of(&deployment, manner, |_, _| None::<Reply>);
        let outcome = bucket.run(args.iter().copied().chain(["--as-of", AS_OF])).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        // The endpoint's port is the test's.
        outcome.stdout.replace(&bucket.server.endpoint, "ENDPOINT")
    };
    for args in [&["snapshot", "list"][..], &["snapshot", "list", "--json"]] {
        let in_order = ask(0, args);
        for shuffle in 1..5 {
            assert_eq!(ask(shuffle, args), in_order);
        }
    }
    let list: serde_json::Value = serde_json::from_str(&ask(7, &["snapshot", "list", "--json"])).expect("JSON");
    let stamps: Vec<&str> = list["boxes"][0]["generations"]
        .as_array()
        .expect("generations")
        .iter()
        .map(|row| row["stamp"].as_str().expect("a stamp"))
        .collect();
    let mut newest_first = stamps.clone();
    newest_first.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!((stamps.len(), stamps), (8, newest_first));
    let newest = ask(3, &["snapshot", "show", "--box", "edge-a1", "--at", "2026-11-30T07:59:00Z", "--json"]);
    assert!(newest.contains("\"at\": \"20261130T070000Z\""), "{newest}");
}
