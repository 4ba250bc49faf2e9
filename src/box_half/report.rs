//! This box's report (seed 002, `buildStatePins` and what the status loop publishes of it): which builds must not be pruned.

use jiff::Timestamp;
use serde::Serialize;

use super::live::LiveRegistry;
use super::replacing::put_replacing;
use super::stop::{PassError, Stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::{BoxMetrics, BoxReport, Label, keys};
use crate::store::WriteStore;

/// What a pass needs.
pub struct ReportPass<'a> {
    /// The status store.
    pub store: &'a dyn WriteStore,
    /// What rebases the platform's own reports in it; empty or ending in `/`.
    pub prefix: &'a str,
    /// This box's registry.
    pub registry: &'a LiveRegistry,
    /// This box.
    pub label: &'a Label,
    /// The account of a route that names none.
    pub default_account: &'a str,
    /// When it ends.
    pub stop: &'a Stop,
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reported {
    /// The report's key.
    pub key: String,
    /// How many rows keep a build state.
    pub hosts: usize,
    /// How many of them have one that could not be read.
    pub incomplete: usize,
    /// Why nothing could be collected; the report says so too.
    pub error: Option<String>,
}

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.error {
            None => {
                write!(f, "agent: box report: published {}, {} hosts, {} incomplete", self.key, self.hosts, self.incomplete)
            }
            Some(error) => write!(f, "agent: box report: published {} with an error: {error}", self.key),
        }
    }
}

/// The build states of this box as a report of `now`. Where they cannot be collected, the report says so: an empty map would
/// mean that there is nothing to protect.
///
/// # Errors
/// `Stopped` only.
pub async fn collect(
    registry: &LiveRegistry,
    default_account: &str,
    label: &str,
    now: Timestamp,
    stop: &Stop,
) -> Result<BoxReport, PassError> {
    let account = default_account.to_owned();
    let metrics = match registry.ask(stop, move |registry, _| registry.build_state_pins(&account)).await? {
        Ok(build_states) => BoxMetrics { build_states, build_states_err: String::new() },
        Err(error) => BoxMetrics {
            build_states: std::collections::BTreeMap::new(),
            build_states_err: format!("listing routes for build states: {error}"),
        },
    };
    Ok(BoxReport { label: label.to_owned(), generated_at: Some(now), metrics: Some(metrics) })
}

impl ReportPass<'_> {
    /// Collects and publishes, over whatever report of this box is there.
    ///
    /// # Errors
    /// `Failed` where it could not be published.
    pub async fn run(&self, now: Timestamp) -> Result<Reported, PassError> {
        let report = collect(self.registry, self.default_account, self.label.as_str(), now, self.stop).await?;
        let body = report.to_json().map_err(|error| CommandError::new(Exit::Unexpected, format!("report: {error}")))?;
        let key = keys::report(self.prefix, self.label);
        self.stop.unless_said(put_replacing(self.store, "report", &key, &body.into())).await??;
        let metrics = report.metrics.unwrap_or_default();
        Ok(Reported {
            key,
            hosts: metrics.build_states.len(),
            incomplete: metrics.build_states.values().filter(|builds| !builds.complete).count(),
            error: Some(metrics.build_states_err).filter(|error| !error.is_empty()),
        })
    }
}
