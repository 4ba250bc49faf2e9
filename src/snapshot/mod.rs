//! The first question: which snapshots does a box have, and which of them can be trusted?
//!
//! | file | what it does |
//! |---|---|
//! | `evidence` | what was seen of a box in the bucket |
//! | `gather` | sees it: listings and one sidecar read a box |
//! | `judge` | what listings alone can tell: torn, collapsed, poisoned, which rung is the last good one |
//! | `select` | a selector to exactly one object, and why that one |
//! | `fetch`, `landing` | one object into a file, hashed on the way |
//! | `proof`, `twin` | what only the content can tell, by itself and beside the other object of its pass |
//! | `list`, `show`, `verify`, `diff`, `pull`, `hold` | the commands |
//!
//! Absent on purpose: anything that writes, except in `hold`.

#[cfg(test)]
mod bench;
mod diff;
mod evidence;
mod fetch;
mod gather;
pub mod hold;
mod judge;
mod landing;
mod list;
mod look;
mod proof;
mod pull;
mod select;
mod show;
mod twin;
mod verify;
mod versions;

use crate::cli::snapshot::SnapshotCommand;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub use evidence::{BoxEvidence, Generation, HoldEvidence, LastDrill, Scene, SidecarRead};
pub use fetch::{Fetched, disk, fetch};
pub use gather::{Reports, Scope, gather, read_sidecar};
pub use judge::{CLOCK_TOLERANCE, Judgement, Rung, State, fell, judge, rung_at};
pub use landing::{Landing, Private};
pub use look::{Look, look, must_exist};
pub use proof::{
    Expected, Proof, Reference, Verdict, blocking, collapse, database_turn, fetch_and_prove, interruptible, prove,
};
pub use select::{Chosen, SMALL_BYTES, Selector, Source, neighbours, select};
pub use show::{push_apps, resolve};

/// Runs `carlosctl snapshot …`.
///
/// # Errors
/// See each command.
pub async fn run(command: &SnapshotCommand, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match command {
        SnapshotCommand::List(args) => list::run(args, context).await,
        SnapshotCommand::Show(args) => show::run(args, context).await,
        SnapshotCommand::Verify(args) => verify::run(args, context).await,
        SnapshotCommand::Diff(args) => diff::run(args, context).await,
        SnapshotCommand::Pull(args) => pull::run(args, context).await,
        SnapshotCommand::Hold(args) => hold::run(args, context).await,
    }
}
