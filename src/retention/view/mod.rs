//! A decision on its way out, app by app as it is made: tables for people, one document for machines.
//!
//! Nothing of an app is kept but a line, so that a deployment of any size can be shown.

mod detail;
mod proof;
mod summary;

use jiff::Timestamp;
use serde::Serialize;

use super::decision::{AppDecision, ORDER, Status, Verdict};
use super::evidence::{FleetEvidence, View};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Finding;
use crate::terminal::{self, escape};
use summary::Summary;

/// The document's name and version.
const SCHEMA: &str = "carlosctl.retention/1";
/// Up to this many apps are shown in detail when none was named.
const APPS_IN_DETAIL: usize = 20;

/// How a decision is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON document, of this version only where one is named.
    Json(Option<String>),
    /// One table an app.
    Detail,
    /// One line an app that has something to say.
    Summary,
    /// The whole proof of one version.
    Proof(String),
}

impl Form {
    /// The form for `apps` apps, which were `named` or not.
    pub(crate) fn of(context: &Context<'_>, apps: usize, named: bool, version: Option<&str>) -> Self {
        match version.map(str::to_owned) {
            version if context.settings.json => Self::Json(version),
            Some(version) => Self::Proof(version),
            None if named || apps <= APPS_IN_DETAIL => Self::Detail,
            None => Self::Summary,
        }
    }

    fn put(&self, context: &mut Context<'_>, text: &str) -> Result<(), CommandError> {
        match self {
            Self::Json(_) => context.print(text).map(|_| ()),
            _ => context.show(text),
        }
    }
}

/// What came out, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Apps looked at.
    pub(crate) apps: u64,
    /// Apps of which nothing may be deleted.
    pub(crate) refused: u64,
    /// Apps without a retention record.
    pub(crate) no_policy: u64,
    /// Apps without a route.
    pub(crate) not_hosted: u64,
    /// Versions that stay.
    pub(crate) kept: u64,
    /// Versions that may go.
    pub(crate) eligible: u64,
    /// Versions of refused apps that nothing is known to keep.
    pub(crate) undetermined: u64,
    /// Versions that a box's own pass would delete while another box holds on to them.
    pub(crate) hazards: u64,
    /// What the eligible ones would free.
    pub(crate) bytes_freed: u64,
}

impl Totals {
    /// Counts one more app.
    pub(crate) fn add(&mut self, app: &AppDecision, bytes_freed: u64) {
        self.apps += 1;
        match app.status {
            Status::Evaluated => {}
            Status::Refused => self.refused += 1,
            Status::NoPolicy => self.no_policy += 1,
            Status::NotHosted => self.not_hosted += 1,
        }
        for version in &app.versions {
            match version.verdict {
                Verdict::Kept => self.kept += 1,
                Verdict::Eligible => self.eligible += 1,
                Verdict::Undetermined => self.undetermined += 1,
            }
        }
        self.hazards += app.hazards.len() as u64;
        self.bytes_freed += bytes_freed;
    }

    /// The numbers as one line.
    pub(crate) fn line(&self) -> String {
        let mut line = format!(
            "{}: {} kept, {} eligible ({} would be freed)",
            terminal::count(self.apps, "app"),
            terminal::count(self.kept, "version"),
            self.eligible,
            terminal::bytes(self.bytes_freed)
        );
        if self.undetermined > 0 {
            line.push_str(&format!(", {} undetermined", self.undetermined));
        }
        for (number, what) in [(self.refused, "refused"), (self.no_policy, "without a policy"), (self.not_hosted, "not hosted")]
        {
            if number > 0 {
                line.push_str(&format!("; {} {what}", terminal::count(number, "app")));
            }
        }
        if self.hazards > 0 {
            line.push_str(&format!("; {}", terminal::count(self.hazards, "hazard")));
        }
        line
    }
}

/// What else there is to say at the end.
pub(crate) struct More<'a, T> {
    /// The name of one more member of the document.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: &'a T,
    /// The same for people.
    pub(crate) text: String,
}

/// A decision being shown.
pub(crate) struct Output {
    form: Form,
    as_of: Timestamp,
    is_first: bool,
    shown: u64,
    summary: Summary,
    /// What came out so far.
    pub(crate) totals: Totals,
}

impl Output {
    /// Says whose view it is, and begins.
    ///
    /// # Errors
    /// Only when standard output cannot be written.
    pub(crate) fn begin(context: &mut Context<'_>, fleet: &FleetEvidence, form: Form) -> Result<Self, CommandError> {
        let left_out: Vec<&str> = fleet.boxes.iter().filter(|one| one.left_out).map(|one| one.label.as_str()).collect();
        let text = match form {
            Form::Json(_) => {
                let mut text = format!("{{\n  \"schema\": \"{SCHEMA}\",\n");
                member(&mut text, "as_of", &fleet.as_of)?;
                member(&mut text, "view", &fleet.view)?;
                member(&mut text, "without_boxes", &left_out)?;
                text.push_str("  \"apps\": [");
                text
            }
            _ => header(fleet, &left_out, context.world.terminal.columns),
        };
        form.put(context, &text)?;
        Ok(Self { form, as_of: fleet.as_of, is_first: true, shown: 0, summary: Summary::default(), totals: Totals::default() })
    }

    /// Shows one app.
    ///
    /// # Errors
    /// Only when standard output cannot be written.
    pub(crate) fn app(&mut self, context: &mut Context<'_>, app: &AppDecision, bytes_freed: u64) -> Result<(), CommandError> {
        if let Form::Json(Some(version)) | Form::Proof(version) = &self.form
            && !app.versions.iter().any(|one| one.version == *version)
        {
            return Ok(());
        }
        self.totals.add(app, bytes_freed);
        self.shown += 1;
        let columns = context.world.terminal.columns;
        let text = match &self.form {
            Form::Json(version) => {
                let comma = if self.is_first { "" } else { "," };
                format!("{comma}\n{}", app_document(app, version.as_deref(), bytes_freed)?)
            }
            Form::Detail => detail::text(app, bytes_freed, self.as_of, columns),
            Form::Proof(version) => proof::text(app, version, columns),
            Form::Summary => {
                self.summary.add(app, bytes_freed, columns);
                String::new()
            }
        };
        self.is_first = false;
        self.form.put(context, &text)
    }

    /// Ends with the totals, and with what else there is to say.
    ///
    /// # Errors
    /// Not found (exit 10) when the one version that was asked for is nowhere; else only when standard output cannot be
    /// written.
    pub(crate) fn end<T: Serialize>(
        self,
        context: &mut Context<'_>,
        findings: &[Finding],
        more: Option<&More<'_, T>>,
    ) -> Result<Exit, CommandError> {
        let columns = context.world.terminal.columns;
        let mut text = String::new();
        match &self.form {
            Form::Json(_) => {
                text.push_str(if self.is_first { "],\n" } else { "\n  ],\n" });
                if let Some(more) = more {
                    member(&mut text, more.name, more.value)?;
                }
                member(&mut text, "summary", &self.totals)?;
                text.push_str(&format!("  \"findings\": {}\n}}\n", indented(&findings)?.trim_start()));
            }
            form => {
                if *form == Form::Summary {
                    text.push_str(&self.summary.text(columns));
                }
                for finding in findings {
                    text.push_str(&crate::context::finding_line(finding, columns));
                    text.push('\n');
                }
                if !matches!(form, Form::Proof(_)) {
                    let line = terminal::wrap(&self.totals.line(), columns);
                    text.push_str(&format!("{line}\norder: {ORDER}\n"));
                }
                if let Some(more) = more {
                    text.push_str(&more.text);
                }
            }
        }
        self.form.put(context, &text)?;
        match &self.form {
            Form::Json(Some(version)) | Form::Proof(version) if self.shown == 0 => {
                Err(CommandError::new(Exit::NotFound, format!("no version {version} of any app that was looked at"))
                    .hint("every version of an app: carlosctl retention explain ACCT/APP"))
            }
            _ if self.totals.refused > 0 => Ok(Exit::Found),
            _ => Ok(Exit::Done),
        }
    }
}

/// Whose view it is, so that nobody takes one box's for all.
fn header(fleet: &FleetEvidence, left_out: &[&str], columns: Option<u16>) -> String {
    let boxes = fleet.boxes.len() - left_out.len();
    let local = fleet.local.as_ref().map(|local| format!("this machine's registry ({})", local.path));
    let whose = match &fleet.view {
        View::Fleet => match local {
            Some(local) => format!("the fleet: {} and {local}", terminal::count(boxes as u64, "snapshot")),
            None => format!("the fleet: {}, and no registry of this machine", terminal::count(boxes as u64, "snapshot")),
        },
        View::Box(label) => {
            format!("box {label} alone, as its own pass would see it: {}", local.unwrap_or_else(|| "its snapshot".to_owned()))
        }
    };
    let without = if left_out.is_empty() { String::new() } else { format!("; left out: {}", left_out.join(", ")) };
    let keep = fleet.what_if_keep.map_or_else(String::new, |keep| format!("; as if every app kept {keep}"));
    let line = format!("view {}{}{keep}, as of {}", escape(&whose), escape(&without), terminal::instant(fleet.as_of));
    format!("{}\n\n", terminal::wrap(&line, columns))
}

#[derive(Serialize)]
struct AppDocument<'a> {
    #[serde(flatten)]
    app: &'a AppDecision,
    bytes_freed: u64,
}

fn app_document(app: &AppDecision, version: Option<&str>, bytes_freed: u64) -> Result<String, CommandError> {
    let Some(version) = version else { return indented(&AppDocument { app, bytes_freed }) };
    let mut only = app.clone();
    only.versions.retain(|one| one.version == version);
    only.hazards.retain(|one| one.version == version);
    indented(&AppDocument { app: &only, bytes_freed })
}

/// One member of the outermost object.
fn member<T: Serialize + ?Sized>(text: &mut String, name: &str, value: &T) -> Result<(), CommandError> {
    let value = pretty(value)?.replace('\n', "\n  ");
    text.push_str(&format!("  \"{name}\": {value},\n"));
    Ok(())
}

/// A member of a list that is a member of the outermost object.
fn indented<T: Serialize>(value: &T) -> Result<String, CommandError> {
    Ok(format!("    {}", pretty(value)?.replace('\n', "\n    ")))
}

fn pretty<T: Serialize + ?Sized>(value: &T) -> Result<String, CommandError> {
    serde_json::to_string_pretty(value).map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))
}
