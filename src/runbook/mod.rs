//! The runbooks of the worst night, built into the program: read, listed, and walked one command at a time.
//!
//! | file | what it does |
//! |---|---|
//! | `parse` | Markdown with a fixed frame becomes steps and commands |
//! | `expect` | what a command should print against what it printed, and the values read from it |
//! | `page` | a runbook at a terminal |
//! | `start` | from nothing, or from where a transcript ends |
//! | `walk` | shows a command, asks, runs it, compares how it ends and what it says |
//! | `answer` | what a walk answers in the end |
//! | `ask` | what the operator is asked |
//! | `cases` | which of a step's cases is the one that was seen |
//! | `shell` | runs one command with `sh` |
//! | `screen` | what a command shows at a terminal becomes lines |
//! | `transcript` | what was done, for the next morning and for going on |
//!
//! The tests execute every command of every runbook with the same parser and the same comparison.
//!
//! Its questions are answered with the whole word that they show, and Enter alone starts only what changes nothing. What can
//! destroy asks for a name itself, by the one prompt for that.
//!
//! Absent on purpose: a way to skip a command that asks for a box's name, such as the restore, unless it ended as it should and
//! only said something else. What comes after it rests on it.

mod answer;
mod ask;
mod cases;
pub mod expect;
pub mod page;
pub mod parse;
mod screen;
mod shell;
mod start;
pub mod transcript;
mod walk;

use serde::Serialize;

use crate::cli::Global;
use crate::cli::runbook::RunbookCommand;
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::terminal::{Paper, Table, nearest};

use self::parse::Runbook;

/// Every runbook with its text, in the order in which they are listed.
pub const ALL: &[(&str, &str)] = &[
    ("dr-cold-standby", include_str!("../../runbooks/dr-cold-standby.md")),
    ("clobbered-snapshot", include_str!("../../runbooks/clobbered-snapshot.md")),
    ("rebuilt-same-label", include_str!("../../runbooks/rebuilt-same-label.md")),
    ("noncurrent-version-rescue", include_str!("../../runbooks/noncurrent-version-rescue.md")),
    ("undo-a-restore", include_str!("../../runbooks/undo-a-restore.md")),
    ("retention-rollout", include_str!("../../runbooks/retention-rollout.md")),
    ("retention-refused", include_str!("../../runbooks/retention-refused.md")),
    ("credentials-clock-network", include_str!("../../runbooks/credentials-clock-network.md")),
    ("planned-failover", include_str!("../../runbooks/planned-failover.md")),
    ("quarterly-drill", include_str!("../../runbooks/quarterly-drill.md")),
    ("findings", include_str!("../../runbooks/findings.md")),
    ("exit-codes", include_str!("../../runbooks/exit-codes.md")),
];

/// Runs `carlosctl runbook …`. `global` is what was typed, which the commands of a runbook are given too.
///
/// # Errors
/// Not found for a runbook that there is none of; for `run` see each step.
pub async fn run(command: &RunbookCommand, global: &Global, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let now = context.now();
    match command {
        RunbookCommand::List => {
            let runbooks = ALL.iter().map(|(name, _)| Ok(Listed::of(&named(name)?.0))).collect::<Result<_, CommandError>>()?;
            context.answer(&List { runbooks }, now)?;
        }
        RunbookCommand::Show { name } => {
            let (runbook, text) = named(name)?;
            let text = page::markdown(text);
            let shown = Shown { name: runbook.name.clone(), title: runbook.title.clone(), text, runbook };
            context.answer(&shown, now)?;
        }
        RunbookCommand::Run(args) => return walk::run(args, global, context).await,
    }
    Ok(Exit::Done)
}

/// The runbook of this name, and its text. `.md` may be typed too.
fn named(name: &str) -> Result<(Runbook, &'static str), CommandError> {
    let wanted = name.strip_suffix(".md").unwrap_or(name);
    let Some((name, text)) = ALL.iter().find(|(name, _)| *name == wanted) else {
        let error = CommandError::new(Exit::NotFound, format!("no runbook {name:?}"));
        let part = |name: &&&str| !wanted.is_empty() && (name.contains(wanted) || wanted.contains(**name));
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        let near = nearest(wanted, names.iter().copied()).or_else(|| names.iter().find(part).copied());
        return Err(match near {
            Some(near) => error.hint(format!("did you mean {near}? every runbook: carlosctl runbook list")),
            None => error.hint("every runbook: carlosctl runbook list"),
        });
    };
    let runbook = Runbook::parse(name, text)
        .map_err(|because| CommandError::new(Exit::Unexpected, format!("runbook {name}: {because}")))?;
    Ok((runbook, text))
}

#[derive(Debug, Serialize)]
struct List {
    runbooks: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    title: String,
    when: String,
    time: String,
    /// How many steps `runbook run` walks; 0 for one that is only read.
    steps: usize,
}

impl Listed {
    fn of(runbook: &Runbook) -> Self {
        Self {
            name: runbook.name.clone(),
            title: runbook.title.clone(),
            when: page::plain(&runbook.when),
            time: page::plain(&runbook.time),
            steps: runbook.steps().count(),
        }
    }
}

impl Answer for List {
    const SCHEMA: &'static str = "carlosctl.runbook-list/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut table = Table::new(&["runbook", "when"], columns);
        for runbook in &self.runbooks {
            table.row([&runbook.name, &runbook.when]);
        }
        format!("{table}\nread one: carlosctl runbook show NAME\nwalk one: carlosctl runbook run NAME\n")
    }
}

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    title: String,
    text: String,
    #[serde(skip)]
    runbook: Runbook,
}

impl Answer for Shown {
    const SCHEMA: &'static str = "carlosctl.runbook-show/1";

    /// Fitted to a terminal; into a pipe or a file goes the Markdown.
    fn text(&self, Paper { columns, .. }: Paper) -> String {
        match columns {
            Some(columns) => page::page(&self.runbook, usize::from(columns)),
            None => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runbook_reads_and_has_no_character_that_moves_a_cursor() {
        for (name, text) in ALL {
            let (runbook, _) = named(name).unwrap_or_else(|error| panic!("{}", error.message));
            assert!(text.lines().all(|line| crate::terminal::escape(line) == line), "{name}");
            let steps: Vec<u16> = runbook.steps().filter_map(|step| step.step).collect();
            assert!(steps.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{name}: {steps:?}");
            // A long line would be broken by the terminal in the middle of a word.
            for columns in [60, 250] {
                let shown = page::page(&runbook, columns);
                let long = shown.lines().find(|line| !line.starts_with("    ") && line.chars().count() > columns);
                assert_eq!(long, None, "{name}");
            }
        }
    }

    #[test]
    fn a_name_that_is_none_is_answered_with_a_near_one() {
        for (typed, near) in [
            ("cold-standby", "dr-cold-standby"),
            ("dr-cold-stanby", "dr-cold-standby"),
            ("DR-Cold-Standby", "dr-cold-standby"),
            ("undo-restore", "undo-a-restore"),
            ("finding", "findings"),
        ] {
            let error = named(typed).expect_err("none");
            let hint = format!("did you mean {near}? every runbook: carlosctl runbook list");
            assert_eq!((error.exit, error.hints), (Exit::NotFound, vec![hint]));
        }
        assert_eq!(named("nonsense").expect_err("none").hints, ["every runbook: carlosctl runbook list"]);
        assert!(named("dr-cold-standby.md").is_ok());
    }
}
