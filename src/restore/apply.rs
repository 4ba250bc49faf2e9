//! Installs under the interlock, and proves what was installed (contract section 3, "Act" and "Prove").

use std::path::PathBuf;

use jiff::Timestamp;

use super::answered;
use super::evidence::Evidence;
use super::gather::{Gathered, Place, host_findings};
use super::receipt;
use super::view::Answered;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding, Severity};
use crate::flags::word;
use crate::host::holders;
use crate::host::install::{self, InstallError, Installed};
use crate::host::interlock::{Claim, Interlock, InterlockError};
use crate::host::stage::Staged;
use crate::host::target::Target;
use crate::platform::Stamp;
use crate::registry::{Census, Registry};
use crate::snapshot::{Look, blocking};
use crate::store::WriteStore;
use crate::terminal::Consent;

/// Installs what was gathered. Everything that may have changed since it was judged is looked at again under the interlock.
pub(super) async fn install(
    gathered: Gathered,
    findings: Vec<Finding>,
    _consent: &Consent,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    still_as_seen(&gathered).await?;
    let _acting = context.world.acting.begin().await;
    let host = context.machine();
    let now = context.now();
    let mut answered = answered(&gathered, findings, "installed");
    answered.sha256 = Some(gathered.evidence.proof.sha256.clone());
    let interlock = acquire(&gathered.target, &Claim::new("restore", host.clone(), now)).await?;
    agent_still_stopped(&gathered.target, &gathered.evidence.request.allowed, context).await?;

    let Gathered { evidence, target, place, .. } = gathered;
    let (allowed, expected) = remembered(evidence)?;
    let Place::Staged(staged) = place else {
        return Err(CommandError::new(
            Exit::Unexpected,
            "the snapshot was not staged beside the registry; nothing was changed",
        ));
    };
    let progress = context.progress_waiting(&format!("installing {}", target.path.display()));
    let (interlock, installed) = exchange(staged, target.clone(), interlock, Stamp::at(now)).await?;
    drop(progress);
    answered.findings.extend(to_be_known(&installed, &target));
    answered.before = installed.before;
    prove(&installed.path, expected, context).await?;
    drop(interlock);
    conclude(answered, &allowed, &host, now, context).await
}

/// What is to be known after the exchange: who opened the replaced registry while it was locked, and what of the old file
/// could not be kept. None of it is blocking any more, because the exchange is done.
fn to_be_known(installed: &Installed, target: &Target) -> Vec<Finding> {
    let mut findings = Vec::new();
    let strays = holders::findings(&installed.strays, target);
    for mut stray in strays.into_iter().filter(|found| found.code == Code::RegistryHeld) {
        stray.severity = Severity::Warning;
        findings.push(stray.hint("stop it before anything else is started"));
    }
    if !installed.attributes_lost.is_empty() {
        let path = installed.path.display().to_string();
        let lost = Finding::warning(Code::AttributesLost, &path, installed.attributes_lost.join("; "));
        findings.push(lost.hint(format!("restorecon {}", word(installed.path.as_os_str()).display())));
    }
    findings
}

/// The registry is in place already: an earlier run was cut after the exchange. Proves it and writes the receipt.
pub(super) async fn finish(
    gathered: Gathered,
    findings: Vec<Finding>,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let _acting = context.world.acting.begin().await;
    let host = context.machine();
    let now = context.now();
    let mut answered = answered(&gathered, findings, "installed");
    answered.already = true;
    answered.sha256 = Some(gathered.evidence.proof.sha256.clone());
    let interlock = acquire(&gathered.target, &Claim::new("restore", host.clone(), now)).await?;
    let recovered = blocking(move || crate::host::recover::recover(&interlock).map(|()| interlock)).await?;
    let interlock = recovered.map_err(|error| failed(&error))?;
    answered.before = newest_before(&gathered.target);
    let Gathered { evidence, target, .. } = gathered;
    let (allowed, expected) = remembered(evidence)?;
    prove(&target.path, expected, context).await?;
    drop(interlock);
    conclude(answered, &allowed, &host, now, context).await
}

fn newest_before(target: &Target) -> Option<PathBuf> {
    crate::host::undo::newest_before(&Target::look(&target.named).ok()?).map(|(_, path)| path)
}

/// What was judged is what is installed: the operator may have thought for an hour at the question.
async fn still_as_seen(gathered: &Gathered) -> Result<(), CommandError> {
    let evidence = &gathered.evidence;
    let named = gathered.target.named.clone();
    let target =
        blocking(move || Target::look(&named)).await?.map_err(|error| CommandError::new(Exit::Refused, error.to_string()))?;
    if !target.is_as_in(&gathered.target) {
        return Err(changed(&format!("{}: the registry changed since it was looked at", target.path.display())));
    }
    let Some(object) = evidence.chosen.source.object().filter(|object| object.version_id.is_none()) else { return Ok(()) };
    let look = Look { store: gathered.store.clone(), seen: evidence.dead.clone() };
    let sidecar_changed = async { Ok::<_, CommandError>(evidence.chosen.at == "current" && look.sidecar_changed().await?) };
    let (now, sidecar_changed) = tokio::join!(gathered.store.head(&object.key), sidecar_changed);
    let now = now?;
    if now.etag != object.etag {
        return Err(changed(&format!(
            "{}: another object since it was looked at (etag {}, now {})",
            object.key, object.etag, now.etag
        )));
    }
    if sidecar_changed? {
        return Err(changed(&format!("the sidecar of {} changed since it was looked at", evidence.request.from_box)));
    }
    Ok(())
}

fn changed(what: &str) -> CommandError {
    CommandError::new(Exit::Changed, format!("{what}; nothing was changed"))
        .hint("run the restore again, and look at what it shows")
}

pub(super) async fn acquire(target: &Target, claim: &Claim) -> Result<Interlock, CommandError> {
    let (target, claim) = (target.clone(), claim.clone());
    blocking(move || Interlock::acquire(&target, &claim)).await?.map_err(|error| {
        let exit = match &error {
            InterlockError::InProgress { .. } => Exit::Locked,
            InterlockError::Replaced { .. } => Exit::Changed,
            _ => Exit::Refused,
        };
        CommandError::new(exit, format!("{error}; nothing was changed"))
    })
}

/// Asks again, now that nobody can begin another restore.
pub(super) async fn agent_still_stopped(
    target: &Target,
    allowed: &[Code],
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let mut findings = host_findings(target, context).await?;
    // The interlock is ours now.
    findings.retain(|found| found.code != Code::RestoreInProgress);
    let stopping: Vec<Finding> = findings.into_iter().filter(|found| found.stops(allowed)).collect();
    if stopping.is_empty() {
        return Ok(());
    }
    context.say_findings(&stopping);
    Err(CommandError::new(Exit::Refused, "this machine changed since it was looked at; nothing was changed"))
}

/// The exchange itself runs on a thread of its own; an interrupted run waits for it.
async fn exchange(
    staged: Staged,
    target: Target,
    interlock: Interlock,
    stamp: Stamp,
) -> Result<(Interlock, Installed), CommandError> {
    let done =
        blocking(move || install::install(staged, &target, &interlock, stamp).map(|installed| (interlock, installed))).await?;
    done.map_err(|error| failed(&error))
}

pub(super) fn failed(error: &InstallError) -> CommandError {
    let text = crate::error::chain(error);
    let (exit, text) = match error {
        InstallError::Unfinished { .. } => (Exit::Partly, text),
        _ => (Exit::Refused, format!("{text}; nothing was changed")),
    };
    CommandError::new(exit, text).hint("run the same command again: it goes on from there")
}

/// What is still needed of the evidence: what was allowed, and a digest of what was staged. A large registry's census is as
/// large as the one that it will be compared with, so it is let go first.
fn remembered(evidence: Evidence) -> Result<(Vec<Code>, Option<[u8; 32]>), CommandError> {
    let census = evidence.proof.census.as_ref().map(digest).transpose()?;
    Ok((evidence.request.allowed, census))
}

fn digest(census: &Census) -> Result<[u8; 32], CommandError> {
    census.digest().map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))
}

/// Opens the installed registry as the agent will, and compares what is in it with what was staged.
async fn prove(path: &std::path::Path, staged: Option<[u8; 32]>, context: &Context<'_>) -> Result<(), CommandError> {
    let (path, default_account) = (path.to_owned(), context.settings.default_account.clone());
    let shown = path.display().to_string();
    let _progress = context.progress_waiting(&format!("proving {shown}"));
    let found = blocking(move || Registry::open_as_agent(&path).and_then(|registry| registry.census(&default_account))).await?;
    let undo = |because: String| {
        CommandError::new(Exit::Found, format!("{shown}: installed, and the proof failed: {because}"))
            .hint("do not start the agent; look at the file, or take it back: carlosctl restore undo")
    };
    match found {
        Ok(census) if Some(digest(&census)?) == staged => Ok(()),
        Ok(_) => Err(undo("it does not hold what was staged".to_owned())),
        Err(error) => Err(undo(error.to_string())),
    }
}

async fn conclude(
    mut answered: Answered,
    allowed: &[Code],
    host: &str,
    now: Timestamp,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let store = context.deployment_for_writing().await;
    let store: Result<&dyn WriteStore, CommandError> = store.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
    receipt::write(&mut answered, host, allowed, now, store).await;
    finding::sort(&mut answered.findings);
    answered.next = next_steps(&answered, context);
    let late: Vec<Finding> = answered
        .findings
        .iter()
        .filter(|found| matches!(found.code, Code::ReceiptNotStored | Code::AttributesLost | Code::RegistryHeld))
        .cloned()
        .collect();
    context.say_findings(&late);
    context.answer(&answered, now)?;
    Ok(receipt::exit(&answered))
}

fn next_steps(answered: &Answered, context: &Context<'_>) -> Vec<String> {
    let start = match context.settings.agent_units.first() {
        Some(unit) => format!("start the agent: systemctl unmask {unit} && systemctl start {unit}"),
        None => "start the agent".to_owned(),
    };
    vec![
        start,
        "prove it: carlosctl restore watch".to_owned(),
        "before retention, see whose reports and snapshots are missing: carlosctl retention explain".to_owned(),
        match answered.before {
            Some(_) => "to take it back, once the agent is stopped: carlosctl restore undo".to_owned(),
            None => format!(
                "to take it back, once the agent is stopped: move {} away, there was none before",
                word(answered.target.as_os_str()).display()
            ),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::holders::{Holder, Holders};

    #[test]
    fn who_opened_the_replaced_registry_and_what_was_lost_of_it_is_said_and_blocks_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let target = Target::look(&directory.path().join("registry.db")).expect("facts");
        let known = |strays: Holders, attributes_lost: &[&str]| {
            let attributes_lost = attributes_lost.iter().map(|lost| (*lost).to_owned()).collect();
            let path = "/data/registry.db".into();
            to_be_known(&Installed { path, before: None, strays, attributes_lost }, &target)
        };
        assert_eq!(known(Holders::default(), &[]), []);
        // That not every process could be looked into was judged before.
        assert_eq!(known(Holders { some_hidden: true, ..Holders::default() }, &[]), []);
        let holder = Holder { pid: 77, command: "agent".into(), files: vec!["registry.db.before-20261130T120000Z".into()] };
        let found = known(Holders { found: vec![holder], ..Holders::default() }, &["security.selinux: denied", "acl: denied"]);
        let said = |finding: &Finding| {
            let hint = finding.hint.clone().unwrap_or_default();
            (finding.code, finding.severity, format!("{} | {hint}", finding.because))
        };
        let held = "pid 77 (agent) has registry.db.before-20261130T120000Z open | stop it before anything else is started";
        let lost = "security.selinux: denied; acl: denied | restorecon /data/registry.db";
        assert_eq!(
            found.iter().map(said).collect::<Vec<_>>(),
            [
                (Code::RegistryHeld, Severity::Warning, held.to_owned()),
                (Code::AttributesLost, Severity::Warning, lost.to_owned()),
            ]
        );
    }
}
