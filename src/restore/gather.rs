//! Reads the world before a restore: the bucket, the object itself, this machine.
//!
//! The object is streamed once. Unless nothing may be changed, it lands where it would be installed from, so that what was
//! judged is what is installed.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::evidence::{Evidence, Neighbour, Request};
use super::last::{self, Last};
use super::target_content;
use crate::cli::restore::RestoreArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding};
use crate::host::interlock::Interlock;
use crate::host::stage::Staged;
use crate::host::target::Target;
use crate::host::{holders, undo, units};
use crate::platform::Label;
use crate::snapshot::{
    self, BoxEvidence, Chosen, Expected, Fetched, Landing, Look, Private, Proof, Reference, Selector, blocking,
};
use crate::store::ReadStore;

/// Room for what SQLite and the receipt need; the target counts its own WAL.
pub(crate) const SPACE_MARGIN_BYTES: u64 = 1024 * 1024;

/// Everything that was gathered, and what is needed to go on.
pub(super) struct Gathered {
    pub(super) evidence: Evidence,
    pub(super) target: Target,
    pub(super) place: Place,
    pub(super) store: Arc<dyn ReadStore>,
}

/// What was gathered.
pub(super) enum Found {
    /// Everything.
    Object(Box<Gathered>),
    /// Current was meant, and there is none.
    NoCurrent(Box<NoCurrent>),
}

/// What there is to say where current was meant and is missing.
pub(super) struct NoCurrent {
    pub(super) request: Request,
    pub(super) as_of: Timestamp,
    pub(super) target: Target,
    pub(super) findings: Vec<Finding>,
}

/// Where the object landed.
pub(super) enum Place {
    /// Somewhere private: it can be judged, and not installed.
    Private(Private),
    /// In the target's directory, ready to be installed.
    Staged(Staged),
}

impl Landing for Place {
    fn path(&self) -> &Path {
        match self {
            Self::Private(private) => private.path(),
            Self::Staged(staged) => staged.path(),
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Private(private) => private.file(),
            Self::Staged(staged) => staged.file(),
        }
    }

    fn settle(&self) {
        if let Self::Staged(staged) = self {
            staged.settle();
        }
    }
}

/// Gathers.
///
/// # Errors
/// The box or the selector's object does not exist; the store's; the local disk's. What is merely wrong is evidence.
pub(super) async fn gather(args: &RestoreArgs, from_box: &Label, context: &mut Context<'_>) -> Result<Found, CommandError> {
    let request = request(args, from_box, context)?;
    let as_of = context.now();
    let target = look_at_target(context).await?;
    let selectors = [&args.at];
    // It begins now and is waited for when everything else is there.
    let host = host_findings(&target, context);
    let (look, own) = tokio::join!(snapshot::look(context, from_box, &selectors), own_box(&request, context));
    let (look, own) = (look.map_err(|error| own_label(error, &request))?, own?);

    let object_bytes = |seen: &BoxEvidence| -> u64 {
        let chosen =
            snapshot::select(seen, &args.at, as_of).ok().and_then(|mut chosen| (!chosen.is_empty()).then(|| chosen.remove(0)));
        chosen.map_or(0, |chosen| chosen.bytes())
    };
    let target_findings = target.findings(object_bytes(&look.seen) + SPACE_MARGIN_BYTES);
    let stageable = !args.dry_run && target_findings.is_empty();
    if args.at == Selector::Current && look.seen.current.is_none() {
        let mut host = host.await?;
        host.extend(target_findings);
        host.extend(snapshot::judge(&look.seen, as_of).findings);
        finding::sort(&mut host);
        return Ok(Found::NoCurrent(Box::new(NoCurrent { request, as_of, target, findings: host })));
    }

    let account = context.settings.default_account.clone();
    let place = || place(&target, stageable);
    let (resolved, neighbour) = resolve(context, &look, &args.at, as_of, place).await?;
    let (chosen, fetched, proof) = resolved;
    let progress = context.progress_waiting(&format!("reading {}", target.path.display()));
    let (changed_while_read, content) = tokio::join!(
        changed(&look, &chosen, &fetched),
        target_content::read(&target, fetched.meta.bytes, &proof.sha256, &account)
    );
    drop(progress);
    let (changed_while_read, content) = (changed_while_read?, content?);
    let mut host = host.await?;
    host.extend(target_findings);
    let of = look.chosen_at(&chosen).await;
    let evidence = Evidence {
        as_of,
        request,
        own,
        of,
        dead: look.seen,
        chosen,
        proof,
        neighbour,
        changed_while_read,
        clock_ahead_seconds: look.store.clock_ahead_seconds(),
        host,
        target: content,
        last: last_done(&target),
    };
    Ok(Found::Object(Box::new(Gathered { evidence, target, place: fetched.landing, store: look.store })))
}

/// What was done last, where what it replaced is still kept. A receipt that does not read says nothing.
pub(crate) fn last_done(target: &Target) -> Option<Last> {
    undo::newest_before(target)?;
    last::last(target).ok().flatten()
}

fn request(args: &RestoreArgs, from_box: &Label, context: &Context<'_>) -> Result<Request, CommandError> {
    let this_box = context.settings.this_box.clone();
    if let Some(own) = this_box.as_ref().filter(|own| args.same_label && *own != from_box) {
        return Err(CommandError::usage(format!("--same-label was given, and this box is {own}, not {from_box}"))
            .hint("leave --same-label out, or correct --this-box"));
    }
    Ok(Request {
        from_box: from_box.clone(),
        this_box,
        same_label: args.same_label,
        allowed: args.allow.clone(),
        max_age: args.max_age,
    })
}

pub(super) async fn look_at_target(context: &Context<'_>) -> Result<Target, CommandError> {
    let registry = context.settings.registry.clone();
    blocking(move || Target::look(&registry))
        .await?
        .map_err(|error| CommandError::new(Exit::Refused, error.to_string()).hint("name the registry with --registry"))
}

/// Whoever named this box, of which there is no snapshot, is told that it is this box and not offered one that sounds like it.
fn own_label(mut error: CommandError, request: &Request) -> CommandError {
    if error.exit == Exit::NotFound && request.this_box.as_ref() == Some(&request.from_box) {
        error.hints = vec![format!("{} is this box itself; the dead ones: carlosctl snapshot list", request.from_box)];
    }
    error
}

/// What the bucket has of this box. Under its own label the dead one's is meant.
async fn own_box(request: &Request, context: &Context<'_>) -> Result<Option<BoxEvidence>, CommandError> {
    let Some(own) = request.this_box.as_ref().filter(|own| **own != request.from_box) else { return Ok(None) };
    // A box that the bucket does not know is what a standby should be, so it need not exist.
    let looked = snapshot::look(context, own, &[&Selector::File(std::path::PathBuf::new())]).await?;
    Ok(Some(looked.seen))
}

/// What this machine has to say.
/// It is asked from now on, also before anybody waits for the answer.
pub(super) fn host_findings(
    target: &Target,
    context: &Context<'_>,
) -> impl Future<Output = Result<Vec<Finding>, CommandError>> + use<> {
    let path = context.world.env.get("PATH").cloned();
    let names = context.settings.agent_units.clone();
    let target = target.clone();
    let asked = tokio::task::spawn_blocking(move || {
        let mut findings = units::findings(&units::ask(path.as_deref(), &names));
        findings.extend(holders::findings(&holders::scan(Path::new(holders::PROC), &target), &target));
        match Interlock::is_held(&target.path) {
            Ok(false) => {}
            Ok(true) => findings.push(Finding::blocking(
                Code::RestoreInProgress,
                target.path.display().to_string(),
                "another restore holds the interlock of this registry",
            )),
            Err(error) => findings.push(Finding::blocking(Code::NotRead, target.path.display().to_string(), error.to_string())),
        }
        findings
    });
    async move { asked.await.map_err(|error| CommandError::new(Exit::Unexpected, error.to_string())) }
}

fn place(target: &Target, stageable: bool) -> Result<Place, CommandError> {
    if !stageable {
        return Ok(Place::Private(Private::create()?));
    }
    Staged::create(target).map(Place::Staged).map_err(|error| snapshot::disk(&error.path, &error.source))
}

/// The chosen object, fetched and proved, and the rung that it is compared with. Both at once, where it is known before the
/// proof which one is chosen.
///
/// # Errors
/// As [`snapshot::resolve`].
pub(crate) async fn resolve<L: Landing>(
    context: &mut Context<'_>,
    look: &Look,
    selector: &Selector,
    as_of: Timestamp,
    land: impl Fn() -> Result<L, CommandError>,
) -> Result<((Chosen, Fetched<L>, Proof), Option<Neighbour>), CommandError> {
    let account = context.settings.default_account.clone();
    let known = if *selector == Selector::Good { None } else { snapshot::select(&look.seen, selector, as_of).ok() };
    if let Some(chosen) = known.and_then(|chosen| chosen.into_iter().next()) {
        let resolved = snapshot::resolve(context, look, selector, as_of, land);
        let (resolved, neighbour) = tokio::join!(resolved, neighbour(look, &chosen, as_of, &account));
        return Ok((resolved?, neighbour));
    }
    let resolved = snapshot::resolve(context, look, selector, as_of, land).await?;
    let neighbour = neighbour(look, &resolved.0, as_of, &account).await;
    Ok((resolved, neighbour))
}

/// The rung that the chosen one is compared with, read. Where none of several has a route, the newest.
async fn neighbour(look: &Look, chosen: &Chosen, as_of: Timestamp, default_account: &str) -> Option<Neighbour> {
    let older = snapshot::neighbours(&look.seen, chosen, as_of);
    let reads = older.into_iter().map(|older| read_neighbour(look, older, default_account));
    let read = futures_util::future::join_all(reads).await;
    let mut reference = Reference::default();
    for rung in read.iter().rev() {
        if let Ok(census) = &rung.content {
            // That a rung collapsed itself is for `verify` to say.
            let _ = reference.step(&rung.at, census);
        }
    }
    let place = reference.last().and_then(|last| read.iter().position(|rung| rung.at == last)).unwrap_or_default();
    read.into_iter().nth(place)
}

async fn read_neighbour(look: &Look, older: Chosen, default_account: &str) -> Neighbour {
    let at = older.at.clone();
    let landing = match Private::to_compare(older.bytes()) {
        Ok(landing) => landing,
        Err(because) => return Neighbour { at, content: Err(because) },
    };
    let expected = Expected { subject: older.source.name(), sidecar: None, default_account: default_account.to_owned() };
    let content = match snapshot::fetch_and_prove(look.store.as_ref(), &older, expected, landing, None).await {
        Ok((_, Proof { census: Some(census), findings, .. }))
            if !findings.iter().any(|found| found.code == Code::IntegrityFailed && found.stops(&[])) =>
        {
            Ok(census)
        }
        Ok(_) => Err("it is no readable registry, or a damaged one".to_owned()),
        Err(error) => Err(error.message),
    };
    Neighbour { at, content }
}

/// Whether the object or its sidecar is another one than was listed.
async fn changed(look: &Look, chosen: &Chosen, fetched: &Fetched<Place>) -> Result<bool, CommandError> {
    let Some(listed) = chosen.source.object() else { return Ok(false) };
    if listed.etag != fetched.meta.etag || listed.bytes != fetched.meta.bytes {
        return Ok(true);
    }
    Ok(chosen.at == "current" && look.sidecar_changed().await?)
}
