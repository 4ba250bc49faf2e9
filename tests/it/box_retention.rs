//! `box retention`: the platform's own pass, with the view of one box and no question.

use std::fs;

use carlosctl::demo::registry::build_live;

use crate::common::apps::{Bench, route};
use crate::common::{Invocation, carlosctl};

/// A bench whose box `edge-a1` is this machine.
fn bench() -> Bench {
    let bench = Bench::live();
    bench.shop();
    fs::create_dir_all(bench.deployment.beside("data")).expect("a directory");
    let routes = [route("shop-1.example", "shop", "v5", "v4", "")];
    build_live(&bench.deployment.beside("data/registry.db"), &routes).expect("a registry");
    bench
}

fn pass(bench: &Bench) -> Invocation {
    bench.run(["box", "retention", "--this-box", "edge-a1"])
}

fn versions(bench: &Bench) -> Vec<String> {
    let releases = bench.deployment.file("apps/ops/shop/releases");
    let mut versions: Vec<String> = fs::read_dir(releases)
        .expect("releases")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    versions.sort();
    versions
}

#[test]
fn it_prunes_at_once_and_says_so_as_the_platform_does() {
    let bench = bench();
    // What another box runs is not seen by this pass, as the platform's own does not see it.
    bench.snapshot("edge-c3", &[route("shop-2.example", "shop", "v1", "", "")]);
    let outcome = pass(&bench).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(versions(&bench), ["v4", "v5"]);
    assert!(outcome.stderr.contains("agent: retention: pruned 3 of 3 eligible versions for ops/shop (keep 2)"), "{outcome}");
    assert_eq!(outcome.stdout, "agent: retention pass: 3 versions pruned, 0 apps pruned nothing\n");
    let again = pass(&bench).arg("--json").run();
    assert_eq!((again.code, &again.json()["versions"]), (0, &0.into()), "{again}");
    let help = carlosctl(["box", "retention", "--help"]).run();
    assert!(help.stdout.contains("TAKES NO CONSENT"), "{help}");
}

#[test]
fn what_is_not_known_prunes_nothing_and_says_why() {
    let bench = bench();
    bench.report("edge-a1", 7, [("shop-1.example", "shop", vec!["v5"], true)]);
    let outcome = pass(&bench).run();
    assert_eq!((outcome.code, versions(&bench).len()), (0, 5), "{outcome}");
    assert!(outcome.stderr.contains("agent: retention ops/shop: pruning nothing this pass: edge-a1"), "{outcome}");
    // Without any reports the whole pass fails.
    let outcome = pass(&bench).env("CARLOS_STATUS_DIR", bench.deployment.beside("none")).run();
    assert_eq!((outcome.code, versions(&bench).len()), (10, 5), "{outcome}");
    assert!(outcome.stderr.contains("reading the box reports: pruning nothing this pass"), "{outcome}");
    // A fleet box leaves it to others.
    let outcome = pass(&bench).env("CARLOS_BOX_ROLE", "fleet").run();
    assert_eq!((outcome.code, versions(&bench).len()), (0, 5), "{outcome}");
    assert!(outcome.stderr.contains("skipped on a fleet box"), "{outcome}");
}

#[test]
fn a_sole_housekeeper_prunes_by_its_own_registry() {
    let bench = bench();
    let alone = bench.alone(["box", "retention", "--this-box", "edge-a1"]).run();
    assert_eq!((alone.code, versions(&bench)), (0, vec!["v4".to_owned(), "v5".to_owned()]), "{alone}");
}
