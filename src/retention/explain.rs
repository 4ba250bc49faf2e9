//! `retention explain`: why each version stays or may go.

use futures_util::StreamExt;

use super::AppName;
use super::decide::Judge;
use super::evidence::{AppEvidence, Evidence, View};
use super::evidence_file::{self, EvidenceFile};
use super::gather::{self, LocalRead, Question, Sources};
use super::victims::bytes_freed;
use super::view::{Form, Output};
use crate::cli::retention::ExplainArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

/// Runs the command.
///
/// # Errors
/// A store that cannot be spoken to at all; an app or version that does not exist. What could not be read is a refusal.
pub(super) async fn run(args: &ExplainArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    if let Some(path) = &args.evidence {
        return replay(args, evidence_file::read(path)?, context);
    }
    let sources = Sources::of(context).await?;
    let question = Question {
        as_of: args.as_of.as_of.unwrap_or_else(|| context.now()),
        view: args.as_box.as_ref().map_or(View::Fleet, |label| View::Box(label.to_string())),
        what_if_keep: args.keep,
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
    let mut file = args.evidence_out.as_deref().map(|path| EvidenceFile::create(path, &fleet)).transpose()?;
    let form = Form::of(context, names.len(), !args.apps.is_empty(), args.version.as_deref());
    let progress = context.progress_things("apps", names.len() as u64);
    let mut output = Output::begin(context, &fleet, form)?;
    let (from, by) = (&sources, &judge);
    let mut apps = Box::pin(gather::apps(names, |name| async move { gather::app(from, by, &name).await }));
    while let Some(app) = apps.next().await {
        progress.advance(1);
        if let Some(file) = &mut file {
            file.app(&app)?;
        }
        progress.aside(|| show(&judge, &app, &mut output, context))?;
    }
    drop(progress);
    if let Some(file) = file {
        file.end()?;
    }
    output.end::<()>(context, &judge.decision(Vec::new()).findings, None)
}

/// Decides again from what was saved.
fn replay(args: &ExplainArgs, mut evidence: Evidence, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    evidence.fleet.what_if_keep = args.keep.or(evidence.fleet.what_if_keep);
    let named = |app: &&AppEvidence| args.apps.is_empty() || args.apps.contains(&AppName::new(&app.account, &app.app));
    let mut apps: Vec<&AppEvidence> = evidence.apps.iter().filter(named).collect();
    apps.sort_by_key(|app| (&app.account, &app.app));
    if let Some(name) = args.apps.iter().find(|name| !apps.iter().any(|app| AppName::new(&app.account, &app.app) == **name)) {
        return Err(CommandError::new(Exit::NotFound, format!("no app {name} in the evidence")));
    }
    let judge = Judge::new(&evidence.fleet);
    let form = Form::of(context, apps.len(), !args.apps.is_empty(), args.version.as_deref());
    let mut output = Output::begin(context, &evidence.fleet, form)?;
    for app in apps {
        show(&judge, app, &mut output, context)?;
    }
    output.end::<()>(context, &judge.decision(Vec::new()).findings, None)
}

fn show(judge: &Judge<'_>, app: &AppEvidence, output: &mut Output, context: &mut Context<'_>) -> Result<(), CommandError> {
    let decision = judge.app(app);
    output.app(context, &decision, bytes_freed(app, &decision))
}
