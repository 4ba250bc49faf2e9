//! One app as a table of its versions.

use jiff::Timestamp;

use crate::context::finding_line;
use crate::retention::decision::{AppDecision, Status, Verdict, VersionDecision};
use crate::terminal::{self, Table, escape};

/// The app's line, why it is refused where it is, its versions, and what other boxes' passes would do.
pub(super) fn text(app: &AppDecision, bytes_freed: u64, as_of: Timestamp, columns: Option<u16>) -> String {
    let mut text = format!("{}/{}: {}\n", escape(&app.account), escape(&app.app), line(app, bytes_freed));
    for refusal in &app.refusals {
        text.push_str(&finding_line(refusal, columns));
        text.push('\n');
    }
    if !app.versions.is_empty() {
        let mut table = Table::new(&["version", "shipped", "verdict", "why"], columns);
        for version in &app.versions {
            let shipped = version.shipped_at.map(|at| terminal::instant_and_age(at, as_of)).unwrap_or_default();
            table.row([version.version.as_str(), &shipped, verdict(version), &why(app, version)]);
        }
        text.push_str(&table.to_string());
    }
    for hazard in &app.hazards {
        let line = format!(
            "hazard: the own pass of {} would delete {}; {}",
            escape(&hazard.r#box),
            escape(&hazard.version),
            escape(&hazard.because)
        );
        text.push_str(&format!("{}\n", terminal::wrap(&line, columns)));
    }
    text.push('\n');
    text
}

/// What came out, in a few words.
pub(super) fn line(app: &AppDecision, bytes_freed: u64) -> String {
    let number = |verdict| app.versions.iter().filter(|version| version.verdict == verdict).count();
    match app.status {
        Status::Evaluated => format!(
            "keeps {}, {} of {} eligible ({} would be freed)",
            app.keep.unwrap_or_default(),
            number(Verdict::Eligible),
            terminal::count(app.versions.len() as u64, "version"),
            terminal::bytes(bytes_freed)
        ),
        Status::Refused => terminal::state("refused; nothing of it may be deleted"),
        Status::NoPolicy => "no retention record, so nothing is enforced".to_owned(),
        Status::NotHosted => "no route of it in any registry of this view, so nothing is enforced".to_owned(),
    }
}

pub(super) fn verdict(version: &VersionDecision) -> &'static str {
    match version.verdict {
        Verdict::Kept => "kept",
        Verdict::Eligible if version.newly => "eligible (new)",
        Verdict::Eligible => "eligible",
        Verdict::Undetermined => "undetermined",
    }
}

/// Every reason; for a version that may go, what was looked for.
pub(super) fn why(app: &AppDecision, version: &VersionDecision) -> String {
    if !version.reasons.is_empty() {
        let reasons: Vec<&str> = version.reasons.iter().map(|reason| reason.because.as_str()).collect();
        return reasons.join("; ");
    }
    match (version.verdict, version.rank) {
        (Verdict::Eligible, Some(rank)) => {
            format!("rank {rank}, beyond the newest {}, and nothing names it", app.keep.unwrap_or_default())
        }
        (Verdict::Eligible, None) => "no manifest, nothing written for 24 h, and nothing names it".to_owned(),
        (Verdict::Undetermined, _) => "nothing known keeps it, and the app is refused".to_owned(),
        (Verdict::Kept, _) => "nothing is enforced".to_owned(),
    }
}
