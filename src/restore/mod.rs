//! The second question: may a dead box's registry be installed here, and then: install it.
//!
//! | file | what it does |
//! |---|---|
//! | `evidence` | everything that a restore is decided on |
//! | `gather` | reads the bucket, the object, this machine |
//! | `target_content` | what the target holds now |
//! | `decide` | all findings and one decision; pure |
//! | `apply` | under the interlock: check again, exchange, prove, write the receipt |
//! | `receipt` | the receipt, beside the registry and in the bucket |
//! | `last` | the receipts beside the registry, read again |
//! | `undo` | puts the replaced registry back |
//! | `watch` | proves it after the agent was started |
//! | `view` | the scene before the question, and the answer |
//!
//! Absent on purpose: a way to start or stop the agent. That is the operator's, before and after.

mod apply;
mod decide;
mod evidence;
mod gather;
mod last;
mod receipt;
mod target_content;
mod undo;
mod view;
mod watch;

use std::ffi::OsStr;

use jiff::Timestamp;

use crate::cli::restore::{RestoreArgs, RestoreCommand};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Code, Finding, Severity};
use crate::flags::word;
use crate::platform::Label;

use self::decide::{Decision, Outcome};
use self::gather::{Found, Gathered, NoCurrent};
use self::view::Answered;

pub use decide::decide;
pub use evidence::{Evidence, Neighbour, Request, TargetContent};
pub(crate) use gather::{SPACE_MARGIN_BYTES, last_done, resolve};
pub(crate) use last::Last;
pub(crate) use target_content::{not_empty, read as read_target, sha256_of};

/// Of how many codes that stop a restore help is proposed, one a line.
const CODES_PROPOSED: usize = 3;

/// Runs `carlosctl restore …`.
///
/// # Errors
/// See each step.
pub async fn run(args: &RestoreArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match (&args.command, &args.from_box) {
        (Some(RestoreCommand::Undo(args)), _) => undo::run(args, context).await,
        (Some(RestoreCommand::Watch(args)), _) => watch::run(args, context).await,
        (None, Some(from_box)) => match gather::gather(args, from_box, context).await? {
            Found::Object(gathered) => restore(args, *gathered, context).await,
            Found::NoCurrent(seen) => no_current(*seen, context),
        },
        (None, None) => Err(CommandError::usage("restore wants --from-box DEAD")),
    }
}

async fn restore(args: &RestoreArgs, gathered: Gathered, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let decision = decide(&gathered.evidence);
    context.say_findings(&with_leave(&decision.findings, &decide::allowed(&gathered.evidence.request)));
    if let Outcome::Refuse(exit) = decision.outcome {
        return refuse(&gathered, &decision, exit, context);
    }
    show(&gathered, context);
    let mut would = answered(&gathered, decision.findings.clone(), "would-install");
    would.sha256 = Some(gathered.evidence.proof.sha256.clone());
    if args.dry_run {
        context.answer(&would, gathered.evidence.as_of)?;
        return Ok(Exit::Done);
    }
    let from_box = gathered.evidence.request.from_box.clone();
    if decision.outcome == Outcome::Finish {
        apply::finish(gathered, decision.findings, context).await
    } else {
        let what = format!("restoring {from_box} into {}", gathered.target.path.display());
        match context.consent(&what, from_box.as_str(), args.confirm.as_deref()) {
            Ok(consent) => apply::install(gathered, decision.findings, &consent, context).await,
            Err(error) => {
                // A script is given the document all the same: it says what would have been installed.
                if context.settings.json {
                    would.outcome = "not-confirmed";
                    context.answer(&would, gathered.evidence.as_of)?;
                }
                Err(error)
            }
        }
    }
}

/// Current was asked for, and there is none: a refusal, in which everything else that was found is said as well.
fn no_current(seen: NoCurrent, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    context.say_findings(&seen.findings);
    let answered = Answered {
        from_box: Some(seen.request.from_box.clone()),
        this_box: seen.request.this_box.clone(),
        at: Some("current".to_owned()),
        object: None,
        target: seen.target.path,
        outcome: "refused",
        sha256: None,
        rows: None,
        before: None,
        receipt: None,
        receipt_file: None,
        findings: seen.findings,
        already: false,
        next: Vec::new(),
    };
    refused(&answered, &seen.request, Exit::Refused, seen.as_of, context)
}

/// Prints the refusal: the document with every finding, and the error.
fn refuse(gathered: &Gathered, decision: &Decision, exit: Exit, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let answered = answered(gathered, decision.findings.clone(), "refused");
    refused(&answered, &gathered.evidence.request, exit, gathered.evidence.as_of, context)
}

fn refused(
    answered: &Answered,
    request: &Request,
    exit: Exit,
    as_of: Timestamp,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let allowed = decide::allowed(request);
    let mut stopping: Vec<&str> =
        answered.findings.iter().filter(|found| found.stops(&allowed)).map(|found| found.code.as_str()).collect();
    stopping.dedup();
    context.answer(answered, as_of)?;
    let codes = stopping.iter().take(CODES_PROPOSED).map(|code| format!("what {code} means: carlosctl help {code}"));
    let mut hints: Vec<String> = codes.collect();
    if stopping.len() > CODES_PROPOSED {
        hints.push("every code: carlosctl help findings".to_owned());
    }
    let (from_box, target) = (&request.from_box, answered.target.display());
    let because = format!("restoring {from_box} was refused ({}); {target} was not touched", stopping.join(", "));
    Err(hints.into_iter().fold(CommandError::new(exit, because), CommandError::hint))
}

/// The command that restores this snapshot of a box.
fn restore_command(from: &Label, at: &str, same_label: bool) -> String {
    let at = match at {
        "current" => String::new(),
        at => format!(" --at {}", word(OsStr::new(at)).display()),
    };
    let same_label = if same_label { " --same-label" } else { "" };
    format!("carlosctl restore --from-box {from}{at}{same_label}")
}

fn show(gathered: &Gathered, context: &mut Context<'_>) {
    let host = context.machine();
    let text = view::scene(
        &gathered.evidence,
        &host,
        &gathered.target.path,
        gathered.target.file.is_some(),
        context.world.terminal.columns,
    );
    context.say_block(&text);
}

/// Findings as they are shown: what the operator allowed by name blocks no more.
fn with_leave(findings: &[Finding], allowed: &[Code]) -> Vec<Finding> {
    let shown = |found: &Finding| {
        let mut shown = found.clone();
        if found.severity == Severity::Blocking && !found.stops(allowed) {
            shown.severity = Severity::Warning;
            shown.because.push_str(&format!("; allowed by --allow {}", found.code));
        }
        shown
    };
    findings.iter().map(shown).collect()
}

fn answered(gathered: &Gathered, findings: Vec<Finding>, outcome: &'static str) -> Answered {
    let evidence = &gathered.evidence;
    Answered {
        from_box: Some(evidence.request.from_box.clone()),
        this_box: evidence.request.this_box.clone(),
        at: Some(evidence.chosen.at.clone()),
        object: evidence.chosen.source.object().cloned(),
        target: gathered.target.path.clone(),
        outcome,
        sha256: None,
        rows: Some(evidence.proof.rows()),
        before: None,
        receipt: None,
        receipt_file: None,
        findings,
        already: false,
        next: Vec::new(),
    }
}
