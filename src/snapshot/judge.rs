//! What listings and the sidecar alone can tell of a box. Pure.
//!
//! The rules are formats.md section 3, "Facts that follow from the writer's order". A clobber by an unrestored standby
//! carries the right label, so only a collapse between neighbours can show it.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::evidence::{BoxEvidence, Generation, SidecarRead};
use crate::finding::{self, Code, Finding};
use crate::platform::{Stamp, keys};
use crate::terminal;

/// How far a clock may be ahead before its stamps are called poisoned.
pub const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// The shortest time between two passes of an agent (seed: 5 minutes plus up to one of jitter).
const PASS_MINUTES: u64 = 5;
/// A fall below half is a collapse, when it is also more than SQLite's two-page minimum.
const COLLAPSE_FLOOR_BYTES: u64 = 8192;

/// The word for a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Current is whole as far as listings tell.
    Good,
    /// Something to look at before anything is restored.
    Suspect,
    /// Current cannot be restored as it is.
    Bad,
}

/// What is thought of one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The word.
    pub state: State,
    /// The newest rung that did not collapse: `current`, a stamp, or nothing.
    pub last_good: Option<Rung>,
    /// Everything found, sorted.
    pub findings: Vec<Finding>,
    /// The stamps that collapsed against the rung before them.
    pub collapsed: Vec<Stamp>,
    /// The stamps that are ahead of the clock that wrote them, or of now.
    pub ahead: Vec<Stamp>,
}

/// One rung of a box's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// The current snapshot.
    Current,
    /// A generation.
    Generation(Stamp),
}

impl Rung {
    /// The selector that names it.
    #[must_use]
    pub fn selector(self) -> String {
        match self {
            Self::Current => "current".to_owned(),
            Self::Generation(stamp) => stamp.to_string(),
        }
    }
}

/// Judges a box at `as_of`.
#[must_use]
pub fn judge(seen: &BoxEvidence, as_of: Timestamp) -> Judgement {
    let mut findings = Vec::new();
    let mut state = State::Good;
    sidecar(seen, &mut findings, &mut state);
    torn(seen, &mut findings, &mut state);
    let ahead = ahead(seen, as_of, &mut findings, &mut state);
    let (last_good, collapsed) = collapse(seen, &ahead, &mut findings, &mut state);
    tail(seen, &mut findings);
    own_generation(seen, &mut findings);
    at_risk(seen, last_good, &mut findings);
    finding::sort(&mut findings);
    Judgement { state, last_good, findings, collapsed, ahead }
}

fn worsen(state: &mut State, to: State) {
    *state = (*state).max(to);
}

/// The pair of current and sidecar: is each there, does it read, does it name this box?
fn sidecar(seen: &BoxEvidence, findings: &mut Vec<Finding>, state: &mut State) {
    let label = seen.label.as_str();
    let key = keys::sidecar(&seen.label);
    match &seen.current {
        None => {
            worsen(state, State::Bad);
            findings.push(
                Finding::blocking(Code::CurrentMissing, label, format!("{} is not there", keys::current(&seen.label)))
                    .hint(format!("choose a generation by its stamp, or look for older versions: carlosctl snapshot list --box {label} --all-versions")),
            );
        }
        Some(current) if current.bytes == 0 => {
            worsen(state, State::Bad);
            findings.push(Finding::blocking(Code::EmptyObject, label, format!("{} has no bytes", current.key)));
        }
        Some(_) => {}
    }
    match &seen.sidecar {
        SidecarRead::Read(sidecar) => {
            if sidecar.label != label {
                worsen(state, State::Bad);
                findings.push(Finding::blocking(
                    Code::LabelMismatch,
                    label,
                    format!("{key} names box {:?}, not {label:?}", sidecar.label),
                ));
            }
            if sidecar.created_at.is_none() {
                worsen(state, State::Suspect);
                findings.push(Finding::blocking(Code::SidecarTimeUnknown, label, format!("{key}: created_at is not known")));
            }
        }
        SidecarRead::Missing => {
            worsen(state, State::Suspect);
            findings.push(Finding::blocking(Code::SidecarMissing, label, format!("{key} is not there")));
        }
        SidecarRead::Deleted => {
            worsen(state, State::Suspect);
            findings.push(
                Finding::blocking(Code::SidecarMissing, label, format!("{key} was deleted; an older version may exist"))
                    .hint(format!("carlosctl snapshot list --box {label} --all-versions")),
            );
        }
        SidecarRead::Unreadable { because } => {
            worsen(state, State::Bad);
            findings.push(Finding::blocking(Code::SidecarUnreadable, label, because.clone()));
        }
        SidecarRead::Version { because } => {
            worsen(state, State::Bad);
            findings.push(Finding::blocking(Code::SidecarVersion, label, because.clone()));
        }
        SidecarRead::NotRead { because } => {
            worsen(state, State::Bad);
            findings.push(Finding::blocking(Code::SidecarUnreadable, label, format!("{key} could not be read: {because}")));
        }
    }
}

/// Whether current, sidecar and newest generation are of one pass. A torn set is normal after a crash, and not corrupt.
fn torn(seen: &BoxEvidence, findings: &mut Vec<Finding>, state: &mut State) {
    let (Some(current), Some(sidecar)) = (&seen.current, seen.sidecar.document()) else { return };
    let Some(because) = torn_because(seen, current, sidecar) else { return };
    worsen(state, State::Suspect);
    let same = seen.generations.iter().find(|generation| seen.same_as_current(generation));
    let matching = same.map_or(String::new(), |generation| format!("; current equals generation {}", generation.stamp));
    findings.push(Finding::blocking(Code::TornPair, seen.label.as_str(), format!("{because}{matching}")).hint(format!(
        "restore a stamp that proves, or --allow torn-pair; which prove: carlosctl snapshot verify --box {} --all-generations",
        seen.label
    )));
}

fn torn_because(seen: &BoxEvidence, current: &crate::store::ObjectMeta, sidecar: &crate::platform::Sidecar) -> Option<String> {
    if sidecar.bytes != current.bytes {
        return Some(format!(
            "the sidecar describes {} bytes and current has {}: a pass was cut between current and sidecar",
            sidecar.bytes, current.bytes
        ));
    }
    let created_at = sidecar.created_at?;
    let own = Stamp::at(created_at);
    // A generation that a crashed pass wrote is newer by name and by the store's clock; after a clock step-back it is newer
    // by name only, which is a poisoned stamp and judged elsewhere.
    let newer = seen.generations.iter().find(|generation| {
        generation.stamp > own && generation.object.last_modified >= current.last_modified && !stamp_is_ahead(generation)
    });
    if let Some(generation) = newer {
        return Some(format!(
            "generation {} is newer than the sidecar ({own}): a pass was cut after its generation",
            generation.stamp
        ));
    }
    let consistent = seen.generation(own).is_some_and(|generation| seen.same_as_current(generation));
    let sidecar_written = seen.sidecar_object.as_ref().map(|object| object.last_modified);
    if !consistent && sidecar_written.is_some_and(|written| written < current.last_modified) {
        return Some("current was written after its sidecar: a pass was cut between them".to_owned());
    }
    None
}

/// A pass writes its generation first, and prunes the oldest. So current's own is there, unless the listing is short: some
/// stores have answered the first page for all of it, and the newest name sorts last.
fn own_generation(seen: &BoxEvidence, findings: &mut Vec<Finding>) {
    let (Some(own), Some(newest)) = (seen.own_pass().filter(|_| seen.current.is_some()), seen.generations.first()) else {
        return;
    };
    if seen.generation(own).is_none() {
        let because = format!("current was written with generation {own}, which is not listed; {} is the newest", newest.stamp);
        findings.push(Finding::warning(Code::GenerationMissing, seen.label.as_str(), because));
    }
}

/// Whether a stamp is ahead of the clock of the store that received it.
fn stamp_is_ahead(generation: &Generation) -> bool {
    generation.stamp.instant().duration_since(generation.object.last_modified) > CLOCK_TOLERANCE
}

/// Stamps ahead of the store's clock or of now. They sort last, so correct generations are pruned before them.
fn ahead(seen: &BoxEvidence, as_of: Timestamp, findings: &mut Vec<Finding>, state: &mut State) -> Vec<Stamp> {
    let mut stamps = Vec::new();
    let hint = match seen.hold_of(&seen.generations) {
        Some(hold) => format!("set the clock of {}; what it could prune is safe in hold {hold}", seen.label),
        None => format!("hold before the next pass: carlosctl snapshot hold --box {}", seen.label),
    };
    for generation in &seen.generations {
        let now_too = generation.stamp.instant().duration_since(as_of) > CLOCK_TOLERANCE;
        if !now_too && !stamp_is_ahead(generation) {
            continue;
        }
        stamps.push(generation.stamp);
        worsen(state, State::Suspect);
        findings.push(
            Finding::warning(
                Code::StampAhead,
                seen.label.as_str(),
                format!(
                    "generation {} was written at {}: its box's clock was ahead",
                    generation.stamp,
                    terminal::instant(generation.object.last_modified)
                ),
            )
            .hint(hint.clone()),
        );
    }
    stamps
}

/// Finds collapses along the history and the newest rung that did not collapse.
///
/// The history is walked from the oldest: each rung is compared with the last one that did not collapse, so that a clobbering
/// standby which slowly grows stays collapsed until it is more than half of what was lost.
fn collapse(seen: &BoxEvidence, ahead: &[Stamp], findings: &mut Vec<Finding>, state: &mut State) -> (Option<Rung>, Vec<Stamp>) {
    let mut history: Vec<(Rung, Timestamp, u64)> = seen
        .generations
        .iter()
        .filter(|generation| generation.object.bytes > 0)
        // A stamp that lies is placed by the store's clock.
        .map(|generation| {
            let at =
                if ahead.contains(&generation.stamp) { generation.object.last_modified } else { generation.stamp.instant() };
            (Rung::Generation(generation.stamp), at, generation.object.bytes)
        })
        .collect();
    history.sort_by_key(|(_, at, _)| *at);
    let current = seen.current.as_ref().filter(|current| current.bytes > 0);
    history.extend(current.map(|current| (Rung::Current, current.last_modified, current.bytes)));

    let mut good: Option<(Rung, u64)> = None;
    let mut collapsed = Vec::new();
    for (rung, _, bytes) in &history {
        let fallen = good.filter(|(_, reference)| fell(*reference, *bytes));
        match (fallen, rung) {
            (None, _) => good = Some((*rung, *bytes)),
            (Some(_), Rung::Generation(stamp)) => collapsed.push(*stamp),
            (Some((before, reference)), Rung::Current) => {
                worsen(state, State::Suspect);
                findings.push(collapsed_finding(seen, before, reference, *bytes));
            }
        }
    }
    let mut last_good = good.map(|(rung, _)| rung);
    // What cannot be told to be this box's is not called its last good one.
    let sidecar_spoils = matches!(&seen.sidecar, SidecarRead::Read(sidecar) if sidecar.label != seen.label.as_str())
        || matches!(&seen.sidecar, SidecarRead::Unreadable { .. } | SidecarRead::Version { .. } | SidecarRead::NotRead { .. });
    if sidecar_spoils {
        last_good = history.iter().rev().find_map(|(rung, _, _)| match rung {
            Rung::Generation(stamp) if !collapsed.contains(stamp) => Some(*rung),
            _ => None,
        });
    }
    (last_good, collapsed)
}

/// Whether going from `before` to `after` bytes is a collapse.
#[must_use]
pub fn fell(before: u64, after: u64) -> bool {
    after.saturating_mul(2) < before && before - after >= COLLAPSE_FLOOR_BYTES
}

fn collapsed_finding(seen: &BoxEvidence, before: Rung, reference: u64, bytes: u64) -> Finding {
    let (label, at) = (&seen.label, before.selector());
    let shrank = format!(
        "current shrank from {} to {}, probably because a standby that was not restored wrote over it; last good is {at}",
        terminal::bytes(reference),
        terminal::bytes(bytes)
    );
    let generation = match before {
        Rung::Generation(stamp) => seen.generation(stamp),
        Rung::Current => None,
    };
    let finding = |and: String| Finding::warning(Code::SizeCollapsed, label.as_str(), format!("{shrank}{and}"));
    let Some(generation) = generation else { return finding(String::new()) };
    if let Some(hold) = seen.hold_of(std::slice::from_ref(generation)) {
        return finding(format!(", which is safe in hold {hold}"))
            .hint(format!("stop the agent that writes as {label}; to restore the held one: carlosctl restore --from-box {label} --at hold:{hold}/{at}"));
    }
    let deleted = match passes_until_evicted(seen, generation.stamp) {
        1 => format!(", which {label} deletes when it writes its next snapshot, at any moment"),
        passes => format!(
            ", which {label} deletes when it has written {passes} more snapshots, in {} min at the soonest",
            (passes - 1) * PASS_MINUTES
        ),
    };
    finding(deleted).hint(format!(
        "stop the agent that writes as {label}, but first hold what there is: carlosctl snapshot hold --box {label}"
    ))
}

/// How many further writing passes of the box's agent it takes until `stamp` is deleted.
///
/// The agent deletes the smallest key below the prefix until 8 are left, whatever the key's name (seed: `sort.Strings`).
fn passes_until_evicted(seen: &BoxEvidence, stamp: Stamp) -> u64 {
    let own = keys::generation(&seen.label, stamp);
    let smaller = seen
        .generations
        .iter()
        .map(|generation| &generation.object)
        .chain(&seen.strays)
        .filter(|object| object.key < own)
        .count();
    let all = seen.generations.len() + seen.strays.len();
    let free = keys::GENERATIONS_KEPT.saturating_sub(all);
    // An overfull tail is pruned down to 8 within one pass.
    let overfull = all.saturating_sub(keys::GENERATIONS_KEPT);
    (free + smaller.saturating_sub(overfull) + 1) as u64
}

/// The tail as a whole: too long, or with objects that are no generations.
fn tail(seen: &BoxEvidence, findings: &mut Vec<Finding>) {
    let all = seen.generations.len() + seen.strays.len();
    if all > keys::GENERATIONS_KEPT {
        findings.push(Finding::warning(
            Code::TooManyGenerations,
            seen.label.as_str(),
            format!("{all} generations where {} are kept: this box cannot delete, or its passes fail", keys::GENERATIONS_KEPT),
        ));
    }
    for stray in &seen.strays {
        findings.push(Finding::warning(
            Code::NotAGeneration,
            seen.label.as_str(),
            format!("{} is not named by a stamp", stray.key),
        ));
    }
    for generation in seen.generations.iter().filter(|generation| generation.object.bytes == 0) {
        findings.push(Finding::warning(
            Code::EmptyObject,
            seen.label.as_str(),
            format!("generation {} has no bytes", generation.stamp),
        ));
    }
    for hold in seen.holds.iter().filter(|hold| !hold.sealed) {
        findings.push(Finding::warning(
            Code::HoldIncomplete,
            seen.label.as_str(),
            format!("hold {} has no hold.json: it was cut short", hold.stamp),
        ));
    }
}

/// How long the box lived on after its last good snapshot.
fn at_risk(seen: &BoxEvidence, last_good: Option<Rung>, findings: &mut Vec<Finding>) {
    let (Some(reported_at), Some(rung)) = (seen.reported_at, last_good) else { return };
    let Some(at) = rung_at(seen, rung) else { return };
    let after = reported_at.duration_since(at).as_secs();
    if after > 0 {
        findings.push(Finding::note(
            Code::DataAtRisk,
            seen.label.as_str(),
            format!(
                "last report at {}, {} after the last good snapshot: changes in between are in no snapshot",
                terminal::instant(reported_at),
                terminal::age(after)
            ),
        ));
    }
}

/// The instant that a rung is of.
#[must_use]
pub fn rung_at(seen: &BoxEvidence, rung: Rung) -> Option<Timestamp> {
    match rung {
        Rung::Current => seen.current_at(),
        Rung::Generation(stamp) => Some(stamp.instant()),
    }
}

#[cfg(test)]
mod tests;
