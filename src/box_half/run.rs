//! The commands of the box half.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::OnceCell;

use super::answers::{LoopAnswer, Nothing, ReportAnswer, RetentionAnswer, SnapshotAnswer};
use super::cadence::{Cadence, Passes};
use super::live::LiveRegistry;
use super::log::{Log, written_to};
use super::notify::Notify;
use super::report::{ReportPass, Reported};
use super::retention_pass::{Pruned, RetentionPass};
use super::snapshot_pass::{Memory, Outcome, SnapshotPass};
use super::stop::{PassError, Stop, Stopper};
use crate::cli::box_half::{BoxCommand, RetentionArgs, SnapshotArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::interlock::{Claim, InterlockError, Running};
use crate::host::target::Target;
use crate::platform::{Label, keys};
use crate::retention::gather::Sources;
use crate::settings::Settings;
use crate::store::{ReadStore, WriteStore};

/// Runs `carlosctl box …`.
///
/// # Errors
/// Usage without a label or a store; Locked while a restore is in progress; what the pass says.
pub async fn run(command: &BoxCommand, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let job = match command {
        BoxCommand::Snapshot(SnapshotArgs { repeat: false, pace })
        | BoxCommand::Retention(RetentionArgs { repeat: false, pace })
            if pace.interval.is_some() =>
        {
            return Err(CommandError::usage("--interval is for a loop").hint("add --loop"));
        }
        BoxCommand::Snapshot(args) if args.repeat => Job::Loops { which: Which::Snapshots, pace: args.pace.interval },
        BoxCommand::Snapshot(_) => Job::Snapshot,
        BoxCommand::Report => Job::Report,
        BoxCommand::Retention(args) if args.repeat => Job::Loops { which: Which::Retention, pace: args.pace.interval },
        BoxCommand::Retention(_) => Job::Retention,
        BoxCommand::Run(pace) => Job::Loops { which: Which::All, pace: pace.interval },
    };
    if context.settings.fleet_box {
        return nothing(&job, "skipped", "is a platform-box job — skipped on a fleet box", context);
    }
    let desk = match Desk::open(&job, context).await {
        Ok(desk) => desk,
        // The agent goes on without this loop. Who has all of them from here would have none, and is told: a command that
        // was typed, and a service that would stand there as if this box were snapshotted.
        Err(error) if error.exit == Exit::Usage && job.is_one_loop() && context.settings.deployment.is_none() => {
            return nothing(&job, "disabled", &format!("disabled: {}", error.message), context);
        }
        Err(error) => return Err(error),
    };
    let end = Box::pin(desk.work(&job, context)).await?;
    let now = context.now();
    match end {
        End::Snapshot(outcome) => context.answer(&SnapshotAnswer::of(&desk.label, outcome), now)?,
        End::Report(reported) => {
            let exit = if reported.error.is_some() { Exit::Partly } else { Exit::Done };
            context.answer(&ReportAnswer { label: desk.label.clone(), reported }, now)?;
            return Ok(exit);
        }
        End::Retention(pruned) => {
            let exit = pruned.exit();
            context.answer(&RetentionAnswer { label: desk.label.clone(), pruned }, now)?;
            return Ok(exit);
        }
        End::Loops(passes) => {
            let answer = LoopAnswer { label: desk.label.clone(), passes: passes.done, failed: passes.failed };
            context.answer(&answer, now)?;
        }
    }
    Ok(Exit::Done)
}

/// Ends a job that has nothing to do here, as the platform's agent says it.
fn nothing(job: &Job, outcome: &'static str, why: &str, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    context.say(&format!("agent: {} {why}", job.name()));
    if matches!(job, Job::Loops { .. }) {
        Notify::new(&context.world.env).nothing_to_do(&format!("{} {why}", job.name()));
    }
    context.answer(&Nothing { outcome }, context.now())?;
    Ok(Exit::Done)
}

/// What is to be done.
enum Job {
    Snapshot,
    Report,
    Retention,
    Loops { which: Which, pace: Option<std::time::Duration> },
}

/// Which passes a loop makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Snapshots,
    Retention,
    All,
}

impl Job {
    /// As the platform's own lines call it.
    fn name(&self) -> &'static str {
        match self {
            Self::Snapshot => "registry snapshot",
            Self::Report => "box report",
            Self::Retention => "retention",
            Self::Loops { which: Which::Snapshots, .. } => "registry snapshot loop",
            Self::Loops { which: Which::Retention, .. } => "retention loop",
            Self::Loops { which: Which::All, .. } => "box half",
        }
    }

    /// As it is typed.
    fn operation(&self) -> &'static str {
        match self {
            Self::Snapshot | Self::Loops { which: Which::Snapshots, .. } => "box snapshot",
            Self::Report => "box report",
            Self::Retention | Self::Loops { which: Which::Retention, .. } => "box retention",
            Self::Loops { which: Which::All, .. } => "box run",
        }
    }

    /// Whether this is one of the agent's loops by itself.
    fn is_one_loop(&self) -> bool {
        matches!(self, Self::Loops { which: Which::Snapshots | Which::Retention, .. })
    }

    fn prunes(&self) -> bool {
        matches!(self, Self::Retention | Self::Loops { which: Which::Retention | Which::All, .. })
    }
}

/// How it ended.
enum End {
    Snapshot(Outcome),
    Report(Reported),
    Retention(Pruned),
    Loops(Passes),
}

/// Everything that the passes need, opened.
struct Desk {
    label: Label,
    settings: Settings,
    registry: LiveRegistry,
    deployment: Option<Arc<dyn WriteStore>>,
    status: Option<Arc<dyn WriteStore>>,
    /// What retention reads, where it is one of the jobs.
    sources: Option<Sources>,
    notify: Notify,
    /// Held as long as this runs: no restore begins meanwhile, and none is in progress.
    _running: Running,
}

impl Desk {
    async fn open(job: &Job, context: &Context<'_>) -> Result<Self, CommandError> {
        let deployment = match job {
            Job::Report => None,
            Job::Snapshot | Job::Retention | Job::Loops { .. } => Some(context.deployment_for_writing().await?),
        };
        let status = match job {
            Job::Report | Job::Loops { which: Which::All, .. } => context.status_store_for_writing().await?,
            Job::Snapshot | Job::Retention | Job::Loops { .. } => None,
        };
        let sources = match &deployment {
            Some(store) if job.prunes() => Some(Sources::with(context, Arc::clone(store) as Arc<dyn ReadStore>).await),
            _ => None,
        };
        if status.is_none() && matches!(job, Job::Report) {
            return Err(CommandError::usage("agent: box report disabled: no status store is named")
                .hint("give --status-bucket NAME or --status-dir PATH; a bucket given with --bucket serves as both"));
        }
        let label = context.settings.this_box.clone().ok_or_else(|| {
            CommandError::usage("this box's own label is not known").hint("give --this-box LABEL, or set CARLOS_BOX_LABEL")
        })?;
        let settings = context.settings.clone();
        Ok(Self {
            _running: running(job, &settings, context.now())?,
            registry: LiveRegistry::new(&settings.registry),
            notify: Notify::new(&context.world.env),
            label,
            settings,
            deployment,
            status,
            sources,
        })
    }

    async fn work(&self, job: &Job, context: &mut Context<'_>) -> Result<End, CommandError> {
        let (log, lines) = Log::new();
        let (stopper, stop) = Stopper::pair();
        let watch = tokio::spawn(watch_for_signals(stopper)?);
        let world = &mut *context.world;
        let now = &world.now;
        let work = async {
            match job {
                Job::Snapshot => self.snapshot_pass(&log, &stop)?.run_once(now()).await.map(End::Snapshot),
                Job::Report => self.report_pass(&stop)?.run(now()).await.map(End::Report),
                Job::Retention => self.retention_pass(&log, &stop)?.run(now()).await.map(End::Retention),
                Job::Loops { pace, which } => self.loops(Cadence::new(*pace), *which, &log, &stop, now).await.map(End::Loops),
            }
        };
        let end = written_to(world.err.as_mut(), self.settings.quiet, lines, Box::pin(work)).await;
        watch.abort();
        end.map_err(|error| match error {
            PassError::Failed(error) => error,
            PassError::Stopped => CommandError::new(Exit::Interrupted, "told to stop; nothing was left half done"),
        })
    }

    async fn loops(
        &self,
        cadence: Cadence,
        which: Which,
        log: &Log,
        stop: &Stop,
        now: &(dyn Fn() -> Timestamp + Send + Sync),
    ) -> Result<Passes, PassError> {
        let snapshots = async {
            if which == Which::Retention {
                return Ok(Passes::default());
            }
            let pass = self.snapshot_pass(log, stop)?;
            log.plain(format!("agent: registry snapshot loop armed ({cadence}, {})", keys::current(&self.label)));
            let mut memory = self.memory().await;
            Ok::<_, PassError>(
                cadence.repeat("registry snapshot", log, stop, async || pass.run(now(), &mut memory).await).await,
            )
        };
        let reports = async {
            if which != Which::All {
                return Ok(Passes::default());
            }
            let Some(pass) = self.status.as_ref().map(|_| self.report_pass(stop)).transpose()? else {
                log.plain("agent: box report loop disabled: no status store is named");
                return Ok(Passes::default());
            };
            log.plain(format!("agent: box report loop armed ({cadence}, {})", keys::report(pass.prefix, &self.label)));
            Ok::<_, PassError>(cadence.repeat("box report", log, stop, async || pass.run(now()).await).await)
        };
        let retention = async {
            if which == Which::Snapshots {
                return Ok(Passes::default());
            }
            let pass = self.retention_pass(log, stop)?;
            log.plain(format!("agent: retention loop armed ({cadence})"));
            Ok::<_, PassError>(cadence.repeat("retention", log, stop, async || pass.run(now()).await).await)
        };
        let told = async {
            self.notify.ready();
            stop.said().await;
            self.notify.stopping();
        };
        let (snapshots, reports, retention, ()) =
            futures_util::future::join4(snapshots, reports, Box::pin(retention), told).await;
        let all = [snapshots?, reports?, retention?];
        log.plain("agent: stopped");
        Ok(Passes { done: all.iter().map(|passes| passes.done).sum(), failed: all.iter().map(|passes| passes.failed).sum() })
    }

    async fn memory(&self) -> Memory {
        match &self.deployment {
            Some(store) => Memory::seed(store.as_ref(), &self.label).await,
            None => Memory::default(),
        }
    }

    fn snapshot_pass<'a>(&'a self, log: &'a Log, stop: &'a Stop) -> Result<SnapshotPass<'a>, PassError> {
        let store = self.deployment.as_deref().ok_or_else(|| CommandError::usage("no deployment store is named"))?;
        let default_account = &self.settings.default_account;
        Ok(SnapshotPass { store, registry: &self.registry, label: &self.label, default_account, log, stop })
    }

    fn retention_pass<'a>(&'a self, log: &'a Log, stop: &'a Stop) -> Result<RetentionPass<'a>, PassError> {
        let (Some(store), Some(sources)) = (&self.deployment, &self.sources) else {
            return Err(CommandError::usage("no deployment store is named").into());
        };
        let (registry, label, is_exact) = (&self.registry, &self.label, OnceCell::new());
        Ok(RetentionPass { store, sources, registry, label, log, stop, is_exact })
    }

    fn report_pass<'a>(&'a self, stop: &'a Stop) -> Result<ReportPass<'a>, PassError> {
        let store = self.status.as_deref().ok_or_else(|| CommandError::usage("no status store is named"))?;
        let (prefix, default_account) = (&self.settings.status_prefix, &self.settings.default_account);
        Ok(ReportPass { store, prefix, registry: &self.registry, label: &self.label, default_account, stop })
    }
}

/// Says that the box half runs on this registry; refused while a restore is at it.
fn running(job: &Job, settings: &Settings, now: Timestamp) -> Result<Running, CommandError> {
    let target = Target::look(&settings.registry)
        .map_err(|error| CommandError::new(Exit::NotFound, format!("{}: {error}", settings.registry.display())))?;
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Running::start(&target.path, &Claim::new(job.operation(), host.trim(), now)).map_err(|error| {
        let exit = match &error {
            InterlockError::InProgress { .. } | InterlockError::Running { .. } | InterlockError::Held { .. } => Exit::Locked,
            _ => Exit::Unexpected,
        };
        CommandError::new(exit, error.to_string()).hint("nothing was published; try again when the restore is done")
    })
}

/// Says stop at the first SIGTERM or Ctrl-C.
fn watch_for_signals(stopper: Stopper) -> Result<impl Future<Output = ()>, CommandError> {
    let mut terminated = signal(SignalKind::terminate())
        .map_err(|error| CommandError::new(Exit::Unexpected, format!("SIGTERM cannot be watched for: {error}")))?;
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        stopper.stop();
        // Kept: a stopper that is gone never says it.
        std::future::pending::<()>().await;
    })
}
