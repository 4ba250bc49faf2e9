//! `retention plan`: a decision saved, to be looked at and then run.

use futures_util::StreamExt;
use jiff::Timestamp;
use serde::Serialize;

use super::file::Sums;
use super::{Header, PlanWriter, fleet_inputs, read_and_plan};
use crate::cli::retention::PlanArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::retention::decide::Judge;
use crate::retention::evidence::View;
use crate::retention::gather::{self, LocalRead, Question, Sources};
use crate::retention::victims::bytes_freed;
use crate::retention::view::{Form, More, Output};
use crate::terminal;

/// The plan, as the document names it.
#[derive(Serialize)]
struct Made<'a> {
    file: &'a std::path::Path,
    store: &'a str,
    nonce: &'a str,
    expires_at: Timestamp,
    #[serde(flatten)]
    sums: Sums,
}

/// Runs the command.
///
/// # Errors
/// As `explain`; and where the file exists or cannot be written.
pub(crate) async fn run(args: &PlanArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let sources = Sources::of(context).await?;
    let now = context.now();
    let question = Question {
        as_of: args.as_of.as_of.unwrap_or(now),
        view: View::Fleet,
        what_if_keep: None,
        without_boxes: args.without_boxes.clone(),
        apps: args.apps.clone(),
    };
    let local = LocalRead::of(context).await?;
    let progress = context.progress_things("snapshots", 0);
    let (fleet, listed) =
        tokio::join!(gather::fleet(&sources, &question, local, &progress), gather::listed(&sources, &question));
    let fleet = fleet?;
    drop(progress);
    let judge = Judge::new(&fleet);
    let progress = context.progress_listing();
    let names = gather::names(&sources, &judge, &question, listed?).await?;
    drop(progress);
    let header = Header::new(sources.deployment.as_ref(), now, &question, fleet_inputs(&fleet)?)?;
    let mut file = PlanWriter::create(&args.out, &header)?;
    let form = Form::of(context, names.len(), !args.apps.is_empty(), None);
    let progress = context.progress_things("apps", names.len() as u64);
    let mut output = Output::begin(context, &fleet, form)?;
    let (from, by) = (&sources, &judge);
    let mut apps = Box::pin(gather::apps(names, |name| async move { read_and_plan(from, by, &name).await }));
    while let Some(planned) = apps.next().await {
        let (app, plan) = planned?;
        progress.advance(1);
        progress.aside(|| output.app(context, plan.decision(), bytes_freed(&app, plan.decision())))?;
        file.app(plan)?;
    }
    drop(progress);
    let sums = file.end()?;
    let made = Made { file: &args.out, store: &header.store, nonce: &header.nonce, expires_at: header.expires_at, sums };
    let text = text(&made, &header.name);
    output.end(context, &judge.decision(Vec::new()).findings, Some(&More { name: "plan", value: &made, text }))
}

fn text(made: &Made<'_>, name: &str) -> String {
    let file = made.file.display().to_string();
    let file = terminal::escape(&file);
    format!(
        "\nplan {file}: {} ({}, {}); it may be run once, until {}\nrun it: carlosctl retention run --plan {file} --confirm {}\n",
        terminal::count(made.sums.versions, "version"),
        terminal::count(made.sums.objects, "object"),
        terminal::bytes(made.sums.bytes),
        made.expires_at,
        terminal::escape(name)
    )
}
