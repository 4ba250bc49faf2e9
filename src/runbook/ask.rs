//! What the operator of a walk is asked: values, whether a command is to be run, and what to do where one went wrong.

use std::io;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::Label;
use crate::snapshot::{self, Selector};
use crate::terminal::{self, escape};

use super::expect::{self, names_in};
use super::page;
use super::parse::{Command, Value};
use super::start::unsafe_value;
use super::walk::{Next, Walk, interrupted};

/// Values that name a box which has left something in the store.
const BOXES: [&str; 1] = ["DEAD"];
/// What is typed at the other questions. Typed at the question for a value it is a slip: `--set` can still name such a thing.
const WORDS: [&str; 3] = ["run", "skip", "none"];

/// What is to be done with a command.
pub(super) enum Choice {
    Run,
    /// Go on without it, for this reason.
    Skip(String),
    Stop,
}

impl Walk<'_, '_> {
    /// The text with every value in it. What is not known is asked for.
    pub(super) async fn filled(&mut self, text: &str) -> Result<String, CommandError> {
        let names: Vec<String> = self.runbook.names().into_iter().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        loop {
            let name = match expect::fill(text, &names, &self.values) {
                Ok(filled) => return Ok(filled),
                Err(name) => name,
            };
            let Some(wanted) = self.runbook.values.iter().find(|value| value.name == name).cloned() else {
                return Err(CommandError::new(Exit::Unexpected, format!("{name} is no value of {}", self.runbook.name)));
            };
            if self.args.unattended {
                return Err(self.unknown(&wanted));
            }
            // A question that does not fit on a line would not be wiped away whole when it is answered.
            let about = escape(&format!("{name}, {}", page::plain(&wanted.about))).into_owned();
            let about = terminal::wrap(&about, self.context.world.terminal.columns);
            self.context.say_block(&format!("\n{about}\n"));
            let none = if wanted.or_none { ", or Enter alone where there is none" } else { "" };
            let value = self.ask(&format!("{name}{none}, or stop"))?;
            if value == "stop" {
                let because = format!("stopped at the question for {name}; nothing more was run");
                return Err(CommandError::new(Exit::NotConfirmed, because));
            }
            if WORDS.contains(&value.as_str()) {
                self.context.say(&format!("{value:?} is an answer to another question, and no {name}{none}"));
            } else if !wanted.takes(&value) {
                self.context.say(&unsafe_value(&name, &value));
            } else if !BOXES.contains(&name.as_str()) || self.is_box(&name, &value).await {
                self.learn(&name, &value)?;
            }
        }
    }

    /// Nobody can be asked for a value.
    fn unknown(&self, value: &Value) -> CommandError {
        let Value { name, about, .. } = value;
        let resume = self.resume();
        let error = CommandError::usage(format!("{name} is not known: {about}"));
        let error = if value.or_none { error.hint(format!("where there is none: {resume} --set {name}=")) } else { error };
        error.hint(format!("give it: {resume} --set {name}=VALUE"))
    }

    /// Why a command has nothing to do: there is none of what it names, and it names nothing else.
    pub(super) fn without_object(&self, command: &Command) -> Option<String> {
        let names = names_in(&command.typed, &self.runbook.names());
        let is_empty = |name: &&str| self.values.get(*name).is_some_and(String::is_empty);
        (!names.is_empty() && names.iter().all(is_empty)).then(|| format!("there is none of {}", names.join(", ")))
    }

    /// Looks whether the boxes that `--set` names are there. One that is not is asked for again, where somebody can be asked.
    pub(super) async fn look_for_boxes(&mut self) {
        for name in BOXES {
            let given = self.args.set.iter().rfind(|(set, _)| set == name).map(|(_, value)| value.clone());
            if let Some(value) = given
                && !self.is_box(name, &value).await
                && !self.args.unattended
            {
                self.values.remove(name);
            }
        }
    }

    /// Whether the value names a box of which something is in the store; also where nobody knows, and for one that is typed
    /// a second time.
    async fn is_box(&mut self, name: &str, value: &str) -> bool {
        if self.doubted.as_deref() == Some(value) {
            return true;
        }
        let found = match value.parse::<Label>() {
            Ok(label) => Box::pin(snapshot::look(self.context, &label, &[&Selector::Current])).await.map(|_| ()),
            Err(error) => Err(CommandError::new(Exit::NotFound, error.to_string())),
        };
        match found {
            Ok(()) => true,
            Err(error) if error.exit == Exit::NotFound => {
                self.context.say(&format!("{name}: {}", error.message));
                for hint in &error.hints {
                    let hint = format!("hint: {}", escape(hint));
                    self.say_line(&hint);
                }
                if !self.args.unattended {
                    self.context.say(&format!("type another, or {value} once more to go on with it"));
                }
                self.doubted = Some(value.to_owned());
                false
            }
            Err(error) => {
                self.context.say(&format!("note: {name}: whether there is a box {value} is not known: {}", error.message));
                true
            }
        }
    }

    /// What was typed, without blanks around it.
    fn ask(&mut self, question: &str) -> Result<String, CommandError> {
        let typed = self.context.world.prompt.ask(&escape(question)).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => {
                // The question stands there without a line end.
                self.context.say_block("\n");
                interrupted()
            }
            _ => CommandError::new(Exit::NotConfirmed, format!("not confirmed: the terminal could not be read: {error}")),
        })?;
        Ok(typed.trim().to_owned())
    }

    /// Whether it is to be run. What changes something wants a word; `asks` is the name that a command wants typed itself,
    /// which is only started here.
    pub(super) fn agree(&mut self, next: &Next<'_>, asks: Option<&str>) -> Result<Choice, CommandError> {
        let wants_word = next.changes && asks.is_none();
        let question = match asks {
            Some(name) => format!("Enter runs it, or type stop; it asks for {name} itself"),
            None if wants_word => "type run to run it, or stop, or skip".to_owned(),
            None => "Enter runs it, or type stop, or skip".to_owned(),
        };
        loop {
            match self.ask(&question)?.as_str() {
                "run" => return Ok(Choice::Run),
                "" if !wants_word => return Ok(Choice::Run),
                "" => self.context.say("Enter alone runs nothing that changes something; it was not run"),
                "stop" => return Ok(Choice::Stop),
                "skip" => {
                    if let Some(choice) = self.skip(next, asks)? {
                        return Ok(choice);
                    }
                }
                other => self.context.say(&format!("{other:?} is none of these; it was not run")),
            }
        }
    }

    /// What to do with a command that did not do as the runbook says. `Run` runs it again.
    pub(super) fn after(&mut self, next: &Next<'_>, asks: Option<&str>) -> Result<Choice, CommandError> {
        let question = match asks {
            Some(_) => "type run to run it again, or stop",
            None => "type run to run it again, or stop, or skip to go on without it",
        };
        loop {
            match self.ask(question)?.as_str() {
                "run" => return Ok(Choice::Run),
                "stop" => return Ok(Choice::Stop),
                "skip" => {
                    if let Some(choice) = self.skip(next, asks)? {
                        return Ok(choice);
                    }
                }
                "" => self.context.say("Enter alone does nothing here"),
                other => self.context.say(&format!("{other:?} is none of these; nothing was run")),
            }
        }
    }

    /// Nothing is skipped without a reason, and nothing that asks for a name is: what comes after it rests on it.
    fn skip(&mut self, next: &Next<'_>, asks: Option<&str>) -> Result<Option<Choice>, CommandError> {
        if asks.is_some() {
            self.context.say(&format!(
                "{} cannot be skipped, because what comes after it rests on it; where it was done by hand, stop, and type",
                next.id
            ));
            let then = format!("carlosctl{} runbook run {} --from {}", escape(&self.flags), self.runbook.name, next.step + 1);
            self.say_line(&then);
            return Ok(None);
        }
        let reason = self.ask("why? it is written into the transcript")?;
        if reason.is_empty() {
            self.context.say(&format!("{} is not skipped without a reason", next.id));
            return Ok(None);
        }
        Ok(Some(Choice::Skip(reason)))
    }
}
