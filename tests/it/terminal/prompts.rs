//! Every question: what is typed, what is no consent, Ctrl-C, and where nobody can be asked.

use crate::common::pty::Terminal;
use crate::common::scene::Scene;
use crate::restore::Standby;
use crate::runbook_scenes;

/// A command that asks for a name.
struct Asks {
    what: &'static str,
    line: String,
    /// What is to be typed.
    name: &'static str,
    scene: Scene,
}

fn restore() -> Asks {
    let scene = Scene::standby();
    Asks { what: "restore", line: "restore --from-box edge-a1".to_owned(), name: "edge-a1", scene }
}

fn undo() -> Asks {
    let mut scene = Scene::standby();
    runbook_scenes::set("restored", &mut scene);
    scene.run("systemctl mask --now carlos-edge.service");
    Asks { what: "undo", line: "restore undo".to_owned(), name: "edge-d4", scene }
}

fn retention() -> Asks {
    let scene = Scene::standby();
    Asks { what: "retention", line: "retention run --without-box edge-c3".to_owned(), name: "bucket", scene }
}

fn release() -> Asks {
    let scene = Scene::standby();
    let (_, held) = scene.run("carlosctl snapshot hold --box edge-c3");
    let stamp = held.lines().find_map(|line| line.strip_prefix("hold ")?.split(' ').next()).expect("a hold").to_owned();
    let line = format!("snapshot hold release --box edge-c3 {stamp}");
    Asks { what: "release", line, name: "edge-c3", scene }
}

/// Everything that asks for a name.
const EVERY: [fn() -> Asks; 4] = [restore, undo, retention, release];

impl Asks {
    fn at_a_terminal(&mut self) -> Terminal {
        self.scene.env.insert("TERM".to_owned(), "xterm".to_owned());
        Terminal::start(self.scene.shell(&format!("exec carlosctl {} --color never", self.line)))
    }

    fn question(&self) -> String {
        format!("type {} to go on", self.name)
    }
}

#[test]
fn the_name_that_was_asked_for_is_consent() {
    for make in EVERY {
        let mut asks = make();
        let before = asks.scene.everything();
        let mut terminal = asks.at_a_terminal();
        terminal.expect(&asks.question());
        terminal.line(asks.name);
        let (code, said) = terminal.end();
        assert_eq!(code, 0, "{}: {said}", asks.what);
        assert!(asks.scene.everything() != before, "{}: {said}", asks.what);
    }
}

#[test]
fn another_name_is_no_consent() {
    for make in EVERY {
        let mut asks = make();
        let before = asks.scene.everything();
        for typed in ["y", "yes", "edge-b2", "", &asks.name.to_uppercase()] {
            let mut terminal = asks.at_a_terminal();
            terminal.expect(&asks.question());
            terminal.line(typed);
            let (code, said) = terminal.end();
            assert_eq!(code, 6, "{} {typed:?}: {said}", asks.what);
            assert!(said.contains(&format!("error: not confirmed: {typed:?} is not {:?}", asks.name)), "{}: {said}", asks.what);
            assert!(asks.scene.everything() == before, "{} {typed:?}: {said}", asks.what);
        }
    }
}

/// Whoever answers has looked at what was decided before the question; somebody may need a release meanwhile.
#[test]
fn what_changes_while_retention_asks_stops_it() {
    let mut asks = retention();
    let mut terminal = asks.at_a_terminal();
    terminal.expect(&asks.question());
    let record = asks.scene.object("apps/acme/shop/retention.json");
    let text = std::fs::read_to_string(&record).expect("a retention record");
    std::fs::write(record, format!("{text}\n")).expect("it is written");
    let before = asks.scene.everything();
    terminal.line(asks.name);
    let (code, said) = terminal.end();
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("changed: apps/acme/shop/retention.json"), "{said}");
    assert!(asks.scene.everything() == before, "{said}");
}

/// A box that is not dead may publish while the operator thinks, or somebody may replace what it published.
#[test]
fn what_changes_while_restore_asks_stops_it() {
    for (changed, because) in [("json", "the sidecar of edge-a1 changed"), ("db", "edge-a1.db: another object since")] {
        let mut asks = restore();
        let mut terminal = asks.at_a_terminal();
        terminal.expect(&asks.question());
        let object = asks.scene.object(&format!("control/registry-snapshot/edge-a1.{changed}"));
        let content = std::fs::read(&object).expect("an object");
        // In the sidecar another box's name, in the registry a byte at its end.
        let content = if changed == "json" {
            br#"{"v":1,"box":"edge-x9","fingerprint":"ab12"}"#.to_vec()
        } else {
            [content, vec![0]].concat()
        };
        std::fs::write(object, content).expect("it is written");
        let mut before = asks.scene.everything();
        terminal.line(asks.name);
        let (code, said) = terminal.end();
        assert_eq!(code, 7, "{said}");
        assert!(said.contains(because), "{said}");
        // What was staged while it asked is gone.
        let after = asks.scene.everything();
        before.retain(|path, _| after.contains_key(path) || path.ends_with("registry.db"));
        assert!(after == before, "{said}");
    }
}

#[test]
fn ctrl_c_at_the_question_ends_with_130_and_a_visible_cursor() {
    for make in EVERY {
        let mut asks = make();
        let before = asks.scene.everything();
        let mut terminal = asks.at_a_terminal();
        terminal.expect(&asks.question());
        terminal.ctrl_c();
        let (code, rest) = terminal.end();
        assert_eq!(code, 130, "{}: {rest}", asks.what);
        assert_eq!(rest.matches("\u{1b}[?25l").count(), rest.matches("\u{1b}[?25h").count(), "{}: {rest:?}", asks.what);
        assert!(asks.scene.everything() == before, "{}: {rest}", asks.what);
    }
}

#[test]
fn where_nobody_can_be_asked_the_flag_is_named_and_nothing_is_done() {
    for make in EVERY {
        let mut asks = make();
        let before = asks.scene.everything();
        let (line, name) = (asks.line.clone(), asks.name);
        let wants = format!("needs --confirm {name}, and there is no terminal to ask at");
        for piped in [format!("carlosctl {line}"), format!("yes | carlosctl {line}"), format!("yes {name} | carlosctl {line}")]
        {
            let (code, said) = asks.scene.run(&piped);
            assert_eq!(code, 6, "{piped}: {said}");
            assert!(said.contains(&wants) && !said.contains("to go on"), "{piped}: {said}");
        }
        // A terminal to read from or to see is not enough, and neither is one where asking was forbidden.
        asks.scene.env.insert("TERM".to_owned(), "xterm".to_owned());
        for half in [
            format!("yes {name} | carlosctl {line}"),
            format!("carlosctl {line} 2>said; code=$?; cat said; exit $code"),
            format!("exec carlosctl {line} --no-input"),
        ] {
            let (code, said) = Terminal::start(asks.scene.shell(&half)).end();
            assert_eq!(code, 6, "{half}: {said}");
            assert!(said.contains(&format!("--confirm {name}")) && !said.contains("to go on"), "{half}: {said}");
        }
        // A wrong flag is no consent either.
        for confirm in ["y", "yes", "''", "edge-b2"] {
            let (code, said) = asks.scene.run(&format!("carlosctl {line} --confirm {confirm}"));
            assert_eq!(code, 6, "{line} --confirm {confirm}: {said}");
        }
        assert!(asks.scene.everything() == before, "{}", asks.what);
    }
}

/// A runbook asks before each command; nobody can answer for the operator.
#[test]
fn a_runbook_is_walked_by_somebody_or_unattended() {
    let scene = Scene::standby();
    let before = scene.everything();
    let line = "carlosctl runbook run dr-cold-standby --set DEAD=edge-a1";
    for typed in ["", "run", "edge-a1"] {
        let (code, said) = scene.run(&format!("yes {typed} | {line}"));
        assert_eq!(code, 6, "{said}");
        assert!(said.contains("--unattended"), "{said}");
    }
    let (code, said) = Terminal::start(scene.shell(&format!("exec {line} --no-input"))).end();
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("--unattended"), "{said}");
    let mut terminal = Terminal::start(scene.shell(&format!("exec {line} --transcript transcript")));
    terminal.expect("Enter runs it, or type stop");
    terminal.ctrl_c();
    let (code, said) = terminal.end();
    assert_eq!(code, 130, "{said}");
    assert!(scene.everything() == before);
}

#[test]
fn the_question_comes_after_everything_was_shown() {
    let standby = Standby::new();
    let mut terminal = Terminal::start(standby.restore([]).env("TERM", "xterm").into_terminal_command());
    let shown = terminal.expect("type edge-a1 to go on");
    for part in ["dead box", "this machine", "is kept beside it, as registry.db.before-", "sha256"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    terminal.line("edge-a1");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("installed current of edge-a1"), "{said}");
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn findings_come_before_the_question() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &crate::restore::ago(2), &crate::common::deployment::registry(200, "v9"));
    let (code, said) = Terminal::start(standby.restore([]).env("TERM", "xterm").into_terminal_command()).end();
    assert_eq!(code, 5, "{said}");
    assert!(!said.contains("to go on"), "{said}");
}
