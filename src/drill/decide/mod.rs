//! The ladder and the verdict. Pure.

use serde::Serialize;

use super::evidence::{Evidence, Obstacle, Rehearsed};
use crate::finding::{self, Code, Finding, Severity};
use crate::restore;
use crate::snapshot::{self, Verdict};

/// What follows from a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The rungs, from the lowest.
    pub ladder: Vec<Step>,
    /// The verdict: good only when every rung was passed.
    pub verdict: Verdict,
    /// Everything found, sorted.
    pub findings: Vec<Finding>,
}

/// One rung, and whether it was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Which.
    pub rung: Rung,
    /// Whether it was passed.
    pub passed: Passed,
}

/// The rungs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Every byte came, and it is what listing, sidecar and header say.
    BytesIntact,
    /// It is a whole registry.
    Opens,
    /// What is in it is this box's, and not what a clobber leaves.
    ContentPlausible,
    /// The installed copy, opened as the agent will, is what was fetched.
    RestoredEqualsSource,
    /// The operator's command works on it.
    Boots,
}

/// Three answers; the third is never yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Passed {
    /// It was.
    Yes,
    /// It was not.
    No,
    /// It could not be told.
    Unknown,
}

impl Rung {
    /// The word as it is shown.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::BytesIntact => "bytes-intact",
            Self::Opens => "opens",
            Self::ContentPlausible => "content-plausible",
            Self::RestoredEqualsSource => "restored-equals-source",
            Self::Boots => "boots",
        }
    }

    /// The rung that a blocking finding of a restore stands on.
    fn of(code: Code) -> Self {
        match code {
            Code::CurrentMissing
            | Code::EmptyObject
            | Code::ShortObject
            | Code::StillWriting
            | Code::TornPair
            | Code::FingerprintMismatch
            | Code::NotRead => Self::BytesIntact,
            Code::NotSqlite | Code::IntegrityFailed | Code::NoRoutes => Self::Opens,
            _ => Self::ContentPlausible,
        }
    }
}

/// Decides.
#[must_use]
pub fn decide(evidence: &Evidence) -> Decision {
    let (ladder, mut findings) = match &evidence.rehearsed {
        Ok(rehearsed) => climbed(evidence, rehearsed),
        Err(obstacle) => not_begun(evidence, obstacle),
    };
    finding::sort(&mut findings);
    let any = |passed: Passed| ladder.iter().any(|step| step.passed == passed);
    let verdict = if any(Passed::No) {
        Verdict::Bad
    } else if any(Passed::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Good
    };
    Decision { ladder, verdict, findings }
}

/// Nothing was restored: a snapshot that is not there is bad, one that could not be had is not known.
fn not_begun(evidence: &Evidence, obstacle: &Obstacle) -> (Vec<Step>, Vec<Finding>) {
    let mut findings = snapshot::judge(&evidence.seen, evidence.as_of).findings;
    let first = match obstacle {
        Obstacle::Missing(because) => {
            if !findings.iter().any(|found| found.severity == Severity::Blocking) {
                findings.push(Finding::blocking(Code::CurrentMissing, evidence.seen.label.as_str(), because));
            }
            Passed::No
        }
        Obstacle::Hindered(hindered) => {
            findings.extend(hindered.iter().cloned());
            Passed::Unknown
        }
    };
    let rungs = [Rung::BytesIntact, Rung::Opens, Rung::ContentPlausible, Rung::RestoredEqualsSource];
    let ladder =
        rungs.into_iter().map(|rung| Step { rung, passed: if rung == Rung::BytesIntact { first } else { Passed::Unknown } });
    (ladder.collect(), findings)
}

fn climbed(evidence: &Evidence, rehearsed: &Rehearsed) -> (Vec<Step>, Vec<Finding>) {
    let label = evidence.seen.label.as_str();
    let mut findings = restore::decide(&rehearsed.restore).findings;
    // What is true of a living box, or asks who we are, says nothing about its snapshot.
    findings.retain(|found| !matches!(found.code, Code::OwnLabelUnknown | Code::StillWriting | Code::DeadBoxReporting));
    if rehearsed.restore.changed_while_read {
        let because = "its snapshot changed twice while it was read";
        findings.push(Finding::blocking(Code::StillWriting, label, because).hint("run the drill again"));
    }
    let mut ladder: Vec<Step> = [Rung::BytesIntact, Rung::Opens, Rung::ContentPlausible]
        .into_iter()
        .map(|rung| Step { rung, passed: passed(rung, &findings, rehearsed) })
        .collect();
    ladder.push(Step { rung: Rung::RestoredEqualsSource, passed: equals(label, rehearsed, &mut findings) });
    if rehearsed.boot_wanted {
        ladder.push(Step { rung: Rung::Boots, passed: boots(label, rehearsed, &mut findings) });
    }
    (ladder, findings)
}

/// Whether no blocking finding stands on this rung. Clocks that disagree spoil every age, and say nothing about the content.
fn passed(rung: Rung, findings: &[Finding], rehearsed: &Rehearsed) -> Passed {
    let blocking = findings.iter().filter(|found| found.severity == Severity::Blocking && Rung::of(found.code) == rung);
    let codes: Vec<Code> = blocking.map(|found| found.code).collect();
    let unknown = |code: &Code| matches!(code, Code::NotRead | Code::ClockSkew);
    if codes.iter().any(|code| !unknown(code)) {
        Passed::No
    } else if !codes.is_empty() || (rung == Rung::ContentPlausible && rehearsed.restore.proof.census.is_none()) {
        Passed::Unknown
    } else {
        Passed::Yes
    }
}

/// Whether the installed copy is what was fetched: byte for byte, and in what the agent will see.
fn equals(label: &str, rehearsed: &Rehearsed, findings: &mut Vec<Finding>) -> Passed {
    let proof = &rehearsed.restore.proof;
    let failed = |because: String| Finding::blocking(Code::DrillFailed, label, because);
    let copy = match &rehearsed.copy {
        Ok(copy) => copy,
        // That it is no registry has its own finding.
        Err(_) if proof.census.is_none() => return Passed::Unknown,
        Err(because) => {
            findings.push(failed(format!("it could not be installed in the scratch directory: {because}")));
            return Passed::Unknown;
        }
    };
    let mut differs = copy.damage.clone();
    if copy.sha256 != proof.sha256 {
        differs.push(format!("its sha256 is {}, not {}", copy.sha256, proof.sha256));
    }
    if Some(&copy.census) != proof.census.as_ref() {
        differs.push("its rows are not those of the source".to_owned());
    }
    match &rehearsed.fingerprint {
        Ok(source) if *source == copy.fingerprint => {}
        Ok(source) => differs.push(format!("its fingerprint is {}, not {source}", copy.fingerprint)),
        Err(because) => differs.push(format!("the source's fingerprint could not be computed: {because}")),
    }
    if differs.is_empty() {
        return Passed::Yes;
    }
    findings.push(failed(format!("the restored copy is not its source: {}", differs.join("; "))));
    Passed::No
}

fn boots(label: &str, rehearsed: &Rehearsed, findings: &mut Vec<Finding>) -> Passed {
    match &rehearsed.boot {
        None => Passed::Unknown,
        Some(boot) if boot.booted => Passed::Yes,
        Some(boot) => {
            findings.push(Finding::blocking(Code::DrillFailed, label, &boot.because));
            Passed::No
        }
    }
}

#[cfg(test)]
mod tests;
