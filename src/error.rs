//! The one error type at the top: what is said, which code it ends with, and what to type next.
//!
//! Modules below have their own `thiserror` enums, named by what a caller can do about them. They become a
//! [`CommandError`] here and nowhere else, so that kind and hint of every fault can be read in one file.

use crate::exit::Exit;
use crate::store::StoreError;

/// Why a command ended without doing what it was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// The code that the process ends with.
    pub exit: Exit,
    /// What was found, where, and what was not done: lower case, no full stop.
    pub message: String,
    /// What to do or type next, one thing a line.
    pub hints: Vec<String>,
}

impl CommandError {
    /// An error that ends with `exit`.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hints: Vec::new() }
    }

    /// A command line or setting that does not make sense (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let exit = error.exit();
        let hints = error.hints();
        let mut command = Self::new(exit, error.to_string());
        command.hints = hints;
        command
    }
}

/// The message of `error` and of all its sources, outermost first, joined by `: `.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        // Some libraries repeat their source in their own message.
        if !text.ends_with(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        source = inner.source();
    }
    text
}
