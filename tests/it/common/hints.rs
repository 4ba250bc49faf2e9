//! What is proposed is there to be pasted: prose first, and then one command to the end of the line, which parses.

use carlosctl::cli::Cli;
use clap::Parser;

const OURS: &str = "carlosctl ";
const COMMANDS: [&str; 13] = [
    "--",
    "box",
    "completions",
    "demo",
    "doctor",
    "drill",
    "help",
    "man",
    "report",
    "restore",
    "retention",
    "runbook",
    "snapshot",
];
/// What is proposed of others' programs.
const OTHERS: [&str; 5] = ["systemctl ", "timedatectl", "restorecon ", "chown ", "date -u"];
/// How the lines begin on which something is proposed.
const BEGINNINGS: [&str; 5] = ["hint: ", "next 1 ", "next 2 ", "next 3 ", "next 4 "];

/// Where a command of ours begins in `text`, for each.
fn commands(text: &str) -> Vec<usize> {
    let begins = |at: &usize| {
        let own = text[..*at].chars().next_back().is_none_or(|last| last.is_whitespace() || last == '(');
        let word =
            text[at + OURS.len()..].split(|end: char| !end.is_ascii_lowercase() && end != '-').next().unwrap_or_default();
        own && COMMANDS.iter().any(|command| word == *command || *command == "--" && word.starts_with("--"))
    };
    text.match_indices(OURS).map(|(at, _)| at).filter(begins).collect()
}

/// What is wrong with a line that proposes something, where anything is.
pub(crate) fn fault(text: &str) -> Option<&'static str> {
    let others = OTHERS
        .iter()
        .filter_map(|program| text.find(program))
        .filter(|at| text[..*at].chars().next_back().is_none_or(char::is_whitespace));
    let ours = commands(text);
    let at = ours.first().copied().or_else(|| others.min())?;
    let (before, command) = text.split_at(at);
    if ours.len() > 1 {
        return Some("two commands");
    }
    // A column ends with two blanks.
    if !before.is_empty() && !before.ends_with(": ") && !before.ends_with("  ") {
        return Some("prose before the command that does not end with a colon");
    }
    let prose = [", ", "; ", " (", " then ", " and ", " shows ", ": "];
    if prose.iter().any(|prose| command.contains(prose)) {
        return Some("prose behind the command");
    }
    None
}

/// The words of a command, as a shell takes them; enough for our own.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.iter_mut().last().expect("one").push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a command is one of ours that parses, once its placeholders are filled in.
fn parses(command: &str) -> bool {
    let filled = words(command).into_iter().map(|word| match word.as_str() {
        "LABEL" => "edge-a1".to_owned(),
        "ACCT/APP" => "acct/app".to_owned(),
        "STEP" => "1".to_owned(),
        _ => word,
    });
    command.contains('…') || Cli::try_parse_from(filled).is_ok()
}

fn look_at(hint: &str, said: &str) {
    assert_eq!(fault(hint), None, "{hint:?} in {said}");
    if let Some(at) = commands(hint).first() {
        assert!(parses(&hint[*at..]), "{hint:?} does not parse, in {said}");
    }
}

/// Looks at every line of `said` that proposes something, and at every hint of a document in it.
pub(crate) fn all(said: &str) {
    for line in said.lines().map(str::trim) {
        if let Some(hint) = BEGINNINGS.iter().find_map(|begins| line.strip_prefix(begins)) {
            look_at(hint.trim_start(), said);
        }
        if let Ok(error) = serde_json::from_str(line) {
            of_document(&error, said);
        }
    }
    if let Ok(document) = serde_json::from_str(said) {
        of_document(&document, said);
    }
}

fn of_document(value: &serde_json::Value, said: &str) {
    use serde_json::Value::{Array, Object, String};
    match value {
        Array(values) => values.iter().for_each(|value| of_document(value, said)),
        Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("hint", String(hint)) => look_at(hint, said),
                    ("hints", Array(hints)) => {
                        hints.iter().filter_map(serde_json::Value::as_str).for_each(|hint| look_at(hint, said));
                    }
                    _ => of_document(value, said),
                }
            }
        }
        _ => {}
    }
}
