//! The whole proof of one version: every rule that keeps it with everything that shows it, or what was looked for.

use super::detail::{verdict, why};
use crate::context::finding_line;
use crate::retention::decision::{AppDecision, ORDER, VersionDecision};
use crate::terminal::{self, Table, escape};

pub(super) fn text(app: &AppDecision, wanted: &str, columns: Option<u16>) -> String {
    let Some(version) = app.versions.iter().find(|version| version.version == wanted) else { return String::new() };
    let mut text =
        format!("{}/{} {}: {}\n", escape(&app.account), escape(&app.app), escape(&version.version), verdict(version));
    text.push_str(&format!("{}\n", terminal::wrap(&place(app, version), columns)));
    for refusal in &app.refusals {
        text.push_str(&finding_line(refusal, columns));
        text.push('\n');
    }
    if version.reasons.is_empty() {
        text.push_str(&format!("{}\n", why(app, version)));
        let mut table = Table::new(&["looked for", "compared"], columns);
        for (code, number) in &app.compared {
            table.row([code.as_str(), &number.to_string()]);
        }
        text.push_str(&table.to_string());
    }
    for reason in &version.reasons {
        text.push_str(&format!("\n{}: {}\n", reason.code, escape(&reason.because)));
        if reason.evidence.is_empty() {
            continue;
        }
        let mut table = Table::new(&["rule", "key", "etag", "field", "value"], columns);
        for one in &reason.evidence {
            table.row([reason.code.as_str(), &one.key, &one.etag, &one.pointer, &one.value]);
        }
        text.push_str(&table.to_string());
    }
    for hazard in app.hazards.iter().filter(|hazard| hazard.version == wanted) {
        text.push_str(&format!(
            "\nhazard: the own pass of {} would delete it; {}\n",
            escape(&hazard.r#box),
            escape(&hazard.because)
        ));
    }
    text.push('\n');
    text
}

/// Where the version stands in the order.
fn place(app: &AppDecision, version: &VersionDecision) -> String {
    let keep = app.keep.map_or_else(|| "no policy".to_owned(), |keep| format!("keeps {keep}"));
    let place = match (version.shipped_at, version.rank) {
        (Some(at), Some(rank)) => {
            format!("shipped {}, rank {rank} of {} (order: {ORDER})", terminal::instant(at), app.versions.len())
        }
        _ => "no readable manifest, so no rank".to_owned(),
    };
    let bake =
        version.bakes_until.map_or_else(String::new, |until| format!("; its bake window ends {}", terminal::instant(until)));
    format!("{place}; {keep}{bake}")
}
