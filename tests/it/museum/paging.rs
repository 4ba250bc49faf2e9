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

/// Incident 24: the list of versions stopped after the first hundred and did not say so. A page that does not say whether it
/// is the last one is no listing, and what one listing has and the other has not makes both of no use.
#[test]
fn a_listing_of_versions_that_stops_early_is_no_listing() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    let entry = |name: &str| {
        format!(
            "<Version><Key>control/registry-snapshot/{name}</Key><VersionId>1</VersionId><IsLatest>true</IsLatest>\
             <ETag>&quot;e&quot;</ETag><Size>1</Size><LastModified>2026-11-30T10:00:00.000Z</LastModified></Version>"
        )
    };
    let both = format!("{}{}", entry("edge-a1.db"), entry("edge-a1.json"));
    for (entries, end, code) in [
        (both.clone(), "<IsTruncated>false</IsTruncated>", 0),
        (both.clone(), "", 14),
        (both, "<IsTruncated>true</IsTruncated>", 14),
        (entry("edge-a1.db"), "<IsTruncated>false</IsTruncated>", 14),
        (String::new(), "<IsTruncated>false</IsTruncated>", 14),
    ] {
        let body = format!("<ListVersionsResult>{entries}{end}</ListVersionsResult>");
        let bucket = Bucket::of(&deployment, Manner::default(), move |asked, _| {
            let versions = asked.request.query.split('&').any(|one| one == "versions" || one == "versions=");
            versions.then(|| Reply::new(200, body.clone()))
        });
        let outcome = bucket.run(["snapshot", "list", "--all-versions", "--as-of", AS_OF]).run();
        assert_eq!(outcome.code, code, "{end:?}: {outcome}");
        assert!(code == 0 || outcome.stdout.is_empty(), "{outcome}");
    }
}

/// Incident 24: the first page was answered as if it were all, and an old snapshot was restored as the latest, because the
/// newest name sorts last. Current was written with a generation, and that one is missed.
#[test]
fn a_list_without_the_newest_generation_is_seen_by_current() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    let listed = |keys: usize| {
        let bucket = Bucket::of(&deployment, Manner::default(), move |asked, objects| {
            if asked.is_listing() && asked.prefix.starts_with("control/registry-snapshots/") {
                let mut seen = 0;
                objects.retain(|key, _| {
                    let generation = key.starts_with("control/registry-snapshots/");
                    seen += usize::from(generation);
                    !generation || seen <= keys
                });
            }
            None::<Reply>
        });
        bucket.run(["snapshot", "list", "--json", "--as-of", AS_OF]).run()
    };
    let (whole, short) = (listed(8), listed(3));
    assert_eq!((whole.code, short.code), (0, 0), "{short}");
    assert!(!whole.stdout.contains("generation-missing"), "{whole}");
    let document = short.json();
    assert_eq!(document["boxes"][0]["generations"].as_array().map(Vec::len), Some(3), "{short}");
    let found = document["boxes"][0]["findings"].as_array().expect("findings").iter();
    let found: Vec<_> = found.filter(|finding| finding["code"] == "generation-missing").collect();
    let [finding] = found.as_slice() else { panic!("{short}") };
    assert!(finding["because"].as_str().expect("words").contains("20261130T100000Z, which is not listed"), "{finding}");
}
