//! What a box's own pass would delete while another box holds on to it.
//!
//! A box's pass knows only its own registry (seed `retentionPass`): the adopted, previous and good versions of other boxes
//! look unprotected to it. Nothing that carlosctl refuses stops such a pass, so this is said even where the app is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::super::decision::Hazard;
use super::super::evidence::{AppEvidence, RoutePins, Seen, View};
use super::claims::Claims;
use super::registries::{Row, columns};
use super::{Judge, Order, Refusal, words};

impl Judge<'_> {
    /// `claims` and `refusals` are those that every box's pass shares: all but the registries' and the newest.
    pub(super) fn hazards(
        &self,
        app: &AppEvidence,
        order: &Order<'_>,
        keep: Option<u32>,
        claims: &Claims<'_>,
        refusals: &[Refusal],
    ) -> Vec<Hazard> {
        let Some(keep) = keep else { return Vec::new() };
        if refusals.iter().any(|refusal| refusal.by_every_pass) {
            return Vec::new();
        }
        let candidates = order.beyond(keep);
        let rows = self.registries.rows(app);
        // Only versions that some row names can be a hazard: of many rows and versions these are few pairs.
        let mut named: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
        for row in rows {
            for (version, ..) in known(row).into_iter().flat_map(columns) {
                if candidates.contains(version) && !claims.hold(version) {
                    named.entry(version).or_default().push(row);
                }
            }
        }
        let mut hazards = Vec::new();
        for (owner, own) in passes(rows, &self.fleet.view) {
            // Of its own pins only those of one row that cannot be told would stop its pass.
            let Some(own) = own.iter().map(|row| known(row)).collect::<Option<Vec<_>>>() else { continue };
            let own: BTreeSet<&str> = own.into_iter().flat_map(columns).map(|(version, ..)| version).collect();
            for (version, by) in named.iter().filter(|(version, _)| !own.contains(*version)) {
                let holders = holders(by, owner);
                if !holders.is_empty() {
                    let because = format!("held on to by {}", words::names(&holders));
                    hazards.push(Hazard { r#box: owner.to_owned(), version: (*version).to_owned(), because });
                }
            }
        }
        hazards
    }
}

/// The boxes whose pass would look at the app, each with the rows of the registry that it knows: its live one where that was
/// read, else its snapshot.
fn passes<'a, 'b>(rows: &'b [Row<'a>], view: &View) -> BTreeMap<&'a str, Vec<&'b Row<'a>>> {
    let mut passes: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
    for row in rows {
        if matches!(view, View::Box(label) if row.owner != label) {
            continue;
        }
        passes.entry(row.owner).or_default().push(row);
    }
    for own in passes.values_mut() {
        if own.iter().any(|row| row.is_local) {
            own.retain(|row| row.is_local);
        }
    }
    passes
}

/// Who of these rows is not `owner`'s.
fn holders(by: &[&Row<'_>], owner: &str) -> Vec<String> {
    let others = by.iter().filter(|row| row.owner != owner);
    let mut holders: Vec<String> = others.map(|row| format!("{} ({})", row.owner, row.route.host)).collect();
    holders.sort();
    holders.dedup();
    holders
}

fn known<'a>(row: &Row<'a>) -> Option<&'a RoutePins> {
    match &row.route.pins {
        Seen::Read(pins) => Some(pins),
        Seen::Unreadable(_) => None,
    }
}
