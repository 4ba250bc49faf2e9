//! What a check found: a closed list of codes, each with a page in `runbooks/findings.md` and in `help findings`.
//!
//! Checks push findings and go on; nobody stops at the first. A finding is data: it is decided here what it is called and
//! whether an operator may override it, and nowhere what happens because of it.

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is wrong or odd, and the command goes on.
    Warning,
    /// The command does not go on, unless the code is overridable and was allowed by name.
    Blocking,
}

/// One finding. `because` says what was found and where; `hint` what to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which kind.
    pub code: Code,
    /// How much it weighs here.
    pub severity: Severity,
    /// What it is about: a box, key, path, unit or app.
    pub subject: String,
    /// What was found, lower case, no full stop.
    pub because: String,
    /// What to do or type next.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

impl Finding {
    /// A finding of `severity` about `subject`.
    pub fn new(code: Code, severity: Severity, subject: impl Into<String>, because: impl Into<String>) -> Self {
        Self { code, severity, subject: subject.into(), because: because.into(), hint: None }
    }

    /// A blocking finding.
    pub fn blocking(code: Code, subject: impl Into<String>, because: impl Into<String>) -> Self {
        Self::new(code, Severity::Blocking, subject, because)
    }

    /// A warning.
    pub fn warning(code: Code, subject: impl Into<String>, because: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, subject, because)
    }

    /// A note.
    pub fn note(code: Code, subject: impl Into<String>, because: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, subject, because)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether this stops the command, given the codes that the operator allowed.
    #[must_use]
    pub fn stops(&self, allowed: &[Code]) -> bool {
        self.severity == Severity::Blocking && !(self.code.overridable() && allowed.contains(&self.code))
    }
}

/// Sorts findings as every output shows them (weightiest first, then code, subject and text) and drops exact repeats.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| {
        (b.severity, a.code.as_str(), &a.subject, &a.because).cmp(&(a.severity, b.code.as_str(), &b.subject, &b.because))
    });
    findings.dedup();
}

macro_rules! codes {
    ($($variant:ident $text:literal $overridable:ident: $means:literal, $evidence:literal, $action:literal;)+) => {
        /// The kind of a finding. The list is closed: scripts may match on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $means] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is written.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Whether `--allow` may name it where it blocks a restore.
            #[must_use]
            pub fn overridable(self) -> bool {
                match self { $(Self::$variant => codes!(@$overridable),)+ }
            }

            /// What it means, what shows it, and what to do.
            #[must_use]
            pub fn page(self) -> Page {
                match self {
                    $(Self::$variant => Page { means: $means, evidence: $evidence, action: $action },)+
                }
            }
        }
    };
    (@overridable) => { true };
    (@never) => { false };
}

/// The documentation of one code.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// What it means.
    pub means: &'static str,
    /// What evidence shows it.
    pub evidence: &'static str,
    /// What to do.
    pub action: &'static str,
}

include!("finding_codes.rs");

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Code {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a finding code; every code: carlosctl help findings"))
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_read_back() {
        for code in Code::ALL {
            assert_eq!(code.as_str().parse::<Code>(), Ok(*code));
        }
        assert!("no-such-code".parse::<Code>().is_err());
    }

    #[test]
    fn a_code_that_is_never_overridable_stops_even_when_allowed() {
        let held = Finding::blocking(Code::RegistryHeld, "/data/registry.db", "pid 7");
        assert!(held.stops(&[Code::RegistryHeld]));
        let torn = Finding::blocking(Code::TornPair, "edge-a1", "bytes differ");
        assert!(torn.stops(&[]));
        assert!(!torn.stops(&[Code::TornPair]));
    }
}
