//! Tables at every width that a terminal may have, and at one that does not say.

use crate::common::deployment::{Deployment, registry};
use crate::common::pty::Terminal;
use crate::common::scene::Scene;
use crate::common::{Invocation, carlosctl};

/// Every command that prints a table. What ends by asking is told not to.
const COMMANDS: [&str; 17] = [
    "snapshot list --as-of 2030-01-01T00:00:00Z",
    "snapshot list --as-of 2030-01-01T00:00:00Z --box edge-c3",
    "snapshot show --as-of 2030-01-01T00:00:00Z --box edge-a1",
    "snapshot verify --as-of 2030-01-01T00:00:00Z --all-generations",
    "snapshot hold --box edge-c3",
    "snapshot hold list --as-of 2030-01-01T00:00:00Z",
    "restore --from-box edge-a1 --dry-run",
    "drill --no-receipt",
    "doctor --read-only",
    "report list --as-of 2030-01-01T00:00:00Z",
    "report show --as-of 2030-01-01T00:00:00Z --box edge-b2",
    "retention explain",
    "retention explain acme/shop --version v1",
    "retention run --without-box edge-c3 --no-input",
    "runbook list",
    "runbook show dr-cold-standby",
    "help findings",
];

/// Lines that are there to be copied are never folded, and neither is a word: one that is too long has at most a name before
/// it.
fn fits(line: &str, columns: usize) -> bool {
    let line = line.trim_end();
    let copied = ["hint:", "next ", "use it:", "run it:", "$ ", "receipt", "one app in", "one box in", "object "];
    let (before, word) = line.rsplit_once(' ').unwrap_or(("", line));
    let is_one_word = before.chars().count() <= 24 && before.chars().count() + word.chars().count() < line.len() + 1;
    // What a runbook shows of a command and its output stands as it is.
    let is_shown = line.starts_with("    ");
    line.chars().count() <= columns
        || is_shown
        || copied.iter().any(|begin| line.trim_start().starts_with(begin))
        || is_one_word
}

#[test]
fn every_table_fits_from_60_to_250_columns() {
    let scene = Scene::standby();
    for line in COMMANDS {
        for columns in [60, 80, 100, 250] {
            let (_, said) = Terminal::wide(columns, &scene.shell(&format!("exec carlosctl {line}"))).end();
            for one in said.lines() {
                assert!(fits(one, usize::from(columns)), "{line} at {columns}: {one:?} in\n{said}");
            }
        }
    }
}

#[test]
fn a_terminal_of_0_columns_gets_what_a_pipe_gets() {
    let scene = Scene::standby();
    scene.run("carlosctl snapshot hold --box edge-c3");
    for line in COMMANDS.iter().filter(|line| line.contains("--as-of") || line.contains("runbook list")) {
        let (code, said) = Terminal::wide(0, &scene.shell(&format!("exec carlosctl {line}"))).end();
        assert_eq!((code, said.replace('\r', "")), scene.run(&format!("carlosctl {line}")), "{line}");
    }
}

fn clobbered() -> Deployment {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T01:30:00Z");
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(1, "v1"));
    deployment
}

fn list(deployment: &Deployment) -> Invocation {
    carlosctl(["snapshot", "list", "--box", "edge-a1", "--as-of", "2026-11-30T12:00:00Z"]).dir(&deployment.dir())
}

/// The rows of the generations, at a terminal.
fn rows(deployment: &Deployment, columns: u16, env: &[(&str, &str)]) -> Vec<String> {
    let mut command = list(deployment).into_terminal_command();
    command.envs(env.iter().copied());
    let (code, said) = Terminal::wide(columns, &command).end();
    assert_eq!(code, 0, "{said}");
    said.lines()
        .map(|line| line.trim_end().to_owned())
        .filter(|line| line.starts_with("  20") || line.starts_with("  cur"))
        .collect()
}

#[test]
fn a_collapse_is_seen_in_the_bars() {
    let deployment = clobbered();
    let utf8 = [("TERM", "xterm"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1")];
    let at_60 = rows(&deployment, 60, &utf8);
    assert_eq!(
        at_60[..4],
        [
            "  current          59 min      32.0 KiB █▌   sidecar ok",
            "  20261130T110100Z 59 min      32.0 KiB █▌   = current",
            "  20261130T013000Z 10 h 30 min 84.0 KiB ████ -",
            "  20261130T003000Z 11 h 30 min 84.0 KiB ████ -",
        ]
    );
    let at_80 = rows(&deployment, 80, &utf8);
    assert_eq!(at_80[1], "  20261130T110100Z  59 min       32.0 KiB ███▊        = current size-collapsed");
    assert_eq!(at_80[2], "  20261130T013000Z  10 h 30 min  84.0 KiB ██████████  -");
    // Where only ASCII is shown, and where nobody knows.
    for env in [&[("TERM", "xterm")][..], &[("TERM", "xterm"), ("LC_ALL", "C")], &[("TERM", "dumb"), ("LANG", "C.UTF-8")]] {
        let ascii = rows(&deployment, 80, env);
        assert_eq!(
            ascii[1].replace("\u{1b}[0m", ""),
            "  20261130T110100Z  59 min       32.0 KiB ####        = current size-collapsed"
        );
    }
    let piped = list(&deployment).env("LANG", "C.UTF-8").env("TERM", "xterm").run();
    assert!(
        piped.stdout.contains("  20261130T110100Z  59 min       32.0 KiB ####        = current size-collapsed\n"),
        "{piped}"
    );
    assert!(piped.stdout.is_ascii(), "{piped}");
}

/// The listing says nothing of rows, and no object is fetched for a bar; verify, which fetches them, shows both.
#[test]
fn rows_are_shown_where_they_were_counted() {
    let deployment = clobbered();
    let verified =
        carlosctl(["snapshot", "verify", "--box", "edge-a1", "--all-generations", "--as-of", "2026-11-30T12:00:00Z"])
            .dir(&deployment.dir())
            .run();
    let row = |at: &str| verified.stdout.lines().find(|line| line.contains(at)).unwrap_or_else(|| panic!("{at} in {verified}"));
    assert!(row("20261130T110100Z").starts_with("edge-a1  20261130T110100Z  32.0 KiB ##      1 #     "), "{verified}");
    assert!(row("20261130T013000Z").starts_with("edge-a1  20261130T013000Z  84.0 KiB ####  200 ####  "), "{verified}");
    // One alone is compared with nothing.
    let one =
        carlosctl(["snapshot", "verify", "--box", "edge-a1", "--as-of", "2026-11-30T12:00:00Z"]).dir(&deployment.dir()).run();
    assert!(!one.stdout.contains('#'), "{one}");
}
