//! `help`: of the program, a command, a topic, or one thing of a topic.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Code;
use crate::terminal;

const EXIT_CODES: &str = "exit-codes";
const FINDINGS: &str = "findings";

/// Help on a command, a topic, a finding's code or an exit code.
///
/// # Errors
/// Usage where there is nothing of that name.
pub(crate) fn text(topic: &[String], columns: Option<u16>) -> Result<String, CommandError> {
    let words: Vec<&str> = topic.iter().map(String::as_str).collect();
    match words.as_slice() {
        [EXIT_CODES] => Ok(Exit::table()),
        [FINDINGS] => Ok(Code::ALL.iter().map(|code| finding(*code, columns)).collect::<Vec<_>>().join("\n")),
        [EXIT_CODES, code] => exit(code).ok_or_else(|| unknown(EXIT_CODES, code)),
        [FINDINGS, code] => code_named(code).map(|code| finding(code, columns)).ok_or_else(|| unknown(FINDINGS, code)),
        // What a command printed is typed as it stands.
        [code] if exit(code).is_some() => Ok(exit(code).unwrap_or_default()),
        [code] if code_named(code).is_some() => Ok(code_named(code).map(|code| finding(code, columns)).unwrap_or_default()),
        words => command(words),
    }
}

fn command(words: &[&str]) -> Result<String, CommandError> {
    let mut command = Cli::command();
    command.build();
    let mut at = &mut command;
    for word in words {
        let names: Vec<String> = at.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        at = at.find_subcommand_mut(word).ok_or_else(|| no_help(word, &names))?;
    }
    Ok(at.render_long_help().to_string())
}

fn no_help(word: &str, commands: &[String]) -> CommandError {
    let names =
        commands.iter().map(String::as_str).chain([EXIT_CODES, FINDINGS]).chain(Code::ALL.iter().map(|code| code.as_str()));
    let error = CommandError::usage(format!("no help on {word:?}"));
    match terminal::nearest(word, names) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint(format!("topics: {EXIT_CODES}, {FINDINGS}, or any command: carlosctl help")),
    }
}

fn unknown(topic: &str, word: &str) -> CommandError {
    let error = CommandError::usage(format!("no {word:?} in {topic}"));
    let near = terminal::nearest(word, Code::ALL.iter().map(|code| code.as_str())).filter(|_| topic == FINDINGS);
    match near {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint(format!("all of them: carlosctl help {topic}")),
    }
}

fn code_named(text: &str) -> Option<Code> {
    Code::ALL.iter().copied().find(|code| code.as_str() == text)
}

/// What one finding code means, and what to do, folded at `columns`.
fn finding(code: Code, columns: Option<u16>) -> String {
    let page = code.page();
    let allow = if code.overridable() { format!("   (where it blocks a restore: --allow {code})") } else { String::new() };
    let mut text = format!("{}\n", terminal::wrap(&format!("{code}{allow}"), columns));
    for (name, said) in [("means", page.means), ("evidence", page.evidence), ("do", page.action)] {
        text.push_str(&terminal::wrap_under(&format!("  {name:<9} {said}"), columns, 12));
        text.push('\n');
    }
    text
}

/// What one exit code means.
fn exit(text: &str) -> Option<String> {
    let number: u8 = text.parse().ok()?;
    let exit = Exit::ALL.into_iter().find(|exit| exit.code() == number)?;
    Some(format!("{number}  {}\n", exit.meaning()))
}
