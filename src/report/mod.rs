//! The box reports that retention rests on: who reported, when, of what, and what a report refuses.
//!
//! What a report refuses is not decided here: the judge of retention is asked, about every app that a report names.

mod rows;
mod view;

use jiff::Timestamp;

use crate::cli::report::{ListArgs, ReportCommand, ShowArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::retention::evidence::{FleetEvidence, ReportEvidence, ReportSource, ReportsEvidence, Unlisted, View};
use crate::retention::gather::{self, LocalRead, Sources};
use rows::rows;
use view::{Listing, Shown};

/// Runs `carlosctl report …`.
///
/// # Errors
/// See each command.
pub async fn run(command: &ReportCommand, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match command {
        ReportCommand::List(args) => list(args, context).await,
        ReportCommand::Show(args) => show(args, context).await,
    }
}

/// `report list`. What is listed and does not read is a row that says so; what the store did not list or give makes the exit 3.
async fn list(args: &ListArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let (fleet, store) = look(as_of, context).await?;
    let (reports, unlisted) = listed(&fleet)?;
    let exit = exit(reports.iter(), unlisted);
    let listing = Listing::new(store, rows(&fleet, reports), unlisted);
    context.answer(&listing, as_of)?;
    Ok(exit)
}

/// `report show`.
async fn show(args: &ShowArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let (fleet, store) = look(as_of, context).await?;
    let (reports, unlisted) = listed(&fleet)?;
    let rows: Vec<_> = rows(&fleet, reports).into_iter().filter(|row| row.label == args.label.as_str()).collect();
    if rows.is_empty() {
        return Err(CommandError::new(Exit::NotFound, format!("no report of box {} in {store}", args.label))
            .hint("the boxes that reported: carlosctl report list"));
    }
    let of_box = reports.iter().filter(|report| rows.iter().any(|row| row.key == report.report.key));
    let exit = exit(of_box, unlisted);
    context.answer(&Shown::new(args.label.clone(), rows, reports), as_of)?;
    Ok(exit)
}

/// Done, when everything was looked at: listed, and given by the store. What was given and is not understood was looked at.
fn exit<'a>(mut reports: impl Iterator<Item = &'a ReportEvidence>, unlisted: &[Unlisted]) -> Exit {
    let not_given = |one: &ReportEvidence| one.source != ReportSource::SoleHousekeeper && one.report.etag.is_empty();
    if unlisted.is_empty() && !reports.any(not_given) { Exit::Done } else { Exit::Partly }
}

/// The reports as retention would see them, and where they are.
async fn look(as_of: Timestamp, context: &mut Context<'_>) -> Result<(FleetEvidence, String), CommandError> {
    let sources = Sources::of(context).await?;
    let local = LocalRead::of(context).await?;
    let progress = context.progress_listing();
    let reports = gather::reports(&sources, local.as_ref(), as_of).await;
    drop(progress);
    let fleet = FleetEvidence {
        as_of,
        view: View::Fleet,
        what_if_keep: None,
        boxes: Vec::new(),
        local: None,
        unlisted: Vec::new(),
        reports,
    };
    Ok((fleet, sources.status.describe(sources.deployment.as_ref())))
}

fn listed(fleet: &FleetEvidence) -> Result<(&[ReportEvidence], &[Unlisted]), CommandError> {
    match &fleet.reports {
        ReportsEvidence::Listed { unlisted, reports } => Ok((reports, unlisted)),
        ReportsEvidence::Unavailable(none) => {
            Err(CommandError::new(none.exit, format!("the box reports cannot be read: {}", none.because))
                .hint("give --status-bucket or --status-dir, or repair the status store"))
        }
    }
}
