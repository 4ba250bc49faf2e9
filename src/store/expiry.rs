//! Rules by which a store itself removes objects: what S3 calls the lifecycle configuration of a bucket.

use serde::Serialize;

/// One rule that is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpiryRule {
    /// What the store calls it; `-` where it has no name.
    pub id: String,
    /// It applies to keys that begin with this text, which need not end in `/`.
    pub prefix: String,
    /// Whether tags or sizes narrow it, so that it may not apply to every such key.
    pub narrowed: bool,
    /// What it does.
    pub effects: Vec<Expiry>,
}

/// What a rule does to the objects that it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expiry {
    /// Removes what an ordinary read sees, so many days after it was written, or all of it at a date.
    Current {
        /// Days since it was written; `None` where the rule names a date.
        days: Option<u32>,
    },
    /// Removes a version so many days after it was overwritten or deleted.
    Noncurrent {
        /// Days since then.
        days: u32,
    },
    /// Moves objects into an archive, from which they are read only hours after they were asked for.
    Archived,
}

impl ExpiryRule {
    /// Whether it may apply to something below `prefix`, which ends in `/`.
    #[must_use]
    pub fn reaches(&self, prefix: &str) -> bool {
        prefix.starts_with(&self.prefix) || self.prefix.starts_with(prefix)
    }

    /// The rule as it is seen from below `root`; `None` where it applies to nothing there.
    #[must_use]
    pub(super) fn below(mut self, root: &str) -> Option<Self> {
        if !self.reaches(root) {
            return None;
        }
        self.prefix = self.prefix.strip_prefix(root).unwrap_or_default().to_owned();
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_reaches_what_its_text_begins_and_what_begins_with_it() {
        let rule = |prefix: &str| ExpiryRule { id: "-".into(), prefix: prefix.into(), narrowed: false, effects: vec![] };
        let reached = ["", "c", "control/", "control/reg", "control/registry-snapshot/", "control/registry-snapshot/edge-a1"];
        for prefix in reached {
            assert!(rule(prefix).reaches("control/registry-snapshot/"), "{prefix}");
        }
        for prefix in ["x", "control/registry-snapshots/", "apps/"] {
            assert!(!rule(prefix).reaches("control/registry-snapshot/"), "{prefix}");
        }
        let below = |prefix: &str| rule(prefix).below("fleets/north/").map(|rule| rule.prefix);
        assert_eq!(below("fleets/"), Some(String::new()));
        assert_eq!(below("fleets/north/status/"), Some("status/".to_owned()));
        assert_eq!(below("fleets/northern/"), None);
    }
}
