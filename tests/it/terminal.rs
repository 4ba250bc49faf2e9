//! At a real terminal: the question, what is typed, and Ctrl-C.

use std::process::Command;

use rexpect::session::{Options, PtySession, spawn_with_options};

use crate::restore::Standby;

/// `restore` of the dead box at a terminal.
fn at_a_terminal(standby: &Standby, args: &[&str]) -> PtySession {
    let command: Command = standby.restore(args.iter().copied()).env("TERM", "xterm").into_terminal_command();
    let options = Options::new().timeout_ms(Some(30_000));
    spawn_with_options(command, options).expect("a terminal")
}

/// `wait` answers with a type of a crate that is not ours to name; it prints as `Exited(Pid(7), 130)`.
fn exit_code(session: &mut PtySession) -> i32 {
    let status = format!("{:?}", session.process().wait().expect("it ends"));
    let code = status.strip_prefix("Exited(").and_then(|rest| rest.trim_end_matches(')').rsplit(' ').next()?.parse().ok());
    code.unwrap_or_else(|| panic!("it ended with {status}"))
}

#[test]
fn the_name_is_typed_after_everything_was_shown() {
    let standby = Standby::new();
    let mut session = at_a_terminal(&standby, &[]);
    let shown = session.exp_string("type edge-a1 to go on").expect("the question");
    for part in ["dead box", "this machine", "is kept as registry.db.before-", "sha256"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    session.send_line("edge-a1").expect("typed");
    session.exp_string("installed current of edge-a1").expect("the answer");
    session.exp_eof().expect("the end");
    assert_eq!(exit_code(&mut session), 0);
    assert_eq!(standby.versions(), ["v0"]);
}

#[test]
fn another_name_is_no_consent() {
    for typed in ["y", "yes", "edge-b2", ""] {
        let standby = Standby::new();
        let before = standby.files();
        let mut session = at_a_terminal(&standby, &[]);
        session.exp_string("type edge-a1 to go on").expect("the question");
        session.send_line(typed).expect("typed");
        session.exp_string("not confirmed").expect("the refusal");
        session.exp_eof().expect("the end");
        assert_eq!(exit_code(&mut session), 6, "{typed:?}");
        assert!(standby.files() == before, "{typed:?}");
    }
}

#[test]
fn ctrl_c_at_the_question_ends_with_130_and_a_visible_cursor() {
    let standby = Standby::new();
    let before = standby.files();
    let mut session = at_a_terminal(&standby, &[]);
    session.exp_string("type edge-a1 to go on").expect("the question");
    session.send_control('c').expect("typed");
    let rest = session.exp_eof().expect("the end");
    assert_eq!(exit_code(&mut session), 130, "{rest}");
    assert_eq!(rest.matches("\u{1b}[?25l").count(), rest.matches("\u{1b}[?25h").count(), "{rest:?}");
    assert!(standby.files() == before);
}

#[test]
fn findings_come_before_the_question() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &crate::restore::ago(2), &crate::common::deployment::registry(200, "v9"));
    let mut session = at_a_terminal(&standby, &[]);
    let said = session.exp_eof().expect("the end");
    assert_eq!(exit_code(&mut session), 5, "{said}");
    assert!(!said.contains("to go on"), "{said}");
}

#[test]
fn a_pipe_of_yes_is_no_terminal_and_no_consent() {
    let standby = Standby::new();
    let before = standby.files();
    let mut yes = Command::new("yes").arg("edge-a1").stdout(std::process::Stdio::piped()).spawn().expect("yes");
    let mut command = standby.restore([]).into_command();
    command.stdin(yes.stdout.take().expect("a pipe"));
    let output = command.output().expect("it ends");
    let _ = yes.kill();
    let _ = yes.wait();
    assert_eq!(output.status.code(), Some(6));
    assert!(standby.files() == before);
}

#[test]
fn no_colour_and_no_control_characters_reach_a_dumb_terminal() {
    let standby = Standby::new();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let command = standby.restore(["--dry-run", "--json"]).env(name, value).into_terminal_command();
        let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(30_000))).expect("a terminal");
        let said = session.exp_eof().expect("the end");
        assert_eq!(exit_code(&mut session), 0, "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}
