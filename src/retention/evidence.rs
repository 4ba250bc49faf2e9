//! Everything that a retention decision rests on, as it was found.
//!
//! Lists may be in any order and hold repeats. Nothing is left out because it could not be read: it is there, and says why.
//! Below, `<a>` stands for `apps/<acct>/<app>`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::platform::pointer::FoundPointer;
use crate::platform::{BoxReport, Manifest, Pipeline, ProvisionRecord};
use crate::store::ObjectMeta;

/// What was looked at, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen<T> {
    /// It was read.
    Read(T),
    /// It is there, or may be, and could not be read because of this. Never the same as nothing being there.
    Unreadable(String),
}

/// One object that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found<T> {
    /// Its key.
    pub key: String,
    /// Its etag as of the read; empty where the read failed before there was one.
    pub etag: String,
    /// What it says.
    pub content: Seen<T>,
}

/// A prefix that could not be listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlisted {
    /// The prefix.
    pub prefix: String,
    /// Why.
    pub because: String,
}

/// Everything: what is common to all apps, and the apps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What is common to all apps.
    #[serde(flatten)]
    pub fleet: FleetEvidence,
    /// The apps asked about.
    pub apps: Vec<AppEvidence>,
}

/// The question, and what is common to all apps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetEvidence {
    /// The instant at which everything is judged.
    pub as_of: Timestamp,
    /// Whose pins count.
    pub view: View,
    /// `--keep N`: judge as if every app kept this many, whatever its own record says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub what_if_keep: Option<u32>,
    /// Every box with a current snapshot (`control/registry-snapshot/<label>.db`), with generations
    /// (`control/registry-snapshots/<label>/`), or known otherwise; boxes that only a platform report knows are found in
    /// [`Self::reports`] and need not be here.
    pub boxes: Vec<BoxEvidence>,
    /// This machine's own registry, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub local: Option<LocalRegistry>,
    /// Prefixes of snapshots or generations that could not be listed, so that it is not known which boxes there are.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unlisted: Vec<Unlisted>,
    /// The box reports.
    pub reports: ReportsEvidence,
}

/// Whose pins count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum View {
    /// The union of this machine's registry and every box's current snapshot.
    Fleet,
    /// Only this box's registry: what its own pass would do.
    Box(String),
}

impl From<View> for String {
    fn from(view: View) -> Self {
        match view {
            View::Fleet => "fleet".to_owned(),
            View::Box(label) => format!("box:{label}"),
        }
    }
}

impl TryFrom<String> for View {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix("box:") {
            Some(label) => Ok(Self::Box(label.to_owned())),
            None if text == "fleet" => Ok(Self::Fleet),
            None => Err(format!("{text:?} is neither fleet nor box:<label>")),
        }
    }
}

/// One box, as far as its snapshots tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxEvidence {
    /// Its label.
    pub label: String,
    /// `--without-box`: an operator says that it is decommissioned, and that its pins do not count.
    #[serde(default)]
    pub left_out: bool,
    /// What shows that the box exists: the key of a generation, of its report, of its edges record.
    #[serde(default)]
    pub known_from: Vec<String>,
    /// `control/registry-snapshot/<label>.db`; `None` where that key is not there.
    pub current: Option<Found<Registry>>,
    /// The newest generation that differs from current (another etag), did not collapse against an older one, and is not
    /// known to be empty: what current may have overwritten.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest_other: Option<GenerationEvidence>,
}

/// A registry's content, as far as retention needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// The length of the database, in bytes.
    pub bytes: u64,
    /// How many rows `routes` has, those without an app included.
    pub rows: u64,
    /// The rows that have an app.
    pub routes: Vec<RouteEvidence>,
}

/// One row of `routes` that has an app.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RouteEvidence {
    /// `host`.
    pub host: String,
    /// `account`, the default account where the row has none.
    pub account: String,
    /// `app`; never empty. A row whose app cannot be told makes the whole registry unreadable: it may be any app's.
    pub app: String,
    /// The versions that the row holds on to, or why they cannot be told (a text that is not UTF-8, say).
    pub pins: Seen<RoutePins>,
}

/// The versions of a row; empty where the row has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoutePins {
    /// `version`: what the box runs.
    #[serde(default)]
    pub version: String,
    /// `prev_version`: what it ran before.
    #[serde(default)]
    pub prev_version: String,
    /// `good_version`: what a planned wake falls back to.
    #[serde(default)]
    pub good_version: String,
}

/// A generation of a box, from its listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationEvidence {
    /// Its key.
    pub key: String,
    /// Its etag.
    pub etag: String,
    /// Its length, in bytes.
    pub bytes: u64,
    /// How many rows its `routes` has, where it was read. Worth reading where current has no rows at all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
    /// The hosts of its rows that have an app, where it was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hosts: Option<Vec<String>>,
}

/// This machine's own registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalRegistry {
    /// This box's label, where it is known.
    pub label: Option<String>,
    /// The database's path.
    pub path: String,
    /// What it says.
    pub content: Seen<Registry>,
}

/// Why there are no box reports to be read. Saved as the reason alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct NoReports {
    /// For people.
    pub because: String,
    /// How a command ends that cannot do without them.
    pub exit: Exit,
}

impl From<String> for NoReports {
    fn from(because: String) -> Self {
        Self { because, exit: Exit::Unavailable }
    }
}

impl From<NoReports> for String {
    fn from(none: NoReports) -> Self {
        none.because
    }
}

/// The box reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportsEvidence {
    /// They cannot be read at all: no status store, or the platform's own could not be listed, or a sole housekeeper has no
    /// local registry to collect from.
    Unavailable(NoReports),
    /// What was found.
    Listed {
        /// Fleets that could not be listed, `fleets/` itself included.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        unlisted: Vec<Unlisted>,
        /// Every report.
        reports: Vec<ReportEvidence>,
    },
}

/// One report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEvidence {
    /// Where it was read.
    pub source: ReportSource,
    /// The report: `<prefix>status/boxes/<label>.json` or `fleets/<fleet>/status/boxes/<label>.json`; for a sole
    /// housekeeper's own, the registry's path.
    #[serde(flatten)]
    pub report: Found<BoxReport>,
}

/// Where a report was read, in the order in which the platform reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportSource {
    /// A platform box's, below the status prefix of the status store.
    Platform,
    /// A sole housekeeper's own, collected now.
    SoleHousekeeper,
    /// A fleet box's, in the status store.
    StatusFleet,
    /// A fleet box's, in the deployment store, where that is another one.
    DeploymentFleet,
}

/// One app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppEvidence {
    /// Its account.
    pub account: String,
    /// Its name.
    pub app: String,
    /// The `keep` of `<a>/retention.json`; `None` where that key is not there, which means that nothing is enforced.
    pub retention: Option<Found<u32>>,
    /// `<a>/pipeline.json`; `None` where that key is not there.
    pub pipeline: Option<Found<Pipeline>>,
    /// Every directory below `<a>/releases/`.
    pub releases: Seen<Vec<ReleaseEvidence>>,
    /// Every `<a>/instances/<host>.json`.
    pub records: Seen<Vec<Found<ProvisionRecord>>>,
    /// Every `<a>/channels/**.json`.
    pub pointers: Seen<Vec<Found<FoundPointer>>>,
    /// Every `<a>/tags/**.json`, and the version that it names.
    pub tags: Seen<Vec<Found<String>>>,
}

/// One release directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseEvidence {
    /// The version: the directory's name.
    pub version: String,
    /// `<a>/releases/<version>/manifest.json`; `None` where that key is not there: the release is incomplete.
    pub manifest: Option<Found<Manifest>>,
    /// Every object of the directory, the manifest included; never empty.
    pub objects: Vec<ObjectMeta>,
}

impl ReleaseEvidence {
    /// The object that was written last; of several, the one with the smallest key.
    #[must_use]
    pub fn newest_object(&self) -> Option<&ObjectMeta> {
        self.objects.iter().min_by(|a, b| b.last_modified.cmp(&a.last_modified).then_with(|| a.key.cmp(&b.key)))
    }
}
