//! Many apps: one line for each that has something to say, and equal refusals said once.

use std::collections::BTreeMap;

use crate::context::finding_line;
use crate::retention::decision::{AppDecision, Status, Verdict};
use crate::terminal::{self, Table, escape};

/// How many apps of a group are named.
const APPS_NAMED: usize = 5;

/// What is kept of the apps until all are there.
#[derive(Debug, Default)]
pub(super) struct Summary {
    rows: Vec<Row>,
    /// By the text of the refusals: the apps.
    refused: BTreeMap<String, Group>,
    quiet: u64,
}

#[derive(Debug)]
struct Row {
    app: String,
    keep: u32,
    kept: u64,
    eligible: u64,
    bytes_freed: u64,
    hazards: u64,
}

#[derive(Debug, Default)]
struct Group {
    named: Vec<String>,
    number: u64,
}

impl Summary {
    pub(super) fn add(&mut self, app: &AppDecision, bytes_freed: u64, columns: Option<u16>) {
        let name = format!("{}/{}", app.account, app.app);
        let number = |verdict| app.versions.iter().filter(|version| version.verdict == verdict).count() as u64;
        let eligible = number(Verdict::Eligible);
        if app.status == Status::Refused {
            let refusals = app.refusals.iter().map(|refusal| finding_line(refusal, columns) + "\n").collect();
            let group = self.refused.entry(refusals).or_default();
            group.number += 1;
            if group.named.len() < APPS_NAMED {
                group.named.push(name.clone());
            }
        }
        if eligible > 0 || !app.hazards.is_empty() {
            let kept = number(Verdict::Kept);
            let (keep, hazards) = (app.keep.unwrap_or_default(), app.hazards.len() as u64);
            self.rows.push(Row { app: name, keep, kept, eligible, bytes_freed, hazards });
        } else if app.status != Status::Refused {
            self.quiet += 1;
        }
    }

    pub(super) fn text(&self, columns: Option<u16>) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            let mut table = Table::new(&["app", "keeps", "kept", "eligible", "frees", "hazards"], columns);
            for row in &self.rows {
                let hazards = if row.hazards == 0 { String::new() } else { row.hazards.to_string() };
                table.row([
                    row.app.clone(),
                    row.keep.to_string(),
                    row.kept.to_string(),
                    row.eligible.to_string(),
                    terminal::bytes(row.bytes_freed),
                    hazards,
                ]);
            }
            text.push_str(&table.to_string());
            text.push('\n');
        }
        for (refusals, group) in &self.refused {
            let more = group.number - group.named.len() as u64;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = escape(&group.named.join(", ")).into_owned();
            let refused = terminal::state(&format!("refused, {}", terminal::count(group.number, "app")));
            text.push_str(&format!("{refused}: {named}{more}\n{refusals}\n"));
        }
        if self.quiet > 0 {
            text.push_str(&format!("{} with nothing to delete\n", terminal::count(self.quiet, "app")));
        }
        text.push_str("one app in detail: carlosctl retention explain ACCT/APP\n");
        text
    }
}
