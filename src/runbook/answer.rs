//! What a walk answers in the end.

use std::path::PathBuf;

use serde::Serialize;

use super::expect::Values;
use crate::context::Answer;
use crate::terminal::{self, Paper, escape};

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Walked {
    pub(super) runbook: String,
    /// `done`, or `stopped` somewhere before the end.
    pub(super) outcome: &'static str,
    pub(super) transcript: PathBuf,
    pub(super) values: Values,
    /// The commands that did as the runbook says, of how many.
    pub(super) done: usize,
    pub(super) of: usize,
    /// Those before the step at which `--from` began.
    pub(super) passed_over: usize,
    /// Those that were skipped, by their names.
    pub(super) skipped: Vec<String>,
    /// What was run this time.
    pub(super) commands: Vec<Ran>,
}

/// One command that was run.
#[derive(Debug, Serialize)]
pub(super) struct Ran {
    pub(super) command: String,
    pub(super) id: String,
    pub(super) exit: i32,
    pub(super) expected: u8,
    /// How its output differs from the runbook's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) differs: Option<String>,
}

impl Answer for Walked {
    const SCHEMA: &'static str = "carlosctl.runbook-run/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let passed = if self.passed_over > 0 { format!(", {} passed over by --from", self.passed_over) } else { String::new() };
        let skipped = if self.skipped.is_empty() { String::new() } else { format!(", skipped {}", self.skipped.join(", ")) };
        let Self { runbook, outcome, done, of, .. } = self;
        let counted = format!("{runbook}: {outcome}; {done} of {of} commands as the runbook says{passed}{skipped}");
        let transcript = escape(&self.transcript.display().to_string()).into_owned();
        format!("{}\ntranscript  {transcript}\n", terminal::wrap(&counted, columns))
    }
}
