//! Where a walk begins: from nothing, or where a transcript ends.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::cli::Global;
use crate::cli::runbook::RunArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::{Stamp, hex};
use crate::settings::StoreChoice;
use crate::store::without_password;
use crate::terminal::instant;

use super::expect::{Values, is_safe, names_in};
use super::named;
use super::parse::{Command, Runbook};
use super::transcript::{Behind, Earlier, OTHER_SETTINGS, Transcript};
use crate::flags;

/// Everything that a walk begins with.
pub(super) struct Start {
    pub(super) runbook: Runbook,
    pub(super) values: Values,
    /// The commands that are not run.
    pub(super) behind: Behind,
    pub(super) transcript: Transcript,
}

/// Opens the transcript and fills in what is known.
pub(super) fn start(args: &RunArgs, global: &Global, context: &Context<'_>) -> Result<Start, CommandError> {
    match (&args.resume, &args.name) {
        (Some(path), _) => resume(path, args, global, context),
        (None, Some(name)) => begin(name, args, global, context),
        (None, None) => Err(CommandError::usage("neither a runbook's NAME nor --resume FILE was given")),
    }
}

fn begin(name: &str, args: &RunArgs, global: &Global, context: &Context<'_>) -> Result<Start, CommandError> {
    let (runbook, text) = named(name)?;
    if runbook.steps().next().is_none() {
        return Err(CommandError::usage(format!("{name} has no steps to walk; it is for reading"))
            .hint(format!("read it: carlosctl runbook show {name}")));
    }
    let mut values = known(&runbook, global, context);
    set(&runbook, args, &mut values)?;
    let behind = Behind { passed_over: passed_over(&runbook, args.from)?, ..Behind::default() };
    let settings = settings(global)?;
    let now = context.now();
    let path =
        args.transcript.clone().unwrap_or_else(|| PathBuf::from(format!("{}-{}.transcript", runbook.name, Stamp::at(now))));
    let mut transcript = Transcript::create(&path)?;
    transcript.record(&format!("runbook {} {}", runbook.name, digest(text)))?;
    transcript.record(&format!("machine {}", context.machine()))?;
    transcript.record(&format!("began at {}", instant(now)))?;
    record_settings(&mut transcript, &settings)?;
    for (name, value) in &values {
        transcript.record(&format!("value {name}={value}"))?;
    }
    for id in &behind.passed_over {
        transcript.record(&format!("passed over {id}"))?;
    }
    Ok(Start { runbook, values, behind, transcript })
}

fn record_settings(transcript: &mut Transcript, settings: &[String]) -> Result<(), CommandError> {
    settings.iter().try_for_each(|flag| transcript.record(&format!("setting {flag}")))
}

/// The settings that were typed, as a transcript keeps them: of one with a password in it only that it was typed.
pub(super) fn settings(global: &Global) -> Result<Vec<String>, CommandError> {
    let kept = |flag: &OsStr| {
        let flag = flag.to_str().filter(|flag| !flag.contains(char::is_control))?;
        let (name, value) = flag.split_once('=')?;
        let has_password = name == "--endpoint-url" && without_password(value) != value;
        Some(if has_password { name } else { flag }.to_owned())
    };
    let of = |flag: std::ffi::OsString| {
        kept(&flag)
            .ok_or_else(|| CommandError::usage(format!("{}: a transcript cannot keep this; nothing was run", flag.display())))
    };
    flags::typed(global).into_iter().map(of).collect()
}

/// The settings of the run that a transcript is of; none where it is no transcript, of which more is said later.
pub(super) fn earlier_settings(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Earlier::read(&text).map(|earlier| earlier.settings).unwrap_or_default()
}

fn resume(path: &Path, args: &RunArgs, global: &Global, context: &Context<'_>) -> Result<Start, CommandError> {
    let (mut transcript, earlier) = Transcript::resume(path)?;
    let Earlier { runbook: name, digest: of, machine, settings: before, mut values, mut behind } = earlier;
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
        .hint(format!("look where it ends, then: carlosctl{} runbook run {name} --from STEP", flags_of(&before))));
    }
    if let Some(value) = runbook.values.iter().find(|value| values.get(&value.name).is_some_and(|text| !value.takes(text))) {
        return Err(refuse(format!("{} is empty in it", value.name)));
    }
    let was = values.clone();
    set(&runbook, args, &mut values)?;
    transcript.record(&format!("resumed at {}", instant(context.now())))?;
    let now = settings(global)?;
    if now != before {
        transcript.record(OTHER_SETTINGS)?;
        record_settings(&mut transcript, &now)?;
    }
    for (name, value) in &args.set {
        transcript.record(&format!("value {name}={value}"))?;
    }
    let machine = known(&runbook, global, context);
    let changed: Vec<&str> =
        was.iter().filter(|(name, value)| values[*name] != **value).map(|(name, _)| name.as_str()).collect();
    for (id, command) in rests_on(&runbook, &changed, &behind) {
        transcript.record(&format!("again {id}"))?;
        behind.again(&id);
        // What it printed is of the other value.
        for name in names_in(&command.output.join("\n"), &runbook.names()) {
            let is_set = machine.contains_key(name) || args.set.iter().any(|(set, _)| set == name);
            if !is_set && !is_typed_until(&runbook, &id, name) && values.remove(name).is_some() {
                transcript.record(&format!("forgot {name}"))?;
            }
        }
    }
    Ok(Start { runbook, values, behind, transcript })
}

/// As they are typed, with a blank before each.
pub(super) fn flags_of(settings: &[String]) -> String {
    let words = settings.iter().map(|flag| flags::word(OsStr::new(flag)).to_string_lossy().into_owned());
    [String::new()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The commands that were run, from the first one on that has a value in it which is another now.
fn rests_on<'r>(runbook: &'r Runbook, changed: &[&str], behind: &Behind) -> Vec<(String, &'r Command)> {
    let names = runbook.names();
    let of_step = |step: &'r super::parse::Section| {
        let number = step.step.unwrap_or(0);
        step.commands().enumerate().map(move |(at, (_, command))| (id(number, at + 1), command))
    };
    let run = runbook.steps().flat_map(of_step).filter(|(id, _)| behind.done.contains(id) || behind.skipped.contains(id));
    run.skip_while(|(_, command)| !names_in(&command.typed, &names).iter().any(|name| changed.contains(name))).collect()
}

/// Whether a command up to this one has the name in what is typed: then it was given, and is not what this one printed.
fn is_typed_until(runbook: &Runbook, until: &str, name: &str) -> bool {
    let of_step = |step: &super::parse::Section| {
        let number = step.step.unwrap_or(0);
        let typed = step.commands().enumerate().map(|(at, (_, command))| (id(number, at + 1), command.typed.clone()));
        typed.collect::<Vec<_>>()
    };
    let mut commands = runbook.steps().flat_map(of_step);
    let mut reached = false;
    commands.any(|(id, typed)| {
        let looked_at = !reached;
        reached |= id == until;
        looked_at && !names_in(&typed, &[name]).is_empty()
    })
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
fn known(runbook: &Runbook, global: &Global, context: &Context<'_>) -> Values {
    let settings = &context.settings;
    let (timers, services): (Vec<&str>, Vec<&str>) =
        settings.agent_units.iter().map(String::as_str).partition(|unit| unit.rsplit('.').next() == Some("timer"));
    let store = settings.deployment.as_ref().map(|store| match store {
        StoreChoice::Bucket(bucket) => bucket.clone(),
        StoreChoice::Directory(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    });
    let machine = [
        ("STANDBY", settings.this_box.as_ref().map(ToString::to_string)),
        ("REGISTRY", Some(settings.registry.display().to_string())),
        ("AGENT", services.first().map(|unit| (*unit).to_owned())),
        ("TIMERS", (!timers.is_empty()).then(|| timers.join(" "))),
        ("HOST_ENV", global.host_env.as_deref().map(|path| flags::whole(path).to_string_lossy().into_owned())),
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
        let Some(known) = runbook.values.iter().find(|value| value.name == *name) else {
            return Err(CommandError::usage(format!("{} has no value {name}", runbook.name))
                .hint(format!("its values: {}", runbook.names().join(", "))));
        };
        if !known.takes(value) {
            return Err(CommandError::usage(unsafe_value(name, value)));
        }
        values.insert(name.clone(), value.clone());
    }
    Ok(())
}

/// Why a value cannot be filled in.
pub(super) fn unsafe_value(name: &str, value: &str) -> String {
    if value.is_empty() {
        return format!("{name}: empty, and there must be one");
    }
    format!("{name}: {value:?} cannot stand in a command: letters, digits and ._:/@+,=%~- only")
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
