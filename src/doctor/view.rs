//! What the operator sees: settings, then what is wrong, then what is right, and the verdict last.

use serde::Serialize;

use super::decide::Verdict;
use super::evidence::Candidate;
use crate::context::{Answer, finding_line};
use crate::finding::{Code, Finding, Severity};
use crate::settings::Origin;
use crate::terminal::{self, Paper, Table};

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Diagnosis {
    /// Every setting and where it came from.
    pub(super) settings: Vec<Origin>,
    /// Every check, the weightiest first.
    pub(super) checks: Vec<Finding>,
    /// The verdict.
    pub(super) verdict: Verdict,
    /// The labels that the store knows.
    pub(super) labels: Vec<Candidate>,
}

impl Answer for Diagnosis {
    const SCHEMA: &'static str = "carlosctl.doctor/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut table = Table::new(&["setting", "value", "from"], columns);
        for origin in &self.settings {
            table.row([origin.name, &origin.value, &origin.from]);
        }
        let mut text = table.to_string();
        text.push('\n');
        for check in &self.checks {
            if check.code == Code::Ready {
                let line = format!("ok {}: {}", terminal::escape(&check.subject), terminal::escape(&check.because));
                text.push_str(&terminal::wrap(&line, columns));
                text.push('\n');
            } else {
                text.push_str(&finding_line(check, columns));
                text.push('\n');
            }
        }
        let count = |severity: Severity| self.checks.iter().filter(|check| check.severity == severity).count();
        let passed = self.checks.iter().filter(|check| check.code == Code::Ready).count();
        text.push_str(&format!(
            "\nverdict: {} ({} blocking, {}, {passed} ok)\n",
            terminal::state(self.verdict.word()),
            count(Severity::Blocking),
            terminal::count(count(Severity::Warning) as u64, "warning"),
        ));
        text
    }
}
