//! What is wanted of every cell, whatever the fault: the right code, nothing partial, no success text, in time.

use std::time::Duration;

use carlosctl::exit::Exit;

use super::cell::{Ran, TIMEOUT};
use super::columns::Column;
use super::faults::Fault;
use super::world::{WORLD, another_registry};

/// What a loaded machine may add to waiting twice: for a request, and for another one to find out what became of it.
const MARGIN: Duration = Duration::from_secs(15);

/// How a cell came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// The command asks nothing that this fault strikes.
    NotAsked,
    /// Struck, and answer and effect are those without the fault.
    Right,
    /// Ended with this code. With 0: it says what it could not see or do.
    Code(i32),
}

impl Outcome {
    pub(crate) fn of(ran: &Ran, whole: &Ran, column: &Column, is_exact: bool) -> Self {
        let exact = column.is_exact() && is_exact;
        let same = ran.code == whole.code
            && ran.answer(exact) == whole.answer(exact)
            && ran.changes() == whole.changes()
            && (column.repeats || ran.files() == whole.files());
        match same {
            true if ran.struck().next().is_none() => Self::NotAsked,
            true => Self::Right,
            false => Self::Code(ran.code),
        }
    }

    /// As the table of expectations has it.
    pub(crate) fn token(self) -> String {
        match self {
            Self::NotAsked => "-".to_owned(),
            Self::Right => "=".to_owned(),
            Self::Code(code) => code.to_string(),
        }
    }

    /// From the table of expectations.
    pub(crate) fn of_token(token: &str) -> Option<Self> {
        match token {
            "-" => Some(Self::NotAsked),
            "=" => Some(Self::Right),
            code => code.parse().ok().map(Self::Code),
        }
    }

    /// As the page has it: the code and a word.
    pub(crate) fn words(self) -> String {
        match self {
            Self::NotAsked => "-".to_owned(),
            Self::Right => "0 right".to_owned(),
            Self::Code(0) => "0 finding".to_owned(),
            Self::Code(code) => {
                let exit = Exit::ALL.into_iter().find(|exit| i32::from(exit.code()) == code);
                format!("{code} {}", exit.map_or("unknown", Exit::kind))
            }
        }
    }
}

/// Everything that is wrong with a cell.
pub(crate) fn wrongs(ran: &Ran, whole: &Ran, column: &Column, fault: &Fault, outcome: Outcome) -> Vec<String> {
    let mut wrongs = in_what_it_says(ran, column, fault, outcome);
    wrongs.extend(in_the_bucket(ran, whole, column));
    wrongs.extend(beside_the_store(ran, whole, column));
    wrongs
}

fn in_what_it_says(ran: &Ran, column: &Column, fault: &Fault, outcome: Outcome) -> Vec<String> {
    let mut wrongs = Vec::new();
    let mut want = |holds: bool, what: String| {
        if !holds {
            wrongs.push(what);
        }
    };
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let planned = [0, 3, 4, 5, 7, 10, 11, 12, 13, 14].contains(&ran.code);
    want(planned, format!("{} is no code for a fault of the store", ran.code));
    want(!said.contains("panicked"), "it panicked".to_owned());
    want(!said.contains("testsecret"), "it says the secret".to_owned());
    let limit = Duration::from_secs(column.seconds) + TIMEOUT * 2 + MARGIN;
    want(ran.took <= limit, format!("it took {:?}", ran.took));
    if matches!(outcome, Outcome::Code(_)) {
        want(ran.struck().next().is_some(), "it came out otherwise although nothing was struck".to_owned());
        let may_be_silent = fault.is_about_content() || says_a_finding(&said) || !ran.stderr.is_empty();
        want(ran.code != 0 || may_be_silent, "it does not say what it missed".to_owned());
        want(ran.code == 0 || names_the_place(ran, &said), "it does not say where".to_owned());
    }
    // With 3 something was done, and that is said too.
    if ran.code != 0 && ran.code != 3 {
        for success in column.success {
            want(!ran.stdout.contains(success), format!("its answer says {success:?}"));
        }
    }
    if ran.code >= 5 && ran.code != 130 {
        want(ran.stderr.contains("error: "), "it does not say why it ended".to_owned());
    }
    wrongs
}

fn says_a_finding(said: &str) -> bool {
    said.lines().any(|line| ["note ", "warning ", "blocking "].iter().any(|severity| line.trim_start().starts_with(severity)))
}

/// The endpoint or the store, or a key or prefix that was struck, or the box or app of one.
fn names_the_place(ran: &Ran, said: &str) -> bool {
    let names_a_part = |key: &str| {
        let parts = key.split('/').filter(|part| !["", "control", "apps", "status", "carlosctl"].contains(part));
        parts.map(|part| part.split('.').next().unwrap_or(part)).any(|part| said.contains(part))
    };
    said.contains(ran.endpoint())
        || said.contains("the store says")
        || ran.struck().any(|key| names_a_part(key) || (!key.is_empty() && said.contains(key)))
}

/// Nothing but what is declared, and no release half deleted.
fn in_the_bucket(ran: &Ran, whole: &Ran, column: &Column) -> Vec<String> {
    let mut wrongs = Vec::new();
    let declared = |key: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| key.starts_with(prefix));
    wrongs.extend(ran.added.iter().filter(|key| !declared(key, column.adds)).map(|key| format!("it made {key}")));
    for (key, etag) in &ran.replaced {
        let is_document = key.rsplit('.').next() == Some("json");
        if !declared(key, column.replaces) {
            wrongs.push(format!("it replaced {key}"));
        } else if !is_document && whole.replaced.get(key).is_some_and(|whole| whole != etag) {
            wrongs.push(format!("{key} is neither the old nor the new one"));
        }
    }
    let more = ran.deleted.difference(&whole.deleted).filter(|key| !is_pruned(key, ran));
    wrongs.extend(more.map(|key| format!("it deleted {key}")));
    for manifest in ran.deleted.iter().filter(|key| key.ends_with("/manifest.json")) {
        let directory = manifest.trim_end_matches("manifest.json");
        let rest = whole.deleted.iter().filter(|key| key.starts_with(directory) && !ran.deleted.contains(*key));
        wrongs.extend(rest.map(|key| format!("{manifest} is gone before {key}")));
    }
    // A hold without its seal is no hold, and says so; a sealed one is whole, or says that it is not.
    let sealed = |added: &std::collections::BTreeSet<String>| added.iter().any(|key| key.ends_with("/hold.json"));
    if sealed(&ran.added) && ran.added.len() != whole.added.len() && ran.code != 3 {
        wrongs.push("a hold is sealed and not whole".to_owned());
    }
    wrongs
}

/// Whether a generation was pruned as generations are: the oldest go, and eight stay.
fn is_pruned(key: &str, ran: &Ran) -> bool {
    const GENERATIONS: &str = "control/registry-snapshots/edge-a1/";
    let all = WORLD.objects.keys().chain(&ran.added).filter(|key| key.starts_with(GENERATIONS));
    let newer = all.filter(|other| other.as_str() > key && !ran.deleted.contains(*other));
    key.starts_with(GENERATIONS) && newer.count() >= 8
}

/// No file that is not declared, none where it did not end well, and no registry but the old or the new one.
fn beside_the_store(ran: &Ran, whole: &Ran, column: &Column) -> Vec<String> {
    let mut wrongs = Vec::new();
    for (name, content) in &ran.files {
        let declared = column.files.iter().any(|prefix| name.starts_with(prefix));
        // Partly done: the registry is installed, and what is missing is the receipt in the bucket. A plan of the apps that
        // are not refused is a plan.
        let is_plan = name == "plan.json" && ran.code == 4;
        if name.starts_with("live/") || (declared && [0, 3].contains(&ran.code)) || is_plan {
            continue;
        }
        let what = if content.is_some() { "made or changed" } else { "removed" };
        wrongs.push(format!("it {what} the file {name}"));
    }
    for (name, content) in ran.files.iter().filter(|(name, _)| name.ends_with("registry.db") || *name == "out.db") {
        let is_whole = whole.files.get(name).is_none_or(|whole| whole == content);
        // What was changed by another before it was read is as whole.
        let is_the_other = content.as_ref().is_some_and(|content| *content == another_registry());
        if !is_whole && !is_the_other && !name.starts_with("live/") {
            wrongs.push(format!("{name} is neither the old nor the new one"));
        }
    }
    wrongs
}
