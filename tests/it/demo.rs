//! `demo`: the README's first command.

use crate::common::carlosctl;

#[test]
fn the_demo_goes_as_it_should_and_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let outcome = carlosctl(["demo"]).env("TMPDIR", directory.path()).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    for shown in
        ["$ carlosctl snapshot list", "suspect: size-collapsed", "installed current of edge-a1", "do not differ", "[exit 5]"]
    {
        assert!(outcome.stdout.contains(shown), "{shown} in {outcome}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
}

#[test]
fn a_kept_demo_is_a_deployment_of_ones_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path().join("demo");
    let outcome = carlosctl(["demo", "--keep", "--json", "--dir"]).arg(&dir).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!((&outcome.json()["kept"], &outcome.json()["schema"]), (&true.into(), &"carlosctl.demo/1".into()));
    let list = carlosctl(["snapshot", "list", "--json", "--host-env"]).arg(dir.join("host.env")).run();
    assert_eq!(list.json()["boxes"].as_array().expect("boxes").len(), 3, "{list}");
    let again = carlosctl(["demo", "--dir"]).arg(&dir).run();
    assert_eq!(again.code, 5, "{again}");
    assert!(dir.join("host.env").exists());
}

/// What is printed to be typed does what it says, wherever the demo is.
#[test]
fn the_lines_that_a_kept_demo_ends_with_can_be_typed() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path().join("my night");
    let outcome = carlosctl(["demo", "--keep", "--dir"]).arg(&dir).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    let env = dir.join("host.env");
    for line in [format!("carlosctl --host-env '{}' snapshot list\n", env.display()), format!("rm -r '{}'\n", dir.display())] {
        assert!(outcome.stdout.contains(&line), "{line} in {outcome}");
    }
}
