//! Rehearses a restore of every box without touching anything, and says how it went.
//!
//! | file | what it does |
//! |---|---|
//! | `evidence` | what one rehearsal saw |
//! | `rehearse` | fetches, proves and installs by a restore's own steps, in a scratch directory |
//! | `boot` | the operator's command on the restored copy, within its time |
//! | `decide` | the ladder and the verdict; pure |
//! | `receipt` | the receipt in the bucket |
//! | `view` | the table, and what was found |
//!
//! What stands in the way is decided by the restore's own `decide`, so that drill and restore never disagree; only what is
//! true of living boxes alone is left out. Boxes are rehearsed one after the other, because the recovery time is measured.

mod boot;
mod decide;
mod evidence;
mod receipt;
mod rehearse;
mod view;

use std::sync::Arc;

use crate::cli::drill::DrillArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Code;
use crate::snapshot::{self, Reports, Scope, Verdict};

pub use boot::{Boot, boot};
pub use decide::{Decision, Passed, Rung, Step, decide};
pub use evidence::{Copy, Evidence, Obstacle, Rehearsed};

/// Runs `carlosctl drill`.
///
/// # Errors
/// When the listings could not be read whole, or a named box does not exist. A box that fails is the answer.
pub async fn run(args: &DrillArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let now = context.now();
    let store = context.deployment().await?;
    let status = context.status_store().await?.unwrap_or_else(|| Arc::clone(&store));
    let reports = Reports { store: status.as_ref(), prefix: &context.settings.status_prefix.clone() };
    let scope = Scope { boxes: args.boxes.clone(), concurrency: context.settings.concurrency, ..Scope::default() };
    let progress = context.progress_listing();
    let scene = snapshot::gather(store.as_ref(), &reports, &scope).await?;
    drop(progress);
    snapshot::must_exist(store.as_ref(), &scene, &args.boxes).await?;
    let receipts = if args.no_receipt { None } else { Some(context.deployment_for_writing().await?) };
    let host = context.machine();
    let mut drill = view::Drill { store: store.describe(), boxes: Vec::new(), findings: scene.findings };
    for seen in scene.boxes.into_values() {
        let evidence = rehearse::rehearse(&store, &reports, seen, args, context).await?;
        let mut drilled = view::Drilled::new(&evidence, decide(&evidence));
        if let Some(receipts) = &receipts {
            receipt::write(&mut drilled, &host, context.now(), receipts.as_ref()).await;
        }
        context.say(&drilled.line());
        drill.boxes.push(drilled);
    }
    context.answer(&drill, now)?;
    let good = !drill.boxes.is_empty() && drill.boxes.iter().all(|drilled| drilled.verdict == Verdict::Good);
    let kept = |drilled: &view::Drilled| drilled.findings.iter().all(|found| found.code != Code::ReceiptNotStored);
    Ok(match (good, drill.boxes.iter().all(kept)) {
        (false, _) => Exit::Found,
        (true, false) => Exit::Partly,
        (true, true) => Exit::Done,
    })
}
