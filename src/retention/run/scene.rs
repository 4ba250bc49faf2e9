//! What would be deleted, shown before the question.

use crate::error::CommandError;
use crate::finding::{self, Finding};
use crate::retention::AppName;
use crate::retention::plan::Plan;
use crate::store::ReadStore;
use crate::terminal::{self, Table, escape};

/// How many versions are shown one by one.
const VERSIONS_SHOWN: usize = 20;

/// Everything that is said before anything is deleted.
pub(super) struct Scene {
    rows: Vec<(String, String, u64, u64)>,
    apps: u64,
    versions: u64,
    objects: u64,
    bytes: u64,
    refusals: Vec<Finding>,
}

impl Scene {
    pub(super) fn of(plan: &Plan, wanted: &[AppName]) -> Result<Self, CommandError> {
        let mut scene = Self { rows: Vec::new(), apps: 0, versions: 0, objects: 0, bytes: 0, refusals: Vec::new() };
        for app in plan.apps()? {
            let app = app?;
            if !wanted.contains(&app.name()) {
                continue;
            }
            scene.refusals.extend(app.decision().refusals.iter().cloned());
            finding::sort(&mut scene.refusals);
            scene.apps += u64::from(!app.victims().is_empty());
            for victim in app.victims() {
                if scene.rows.len() < VERSIONS_SHOWN {
                    let row = (app.name().to_string(), victim.version().to_owned(), victim.objects(), victim.bytes());
                    scene.rows.push(row);
                }
                scene.versions += 1;
                scene.objects += victim.objects();
                scene.bytes += victim.bytes();
            }
        }
        Ok(scene)
    }

    /// Why apps are refused, each cause once.
    pub(super) fn refusals(&self) -> &[Finding] {
        &self.refusals
    }

    /// Whether there is anything to delete.
    pub(super) fn deletes(&self) -> bool {
        self.versions > 0
    }

    /// How much, in a few words.
    pub(super) fn words(&self) -> String {
        format!(
            "{} of {} ({}, {})",
            terminal::count(self.versions, "version"),
            terminal::count(self.apps, "app"),
            terminal::count(self.objects, "object"),
            terminal::bytes(self.bytes)
        )
    }

    pub(super) fn text(&self, store: &dyn ReadStore, columns: Option<u16>) -> String {
        let store = store.describe();
        let line = format!("to be deleted from {}: {}", escape(&store), self.words());
        let mut text = terminal::wrap(&line, columns) + "\n";
        if self.rows.is_empty() {
            return text;
        }
        let mut table = Table::new(&["app", "version", "objects", "bytes"], columns);
        for (app, version, objects, bytes) in &self.rows {
            table.row([app.as_str(), version, &objects.to_string(), &terminal::bytes(*bytes)]);
        }
        text.push_str(&table.to_string());
        let more = self.versions.saturating_sub(self.rows.len() as u64);
        if more > 0 {
            text.push_str(&format!("and {more} more; all of an app: carlosctl retention explain ACCT/APP\n"));
        }
        text
    }
}
