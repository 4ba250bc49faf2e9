//! The one prompt: what will happen has been shown, and the *name* of the thing is typed. Never `y`.

use std::io;

use crate::error::CommandError;
use crate::exit::Exit;

use super::{Facts, asked, escape, paint};

/// Proof that the operator named the thing that is about to change. Made only here; destructive functions take one.
#[derive(Debug)]
pub struct Consent(());

/// Why there is no consent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsentError {
    /// Neither a terminal nor the flag.
    #[error("not confirmed: {what} needs --confirm {name}, and there is no terminal to ask at")]
    NoTerminal {
        /// What would have happened.
        what: String,
        /// The name to type.
        name: String,
    },
    /// Another name was given.
    #[error("not confirmed: {typed:?} is not {name:?}; nothing was changed")]
    WrongName {
        /// What was given.
        typed: String,
        /// What was wanted.
        name: String,
    },
    /// The operator pressed Ctrl-C.
    #[error("interrupted at the question; nothing was changed")]
    Interrupted,
    /// The terminal went away.
    #[error("not confirmed: the terminal could not be read: {0}")]
    Terminal(String),
}

/// Reads one line from the operator.
pub trait Prompt {
    /// Shows `question` on standard error and reads what is typed, without its line end.
    ///
    /// # Errors
    /// `Interrupted` for Ctrl-C; anything else when the terminal cannot be read.
    fn ask(&mut self, question: &str) -> io::Result<String>;
}

/// The prompt at a real terminal.
pub struct TerminalPrompt;

impl Prompt for TerminalPrompt {
    fn ask(&mut self, question: &str) -> io::Result<String> {
        dialoguer::Input::<String>::new().with_prompt(question).allow_empty(true).report(true).interact_text().map_err(
            |error| match error {
                dialoguer::Error::IO(error) => error,
            },
        )
    }
}

impl Consent {
    /// Asks for `name` to be typed, or takes `--confirm`.
    ///
    /// `what` says in a few words what would happen: "restoring edge-a1 into /data/registry.db". With `colour` the question
    /// stands out.
    ///
    /// # Errors
    /// [`ConsentError`], which ends with exit 6, or 130 after Ctrl-C.
    pub fn obtain(
        prompt: &mut dyn Prompt,
        (terminal, colour): (Facts, bool),
        input_allowed: bool,
        what: &str,
        name: &str,
        confirm: Option<&str>,
    ) -> Result<Self, ConsentError> {
        let typed = match confirm {
            Some(given) => given.to_owned(),
            None if input_allowed && terminal.stdin && terminal.stderr => prompt
                .ask(&paint(&asked(&format!("type {} to go on", escape(name))), colour))
                .map_err(|error| match error.kind() {
                    io::ErrorKind::Interrupted => ConsentError::Interrupted,
                    _ => ConsentError::Terminal(error.to_string()),
                })?,
            None => return Err(ConsentError::NoTerminal { what: what.to_owned(), name: name.to_owned() }),
        };
        // A blank before or behind is no part of any name.
        if typed.trim() == name { Ok(Self(())) } else { Err(ConsentError::WrongName { typed, name: name.to_owned() }) }
    }
}

impl From<ConsentError> for CommandError {
    fn from(error: ConsentError) -> Self {
        let exit = match error {
            ConsentError::Interrupted => Exit::Interrupted,
            _ => Exit::NotConfirmed,
        };
        Self::new(exit, error.to_string())
    }
}
