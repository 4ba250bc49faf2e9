//! `runbook run`: one command after the other, each shown, asked for, run, and compared with what the runbook says.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::Global;
use crate::cli::runbook::RunArgs;
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::snapshot::blocking;
use crate::terminal::{Paper, escape, instant};

use super::expect::{self, Values, is_safe};
use super::page;
use super::parse::{Command, Runbook, Section};
use super::shell::{self, Said};
use super::start::{self, Start, id, unsafe_value};
use super::transcript::Transcript;

/// The answer.
#[derive(Debug, Serialize)]
struct Walked {
    runbook: String,
    /// `done`, or `stopped` somewhere before the end.
    outcome: &'static str,
    transcript: PathBuf,
    values: Values,
    /// The commands that count as done, of how many.
    done: usize,
    of: usize,
    /// What was run this time.
    commands: Vec<Ran>,
}

/// One command that was run.
#[derive(Debug, Serialize)]
struct Ran {
    command: String,
    id: String,
    exit: i32,
    expected: u8,
}

/// A walk under way.
struct Walk<'a, 'w> {
    context: &'a mut Context<'w>,
    args: &'a RunArgs,
    runbook: Runbook,
    values: Values,
    done: BTreeSet<String>,
    transcript: Transcript,
    /// What makes `carlosctl` in a command this program.
    prelude: OsString,
    ran: Vec<Ran>,
}

/// What a command is.
struct Next<'c> {
    id: String,
    changes: bool,
    command: &'c Command,
}

/// Runs the command.
///
/// # Errors
/// Not confirmed without a terminal and without the flag, or when the operator stops; partly done when a command does not
/// end as the runbook says; interrupted.
pub(super) async fn run(args: &RunArgs, global: &Global, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    if !args.unattended && !may_ask(context) {
        return Err(CommandError::new(
            Exit::NotConfirmed,
            "not confirmed: walking a runbook needs --unattended, and there is no terminal to ask at",
        )
        .hint("a command that wants a name typed needs --confirm NAME besides"));
    }
    let prelude = shell::prelude(global)
        .map_err(|error| CommandError::new(Exit::Unexpected, format!("this program's own path: {error}")))?;
    let Start { runbook, values, done, transcript } = start::start(args, context)?;
    let mut walk = Walk { context, args, runbook, values, done, transcript, prelude, ran: Vec::new() };
    let result = Box::pin(walk.all()).await;
    walk.answer(result.is_ok())?;
    result.map(|()| Exit::Done)
}

fn may_ask(context: &Context<'_>) -> bool {
    let terminal = context.world.terminal;
    !context.settings.no_input && terminal.stdin && terminal.stderr
}

impl Walk<'_, '_> {
    async fn all(&mut self) -> Result<(), CommandError> {
        let path = self.transcript.path().display().to_string();
        self.context.say(&format!("the transcript is {path}; carlosctl runbook run --resume {path} goes on where it ends"));
        let steps: Vec<Section> = self.runbook.steps().cloned().collect();
        // Its rule is read before its first command.
        if let Some(front) = self.runbook.sections.first().cloned().filter(|_| self.done.is_empty()) {
            self.show(&front);
        }
        for step in &steps {
            let number = step.step.unwrap_or(0);
            let mut shown = false;
            for (at, (changes, command)) in step.commands().enumerate() {
                let next = Next { id: id(number, at + 1), changes, command };
                if self.done.contains(&next.id) {
                    continue;
                }
                if !shown {
                    self.show(step);
                    shown = true;
                }
                self.one(&next).await?;
            }
        }
        Ok(())
    }

    fn show(&mut self, section: &Section) {
        let columns = self.context.world.terminal.columns.map_or(80, usize::from);
        let mut text = String::from("\n");
        page::section(&mut text, section, &self.runbook.names(), &self.values, columns);
        self.context.say_block(&text);
    }

    async fn one(&mut self, next: &Next<'_>) -> Result<(), CommandError> {
        let mut typed = self.filled(&next.command.typed)?;
        let wanted = expect::asked(&next.command.output).map(|name| self.filled(name)).transpose()?;
        let attended = !self.args.unattended;
        if let Some(name) = wanted.as_ref().filter(|_| !attended) {
            if !self.args.confirm.contains(name) {
                return Err(CommandError::new(
                    Exit::NotConfirmed,
                    format!("not confirmed: {} wants {name} typed, and --confirm {name} was not given", next.id),
                ));
            }
            typed.push_str(&format!(" --confirm {name}"));
        }
        self.context.say_block(&format!("\n{}  $ {typed}\n", next.id));
        if attended {
            self.agree(next, wanted.is_some())?;
        }
        let now = instant(self.context.now());
        self.transcript.record(&format!("step {} at {now}", next.id))?;
        self.transcript.record(&format!("$ {typed}"))?;
        let (code, output) = self.execute(&typed, attended && wanted.is_some()).await?;
        self.transcript.ended(code, next.command.exit)?;
        self.ran.push(Ran { command: typed, id: next.id.clone(), exit: code, expected: next.command.exit });
        if code != i32::from(next.command.exit) {
            return Err(self.failed(next, code));
        }
        self.context.say(&format!("{}: exit {code}, as the runbook says", next.id));
        self.done.insert(next.id.clone());
        self.take(&next.command.output, &output)
    }

    /// The text with every value in it. What is not known is asked for.
    fn filled(&mut self, text: &str) -> Result<String, CommandError> {
        let names: Vec<String> = self.runbook.names().into_iter().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        loop {
            let name = match expect::fill(text, &names, &self.values) {
                Ok(filled) => return Ok(filled),
                Err(name) => name,
            };
            let about = self.runbook.values.iter().find(|value| value.name == name).map_or("", |value| &value.about).to_owned();
            if self.args.unattended {
                return Err(
                    CommandError::usage(format!("{name} is not known: {about}")).hint(format!("give --set {name}=VALUE"))
                );
            }
            let value = self.ask(&format!("{name}, {}", page::plain(&about)))?;
            let value = value.trim();
            if is_safe(value) {
                self.learn(&name, value)?;
            } else {
                self.context.say(&unsafe_value(&name, value));
            }
        }
    }

    fn learn(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        self.transcript.record(&format!("value {name}={value}"))?;
        self.values.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Values that the command was to show.
    fn take(&mut self, expected: &[String], output: &str) -> Result<(), CommandError> {
        let mut taken = self.values.clone();
        expect::take(expected, output, &self.runbook.names(), &mut taken);
        for (name, value) in taken {
            if !self.values.contains_key(&name) {
                self.context.say(&format!("{name} is {value}"));
                self.learn(&name, &value)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, question: &str) -> Result<String, CommandError> {
        self.context.world.prompt.ask(&escape(question)).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => {
                // The question stands there without a line end.
                self.context.say_block("\n");
                interrupted()
            }
            _ => CommandError::new(Exit::NotConfirmed, format!("not confirmed: the terminal could not be read: {error}")),
        })
    }

    /// What changes something wants a word. A command that asks for a name itself is only started here.
    fn agree(&mut self, next: &Next<'_>, asks_itself: bool) -> Result<(), CommandError> {
        let word = next.changes && !asks_itself;
        let question = if word { "type run to run it, or stop" } else { "Enter runs it, or type stop" };
        loop {
            let typed = self.ask(question)?;
            match typed.trim() {
                "run" => return Ok(()),
                "" if !word => return Ok(()),
                "stop" => {
                    let because = format!("stopped before {}, which was not run", next.id);
                    return Err(CommandError::new(Exit::NotConfirmed, because));
                }
                other => self.context.say(&format!("{other:?} is neither; it was not run")),
            }
        }
    }

    /// Runs it, and hears it to its end.
    async fn execute(&mut self, command: &str, asks: bool) -> Result<(i32, String), CommandError> {
        let failed = |error: &io::Error| CommandError::new(Exit::Unexpected, format!("sh: {error}"));
        let mut running = shell::start(&self.prelude, command, asks).map_err(|error| failed(&error))?;
        let mut output = String::new();
        let mut stopped = false;
        loop {
            let said = tokio::select! {
                said = running.said.recv() => said,
                _ = tokio::signal::ctrl_c() => {
                    stopped = true;
                    running.interrupt();
                    continue;
                }
            };
            let Some(said) = said else { break };
            let (Said::Out(line) | Said::Err(line)) = &said;
            self.transcript.said(line)?;
            output.push_str(line);
            output.push('\n');
            let shown = format!("{}\n", escape(line));
            match said {
                // With --json standard output has the one document.
                Said::Out(_) if !self.context.settings.json => {
                    self.context.print(&shown)?;
                }
                _ => self.context.say_block(&shown),
            }
        }
        let code = blocking(move || running.end()).await?.map_err(|error| failed(&error))?;
        if stopped || code == i32::from(Exit::Interrupted.code()) {
            self.transcript.record(&format!("interrupted, exit {code}"))?;
            return Err(interrupted());
        }
        Ok((code, output))
    }

    /// Says what the runbook has to say about a step that fails.
    fn failed(&mut self, next: &Next<'_>, code: i32) -> CommandError {
        let step = self.runbook.steps().find_map(|step| step.step.filter(|number| next.id.starts_with(&format!("{number}."))));
        let back: Vec<Section> =
            self.runbook.sections.iter().filter(|section| section.level == 3 && section.step == step).cloned().collect();
        for section in &back {
            self.show(section);
        }
        CommandError::new(
            Exit::Partly,
            format!("{} ended with exit {code}, and the runbook says {}; nothing after it was run", next.id, next.command.exit),
        )
        .hint(format!("when its cause is gone: carlosctl runbook run --resume {}", self.transcript.path().display()))
    }

    fn answer(&mut self, done: bool) -> Result<(), CommandError> {
        let of = self.runbook.steps().map(|step| step.commands().count()).sum();
        let walked = Walked {
            runbook: self.runbook.name.clone(),
            outcome: if done { "done" } else { "stopped" },
            transcript: self.transcript.path().to_owned(),
            values: std::mem::take(&mut self.values),
            done: self.done.len(),
            of,
            commands: std::mem::take(&mut self.ran),
        };
        let now = self.context.now();
        self.context.answer(&walked, now)
    }
}

fn interrupted() -> CommandError {
    CommandError::new(Exit::Interrupted, "interrupted; the transcript is kept, and --resume goes on where it ends")
}

impl Answer for Walked {
    const SCHEMA: &'static str = "carlosctl.runbook-run/1";

    fn text(&self, _: Paper) -> String {
        format!(
            "{}: {}; {} of {} commands as the runbook says\ntranscript  {}\n",
            self.runbook,
            self.outcome,
            self.done,
            self.of,
            escape(&self.transcript.display().to_string())
        )
    }
}
