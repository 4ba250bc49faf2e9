//! Whether a restore may go on. Pure: evidence in, all findings and one decision out (contract section 3).

use jiff::SignedDuration;

use super::evidence::{Evidence, Request, TargetContent};
use super::restore_command;
use super::target_content::not_empty;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding, Severity};
use crate::platform::{Label, keys};
use crate::snapshot::{self, BoxEvidence, CLOCK_TOLERANCE, Judgement, Rung, Source};
use crate::terminal;

/// A box that wrote or reported within this time is not dead.
const SIGN_OF_LIFE: SignedDuration = SignedDuration::from_mins(10);
/// What helps where the reports do not tell whether the box is dead.
const WHETHER_IT_LIVES: &str =
    "name the store that boxes report to: --status-bucket or --status-dir; or make sure by hand that it is dead";

/// What follows from the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Everything found, sorted.
    pub findings: Vec<Finding>,
    /// What is done.
    pub outcome: Outcome,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing; the exit says why.
    Refuse(Exit),
    /// The chosen object is installed, after consent.
    Install,
    /// It is installed already: the proof and the receipt are finished.
    Finish,
}

/// Decides.
#[must_use]
pub fn decide(evidence: &Evidence) -> Decision {
    let judgement = snapshot::judge(&evidence.dead, evidence.as_of);
    let mut findings = evidence.host.clone();
    identity(evidence, &mut findings);
    content(evidence, judgement.last_good, &mut findings);
    older_than_needed(evidence, judgement.last_good, &mut findings);
    bucket(evidence, judgement, &mut findings);
    life(evidence, &mut findings);
    target(evidence, &mut findings);
    finding::sort(&mut findings);
    let outcome = outcome(evidence, &findings);
    Decision { findings, outcome }
}

/// The codes that are allowed here. A rebuilt box that reuses its label has nothing but content to be told by, so there
/// emptiness and collapse cannot be waved through.
#[must_use]
pub(super) fn allowed(request: &Request) -> Vec<Code> {
    let demanded = [Code::NoRows, Code::RowsCollapsed, Code::SizeCollapsed];
    request.allowed.iter().copied().filter(|code| !(request.same_label && demanded.contains(code))).collect()
}

fn outcome(evidence: &Evidence, findings: &[Finding]) -> Outcome {
    let allowed = allowed(&evidence.request);
    let mut stops = findings.iter().filter(|finding| finding.stops(&allowed)).map(|finding| finding.code).peekable();
    if stops.peek().is_none() {
        return if evidence.target == TargetContent::Equal { Outcome::Finish } else { Outcome::Install };
    }
    // Another restore explains a held registry, and clocks that disagree spoil every age: each is the cause to name.
    let stops: Vec<Code> = stops.collect();
    if stops.contains(&Code::RestoreInProgress) {
        Outcome::Refuse(Exit::Locked)
    } else if stops.contains(&Code::ClockSkew) {
        Outcome::Refuse(Exit::Clocks)
    } else {
        Outcome::Refuse(Exit::Refused)
    }
}

/// Which box is which.
fn identity(evidence: &Evidence, findings: &mut Vec<Finding>) {
    let request = &evidence.request;
    match &request.this_box {
        None if !request.same_label => findings.push(
            Finding::blocking(
                Code::OwnLabelUnknown,
                request.from_box.as_str(),
                "this box's own label is not known, so it cannot be told whether the source is this box",
            )
            .hint("give --this-box LABEL, or set CARLOS_BOX_LABEL"),
        ),
        Some(own) if *own == request.from_box && !request.same_label => findings.push(
            Finding::blocking(Code::SameBox, own.as_str(), format!("the source {} is this box's own label", request.from_box))
                .hint("for a rebuilt box that reuses the dead one's label: --same-label"),
        ),
        _ => {}
    }
    if let Some(own) = evidence.own.as_ref().filter(|_| !request.same_label) {
        already_published(own, findings);
    }
}

/// An agent that has run here may have written over something, and may start again.
fn already_published(own: &BoxEvidence, findings: &mut Vec<Finding>) {
    let mut published = Vec::new();
    if own.current.is_some() {
        published.push(keys::current(&own.label));
    }
    if let Some(newest) = own.generations.first() {
        published.push(newest.object.key.clone());
    }
    if let Some(at) = own.reported_at {
        published.push(format!("a report of {}", terminal::instant(at)));
    }
    if let Some(because) = own.reports_unread.as_ref().filter(|_| published.is_empty()) {
        findings.push(Finding::blocking(
            Code::BoxAlreadyPublished,
            own.label.as_str(),
            format!("the box reports could not be listed, so it is not known whether this box has published one: {because}"),
        ));
    }
    if !published.is_empty() {
        findings.push(Finding::blocking(
            Code::BoxAlreadyPublished,
            own.label.as_str(),
            format!("this box has already published {}: its agent has run", published.join(", ")),
        ));
    }
}

/// What the bucket says of the dead box. What is wrong with current does not stop a generation that was asked for by name;
/// what is wrong with the box's identity does.
fn bucket(evidence: &Evidence, judgement: Judgement, findings: &mut Vec<Finding>) {
    let current_chosen = is_current(evidence);
    let compared = evidence.neighbour.as_ref().is_some_and(|neighbour| neighbour.content.is_ok());
    let from_bucket = matches!(evidence.chosen.source, Source::Object(_));
    for mut found in judgement.findings {
        found.severity = match found.code {
            _ if !from_bucket => Severity::Note,
            Code::TornPair | Code::CurrentMissing | Code::SidecarTimeUnknown | Code::EmptyObject if !current_chosen => {
                Severity::Warning
            }
            // Without content to compare, the sizes have to do.
            Code::SizeCollapsed if current_chosen && !compared => Severity::Blocking,
            _ => found.severity,
        };
        findings.push(found);
    }
    if !from_bucket {
        findings.push(Finding::blocking(
            Code::SidecarMissing,
            evidence.chosen.source.name(),
            format!("a file has no sidecar: nothing but its content says that it is of {}", evidence.request.from_box),
        ));
    }
    if evidence.clock_ahead_seconds.is_some_and(|ahead| ahead.unsigned_abs() > CLOCK_TOLERANCE.as_secs().unsigned_abs()) {
        let ahead = evidence.clock_ahead_seconds.unwrap_or_default();
        let direction = if ahead < 0 { "behind" } else { "ahead of" };
        findings.push(Finding::blocking(
            Code::ClockSkew,
            "clock",
            format!("the store's clock is {} {direction} this machine's", terminal::age(ahead.saturating_abs())),
        ));
    }
}

fn is_current(evidence: &Evidence) -> bool {
    evidence.chosen.at == "current"
}

/// What is in the chosen object, and against its neighbour.
fn content(evidence: &Evidence, judged: Option<Rung>, findings: &mut Vec<Finding>) {
    let from = &evidence.request.from_box;
    let last_good = last_good_command(evidence, judged, from);
    for found in &evidence.proof.findings {
        let mut found = found.clone();
        if found.code == Code::TornPair {
            // The other one of the pass is in doubt as well.
            let good = restore_command(from, "good", evidence.request.same_label);
            found.hint = Some(format!("the newest one that is in no doubt: {good}"));
        } else if found.severity == Severity::Blocking {
            found.because.push_str(&last_good.0);
            found.hint.clone_from(&last_good.1);
        }
        findings.push(found);
    }
    let compared = evidence.neighbour.as_ref().zip(evidence.proof.census.as_ref());
    if let Some((neighbour, census)) = compared {
        match &neighbour.content {
            Ok(older) if census.routes > 0 => {
                if let Some(because) = snapshot::collapse(&evidence.chosen.at, census, &neighbour.at, older) {
                    let mut found = Finding::blocking(Code::RowsCollapsed, evidence.chosen.source.name(), because);
                    found.hint = Some(restore_command(from, &neighbour.at, evidence.request.same_label));
                    findings.push(found);
                }
            }
            Ok(_) => {}
            Err(because) => findings.push(Finding::warning(
                Code::NotRead,
                from.as_str(),
                format!("{} could not be compared with {}: {because}", evidence.chosen.at, neighbour.at),
            )),
        }
    }
    if evidence.changed_while_read {
        findings.push(Finding::blocking(
            Code::StillWriting,
            from.as_str(),
            "its snapshot changed while it was read: the box is not dead",
        ));
    }
    too_old(evidence, findings);
}

/// Whoever takes an older one than the last good one is told how much older it is.
fn older_than_needed(evidence: &Evidence, last_good: Option<Rung>, findings: &mut Vec<Finding>) {
    let Some((of, rung)) = evidence.of.zip(last_good) else { return };
    let Some(newer) = snapshot::rung_at(&evidence.dead, rung).filter(|newer| *newer > of) else { return };
    let because = format!(
        "it is of {}, {} before the last good one ({}): changes in between are lost by taking it",
        terminal::instant(of),
        terminal::age(newer.duration_since(of).as_secs()),
        rung.selector()
    );
    findings.push(Finding::warning(Code::DataAtRisk, evidence.chosen.source.name(), because).hint(format!(
        "see what is lost: carlosctl snapshot diff --box {} {} {}",
        evidence.request.from_box,
        evidence.chosen.at,
        rung.selector()
    )));
}

/// An age that is not known is not below a limit.
fn too_old(evidence: &Evidence, findings: &mut Vec<Finding>) {
    let Some(max_age) = evidence.request.max_age else { return };
    let limit = terminal::age(max_age.as_secs());
    let because = match evidence.of.map(|of| (of, evidence.as_of.duration_since(of))) {
        Some((_, age)) if age <= max_age => return,
        Some((of, age)) => {
            let (of, age) = (terminal::instant(of), terminal::age(age.as_secs()));
            format!("it is of {of}, {age} ago, older than --max-age {limit}")
        }
        None => format!("its time is not known, so it cannot be told whether it is older than --max-age {limit}"),
    };
    findings.push(Finding::blocking(Code::SnapshotTooOld, evidence.chosen.source.name(), because));
}

/// How to name the last good one: a part of the sentence, and the command.
fn last_good_command(evidence: &Evidence, judged: Option<Rung>, from: &Label) -> (String, Option<String>) {
    let rung = match (&evidence.neighbour, judged) {
        // What could not be read is not called good; `good` is the newest that proves.
        (Some(neighbour), _) if neighbour.content.is_err() => {
            return (String::new(), Some(restore_command(from, "good", evidence.request.same_label)));
        }
        (Some(neighbour), _) if neighbour.content.as_ref().is_ok_and(|census| census.routes > 0) => Some(neighbour.at.clone()),
        (_, Some(rung)) if rung.selector() != evidence.chosen.at => Some(rung.selector()),
        _ => None,
    };
    match rung {
        Some(at) => (format!("; last good is {at}"), Some(restore_command(from, &at, evidence.request.same_label))),
        None => (
            String::new(),
            Some(format!("look for an older version or a hold: carlosctl snapshot list --box {from} --all-versions")),
        ),
    }
}

/// Whether the dead box is dead.
fn life(evidence: &Evidence, findings: &mut Vec<Finding>) {
    let dead = &evidence.dead;
    let recent = |at: jiff::Timestamp| evidence.as_of.duration_since(at) < SIGN_OF_LIFE;
    let written = dead
        .current
        .iter()
        .chain(dead.generations.first().map(|generation| &generation.object))
        .max_by_key(|object| object.last_modified);
    if let Some(object) = written.filter(|object| recent(object.last_modified)) {
        let seconds = evidence.as_of.duration_since(object.last_modified).as_secs();
        findings.push(
            Finding::blocking(
                Code::StillWriting,
                dead.label.as_str(),
                format!(
                    "{} was written {}: the box is not dead, or another one writes as it",
                    object.key,
                    terminal::ago(seconds)
                ),
            )
            .hint("stop that agent and wait 10 min, or make sure that it is the right box"),
        );
    }
    if let Some(because) = &dead.reports_unread {
        findings.push(
            Finding::blocking(
                Code::DeadBoxReporting,
                dead.label.as_str(),
                format!("the box reports could not be listed, so it is not known whether it still reports: {because}"),
            )
            .hint(WHETHER_IT_LIVES),
        );
    }
    if dead.reports_unread.is_none() && dead.reported_at.is_none() {
        let because = "no report of it is in the status store, so that store cannot tell whether it is dead";
        findings.push(Finding::warning(Code::DeadBoxReporting, dead.label.as_str(), because).hint(WHETHER_IT_LIVES));
    }
    if let Some(at) = dead.reported_at.filter(|at| recent(*at)) {
        findings.push(Finding::blocking(
            Code::DeadBoxReporting,
            dead.label.as_str(),
            format!(
                "it reported {}, at {}: the box is not dead",
                terminal::ago(evidence.as_of.duration_since(at).as_secs()),
                terminal::instant(at)
            ),
        ));
    }
}

/// What would be replaced.
fn target(evidence: &Evidence, findings: &mut Vec<Finding>) {
    match &evidence.target {
        TargetContent::Absent => {}
        TargetContent::Equal => {
            findings.push(Finding::note(
                Code::AlreadyRestored,
                "target",
                format!("it already equals {}", evidence.chosen.source.name()),
            ));
        }
        TargetContent::Registry(census) if census.routes == 0 => {}
        TargetContent::Registry(census) => findings.push(not_empty("target", census.routes, evidence.last.as_ref())),
        TargetContent::Unreadable(because) => findings.push(
            Finding::blocking(Code::TargetUnreadable, "target", format!("what is there is no readable registry: {because}"))
                .hint("look at the file; with --allow target-unreadable it is kept as it is"),
        ),
    }
}

#[cfg(test)]
mod tests;
