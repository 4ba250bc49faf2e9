//! `retention run`: deletes what a plan says, if the world is still as it was shown.
//!
//! | file | what it does |
//! |---|---|
//! | `scene` | what would be deleted, shown before the question |
//! | `verify` | gathers and decides again, and compares |
//! | `delete` | one app: looks once more before each version, then deletes it, the manifest last |
//! | `receipt` | the nonce before the first deletion, and the receipt after the last |
//! | `answer` | what was done |
//!
//! Without `--plan` a plan is made here, in a private file, and run at once.

mod answer;
mod delete;
mod receipt;
mod scene;
mod verify;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::{self, StreamExt};

use super::AppName;
use super::decide::Judge;
use super::evidence::View;
use super::gather::{self, LocalRead, Question, Sources};
use super::plan::{Header, Plan, PlanWriter, fleet_inputs, read_and_plan};
use crate::cli::retention::RunArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::snapshot::{CLOCK_TOLERANCE, disk};
use crate::store::{Capability, ReadStore, StoreError, WriteStore, probe_for};
use crate::terminal;
use answer::Ran;
use scene::Scene;

/// How many apps are deleted from at once. Each waits for its own looks and steps, so several keep the store busy.
const APPS_AT_ONCE: usize = 8;

pub(crate) use answer::AppRan;
pub(crate) use delete::{Deleting, Leave};

/// Runs the command.
///
/// # Errors
/// Changed (exit 7) where the plan is too old, was used, or is no longer what a fresh look decides; refused (5) where it is
/// for another store, or the store cannot create without overwriting.
pub(super) async fn run(args: &RunArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let store = context.deployment_for_writing().await?;
    let sources = Sources::with(context, Arc::clone(&store) as Arc<dyn ReadStore>).await;
    let is_given = args.plan.is_some();
    // Dropped, and with it removed, at the end.
    let own = tempfile::NamedTempFile::with_prefix("carlosctl-plan-").map_err(|error| disk(&std::env::temp_dir(), &error))?;
    let plan = if let Some(path) = &args.plan {
        given(path, store.as_ref(), context).await?
    } else {
        make(args, &sources, own.path(), context).await?
    };
    clocks_agree(store.as_ref())?;
    let wanted = wanted(args, &plan)?;
    let scene = Scene::of(&plan, &wanted)?;
    context.say_findings(scene.refusals());
    if !is_given && !scene.deletes() {
        let ran = Ran::new(store.as_ref(), &plan, &wanted)?;
        let exit = ran.exit();
        context.answer(&ran, plan.header().created_at())?;
        return Ok(exit);
    }
    context.say_block(&scene.text(store.as_ref(), context.world.terminal.columns));
    let what = format!("deleting {} from {}", scene.words(), store.describe());
    let consent = context.consent(&what, &store.name(), args.confirm.as_deref())?;
    // With the flag and without a plan nobody looked in between: what was decided just now is what is run.
    let is_looked_at_again = is_given || args.confirm.is_none();
    let again = async { if is_looked_at_again { verify::verify(&plan, &wanted, &sources, context).await } else { Ok(()) } };
    let (again, capabilities) = tokio::join!(again, probe_for(store.as_ref(), &[Capability::CreateOnly, Capability::DeleteIf]));
    again?;
    let capabilities = capabilities?;
    capabilities.require(&[Capability::CreateOnly]).map_err(unsafe_store)?;
    let _acting = context.world.acting.begin().await;
    let (now, halted) = (context.now(), halted_by_ctrl_c());
    receipt::claim(store.as_ref(), plan.header(), &context.machine(), now).await?;
    let halt = || halted.load(Ordering::Relaxed);
    let leave = Leave::consented(&consent);
    let deleting = Deleting::new(store.as_ref(), &sources.turns, capabilities.delete_if, &halt, leave);
    let ran = act(&plan, &wanted, &deleting, context).await?;
    finish(ran, &plan, capabilities.delete_if, store.as_ref(), context).await
}

/// Set when Ctrl-C is pressed: the version that is being deleted is finished, the others are left, and the receipt is
/// written all the same.
fn halted_by_ctrl_c() -> Arc<AtomicBool> {
    let halted = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&halted);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            heard.store(true, Ordering::Relaxed);
        }
    });
    halted
}

/// Ages decide what is deleted: of reports, of bake windows, of releases in the making.
///
/// # Errors
/// Clocks (exit 13) where this machine's and the store's are more than 5 minutes apart.
pub(crate) fn clocks_agree(store: &dyn ReadStore) -> Result<(), CommandError> {
    let ahead = store.clock_ahead_seconds().unwrap_or_default();
    if ahead.unsigned_abs() <= CLOCK_TOLERANCE.as_secs().unsigned_abs() {
        return Ok(());
    }
    let direction = if ahead < 0 { "behind" } else { "ahead of" };
    let apart = terminal::age(ahead.saturating_abs());
    let because = format!(
        "{}: its clock is {apart} {direction} this machine's, and ages decide what goes; nothing was deleted",
        store.describe()
    );
    Err(CommandError::new(Exit::Clocks, because).hint("set this machine's clock, then run it again"))
}

fn unsafe_store(error: StoreError) -> CommandError {
    let mut error = CommandError::from(error);
    error.message.push_str("; a plan could be run twice there, so nothing was deleted");
    error
}

/// Opens a plan that was given, and refuses one that may not be run.
async fn given(path: &Path, store: &dyn WriteStore, context: &Context<'_>) -> Result<Plan, CommandError> {
    let plan = Plan::open(path)?;
    let header = plan.header();
    header.is_for(store)?;
    let again = header.again();
    let now = context.now();
    if now >= header.expires_at() {
        let because = format!("{}: the plan expired at {}; nothing was deleted", path.display(), header.expires_at());
        return Err(CommandError::new(Exit::Changed, because).hint(again));
    }
    if receipt::is_claimed(store, header.nonce()).await? {
        let because = format!("{}: the plan was used already; nothing was deleted", path.display());
        return Err(CommandError::new(Exit::Changed, because).hint(again));
    }
    Ok(plan)
}

/// Makes a plan of this moment, in a private file.
async fn make(args: &RunArgs, sources: &Sources, path: &Path, context: &mut Context<'_>) -> Result<Plan, CommandError> {
    let now = context.now();
    let question = Question {
        as_of: now,
        view: View::Fleet,
        what_if_keep: None,
        without_boxes: args.without_boxes.clone(),
        apps: args.apps.clone(),
    };
    let local = LocalRead::of(context).await?;
    let progress = context.progress_things("snapshots", 0);
    let (fleet, listed) = tokio::join!(gather::fleet(sources, &question, local, &progress), gather::listed(sources, &question));
    let fleet = fleet?;
    drop(progress);
    let judge = Judge::new(&fleet);
    let progress = context.progress_listing();
    let names = gather::names(sources, &judge, &question, listed?).await?;
    drop(progress);
    let header = Header::new(sources.deployment.as_ref(), now, &question, fleet_inputs(&fleet)?)?;
    let file = std::fs::File::options().write(true).open(path).map_err(|error| disk(path, &error))?;
    let mut file = PlanWriter::begin(path, file, &header)?;
    let progress = context.progress_things("apps", names.len() as u64);
    let by = &judge;
    let mut apps = Box::pin(gather::apps(names, |name| async move { read_and_plan(sources, by, &name).await }));
    while let Some(planned) = apps.next().await {
        progress.advance(1);
        file.app(planned?.1)?;
    }
    drop(progress);
    file.end()?;
    Plan::open(path)
}

/// The apps of a plan that are meant; all when none was named.
fn wanted(args: &RunArgs, plan: &Plan) -> Result<Vec<AppName>, CommandError> {
    let mut names = Vec::new();
    for app in plan.apps()? {
        names.push(app?.name());
    }
    if let Some(unknown) = args.apps.iter().find(|name| !names.contains(name)) {
        return Err(CommandError::new(Exit::NotFound, format!("no app {unknown} in the plan; nothing was deleted")));
    }
    if !args.apps.is_empty() {
        names.retain(|name| args.apps.contains(name));
    }
    Ok(names)
}

/// Deletes, a few apps at once and within each one version after the other; an app that fails does not stop another.
async fn act(plan: &Plan, wanted: &[AppName], deleting: &Deleting<'_>, context: &mut Context<'_>) -> Result<Ran, CommandError> {
    let mut ran = Ran::new(deleting.store(), plan, wanted)?;
    let progress = context.progress_things("versions", ran.versions());
    // Nothing follows a line of the plan that does not read, and what is under way is finished all the same.
    let mut is_broken = false;
    let planned = plan.apps()?.take_while(|app| !std::mem::replace(&mut is_broken, app.is_err())).filter(|app| match app {
        Ok(app) => !app.victims().is_empty() && wanted.contains(&app.name()),
        Err(_) => true,
    });
    let deletions = stream::iter(planned).map(|app| {
        let progress = &progress;
        async move { Ok::<_, CommandError>(deleting.app(&app?, progress).await) }
    });
    let mut deletions = deletions.buffer_unordered(APPS_AT_ONCE);
    let mut unread = None;
    while let Some(app) = deletions.next().await {
        match app {
            Ok(app) => ran.add(app),
            Err(error) => unread = Some(error),
        }
    }
    drop(deletions);
    if let Some(error) = unread {
        return Err(error);
    }
    ran.close();
    Ok(ran)
}

/// Writes the receipt, and answers.
async fn finish(
    mut ran: Ran,
    plan: &Plan,
    is_exact: bool,
    store: &dyn WriteStore,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let now = context.now();
    receipt::write(&mut ran, plan.header(), is_exact, store, &context.machine(), now).await;
    context.say_findings(ran.findings());
    let exit = ran.exit();
    context.answer(&ran, now)?;
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn clocks_may_be_five_minutes_apart() {
        let store = MemoryStore::new("dep");
        for (ahead, direction) in [(301, "5 min ahead of"), (-301, "5 min behind")] {
            store.set_clock_ahead_seconds(Some(ahead));
            let refused = clocks_agree(&store).expect_err("refused");
            assert_eq!(refused.exit, Exit::Clocks);
            assert!(refused.message.contains(&format!("its clock is {direction} this machine's")), "{}", refused.message);
        }
        for near in [Some(300), Some(-300), None] {
            store.set_clock_ahead_seconds(near);
            assert!(clocks_agree(&store).is_ok());
        }
    }
}
