//! Gathers and decides again, and refuses when anything differs from what was shown.

use futures_util::StreamExt;

use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::retention::AppName;
use crate::retention::decide::Judge;
use crate::retention::gather::{self, LocalRead, Question, Sources};
use crate::retention::plan::{Plan, app_drift, fleet_drift, fleet_inputs, read_and_plan};

/// How many differences are said one by one.
const SAID: usize = 20;

/// Compares the plan with this very moment.
///
/// # Errors
/// Changed (exit 7), with what differs; else the store's.
pub(super) async fn verify(
    plan: &Plan,
    wanted: &[AppName],
    sources: &Sources,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let header = plan.header();
    let question = Question {
        as_of: context.now(),
        view: header.view().clone(),
        what_if_keep: None,
        without_boxes: header.without_boxes().to_vec(),
        apps: wanted.to_vec(),
    };
    let local = LocalRead::of(context).await?;
    let progress = context.progress_things("looking again: snapshots", 0);
    let fleet = gather::fleet(sources, &question, local, &progress).await?;
    drop(progress);
    let mut drift = fleet_drift(header.inputs(), &fleet_inputs(&fleet)?);
    let judge = Judge::new(&fleet);
    let progress = context.progress_things("looking again: apps", wanted.len() as u64);
    let by = &judge;
    let fresh = gather::apps(wanted.to_vec(), |name| async move { read_and_plan(sources, by, &name).await });
    let mut fresh = Box::pin(fresh);
    for shown in plan.apps()? {
        let shown = shown?;
        if !wanted.contains(&shown.name()) {
            continue;
        }
        let Some(planned) = fresh.next().await else { break };
        progress.advance(1);
        drift.extend(app_drift(&shown, &planned?.1));
    }
    drop(progress);
    if drift.is_empty() {
        return Ok(());
    }
    for line in drift.iter().take(SAID) {
        context.say(&format!("changed: {line}"));
    }
    let more = drift.len().saturating_sub(SAID);
    if more > 0 {
        context.say(&format!("changed: and {more} more"));
    }
    Err(CommandError::new(
        Exit::Changed,
        format!("the world is not as it was shown ({}); nothing was deleted", drift.first().cloned().unwrap_or_default()),
    )
    .hint(format!("look again, and then make a new plan: carlosctl retention explain{}", header.question())))
}
