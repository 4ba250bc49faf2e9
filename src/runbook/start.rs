//! Where a walk begins: from nothing, or where a transcript ends.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::cli::runbook::RunArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::{Stamp, hex};
use crate::settings::StoreChoice;
use crate::terminal::instant;

use super::expect::{Values, is_safe};
use super::named;
use super::parse::Runbook;
use super::transcript::{Earlier, Transcript};

/// Everything that a walk begins with.
pub(super) struct Start {
    pub(super) runbook: Runbook,
    pub(super) values: Values,
    /// The commands that count as done.
    pub(super) done: BTreeSet<String>,
    pub(super) transcript: Transcript,
}

/// Opens the transcript and fills in what is known.
pub(super) fn start(args: &RunArgs, context: &Context<'_>) -> Result<Start, CommandError> {
    match (&args.resume, &args.name) {
        (Some(path), _) => resume(path, args, context),
        (None, Some(name)) => begin(name, args, context),
        (None, None) => Err(CommandError::usage("neither a runbook's NAME nor --resume FILE was given")),
    }
}

fn begin(name: &str, args: &RunArgs, context: &Context<'_>) -> Result<Start, CommandError> {
    let (runbook, text) = named(name)?;
    if runbook.steps().next().is_none() {
        return Err(CommandError::usage(format!("{name} has no steps to walk; it is for reading"))
            .hint(format!("carlosctl runbook show {name}")));
    }
    let mut values = known(&runbook, context);
    set(&runbook, args, &mut values)?;
    let done = passed_over(&runbook, args.from)?;
    let now = context.now();
    let path =
        args.transcript.clone().unwrap_or_else(|| PathBuf::from(format!("{}-{}.transcript", runbook.name, Stamp::at(now))));
    let mut transcript = Transcript::create(&path)?;
    transcript.record(&format!("runbook {} {}", runbook.name, digest(text)))?;
    transcript.record(&format!("machine {}", context.machine()))?;
    transcript.record(&format!("began at {}", instant(now)))?;
    for (name, value) in &values {
        transcript.record(&format!("value {name}={value}"))?;
    }
    for id in &done {
        transcript.record(&format!("passed over {id}"))?;
    }
    Ok(Start { runbook, values, done, transcript })
}

fn resume(path: &std::path::Path, args: &RunArgs, context: &Context<'_>) -> Result<Start, CommandError> {
    let (mut transcript, Earlier { runbook: name, digest: of, machine, mut values, done }) = Transcript::resume(path)?;
    let refuse = |because: String| CommandError::new(Exit::Refused, format!("{}: {because}; nothing was run", path.display()));
    if args.name.as_ref().is_some_and(|typed| *typed != name) {
        return Err(refuse(format!("it is of {name}")));
    }
    if machine != context.machine() {
        return Err(refuse(format!("it is of the machine {machine}, and this one is {}", context.machine())));
    }
    let (runbook, text) = named(&name)?;
    if digest(text) != of {
        return Err(CommandError::new(
            Exit::Changed,
            format!("{}: it is of another version of {name}; nothing was run", path.display()),
        )
        .hint(format!("look where it ends, then: carlosctl runbook run {name} --from STEP")));
    }
    set(&runbook, args, &mut values)?;
    transcript.record(&format!("resumed at {}", instant(context.now())))?;
    for (name, value) in &args.set {
        transcript.record(&format!("value {name}={value}"))?;
    }
    Ok(Start { runbook, values, done, transcript })
}

/// The names of every command of every step before `from`.
fn passed_over(runbook: &Runbook, from: Option<u16>) -> Result<BTreeSet<String>, CommandError> {
    let Some(from) = from else { return Ok(BTreeSet::new()) };
    let numbers: Vec<u16> = runbook.steps().filter_map(|step| step.step).collect();
    if !numbers.contains(&from) {
        let (first, last) = (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0));
        return Err(CommandError::usage(format!("{} has no step {from}; its steps are {first} to {last}", runbook.name)));
    }
    let before = runbook.steps().filter(|step| step.step.is_some_and(|number| number < from));
    Ok(before.flat_map(|step| (1..=step.commands().count()).map(|number| id(step.step.unwrap_or(0), number))).collect())
}

/// What a command is called: its step and its number in it.
pub(super) fn id(step: u16, number: usize) -> String {
    format!("{step}.{number}")
}

/// The runbook's defaults, and what this machine's settings say, which is surer.
fn known(runbook: &Runbook, context: &Context<'_>) -> Values {
    let settings = &context.settings;
    let store = settings.deployment.as_ref().map(|store| match store {
        StoreChoice::Bucket(bucket) => bucket.clone(),
        StoreChoice::Directory(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    });
    let machine = [
        ("STANDBY", settings.this_box.as_ref().map(ToString::to_string)),
        ("REGISTRY", Some(settings.registry.display().to_string())),
        ("AGENT", settings.agent_units.first().cloned()),
        ("STORE", store),
    ];
    let mut values = Values::new();
    for value in &runbook.values {
        let of_machine = machine.iter().find(|(name, _)| *name == value.name).and_then(|(_, value)| value.clone());
        // A path with a blank in it, say, is asked for, and then refused with a reason.
        if let Some(text) = of_machine.or_else(|| value.default.clone()).filter(|text| is_safe(text)) {
            values.insert(value.name.clone(), text);
        }
    }
    values
}

fn set(runbook: &Runbook, args: &RunArgs, values: &mut Values) -> Result<(), CommandError> {
    for (name, value) in &args.set {
        if !runbook.names().contains(&name.as_str()) {
            return Err(CommandError::usage(format!("{} has no value {name}", runbook.name))
                .hint(format!("its values: {}", runbook.names().join(", "))));
        }
        if !is_safe(value) {
            return Err(CommandError::usage(unsafe_value(name, value)));
        }
        values.insert(name.clone(), value.clone());
    }
    Ok(())
}

/// Why a value cannot be filled in.
pub(super) fn unsafe_value(name: &str, value: &str) -> String {
    format!("{name}: {value:?} cannot stand in a command: letters, digits and ._:/@+,=%~- only")
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
