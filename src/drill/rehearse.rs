//! One box's restore, by the restore's own steps, into a scratch directory that is removed again.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;

use super::boot::boot;
use super::evidence::{Copy, Evidence, Obstacle, Rehearsed};
use crate::cli::drill::{At, DrillArgs};
use crate::context::Context;
use crate::error::{CommandError, chain};
use crate::exit::Exit;
use crate::finding::{Code, Finding};
use crate::host::install;
use crate::host::interlock::{Claim, Interlock};
use crate::host::private;
use crate::host::stage::Staged;
use crate::host::target::Target;
use crate::platform::{Label, Stamp};
use crate::registry::{Registry, RegistryError};
use crate::restore::{self, Request, SPACE_MARGIN_BYTES, TargetContent, sha256_of};
use crate::snapshot::{self, BoxEvidence, Chosen, Fetched, Landing, Look, Proof, Reports, Scope, Selector, blocking};
use crate::store::ReadStore;

/// The installed copy's name in the scratch directory.
const REGISTRY: &str = "registry.db";

impl Landing for Staged {
    fn path(&self) -> &Path {
        Staged::path(self)
    }

    fn file(&self) -> &std::fs::File {
        Staged::file(self)
    }

    fn settle(&self) {
        Staged::settle(self);
    }
}

/// Rehearses one box; looks once more where the box was in the middle of a pass.
///
/// # Errors
/// The scratch directory's, or a panic; what is wrong with the box is evidence.
pub(super) async fn rehearse(
    store: &Arc<dyn ReadStore>,
    reports: &Reports<'_>,
    seen: BoxEvidence,
    args: &DrillArgs,
    context: &mut Context<'_>,
) -> Result<Evidence, CommandError> {
    let label = seen.label.clone();
    let first = attempt(Look { store: Arc::clone(store), seen }, args, context).await?;
    if !is_in_the_middle_of_a_pass(&first) {
        return Ok(first);
    }
    let scope = Scope { boxes: vec![label.clone()], concurrency: context.settings.concurrency, ..Scope::default() };
    let mut scene = snapshot::gather(store.as_ref(), reports, &scope).await?;
    let seen = scene.boxes.remove(&label).unwrap_or_else(|| BoxEvidence::new(label));
    attempt(Look { store: Arc::clone(store), seen }, args, context).await
}

/// A living box writes: what is torn or moves now may be whole a moment later.
fn is_in_the_middle_of_a_pass(evidence: &Evidence) -> bool {
    evidence.rehearsed.as_ref().is_ok_and(|rehearsed| {
        let found = restore::decide(&rehearsed.restore).findings;
        rehearsed.restore.changed_while_read || found.iter().any(|found| found.code == Code::TornPair && found.stops(&[]))
    })
}

async fn attempt(look: Look, args: &DrillArgs, context: &mut Context<'_>) -> Result<Evidence, CommandError> {
    let as_of = context.now();
    let scratch = scratch(args.scratch.as_deref())?;
    let rehearsed = match restored(&look, scratch.path(), as_of, args, context).await {
        Ok(rehearsed) => Ok(Box::new(rehearsed)),
        Err(obstacle) => Err(obstacle),
    };
    blocking(move || drop(scratch)).await?;
    Ok(Evidence { as_of, seen: look.seen, rehearsed })
}

fn scratch(named: Option<&Path>) -> Result<tempfile::TempDir, CommandError> {
    let parent = named.map_or_else(std::env::temp_dir, Path::to_owned);
    private::directory_in(&parent, "carlosctl-drill-")
        .map_err(|error| snapshot::disk(&parent, &error).hint("name a directory with --scratch"))
}

async fn restored(
    look: &Look,
    scratch: &Path,
    as_of: Timestamp,
    args: &DrillArgs,
    context: &mut Context<'_>,
) -> Result<Rehearsed, Obstacle> {
    let began = Instant::now();
    let label = look.seen.label.clone();
    let target = look_at(scratch, &look.seen).await.map_err(hindered(&label))??;
    let selector = match args.at {
        At::Current => Selector::Current,
        At::Good => Selector::Good,
    };
    let stage = || Staged::create(&target).map_err(|error| snapshot::disk(&error.path, &error.source));
    let resolved = restore::resolve(context, look, &selector, as_of, stage).await.map_err(hindered(&label))?;
    let ((chosen, fetched, proof), neighbour) = resolved;
    let changed_while_read = changed(look, &chosen, &fetched).await.map_err(hindered(&label))?;
    let evidence = restore::Evidence {
        as_of,
        request: Request { from_box: label.clone(), this_box: None, same_label: false, allowed: Vec::new(), max_age: None },
        own: None,
        of: look.chosen_at(&chosen).await,
        dead: look.seen.clone(),
        chosen,
        proof,
        neighbour,
        changed_while_read,
        clock_ahead_seconds: look.store.clock_ahead_seconds(),
        host: Vec::new(),
        target: TargetContent::Absent,
        last: None,
    };
    let installer = Installer {
        target: target.clone(),
        claim: Claim::new("drill", context.machine(), as_of),
        default_account: context.settings.default_account.clone(),
    };
    let progress = context.progress_waiting(&format!("{label}: installing in {}", scratch.display()));
    let (fingerprint, copy) = installer.install(fetched.landing, &evidence.proof).await.map_err(hindered(&label))?;
    drop(progress);
    let recovery = began.elapsed();
    let progress = context.progress_waiting(&format!("{label}: booting"));
    let boot = match (&args.boot_cmd, &copy) {
        (Some(command), Ok(_)) => Some(boot(command, &target.path, &label, args.boot_timeout, &context.world.env).await),
        _ => None,
    };
    drop(progress);
    let filesystem = target.directory.map_or_else(String::new, |directory| directory.filesystem);
    Ok(Rehearsed { restore: evidence, fingerprint, copy, recovery, filesystem, boot, boot_wanted: args.boot_cmd.is_some() })
}

/// What is merely not there is told from what could not be had.
fn hindered(label: &Label) -> impl Fn(CommandError) -> Obstacle + use<> {
    let label = label.to_string();
    move |error| match error.exit {
        Exit::NotFound => Obstacle::Missing(error.message),
        _ => Obstacle::Hindered(vec![Finding::blocking(Code::NotRead, label.as_str(), error.message)]),
    }
}

/// The place in the scratch directory, when there is room for the box's largest candidate.
async fn look_at(scratch: &Path, seen: &BoxEvidence) -> Result<Result<Target, Obstacle>, CommandError> {
    let path = scratch.join(REGISTRY);
    let candidates = seen.current.iter().chain(seen.generations.iter().map(|generation| &generation.object));
    let bytes = candidates.map(|object| object.bytes).max().unwrap_or_default() + SPACE_MARGIN_BYTES;
    blocking(move || {
        let target = Target::look(&path).map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))?;
        let in_the_way = target.findings(bytes);
        Ok(if in_the_way.is_empty() { Ok(target) } else { Err(Obstacle::Hindered(in_the_way)) })
    })
    .await?
}

/// Whether the object or its sidecar is another one than was listed.
async fn changed(look: &Look, chosen: &Chosen, fetched: &Fetched<Staged>) -> Result<bool, CommandError> {
    let listed = chosen.source.object();
    if listed.is_some_and(|listed| listed.etag != fetched.meta.etag || listed.bytes != fetched.meta.bytes) {
        return Ok(true);
    }
    Ok(chosen.at == "current" && look.sidecar_changed().await?)
}

/// What an install needs.
struct Installer {
    target: Target,
    claim: Claim,
    default_account: String,
}

impl Installer {
    /// Installs what is staged under the interlock, and opens the copy as the agent will. What is no registry is not
    /// installed, as a restore would not.
    async fn install(
        self,
        staged: Staged,
        proof: &Proof,
    ) -> Result<(Result<String, String>, Result<Copy, String>), CommandError> {
        if proof.census.is_none() {
            let because = "what was fetched is no registry, so it was not installed".to_owned();
            return Ok((Err(because.clone()), Err(because)));
        }
        blocking(move || {
            let source = Registry::open_snapshot(staged.path()).and_then(|registry| registry.fingerprint());
            let copy = self.exchange(staged).and_then(|path| self.look_inside(&path).map_err(|error| error.to_string()));
            (source.map_err(|error| error.to_string()), copy)
        })
        .await
    }

    fn exchange(&self, staged: Staged) -> Result<std::path::PathBuf, String> {
        let interlock = Interlock::acquire(&self.target, &self.claim).map_err(|error| chain(&error))?;
        let stamp = Stamp::at(self.claim.since);
        let installed = install::install(staged, &self.target, &interlock, stamp).map_err(|error| chain(&error))?;
        Ok(installed.path)
    }

    fn look_inside(&self, path: &Path) -> Result<Copy, RegistryError> {
        let registry = Registry::open_as_agent(path)?;
        let damage = registry.check()?.damage;
        let (census, fingerprint) = registry.census_and_fingerprint(&self.default_account)?;
        let sha256 = sha256_of(path).map_err(|error| RegistryError::Io(error.to_string()))?;
        Ok(Copy { sha256, census, fingerprint, damage })
    }
}
