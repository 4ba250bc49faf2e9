//! `restore undo`: the registry that the last restore replaced comes back, and what it replaces is kept.

use std::ffi::OsStr;

use jiff::Timestamp;

use super::apply::{acquire, agent_still_stopped, failed};
use super::gather::{host_findings, look_at_target};
use super::last;
use super::receipt;
use super::target_content;
use super::view::{Answered, undo_scene};
use crate::cli::restore::UndoArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding};
use crate::host::interlock::Claim;
use crate::host::names::Kept;
use crate::host::target::Target;
use crate::host::undo;
use crate::platform::Stamp;
use crate::registry::Registry;
use crate::snapshot::blocking;
use crate::store::WriteStore;
use crate::terminal;

/// Runs the command.
///
/// # Errors
/// Not found without a kept registry; refused while anything has the registry open; not confirmed.
pub(super) async fn run(args: &UndoArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let own = context.settings.this_box.clone().ok_or_else(|| {
        CommandError::usage("this box's own label is not known, and it is what consents to an undo")
            .hint("give --this-box LABEL, or set CARLOS_BOX_LABEL")
    })?;
    let now = context.now();
    let target = look_at_target(context).await?;
    let Some(candidate) = undo::candidate(&target) else {
        return Err(CommandError::new(
            Exit::NotFound,
            format!("{}: no registry was kept by a restore; there is nothing to put back", target.path.display()),
        ));
    };
    let mut findings = host_findings(&target, context).await?;
    finding::sort(&mut findings);
    context.say_findings(&findings);
    let mut answered = Answered {
        from_box: None,
        this_box: Some(own.clone()),
        at: candidate.name.file_name().map(|name| name.to_string_lossy().into_owned()),
        object: None,
        target: target.path.clone(),
        outcome: "refused",
        sha256: None,
        rows: rows(&candidate.file, context).await?,
        before: None,
        receipt: None,
        receipt_file: None,
        findings,
        already: candidate.in_place_of.is_some(),
        next: Vec::new(),
    };
    if let Some(exit) = stops(&answered.findings) {
        context.answer(&answered, now)?;
        return Err(CommandError::new(exit, format!("the undo was refused; {} was not touched", target.path.display())));
    }
    let account = context.settings.default_account.clone();
    let holds = target_content::read(&target, 0, "", &account).await?;
    let routes = answered.rows.as_ref().and_then(|rows| rows.get("routes")).copied();
    let columns = context.world.terminal.columns;
    let further = goes_further(&target, &candidate);
    context.say_block(&undo_scene((&context.machine(), &own), (&target, &holds), (&candidate, routes, further), columns));
    answered.outcome = "would-install";
    if args.dry_run {
        context.answer(&answered, now)?;
        return Ok(Exit::Done);
    }
    if let Err(error) =
        context.consent(&format!("putting {} back", candidate.name.display()), own.as_str(), args.confirm.as_deref())
    {
        if context.settings.json {
            answered.outcome = "not-confirmed";
            context.answer(&answered, now)?;
        }
        return Err(error);
    }
    put_back(target, candidate.kept, answered, now, context).await
}

/// Why this undo takes back another restore than the last thing that was done here: that one was taken back already, or it
/// replaced nothing.
fn goes_further(target: &Target, candidate: &undo::Candidate) -> Option<String> {
    if let Some(stamp) = undo::last_undone(target).filter(|stamp| *stamp >= candidate.kept.stamp) {
        return Some(format!("undone before, at {}", terminal::instant(stamp.instant())));
    }
    let Ok(Some(last::Last::Restored(last))) = last::last(target) else { return None };
    last.before.is_none().then(|| format!("the last restore, at {}, replaced nothing", terminal::instant(last.at)))
}

fn stops(findings: &[Finding]) -> Option<Exit> {
    let stopping = findings.iter().filter(|found| found.stops(&[])).map(|found| found.code);
    stopping.map(|code| if code == crate::finding::Code::RestoreInProgress { Exit::Locked } else { Exit::Refused }).next()
}

async fn rows(
    file: &std::path::Path,
    context: &Context<'_>,
) -> Result<Option<std::collections::BTreeMap<String, u64>>, CommandError> {
    let (path, account) = (file.to_owned(), context.settings.default_account.clone());
    // What cannot be read can be put back all the same: it is what was there.
    Ok(blocking(move || Registry::open_live(&path).and_then(|registry| registry.census(&account)).ok())
        .await?
        .map(|census| census.tables))
}

async fn put_back(
    target: Target,
    wanted: Kept,
    mut answered: Answered,
    now: Timestamp,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let _acting = context.world.acting.begin().await;
    let host = context.machine();
    let was = answered.at.as_deref().and_then(|before| last::replaced(&target, OsStr::new(before)));
    let interlock = acquire(&target, &Claim::new("restore undo", host.clone(), now)).await?;
    agent_still_stopped(&target, &[], context).await?;
    let progress = context.progress_waiting(&format!("putting back {}", target.path.display()));
    let done = blocking(move || undo::undo(&target, &interlock, Stamp::at(now), wanted).map(|done| (interlock, done))).await?;
    drop(progress);
    let (interlock, done) = done.map_err(|error| failed(&error))?;
    drop(interlock);
    answered.outcome = "undone";
    answered.before = done.kept;
    answered.next = match was {
        Some(was) => vec![format!("to restore again: {}", was.again())],
        None => vec!["to restore again: carlosctl restore --from-box LABEL".to_owned()],
    };
    let store = context.deployment_for_writing().await;
    let store: Result<&dyn WriteStore, CommandError> = store.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
    receipt::write(&mut answered, &host, &[], now, store).await;
    // The others were said before the question.
    let late: Vec<Finding> = answered.findings.iter().filter(|found| found.code == Code::ReceiptNotStored).cloned().collect();
    context.say_findings(&late);
    context.answer(&answered, now)?;
    Ok(receipt::exit(&answered))
}
