//! One finding a check, and the verdict. Pure.
//!
//! Weights follow the restore: what would stop one is blocking here. A check that passed is a note of the code `ready`, so
//! that nothing is silently left out.

mod excess;
mod expiry;
mod host;
mod store;

use serde::Serialize;

use super::evidence::Evidence;
use crate::finding::{self, Code, Finding, Severity};

/// Three answers; the third is never yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing that was looked at stands in the way of a restore.
    Ready,
    /// Something does.
    NotReady,
    /// Something that matters is not known, and nothing that is known stands in the way.
    Unknown,
}

impl Verdict {
    /// The verdict that findings amount to.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let blocking = || findings.iter().filter(|finding| finding.severity == Severity::Blocking);
        if blocking().any(|finding| !matches!(finding.code, Code::NotRead | Code::HoldersUnknown)) {
            Self::NotReady
        } else if blocking().next().is_some() {
            Self::Unknown
        } else {
            Self::Ready
        }
    }

    /// The word as it is shown.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NotReady => "not-ready",
            Self::Unknown => "unknown",
        }
    }
}

/// Decides: every check as a finding, sorted, and the verdict.
#[must_use]
pub fn decide(evidence: &Evidence) -> (Vec<Finding>, Verdict) {
    let mut checks = Vec::new();
    store::deployment(evidence, &mut checks);
    store::label(evidence, &mut checks);
    host::agent(evidence, &mut checks);
    host::at_the_registry(evidence, &mut checks);
    host::place(evidence, &mut checks);
    finding::sort(&mut checks);
    let verdict = Verdict::of(&checks);
    (checks, verdict)
}

/// A check that passed.
fn ready(subject: impl Into<String>, because: impl Into<String>) -> Finding {
    Finding::note(Code::Ready, subject, because)
}

/// A check that failed and would stop a restore.
fn not_ready(subject: impl Into<String>, because: impl Into<String>) -> Finding {
    Finding::blocking(Code::NotReady, subject, because)
}

/// Something that matters and is not known.
fn not_known(subject: impl Into<String>, because: impl Into<String>) -> Finding {
    Finding::blocking(Code::NotRead, subject, because)
}

#[cfg(test)]
mod tests;
