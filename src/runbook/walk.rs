//! `runbook run`: one command after the other, each shown, asked for, run, and compared with what the runbook says.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use crate::cli::Global;
use crate::cli::runbook::RunArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::snapshot::blocking;
use crate::terminal::{self, escape, instant};

use super::answer::{Ran, Walked};
use super::ask::Choice;
use super::cases;
use super::expect::{self, Difference, Values, names_in};
use super::page;
use super::parse::{Command, Runbook, Section};
use super::shell::{self, Said};
use super::start::{self, Start, id};
use super::transcript::{Behind, Transcript};
use crate::flags;

/// A walk under way.
pub(super) struct Walk<'a, 'w> {
    pub(super) context: &'a mut Context<'w>,
    pub(super) args: &'a RunArgs,
    pub(super) runbook: Runbook,
    pub(super) values: Values,
    /// A value that names no box, as far as is known.
    pub(super) doubted: Option<String>,
    behind: Behind,
    transcript: Transcript,
    /// What makes `carlosctl` in a command this program.
    prelude: OsString,
    /// The settings that were typed, for a line to copy.
    pub(super) flags: String,
    ran: Vec<Ran>,
}

/// What a command is.
pub(super) struct Next<'c> {
    pub(super) id: String,
    pub(super) step: u16,
    pub(super) changes: bool,
    /// Whether its output in the runbook is only an example.
    example: bool,
    command: &'c Command,
}

/// What is not as the runbook says.
struct Fault {
    says: String,
    /// Whether it ended as the runbook says, and said something else.
    ended: bool,
}

/// Runs the command.
///
/// # Errors
/// Not confirmed without a terminal and without the flag, or when the operator stops; partly done when a command does not
/// do as the runbook says; interrupted.
pub(super) async fn run(args: &RunArgs, global: &Global, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    if !args.unattended && !may_ask(context) {
        return Err(CommandError::new(
            Exit::NotConfirmed,
            "not confirmed: walking a runbook needs --unattended, and there is no terminal to ask at",
        )
        .hint("a command that wants a name typed needs --confirm NAME besides"));
    }
    let earlier = args.resume.as_deref().map(start::earlier_settings).unwrap_or_default();
    if earlier.is_empty() {
        return walk(args, global, context).await;
    }
    let global = flags::remembered(&earlier, global)?;
    walk(args, &global, &mut Context::new(&global, context.world)?).await
}

async fn walk(args: &RunArgs, global: &Global, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let prelude = shell::prelude(global)
        .map_err(|error| CommandError::new(Exit::Unexpected, format!("this program's own path: {error}")))?;
    let Start { runbook, values, behind, transcript } = start::start(args, global, context)?;
    let flags = start::flags_of(&start::settings(global)?);
    let mut walk = Walk { context, args, runbook, values, doubted: None, behind, transcript, prelude, flags, ran: Vec::new() };
    let result = Box::pin(walk.all()).await.map_err(|error| walk.with_way_on(error));
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
        let goes_on = escape(&self.resume()).into_owned();
        self.context.say(&format!("the transcript is {path}; what goes on where it ends is"));
        self.say_line(&goes_on);
        let steps: Vec<Section> = self.runbook.steps().cloned().collect();
        // Its rule is read before its first command.
        if let Some(front) = self.runbook.sections.first().cloned().filter(|_| self.behind == Behind::default()) {
            self.show(&front);
        }
        self.look_for_boxes().await;
        for step in &steps {
            let number = step.step.unwrap_or(0);
            let mut shown = false;
            let commands = step.blocks().flat_map(|block| block.commands.iter().map(move |command| (block, command)));
            for (at, (block, command)) in commands.enumerate() {
                let next =
                    Next { id: id(number, at + 1), step: number, changes: block.changes, example: block.example, command };
                if self.behind.contains(&next.id) {
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

    /// One command, until it did as the runbook says or the operator goes on without it.
    async fn one(&mut self, next: &Next<'_>) -> Result<(), CommandError> {
        let mut typed = self.filled(&next.command.typed).await?.trim_end().to_owned();
        if let Some(because) = self.without_object(next.command) {
            self.context.say_block(&format!("\n{}  $ {typed}\n", next.id));
            return self.skipped(next, &because);
        }
        let wanted = match expect::asked(&next.command.output) {
            Some(name) => Some(self.filled(name).await?),
            None => None,
        };
        let attended = !self.args.unattended;
        if let Some(name) = wanted.as_ref().filter(|_| !attended) {
            if !self.args.confirm.contains(name) {
                let because = format!("not confirmed: {} wants {name} typed, and --confirm {name} was not given", next.id);
                let goes_on = format!("give it: {} --confirm {name}", self.resume());
                return Err(CommandError::new(Exit::NotConfirmed, because).hint(goes_on));
            }
            typed.push_str(&format!(" --confirm {name}"));
        }
        let asks = wanted.as_deref();
        self.context.say_block(&format!("\n{}  $ {typed}\n", next.id));
        match if attended { self.agree(next, asks)? } else { Choice::Run } {
            Choice::Run => {}
            Choice::Skip(reason) => return self.skipped(next, &reason),
            Choice::Stop => {
                let because = format!("stopped before {}, which was not run", next.id);
                return Err(CommandError::new(Exit::NotConfirmed, because));
            }
        }
        loop {
            let (fault, output) = self.run(next, &typed, asks.filter(|_| attended)).await?;
            let Some(fault) = fault else { return self.take(&next.command.output, &output) };
            // What ended as it should was done, and only what it said is to be judged.
            let rests_on = asks.filter(|_| !fault.ended);
            match if attended { self.after(next, rests_on)? } else { Choice::Stop } {
                Choice::Run => self.context.say_block(&format!("\n{}  $ {typed}\n", next.id)),
                Choice::Skip(reason) => {
                    self.skipped(next, &reason)?;
                    return self.take(&next.command.output, &output);
                }
                Choice::Stop => return Err(self.failed(next, &fault.says)),
            }
        }
    }

    /// Runs it once: what is not as the runbook says, and what it said.
    async fn run(&mut self, next: &Next<'_>, typed: &str, asks: Option<&str>) -> Result<(Option<Fault>, String), CommandError> {
        let now = instant(self.context.now());
        self.transcript.record(&format!("step {} at {now}", next.id))?;
        self.transcript.record(&format!("$ {typed}"))?;
        let (code, output) = self.execute(typed, asks).await?;
        let output = self.context.as_on_a_page(&output);
        let expected = next.command.exit;
        let ended = code == i32::from(expected);
        let differs =
            if ended && !next.example && !next.command.output.is_empty() { self.differs(next, &output) } else { None };
        self.transcript.ended(code, expected, differs.as_ref())?;
        let (command, id) = (typed.to_owned(), next.id.clone());
        self.ran.push(Ran { command, id, exit: code, expected, differs: differs.as_ref().map(ToString::to_string) });
        let says = match &differs {
            _ if !ended => format!("{} ended with exit {code}, and the runbook says {expected}", next.id),
            Some(_) => format!("{} ended with exit {code}, and did not say what the runbook shows", next.id),
            None => {
                let read = if next.example { "; what it says is another on every machine, so read it" } else { "" };
                self.context.say(&format!("{}: exit {code}, as the runbook says{read}", next.id));
                self.behind.done.insert(next.id.clone());
                return Ok((None, output));
            }
        };
        self.explain(next, &says, differs.as_ref(), (code, &output));
        Ok((Some(Fault { says, ended }), output))
    }

    fn differs(&self, next: &Next<'_>, output: &str) -> Option<Difference> {
        // What was asked and typed is not a part of what it said.
        let asked = |line: &&String| expect::asked(std::slice::from_ref(*line)).is_none();
        let expected: Vec<String> = next.command.output.iter().filter(asked).cloned().collect();
        expect::compare(&expected, output, &self.runbook.names(), &mut self.values.clone()).err()
    }

    /// Says what is not as the runbook says, and what the runbook has to say about it.
    fn explain(&mut self, next: &Next<'_>, fault: &str, differs: Option<&Difference>, seen: (i32, &str)) {
        self.context.say_block(&format!("\n{fault}\n"));
        if let Some(Difference { expected, printed }) = differs {
            let line = |line: &Option<String>, none: &str| escape(line.as_deref().unwrap_or(none)).into_owned();
            self.context.say_block(&format!(
                "  the runbook shows  {}\n  it said            {}\n",
                line(expected, "nothing more"),
                line(printed, "nothing like it")
            ));
        }
        let alike = cases::alike(&self.runbook, next.step, next.command, seen, &self.values);
        let alike: Vec<Section> = alike.into_iter().cloned().collect();
        for case in &alike {
            self.show(case);
        }
        let others: Vec<&str> = cases::cases(&self.runbook, next.step).map(|case| case.heading.as_str()).collect();
        if alike.is_empty() && !others.is_empty() {
            let others = others.join("; ");
            self.context
                .say(&format!("none of the runbook's cases of step {} looks like this ({others}); all of it is in", next.step));
            let show = format!("carlosctl runbook show {}", self.runbook.name);
            self.say_line(&show);
        }
    }

    /// A line to be copied, which is never folded. Already escaped.
    pub(super) fn say_line(&mut self, line: &str) {
        if !self.context.settings.quiet {
            self.context.say_block(&format!("  {line}\n"));
        }
    }

    /// Goes on without a command.
    fn skipped(&mut self, next: &Next<'_>, reason: &str) -> Result<(), CommandError> {
        self.transcript.record(&format!("skipped {}: {reason}", next.id))?;
        self.behind.skipped.insert(next.id.clone());
        self.context.say(&format!("{}: skipped: {reason}", next.id));
        Ok(())
    }

    pub(super) fn learn(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
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

    /// Runs it, and hears it to its end. `asks` is the name that it wants typed at our terminal.
    async fn execute(&mut self, command: &str, asks: Option<&str>) -> Result<(i32, String), CommandError> {
        let failed = |error: &io::Error| CommandError::new(Exit::Unexpected, format!("sh: {error}"));
        let mut running = shell::start(&self.prelude, command, asks.is_some()).map_err(|error| failed(&error))?;
        let question = asks.map(|name| format!("type {name} to go on: "));
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
            match said {
                None => break,
                Some(Said::Shown(piece)) => {
                    let _ = self.context.world.err.write_all(&piece);
                }
                Some(Said::Line(line)) => {
                    self.transcript.said(&line)?;
                    if asks.is_none() {
                        let shown = self.folded(&escape(&line));
                        self.context.say_block(&format!("{shown}\n"));
                    }
                    // What is typed may not end the question's line.
                    let rest = question.as_deref().and_then(|question| line.strip_prefix(question));
                    output.push_str(rest.map_or(line.as_str(), |rest| if Some(rest) == asks { "" } else { rest }));
                    output.push('\n');
                }
            }
        }
        let code = blocking(move || running.end()).await?.map_err(|error| failed(&error))?;
        if stopped || code == i32::from(Exit::Interrupted.code()) {
            self.transcript.record(&format!("interrupted, exit {code}"))?;
            return Err(interrupted());
        }
        // At a terminal it folds its sentences itself.
        Ok((code, if asks.is_some() { output.replace("\n    ", " ") } else { output }))
    }

    /// A line as it is shown: folded, unless there is something in it to be copied.
    fn folded(&self, line: &str) -> String {
        let is_copied = line.contains("carlosctl ") || line.contains("systemctl ");
        terminal::wrap(line, self.context.world.terminal.columns.filter(|_| !is_copied))
    }

    /// Why the walk ends here, and how it goes on.
    fn failed(&self, next: &Next<'_>, fault: &str) -> CommandError {
        let resume = self.resume();
        let mut error = CommandError::new(Exit::Partly, format!("{fault}; nothing after it was run"))
            .hint(format!("when its cause is gone: {resume}"));
        for name in names_in(&next.command.typed, &self.runbook.names()) {
            if self.runbook.values.iter().any(|value| value.name == name && value.default.is_none()) {
                let is = Some(self.values[name].as_str()).filter(|is| !is.is_empty()).unwrap_or("empty");
                error = error.hint(format!("if {name} is not {is}: {resume} --set {name}=VALUE"));
            }
        }
        if self.args.unattended && expect::asked(&next.command.output).is_none() {
            error = error.hint("without --unattended it can be skipped, for a reason that is written into the transcript");
        }
        error
    }

    /// However a walk ends before its end, it says how it goes on.
    fn with_way_on(&self, error: CommandError) -> CommandError {
        if error.hints.iter().any(|hint| hint.contains(" --resume ")) {
            return error;
        }
        error.hint(format!("to go on: {}", self.resume()))
    }

    /// The line that goes on where this walk ends. The transcript knows the settings.
    pub(super) fn resume(&self) -> String {
        let mut line = format!("carlosctl runbook run --resume {}", typed(self.transcript.path().as_os_str()));
        if self.args.unattended {
            line.push_str(" --unattended");
            for name in &self.args.confirm {
                line.push_str(&format!(" --confirm {}", typed(OsStr::new(name))));
            }
        }
        line
    }

    fn answer(&mut self, done: bool) -> Result<(), CommandError> {
        let of = self.runbook.steps().map(|step| step.commands().count()).sum();
        let behind = std::mem::take(&mut self.behind);
        let walked = Walked {
            runbook: self.runbook.name.clone(),
            outcome: if done { "done" } else { "stopped" },
            transcript: self.transcript.path().to_owned(),
            values: std::mem::take(&mut self.values),
            done: behind.done.len(),
            of,
            passed_over: behind.passed_over.len(),
            skipped: behind.skipped.into_iter().collect(),
            commands: std::mem::take(&mut self.ran),
        };
        let now = self.context.now();
        self.context.answer(&walked, now)
    }
}

fn typed(word: &OsStr) -> String {
    flags::word(word).to_string_lossy().into_owned()
}

pub(super) fn interrupted() -> CommandError {
    CommandError::new(Exit::Interrupted, "interrupted; the transcript is kept")
}
