//! What the operator sees of a restore: the scene before the question, and the answer after it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::evidence::{Evidence, TargetContent};
use crate::context::Answer;
use crate::finding::{Code, Finding};
use crate::host::target::Target;
use crate::host::undo::Candidate;
use crate::platform::Label;
use crate::snapshot::push_apps;
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper, Table};

/// The answer of `restore` and `restore undo`.
#[derive(Debug, Serialize)]
pub(super) struct Answered {
    /// The dead box; none for an undo, which does not know whose registry comes back.
    pub from_box: Option<Label>,
    /// This box.
    pub this_box: Option<Label>,
    /// The selector that names what was chosen.
    pub at: Option<String>,
    /// The object, where it came from the bucket.
    pub object: Option<ObjectMeta>,
    /// The real path of the registry.
    pub target: PathBuf,
    /// `would-install`, `installed`, `refused`, `not-confirmed` or `undone`.
    pub outcome: &'static str,
    /// The sha256 of what is (or would be) installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its rows by table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<BTreeMap<String, u64>>,
    /// Where the old registry is kept.
    pub before: Option<PathBuf>,
    /// The receipt's key in the bucket.
    pub receipt: Option<String>,
    /// The receipt beside the registry.
    pub receipt_file: Option<PathBuf>,
    /// Everything found, sorted.
    pub findings: Vec<Finding>,
    /// Whether it was in place already, so that only the proof and the receipt were left to do.
    #[serde(skip)]
    pub already: bool,
    /// What to do next, one thing a line.
    #[serde(skip)]
    pub next: Vec<String>,
}

impl Answer for Answered {
    const SCHEMA: &'static str = "carlosctl.restore/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let target = terminal::escape(&self.target.display().to_string()).into_owned();
        let outcome = match self.outcome {
            "installed" if self.already => {
                format!(
                    "installed {} of {} into {target} already: proved again, nothing was exchanged\n",
                    self.what(),
                    self.from()
                )
            }
            "installed" => format!("installed {} of {} into {target}", self.what(), self.from()),
            "would-install" if self.from_box.is_none() => {
                format!("would put {} back as {target}; nothing was changed", self.what())
            }
            "would-install" => format!("would install {} of {} into {target}; nothing was changed", self.what(), self.from()),
            "undone" if self.already => {
                format!("put {} back as {target}: completed what was cut off, nothing was exchanged", self.what())
            }
            "undone" => format!("put {} back as {target}", self.what()),
            _ => format!("{}: {target} was not touched", terminal::state("refused")),
        };
        let mut text = terminal::wrap(&outcome, columns) + "\n";
        if self.outcome == "refused" {
            return text;
        }
        if let Some(sha256) = &self.sha256 {
            text.push_str(&format!("sha256   {sha256}\n"));
        }
        if let Some(routes) = self.rows.as_ref().and_then(|rows| rows.get("routes")) {
            text.push_str(&format!("rows     {}\n", terminal::count(*routes, "route")));
        }
        if let Some(before) = &self.before {
            text.push_str(&format!("before   {}\n", terminal::escape(&before.display().to_string())));
        }
        if let Some(receipt) = &self.receipt_file {
            text.push_str(&format!("receipt  {}\n", terminal::escape(&receipt.display().to_string())));
        }
        if let Some(receipt) = &self.receipt {
            text.push_str(&format!("receipt  {} in the bucket\n", terminal::escape(receipt)));
        }
        for (number, step) in self.next.iter().enumerate() {
            text.push_str(&format!("next {}   {}\n", number + 1, terminal::escape(step)));
        }
        text
    }
}

impl Answered {
    fn what(&self) -> String {
        terminal::escape(self.at.as_deref().unwrap_or("-")).into_owned()
    }

    fn from(&self) -> &str {
        self.from_box.as_ref().map_or("-", Label::as_str)
    }
}

/// What is about to happen, before the question (contract section 3, "Show").
#[must_use]
pub(super) fn scene(evidence: &Evidence, this_host: &str, target: &Path, is_there: bool, columns: Option<u16>) -> String {
    let base = target.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let old_file = match &evidence.target {
        TargetContent::Equal => "stays: nothing is exchanged".to_owned(),
        _ if is_there => format!("is kept beside it, as {base}.before-<the moment of the exchange>"),
        _ => "there is none".to_owned(),
    };
    let mut table = Table::new(&["restore", ""], columns);
    let request = &evidence.request;
    let own = request.this_box.as_ref().map_or("label unknown", Label::as_str);
    table.row(["this machine", &format!("{this_host} (box {own})")]);
    table.row(["dead box", request.from_box.as_str()]);
    table.row(["chosen", &format!("{}: {}", evidence.chosen.at, evidence.chosen.because)]);
    table.row(["object", &evidence.chosen.source.name()]);
    if let Some(object) = evidence.chosen.source.object() {
        table.row(["etag", &object.etag]);
        table.row(["size", &terminal::bytes(object.bytes)]);
    }
    let of = evidence.of.map(|of| terminal::instant_and_age(of, evidence.as_of));
    table.row(["of", &of.unwrap_or_default()]);
    if let Some(held) = evidence.chosen.held_at() {
        table.row(["held", &terminal::instant_and_age(held, evidence.as_of)]);
    }
    table.row(["sha256", &evidence.proof.sha256]);
    table.row(["routes", &evidence.proof.routes().map(|routes| routes.to_string()).unwrap_or_default()]);
    table.row(["into", &target.display().to_string()]);
    table.row(["holds now", &holds_now(&evidence.target)]);
    table.row(["the old file", &old_file]);
    let allowed: Vec<&str> = request.allowed.iter().map(|code: &Code| code.as_str()).collect();
    table.row(["allowed", &allowed.join(", ")]);
    let mut text = table.to_string();
    if let Some(census) = &evidence.proof.census {
        push_apps(&mut text, &census.apps, columns);
    }
    text
}

/// What is about to come back, before the question.
#[must_use]
pub(super) fn undo_scene(
    (this_host, own): (&str, &Label),
    (target, holds): (&Target, &TargetContent),
    (candidate, routes, further): (&Candidate, Option<u64>, Option<String>),
    columns: Option<u16>,
) -> String {
    let replaced = candidate.in_place_of.as_ref().map_or_else(
        || format!("is kept beside it, as {}.undone-<the moment of the exchange>", target.base()),
        |_| "came back already, by an undo that was cut off: only names are left to be set right".to_owned(),
    );
    let routes = routes.map_or_else(|| "not readable".to_owned(), |routes| terminal::count(routes, "route"));
    let mut table = Table::new(&["undo", ""], columns);
    table.row(["this machine", &format!("{this_host} (box {own})")]);
    table.row(["comes back", &candidate.name.display().to_string()]);
    table.row(["with", &routes]);
    table.row(["as", &target.path.display().to_string()]);
    table.row(["holds now", &holds_now(holds)]);
    table.row(["what is there now", &replaced]);
    if let Some(because) = further {
        table.row(["beware", &format!("{because}: this goes back one restore further")]);
    }
    table.to_string()
}

fn holds_now(content: &TargetContent) -> String {
    match content {
        TargetContent::Absent => "nothing".to_owned(),
        TargetContent::Equal => "exactly what was chosen".to_owned(),
        TargetContent::Registry(census) => terminal::count(census.routes, "route"),
        TargetContent::Unreadable(because) => format!("no readable registry ({because})"),
    }
}
