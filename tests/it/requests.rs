//! How many requests each command makes, exactly: what `docs/performance.md` says of them is checked here.
//!
//! Names are replaced by what they are, so a line stands for all requests of its kind and the number before it grows with the
//! boxes, generations, apps and versions. A request more than is written here is a regression.

use std::collections::BTreeMap;

use carlosctl::demo::registry::{build_live, busy_box};
use insta::assert_snapshot;

use crate::common::apps::{Bench, route};
use crate::common::bucket::Bucket;
use crate::common::deployment::Deployment;
use crate::restore::Standby;

/// Every kind of request with its number.
fn tally(bucket: &Bucket) -> String {
    tally_of(&bucket.asked())
}

fn tally_of(asked: &[String]) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for asked in asked {
        let (what, key) = asked.split_once(' ').expect("a method and a key");
        let names: Vec<String> = key.split('/').map(kind).collect();
        *kinds.entry(format!("{what} {}", names.join("/"))).or_default() += 1;
    }
    let lines: Vec<String> = kinds.iter().map(|(kind, number)| format!("{number} {kind}\n")).collect();
    lines.concat()
}

/// What a name of a key is, where it is one of many.
fn kind(name: &str) -> String {
    let (name, end) = name.rsplit_once('.').map_or((name, String::new()), |(name, end)| (name, format!(".{end}")));
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_stamp = |text: &str| text.parse::<carlosctl::platform::Stamp>().is_ok();
    let what = match name {
        name if name.starts_with("edge-") => "BOX",
        name if name.starts_with("app-") => "APP",
        name if name.len() == 64 && is_hex(name) => "SHA256",
        name if name.len() == 16 && is_hex(name) => "RANDOM",
        name if name.split('-').all(|part| is_stamp(part) || (part.len() == 16 && is_hex(part))) => "STAMP",
        name if name.strip_prefix('v').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) => "VERSION",
        name => name,
    };
    format!("{what}{end}")
}

/// Boxes with eight generations each, written before the bucket's own objects are.
fn boxes(number: usize) -> Deployment {
    let deployment = Deployment::new();
    let body = crate::common::deployment::registry(20, "v5");
    for number in 0..number {
        let label = format!("edge-{number:03}");
        for minute in 0..8 {
            deployment.generation(&label, &format!("2026-11-14T10:0{minute}:00Z"), &body);
        }
        deployment.put(&format!("control/registry-snapshot/{label}.db"), &body, "2026-11-14T10:07:00Z");
        deployment.sidecar(&label, "2026-11-14T10:07:00Z", body.len());
        deployment.put(&format!("status/boxes/{label}.json"), b"{}", "2026-11-14T10:07:00Z");
    }
    deployment
}

fn asked(deployment: &Deployment, args: &[&str]) -> String {
    let bucket = Bucket::holding(deployment.everything());
    let outcome = bucket.run(args.iter().copied()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    tally(&bucket)
}

/// Pages and boxes, and nothing else.
#[test]
fn a_list_takes_its_pages_and_a_sidecar_a_box() {
    assert_snapshot!(asked(&boxes(3), &["snapshot", "list"]), @"
    3 GET control/registry-snapshot/BOX.json
    1 LIST control/carlosctl/drills/
    1 LIST control/carlosctl/holds/
    1 LIST control/registry-snapshot.db
    1 LIST control/registry-snapshot.json
    1 LIST control/registry-snapshot/
    1 LIST control/registry-snapshots/
    1 LIST status/boxes/
    ");
    // 1,040 generations: a second page.
    assert_snapshot!(asked(&boxes(130), &["snapshot", "list"]), @"
    130 GET control/registry-snapshot/BOX.json
    1 LIST control/carlosctl/drills/
    1 LIST control/carlosctl/holds/
    1 LIST control/registry-snapshot.db
    1 LIST control/registry-snapshot.json
    1 LIST control/registry-snapshot/
    2 LIST control/registry-snapshots/
    1 LIST status/boxes/
    ");
}

#[test]
fn a_list_of_named_boxes_asks_nothing_of_the_others() {
    assert_snapshot!(asked(&boxes(3), &["snapshot", "list", "--box", "edge-001"]), @"
    1 GET control/registry-snapshot/BOX.json
    1 LIST control/carlosctl/drills/BOX/
    1 LIST control/carlosctl/holds/BOX/
    1 LIST control/registry-snapshot/BOX.db
    1 LIST control/registry-snapshots/BOX/
    1 LIST status/boxes/BOX.json
    ");
}

/// Each object once, and the sidecar again afterwards: a box that writes meanwhile is not dead.
#[test]
fn a_verify_reads_every_object_once() {
    assert_snapshot!(asked(&boxes(3), &["snapshot", "verify", "--all-generations"]), @"
    3 GET control/registry-snapshot/BOX.db
    6 GET control/registry-snapshot/BOX.json
    24 GET control/registry-snapshots/BOX/STAMP.db
    1 LIST control/carlosctl/holds/
    1 LIST control/registry-snapshot.db
    1 LIST control/registry-snapshot.json
    1 LIST control/registry-snapshot/
    1 LIST control/registry-snapshots/
    1 LIST status/boxes/
    ");
    assert_snapshot!(asked(&boxes(3), &["snapshot", "verify"]), @"
    3 GET control/registry-snapshot/BOX.db
    6 GET control/registry-snapshot/BOX.json
    1 LIST control/carlosctl/holds/
    1 LIST control/registry-snapshot.db
    1 LIST control/registry-snapshot.json
    1 LIST control/registry-snapshot/
    1 LIST control/registry-snapshots/
    1 LIST status/boxes/
    ");
}

#[test]
fn a_restore_looks_at_two_boxes_reads_the_small_history_and_looks_again() {
    let standby = Standby::new();
    let dead = Deployment::new();
    for back in 0..8 {
        dead.pass(
            "edge-a1",
            &format!("2026-11-14T10:0{back}:00Z"),
            &crate::common::deployment::registry(200, &format!("v{back}")),
        );
    }
    let bucket = Bucket::holding(dead.everything());
    let args = ["restore", "--from-box", "edge-a1", "--this-box", "edge-b2", "--confirm", "edge-a1"];
    let outcome = bucket.run(args).arg("--registry").arg(standby.registry()).env("PATH", standby.path()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_snapshot!(tally(&bucket), @"
    1 GET control/registry-snapshot/BOX.db
    3 GET control/registry-snapshot/BOX.json
    7 GET control/registry-snapshots/BOX/STAMP.db
    1 HEAD control/registry-snapshot/BOX.db
    2 LIST control/carlosctl/holds/BOX/
    2 LIST control/registry-snapshot/BOX.db
    2 LIST control/registry-snapshots/BOX/
    2 LIST status/boxes/BOX.json
    1 PUT control/carlosctl/restores/BOX/STAMP.json
    ");
}

/// `apps` apps that keep 2 of 5 versions; the box hosts them all.
fn apps(number: usize) -> Bench {
    let bench = Bench::live();
    let mut routes = Vec::new();
    for number in 0..number {
        let name = format!("app-{number}");
        let app = bench.app(&name).keep(2);
        for (number, days) in [(1, 11), (2, 10), (3, 9), (4, 8), (5, 7)] {
            app.release_of(&format!("v{number}"), days * 24, &[&format!("{name} v{number}")]);
        }
        app.pointer("stable", "v5", &["v4"]).record(&format!("{name}.example"), "");
        routes.push(route(&format!("{name}.example"), &name, "v5", "v4", ""));
    }
    bench.boxed("edge-a1", &routes);
    bench
}

#[test]
fn an_explanation_reads_every_document_once() {
    let bench = apps(3);
    let bucket = Bucket::of(&bench);
    let outcome = bucket.run(["retention", "explain"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_snapshot!(tally(&bucket), @"
    1 DIRS apps/
    1 DIRS apps/ops/
    1 DIRS fleets/
    3 GET apps/ops/APP/channels/stable.json
    3 GET apps/ops/APP/instances/APP.json
    3 GET apps/ops/APP/pipeline.json
    15 GET apps/ops/APP/releases/VERSION/manifest.json
    3 GET apps/ops/APP/retention.json
    1 GET control/registry-snapshot/BOX.db
    1 GET status/boxes/BOX.json
    3 LIST apps/ops/APP/channels/
    3 LIST apps/ops/APP/instances/
    3 LIST apps/ops/APP/releases/
    3 LIST apps/ops/APP/tags/
    1 LIST control/registry-snapshot/
    1 LIST control/registry-snapshots/
    1 LIST status/boxes/
    ");
}

/// Six looks before every version, a deletion an object, and what makes a plan usable once.
#[test]
fn a_run_looks_before_every_version() {
    let bench = apps(1);
    let bucket = Bucket::of(&bench);
    let outcome = bucket.run(["retention", "run", "--confirm", "dep"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_snapshot!(tally(&bucket), @"
    3 DELETE apps/ops/APP/artifacts/SHA256
    3 DELETE apps/ops/APP/releases/VERSION/manifest.json
    3 DELETE apps/ops/APP/releases/VERSION/notes.txt
    2 DELETE control/carlosctl/probe/RANDOM
    1 DIRS apps/
    1 DIRS apps/ops/
    1 DIRS fleets/
    1 GET apps/ops/APP/channels/stable.json
    1 GET apps/ops/APP/instances/APP.json
    1 GET apps/ops/APP/pipeline.json
    5 GET apps/ops/APP/releases/VERSION/manifest.json
    1 GET apps/ops/APP/retention.json
    2 GET control/carlosctl/probe/RANDOM
    1 GET control/registry-snapshot/BOX.db
    1 GET status/boxes/BOX.json
    3 HEAD apps/ops/APP/artifacts/SHA256
    1 LIST apps/ops/APP/artifacts/
    4 LIST apps/ops/APP/channels/
    4 LIST apps/ops/APP/instances/
    3 LIST apps/ops/APP/pipeline.json
    5 LIST apps/ops/APP/releases/
    3 LIST apps/ops/APP/retention.json
    4 LIST apps/ops/APP/tags/
    1 LIST control/registry-snapshot/
    1 LIST control/registry-snapshots/
    1 LIST status/boxes/
    2 PUT control/carlosctl/probe/RANDOM
    1 PUT control/carlosctl/retention/STAMP.json
    1 PUT control/carlosctl/retention/used/RANDOM.json
    ");
}

#[test]
fn a_boxs_pass_uploads_only_what_changed() {
    let deployment = Deployment::new();
    let registry = deployment.beside("registry.db");
    build_live(&registry, &busy_box(200, "v1")).expect("a registry");
    let bucket = Bucket::holding([]);
    let pass = || {
        let outcome = bucket.run(["box", "snapshot", "--this-box", "edge-a1"]).arg("--registry").arg(&registry).run();
        assert_eq!(outcome.code, 0, "{outcome}");
    };
    pass();
    assert_snapshot!(tally(&bucket), @"
    1 DELETE control/carlosctl/probe/RANDOM
    2 GET control/carlosctl/probe/RANDOM
    1 GET control/registry-snapshot/BOX.db
    3 GET control/registry-snapshot/BOX.json
    2 HEAD control/registry-snapshot/BOX.db
    1 HEAD control/registry-snapshot/BOX.json
    1 LIST control/registry-snapshots/BOX/
    4 PUT control/carlosctl/probe/RANDOM
    1 PUT control/registry-snapshot/BOX.db
    1 PUT control/registry-snapshot/BOX.json
    1 PUT control/registry-snapshots/BOX/STAMP.db
    ");
    let before = bucket.asked().len();
    pass();
    assert_snapshot!(tally_of(&bucket.asked()[before..]), @"
    1 GET control/registry-snapshot/BOX.json
    1 HEAD control/registry-snapshot/BOX.db
    1 LIST control/registry-snapshots/BOX/
    ");
    let before = bucket.asked().len();
    rusqlite::Connection::open(&registry).expect("it opens").execute_batch("UPDATE routes SET caps = 'dns'").expect("it runs");
    // A generation is named by its second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    pass();
    assert_snapshot!(tally_of(&bucket.asked()[before..]), @"
    1 DELETE control/carlosctl/probe/RANDOM
    2 GET control/carlosctl/probe/RANDOM
    1 GET control/registry-snapshot/BOX.db
    2 GET control/registry-snapshot/BOX.json
    2 HEAD control/registry-snapshot/BOX.db
    1 HEAD control/registry-snapshot/BOX.json
    1 LIST control/registry-snapshots/BOX/
    4 PUT control/carlosctl/probe/RANDOM
    1 PUT control/registry-snapshot/BOX.db
    1 PUT control/registry-snapshot/BOX.json
    1 PUT control/registry-snapshots/BOX/STAMP.db
    ");
}
