//! This box's retention pass (seed 002, `retentionPass`): what its own view says may go, goes.
//!
//! The same gathering, deciding and deleting as `carlosctl retention`, in the view of one box: its live registry, and nothing
//! of other boxes' pins. It takes no consent, because the platform's agent takes none either; rules of ours on top of the
//! seed's only keep more.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::OnceCell;

use super::live::{LiveRegistry, refused};
use super::log::Log;
use super::stop::{PassError, Stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::Label;
use crate::retention::AppName;
use crate::retention::decide::Judge;
use crate::retention::decision::{AppDecision, Status};
use crate::retention::evidence::{FleetEvidence, ReportsEvidence, View};
use crate::retention::gather::{self, LocalRead, Question, Sources};
use crate::retention::plan::read_and_plan;
use crate::retention::run::{AppRan, Deleting, Leave, clocks_agree};
use crate::store::{Capability, WriteStore, probe_for};
use crate::terminal::Progress;

/// What a pass needs.
pub(super) struct RetentionPass<'a> {
    /// The deployment store.
    pub(super) store: &'a Arc<dyn WriteStore>,
    /// Where everything is read.
    pub(super) sources: &'a Sources,
    /// This box's registry.
    pub(super) registry: &'a LiveRegistry,
    /// This box.
    pub(super) label: &'a Label,
    /// Where it says what it does.
    pub(super) log: &'a Log,
    /// When it ends.
    pub(super) stop: &'a Stop,
    /// Whether the store compares etags on deletion; found out once, before the first deletion.
    pub(super) is_exact: OnceCell<bool>,
}

/// What a pass did.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pruned {
    apps: Vec<AppRan>,
    /// Apps of which nothing was pruned because something is not known.
    refused: u64,
    /// Versions that are gone.
    versions: u64,
    /// Whether a deletion failed, or a version was left.
    is_partly: bool,
}

impl Pruned {
    /// How the command ends.
    pub(super) fn exit(&self) -> Exit {
        if self.is_partly { Exit::Partly } else { Exit::Done }
    }
}

impl std::fmt::Display for Pruned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "agent: retention pass: {} versions pruned, {} apps pruned nothing", self.versions, self.refused)
    }
}

impl RetentionPass<'_> {
    /// One sweep. One app's failure never stops another's.
    ///
    /// # Errors
    /// `Failed` where nothing can be known of any app: no registry, no reports.
    pub(super) async fn run(&self, now: Timestamp) -> Result<Pruned, PassError> {
        let question = Question {
            as_of: now,
            view: View::Box(self.label.to_string()),
            what_if_keep: None,
            without_boxes: Vec::new(),
            apps: Vec::new(),
        };
        let local = self.local().await?;
        let hidden = Progress::hidden();
        let fleet = self.stop.unless_said(gather::fleet(self.sources, &question, Some(local), &hidden)).await??;
        self.say_reports(&fleet)?;
        let judge = Judge::new(&fleet);
        let mut pruned = Pruned::default();
        // One app at a time: what is read here is deleted from before the next one is read.
        for (account, app) in judge.hosted_apps() {
            self.app(&judge, &AppName::new(account, app), &mut pruned).await?;
        }
        Ok(pruned)
    }

    /// Sweeps one app. An error is only that it was told to stop, or that the store could not be tried out.
    async fn app(&self, judge: &Judge<'_>, name: &AppName, pruned: &mut Pruned) -> Result<(), PassError> {
        let plan = match self.stop.unless_said(read_and_plan(self.sources, judge, name)).await? {
            Ok((_, plan)) => plan,
            Err(error) => {
                self.log.warning(format!("agent: retention {name}: {}", error.message));
                pruned.is_partly = true;
                return Ok(());
            }
        };
        match plan.decision().status {
            Status::Refused => {
                pruned.refused += 1;
                self.say_refused(plan.decision());
            }
            Status::Evaluated if !plan.victims().is_empty() => {
                let halt = || self.stop.is_said();
                let is_exact = self.is_exact().await?;
                let turns = &self.sources.turns;
                let deleting = Deleting::new(self.store.as_ref(), turns, is_exact, &halt, Leave::unattended());
                let ran = deleting.app(&plan, &Progress::hidden()).await;
                self.say_pruned(&ran, plan.victims().len(), plan.decision().keep);
                pruned.versions += ran.deleted.len() as u64;
                pruned.is_partly |= ran.deleted.len() < plan.victims().len();
                pruned.apps.push(ran);
            }
            Status::Evaluated | Status::NotHosted | Status::NoPolicy => {}
        }
        Ok(())
    }

    /// The live registry, asked once.
    async fn local(&self) -> Result<LocalRead, PassError> {
        let (path, account) = (self.registry.path().to_owned(), self.sources.default_account.clone());
        let asked = {
            let path = path.clone();
            self.registry.ask(self.stop, move |registry, _| Ok(LocalRead::ask(registry, &path, &account))).await?
        };
        let asked = match asked {
            Ok((Err(error), _)) | Err(error) => return Err(refused("retention: listing routes", &error).into()),
            Ok(asked) => asked,
        };
        Ok(LocalRead::new(&path, Some(self.label.to_string()), Ok(asked)))
    }

    /// Whether deletions are of exactly one etag.
    async fn is_exact(&self) -> Result<bool, PassError> {
        let found = self.is_exact.get_or_try_init(async || {
            let found = probe_for(self.store.as_ref(), &[Capability::DeleteIf]).await.map_err(CommandError::from)?;
            clocks_agree(self.store.as_ref()).map(|()| found.delete_if)
        });
        Ok(*found.await?)
    }

    /// Says which reports could not be read; without any, nothing is pruned at all.
    fn say_reports(&self, fleet: &FleetEvidence) -> Result<(), PassError> {
        match &fleet.reports {
            ReportsEvidence::Unavailable(none) => {
                let because = format!("reading the box reports: pruning nothing this pass: {}", none.because);
                Err(CommandError::new(none.exit, because).into())
            }
            ReportsEvidence::Listed { unlisted, .. } => {
                for one in unlisted {
                    let line = match one.prefix.strip_suffix(crate::platform::keys::REPORTS) {
                        Some(fleet) => format!("agent: retention: reading the reports of {fleet}: {}", one.because),
                        None => format!("agent: retention: listing fleets: {}", one.because),
                    };
                    self.log.warning(line);
                }
                Ok(())
            }
        }
    }

    fn say_refused(&self, app: &AppDecision) {
        let because: Vec<&str> = app.refusals.iter().map(|refusal| refusal.because.as_str()).collect();
        self.log.warning(format!(
            "agent: retention {}/{}: pruning nothing this pass: {}",
            app.account,
            app.app,
            because.join("; ")
        ));
    }

    fn say_pruned(&self, ran: &AppRan, eligible: usize, keep: Option<u32>) {
        let (account, app) = (&ran.account, &ran.app);
        if let Some(left) = ran.failed.first().or(ran.skipped.first()) {
            self.log.warning(format!("agent: retention {account}/{app}: delete {}: {}", left.version, left.because));
        }
        self.log.plain(format!(
            "agent: retention: pruned {} of {eligible} eligible versions for {account}/{app} (keep {})",
            ran.deleted.len(),
            keep.unwrap_or_default()
        ));
    }
}
