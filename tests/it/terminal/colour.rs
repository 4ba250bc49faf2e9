//! Colour is for our own words alone, and only where somebody sees it.

use std::process::Command;

use crate::common::carlosctl;
use crate::common::deployment::{Deployment, registry};
use crate::common::pty::Terminal;
use crate::common::scene::Scene;
use crate::restore::Standby;

const AS_OF: &str = "2026-11-30T12:00:00Z";
/// The words that may be painted.
const OURS: [&str; 9] = ["good", "ready", "suspect", "unknown", "warning", "bad", "not-ready", "blocking", "refused"];

/// Boxes in every state, the names of two of which are words that are painted elsewhere.
fn deployment() -> Deployment {
    let deployment = Deployment::new();
    deployment.healthy_box("good", "2026-11-30T10:00:00Z");
    deployment.healthy_box("bad", "2026-11-30T10:00:00Z");
    deployment.pass("bad", "2026-11-30T11:01:00Z", &registry(0, ""));
    deployment.pass("edge-e5", "2026-11-30T10:00:00Z", &registry(20, "v5"));
    deployment.put("control/registry-snapshot/edge-e5.json", b"{", "2026-11-30T10:00:00Z");
    // A name that paints itself, and one with the marks that we paint by.
    deployment.put("control/registry-snapshot/\u{1b}[31mx.db", b"x", "2026-11-30T10:00:00Z");
    deployment.put("control/registry-snapshot/\u{2063}bad\u{2060}.db", b"x", "2026-11-30T10:00:00Z");
    deployment
}

fn list(deployment: &Deployment, args: &[&str]) -> crate::common::Invocation {
    carlosctl(["snapshot", "list", "--as-of", AS_OF]).args(args).dir(&deployment.dir()).env("TERM", "xterm")
}

/// The words that are painted in `text`, and the text without paint. Panics at any other escape.
fn painted(text: &str) -> (Vec<String>, String) {
    let (mut words, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let begin = after.trim_start_matches(['[', '1', '3', '2', 'm', '\u{1b}']);
        let (word, after) = begin.split_once("\u{1b}[0m").unwrap_or_else(|| panic!("no end in {after:?}"));
        assert!(!word.contains('\u{1b}'), "{word:?}");
        words.push(word.to_owned());
        plain.push_str(word);
        rest = after;
    }
    plain.push_str(rest);
    (words, plain)
}

#[test]
fn asked_for_it_is_around_our_words_and_the_text_is_the_same() {
    let deployment = deployment();
    let plain = list(&deployment, &["--color", "never"]).run();
    assert!(!plain.to_string().contains('\u{1b}'), "{plain:?}");
    let always = list(&deployment, &["--color", "always"]).run();
    let (words, text) = painted(&always.stdout);
    assert_eq!(text, plain.stdout);
    assert!(words.iter().all(|word| OURS.contains(&word.as_str())), "{words:?}");
    for (word, row) in [("good", "good     current"), ("suspect", "bad  "), ("bad", "edge-e5  ")] {
        assert!(words.iter().any(|painted| painted == word), "{word} in {words:?}");
        let line = always.stdout.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row} in {always}"));
        assert!(line.contains(&format!("m{word}\u{1b}[0m")), "{line:?}");
    }
    assert!(text.contains("\\u{1b}[31mx.db") && text.contains("\\u{2063}bad\\u{2060}.db"), "{text}");
}

#[test]
fn json_is_never_painted_and_keeps_foreign_text_as_it_is() {
    let deployment = deployment();
    let outcome = list(&deployment, &["--color", "always", "--json"]).run();
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome:?}");
    let keys: Vec<String> = outcome.json()["unrecognized"]
        .as_array()
        .expect("keys")
        .iter()
        .map(|row| row["key"].as_str().expect("a key").to_owned())
        .collect();
    assert_eq!(keys, ["control/registry-snapshot/\u{1b}[31mx.db", "control/registry-snapshot/\u{2063}bad\u{2060}.db"]);
}

#[test]
fn left_to_itself_it_is_for_a_terminal_that_shows_it() {
    let deployment = deployment();
    let piped = list(&deployment, &[]).run();
    assert!(!piped.to_string().contains('\u{1b}'), "{piped:?}");
    let at_a_terminal = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = list(&deployment, args).into_terminal_command();
        command.envs(env.iter().copied());
        let (code, said) = Terminal::start(command).end();
        assert_eq!(code, 0, "{said}");
        said.contains('\u{1b}')
    };
    assert!(at_a_terminal(&[], &[]));
    assert!(!at_a_terminal(&["--color", "never"], &[]));
    assert!(!at_a_terminal(&[], &[("NO_COLOR", "1")]));
    assert!(!at_a_terminal(&[], &[("TERM", "dumb")]));
    // What was typed is nearer than what is set.
    assert!(at_a_terminal(&["--color", "always"], &[("NO_COLOR", "1")]));
}

#[test]
fn a_refusal_and_the_question_stand_out() {
    let standby = Standby::new();
    let mut terminal = Terminal::start(standby.restore([]).env("TERM", "xterm").into_terminal_command());
    terminal.expect("\u{1b}[1mtype edge-a1 to go on\u{1b}[0m");
    terminal.line("y");
    let (code, said) = terminal.end();
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: not confirmed"), "{said:?}");

    standby.deployment.pass("edge-a1", &crate::restore::ago(2), &registry(200, "v9"));
    let refused = standby.restore(["--color", "always"]).run();
    assert_eq!(refused.code, 5, "{refused}");
    assert!(refused.stderr.contains("\u{1b}[1m\u{1b}[31mblocking\u{1b}[0m still-writing: "), "{refused:?}");
    assert!(refused.stdout.starts_with("\u{1b}[1m\u{1b}[31mrefused\u{1b}[0m: "), "{refused:?}");
    let plain = standby.restore([]).run();
    assert!(!plain.to_string().contains('\u{1b}'), "{plain:?}");
}

/// Whatever is printed: no mark of ours is left over, painted or not, and what is painted is a word of ours.
#[test]
fn every_command_paints_words_of_ours_alone() {
    let scene = Scene::standby();
    let run = |line: &str| -> (String, String) {
        let output = Command::new("/bin/sh")
            .args(["-c", line])
            .env_clear()
            .envs(&scene.env)
            .current_dir(scene.path("."))
            .output()
            .expect("sh starts");
        (String::from_utf8(output.stdout).expect("UTF-8"), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let mut all = Vec::new();
    for line in [
        "snapshot list",
        "snapshot show --box edge-c3",
        "snapshot verify --all-generations",
        "drill --no-receipt",
        "doctor --read-only",
        "report list",
        "retention explain",
        "restore --from-box edge-c3 --dry-run",
        "restore --from-box edge-a1 --dry-run",
        "restore --from-box edge-a1",
        "snapshot list --box nonsense",
    ] {
        for (when, painting) in [("always", true), ("never", false)] {
            let (out, err) = run(&format!("carlosctl {line} --color {when}"));
            for text in [out, err] {
                assert!(!text.contains(|c| matches!(c, '\u{2060}'..='\u{2064}')), "{line}: {text:?}");
                let (words, _) = painted(&text);
                assert!(painting || words.is_empty(), "{line}: {words:?}");
                all.extend(words);
            }
        }
    }
    all.sort();
    all.dedup();
    assert!(all.iter().all(|word| OURS.contains(&word.as_str()) || word == "error"), "{all:?}");
    for word in ["good", "suspect", "bad", "blocking", "warning", "error"] {
        assert!(all.iter().any(|painted| painted == word), "{word} in {all:?}");
    }
}
