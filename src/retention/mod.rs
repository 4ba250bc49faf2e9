//! Retention: which versions stay, which may go, and why.
//!
//! The rules are those of the platform's own pass, to the letter, and some of ours on top that can only keep more. Unknown is
//! never unprotected: what could not be read is a value in the [`evidence`] (`Seen::Unreadable`), not an absence, and it
//! refuses the app that it matters to, or every app.
//!
//! | room | what it does | what it holds |
//! |---|---|---|
//! | `gather` | reads the stores, the snapshots and this machine's registry | read-only handles: on them there is no delete |
//! | [`evidence`] | everything that a decision rests on, each item with its key and etag | nothing; it is saved and replayed |
//! | [`mod@decide`] | evidence in, decision out: pure, the same bytes for the same evidence in any order | nothing |
//! | [`decision`] | the verdicts, with every reason and what would unblock a refusal | nothing |
//! | `victims` | which objects would go with the versions that may go; pure | nothing |
//! | `view` | a decision on its way out, app by app | nothing |
//! | `explain`, `plan` | the commands that look | read-only handles |
//! | `run` | the command that deletes | a store to write to, a plan, and the operator's consent |
//!
//! A large deployment is judged app by app: a [`decide::Judge`] holds what is common to all, and is asked about one app at a
//! time, so that only one app's releases are in memory.

mod app_name;
pub mod decide;
pub mod decision;
pub mod evidence;
mod evidence_file;
mod explain;
pub(crate) mod gather;
pub(crate) mod plan;
pub(crate) mod run;
mod victims;
mod view;

use crate::cli::retention::RetentionCommand;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub use app_name::AppName;
pub use decide::{Judge, decide};
pub use decision::Decision;
pub use evidence::Evidence;

/// Runs `carlosctl retention …`.
///
/// # Errors
/// See each command.
pub async fn run(command: &RetentionCommand, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match command {
        RetentionCommand::Explain(args) => explain::run(args, context).await,
        RetentionCommand::Plan(args) => plan::run(args, context).await,
        RetentionCommand::Run(args) => run::run(args, context).await,
    }
}

/// Reads a plan from its head to its end as a run does before it asks anything, and says how many apps it holds.
///
/// # Errors
/// Not found (exit 10); usage for a file that is no whole plan.
pub fn check_plan(path: &std::path::Path) -> Result<usize, CommandError> {
    let plan = plan::Plan::open(path)?;
    let mut apps = 0;
    for app in plan.apps()? {
        app?;
        apps += 1;
    }
    Ok(apps)
}
