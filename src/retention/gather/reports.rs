//! The box reports (seed `retentionReports`, `boxReports.load`, `loadFleetReports`).

use futures_util::stream::{self, StreamExt};
use jiff::Timestamp;

use super::reader::{Reader, Turns};
use super::{LocalRead, Status, document};
use crate::platform::{BoxMetrics, BoxReport, keys};
use crate::retention::evidence::{Found, NoReports, ReportEvidence, ReportSource, ReportsEvidence, Seen, Unlisted};
use crate::store::{ReadStore, StoreError};

/// What a sole housekeeper's own report is called (seed `soleReportLabel`).
const SOLE_LABEL: &str = "this box (sole housekeeper)";

/// Reads every box report: the platform's below the status prefix (or this box's own, of a sole housekeeper), and every
/// fleet's in the status store and in the deployment store, where that is another one.
pub(super) async fn gather(
    status: &Status,
    deployment: &dyn ReadStore,
    turns: &Turns,
    local: Option<&LocalRead>,
    as_of: Timestamp,
) -> ReportsEvidence {
    let mut found = Collected::default();
    match status {
        Status::Unavailable(none) => return ReportsEvidence::Unavailable(none.clone()),
        Status::SoleHousekeeper => {
            let Some(local) = local else {
                let because = "a directory without a status store has only this machine's registry to collect from, and there \
                               is none here";
                return ReportsEvidence::Unavailable(because.to_owned().into());
            };
            found.reports.push(own_report(local, as_of));
            found.fleets(Reader::new(deployment, turns), ReportSource::DeploymentFleet).await;
        }
        Status::Store { store, prefix, is_deployment } => {
            let reader = Reader::new(store.as_ref(), turns);
            if let Err(error) = found.boxes(reader, prefix, ReportSource::Platform).await {
                return ReportsEvidence::Unavailable(NoReports { because: error.to_string(), exit: error.exit() });
            }
            found.fleets(reader, ReportSource::StatusFleet).await;
            if !is_deployment {
                found.fleets(Reader::new(deployment, turns), ReportSource::DeploymentFleet).await;
            }
        }
    }
    ReportsEvidence::Listed { unlisted: found.unlisted, reports: found.reports }
}

#[derive(Default)]
struct Collected {
    reports: Vec<ReportEvidence>,
    unlisted: Vec<Unlisted>,
}

impl Collected {
    /// Every report below `prefix`.
    async fn boxes(&mut self, reader: Reader<'_>, prefix: &str, source: ReportSource) -> Result<(), StoreError> {
        let objects = reader.list(&format!("{prefix}{}", keys::REPORTS)).await?;
        let wanted = objects.into_iter().map(|object| object.key).filter(|key| keys::read_report_key(prefix, key).is_some());
        let reads = stream::iter(wanted).map(|key| document(reader, key, BoxReport::read));
        let mut reads = reads.buffered(reader.turns().number);
        while let Some(report) = reads.next().await {
            self.reports.push(ReportEvidence { source, report });
        }
        Ok(())
    }

    /// Every report of every fleet of a store.
    async fn fleets(&mut self, reader: Reader<'_>, source: ReportSource) {
        let fleets = match reader.list_dirs(keys::FLEETS).await {
            Ok(fleets) => fleets,
            Err(error) => {
                self.unlisted.push(Unlisted { prefix: keys::FLEETS.to_owned(), because: error.to_string() });
                return;
            }
        };
        let reads = stream::iter(fleets).map(|fleet| async move {
            let mut found = Self::default();
            if let Err(error) = found.boxes(reader, &fleet, source).await {
                let because = error.to_string();
                found.unlisted.push(Unlisted { prefix: format!("{fleet}{}", keys::REPORTS), because });
            }
            found
        });
        let mut reads = reads.buffered(reader.turns().number);
        while let Some(found) = reads.next().await {
            self.reports.extend(found.reports);
            self.unlisted.extend(found.unlisted);
        }
    }
}

/// This box's registry as a report taken now (seed `localReport`).
fn own_report(local: &LocalRead, as_of: Timestamp) -> ReportEvidence {
    let metrics = match &local.build_states {
        Ok(build_states) => BoxMetrics { build_states: build_states.clone(), build_states_err: String::new() },
        Err(error) => BoxMetrics { build_states_err: error.clone(), ..BoxMetrics::default() },
    };
    let report = BoxReport { label: SOLE_LABEL.to_owned(), generated_at: Some(as_of), metrics: Some(metrics) };
    let report = Found { key: local.registry.path.clone(), etag: String::new(), content: Seen::Read(report) };
    ReportEvidence { source: ReportSource::SoleHousekeeper, report }
}
