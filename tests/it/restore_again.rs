//! A restore after a restore: what is said of the one before, and the way back from it.

use crate::common::{Outcome, carlosctl};
use crate::restore::Standby;

struct Twice {
    standby: Standby,
    label: &'static str,
}

impl Twice {
    fn new(label: &'static str) -> Self {
        Self { standby: Standby::new(), label }
    }

    fn run(&self, args: &[&str]) -> Outcome {
        carlosctl(args.iter().copied())
            .args(&["--this-box", self.label])
            .dir(&self.standby.deployment.dir())
            .arg("--registry")
            .arg(self.standby.registry())
            .env("PATH", self.standby.path())
            .run()
    }

    fn done(&self, args: &[&str]) -> Outcome {
        let outcome = self.run(args);
        assert_eq!(outcome.code, 0, "{outcome}");
        outcome
    }

    /// A command that is proposed, with the flags of this test.
    fn proposed(&self, command: &str) -> String {
        format!("carlosctl --this-box={} --registry={} {command}\n", self.label, self.standby.registry().display())
    }
}

const RESTORE: [&str; 5] = ["restore", "--from-box", "edge-a1", "--confirm", "edge-a1"];

#[test]
fn a_registry_that_was_restored_here_is_not_in_the_way_without_the_way_back() {
    let twice = Twice::new("edge-b2");
    // Routes that nobody restored have no way back but the flag.
    std::fs::write(twice.standby.registry(), crate::common::deployment::registry(7, "own")).expect("a registry");
    let own = twice.run(&RESTORE);
    assert!(own.code == 5 && own.stderr.contains("restore with --allow target-not-empty; the old file is kept\n"), "{own}");
    assert!(!own.stderr.contains("restore undo"), "{own}");
    let _ = twice.done(&[&RESTORE[..], &["--allow", "target-not-empty"]].concat());

    let older = ["restore", "--from-box", "edge-a1", "--at", "2h"];
    let refused = twice.run(&older);
    assert_eq!(refused.code, 5, "{refused}");
    let because = "target: the registry here has 200 routes of its own, since edge-a1 was restored into it at 20";
    assert!(refused.stderr.contains(because), "{refused}");
    let back = format!("hint: to take that restore back: {}", twice.proposed("restore undo"));
    assert!(refused.stderr.contains(&back), "{back} in {refused}");
    let doctor = twice.run(&["doctor", "--read-only"]);
    assert!(doctor.stdout.contains(&back), "{back} in {doctor}");

    // Taken back, it is no restored one any more; and without its receipt nobody knows.
    let _ = twice.done(&["restore", "undo", "--confirm", "edge-b2"]);
    let undone = twice.run(&older);
    assert!(undone.code == 5 && !undone.stderr.contains("restore undo"), "{undone}");
}

#[test]
fn what_was_taken_back_is_said_to_be_and_how_it_is_done_again() {
    for (label, more, again) in [
        ("edge-b2", &[][..], "restore --from-box edge-a1"),
        ("edge-a1", &["--same-label"], "restore --from-box edge-a1 --same-label"),
        ("edge-b2", &["--at", "2h"], "restore --from-box edge-a1 --at 20"),
    ] {
        let twice = Twice::new(label);
        let _ = twice.done(&[&RESTORE[..], more].concat());
        let undo = twice.done(&["restore", "undo", "--confirm", label]);
        let next = twice.proposed(again);
        let next = format!("next 1   to restore again: {}", if again.ends_with("20") { next.trim_end() } else { &next });
        assert!(undo.stdout.contains(&next), "{next} in {undo}");
        let receipt = undo.stdout.lines().find_map(|line| line.strip_prefix("receipt  /")).expect("a receipt");
        let name = receipt.rsplit('/').next().expect("a name");

        let watch = twice.run(&["restore", "watch", "--for", "1s", "--interval", "100ms"]);
        assert_eq!((watch.code, watch.stdout.as_str()), (10, ""), "{watch}");
        let said = watch.stderr.lines().next().expect("an error");
        let begins = format!("error: {}: the restore of edge-a1 at 20", twice.standby.registry().display());
        assert!(said.starts_with(&begins) && said.contains(" was taken back at 20"), "{watch}");
        assert!(said.ends_with(&format!("(receipt {name}); there is nothing to prove")), "{watch}");
        let hint = next.replace("next 1   ", "hint: ");
        assert!(watch.stderr.contains(&hint), "{hint} in {watch}");
        // The command that it names does it, where consent is given.
        if more.is_empty() {
            let _ = twice.done(&RESTORE);
        }
    }
}

#[test]
fn where_the_receipt_of_the_restore_is_gone_nothing_is_made_up() {
    let twice = Twice::new("edge-b2");
    let restored = twice.done(&RESTORE);
    let receipt = restored.stdout.lines().find_map(|line| line.strip_prefix("receipt  /")).expect("a receipt");
    std::fs::remove_file(format!("/{receipt}")).expect("it is there");
    let undo = twice.done(&["restore", "undo", "--confirm", "edge-b2"]);
    assert!(undo.stdout.contains(&format!("to restore again: {}", twice.proposed("restore --from-box LABEL"))), "{undo}");
    let watch = twice.run(&["restore", "watch", "--for", "1s"]);
    assert_eq!(watch.code, 10, "{watch}");
    assert!(watch.stderr.contains(": the last restore was taken back at 20") && !watch.stderr.contains("hint:"), "{watch}");
}
