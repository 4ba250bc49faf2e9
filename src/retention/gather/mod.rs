//! Reads the world for a retention decision, through handles on which nothing can be changed.
//!
//! | file | what it reads |
//! |---|---|
//! | `sources` | where everything is, from the settings |
//! | `reports` | the box reports, once |
//! | `boxes` | every box's registry, from its current snapshot |
//! | `local` | this machine's registry |
//! | `app` | one app's documents |
//! | `manifests` | manifests that an earlier look has read |
//! | `names` | which apps there are |
//! | `reader` | a store, and how much may be asked of it at once |
//!
//! No object is read twice. What could not be read is evidence and no error, so that it refuses what it matters to; only a
//! store that cannot be spoken to at all ends the run.

mod app;
mod boxes;
mod local;
mod manifests;
mod names;
mod reader;
mod reports;
mod sources;

use futures_util::stream::{self, Stream, StreamExt};
use jiff::Timestamp;

use super::app_name::AppName;
use super::decide::Judge;
use super::evidence::{AppEvidence, FleetEvidence, Found, ReportEvidence, ReportsEvidence, Seen, View};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::document::MAX_BYTES;
use crate::platform::{DocumentError, Label};
use crate::store::{Object, StoreError};
use crate::terminal::Progress;

pub(crate) use local::LocalRead;
pub(crate) use names::{listed, names};
pub(crate) use reader::{Reader, Turns};
pub(crate) use sources::{Sources, Status};

/// How many apps are in memory at once: those being read, and those that wait for one before them.
const APPS_AT_ONCE: usize = 8;

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The instant at which everything is judged.
    pub(crate) as_of: Timestamp,
    /// Whose pins count.
    pub(crate) view: View,
    /// Judge as if every app kept this many.
    pub(crate) what_if_keep: Option<u32>,
    /// Boxes whose pins do not count.
    pub(crate) without_boxes: Vec<Label>,
    /// Only these apps; all when empty.
    pub(crate) apps: Vec<AppName>,
}

/// Everything that is common to all apps.
///
/// # Errors
/// A store that cannot be spoken to at all; a box left out that nobody knows.
pub(crate) async fn fleet(
    sources: &Sources,
    question: &Question,
    local: Option<LocalRead>,
    progress: &Progress,
) -> Result<FleetEvidence, CommandError> {
    let reader = Reader::new(sources.deployment.as_ref(), &sources.turns);
    // A box's own pass asks the live registry where there is one, and no snapshot.
    let is_own = match (&question.view, local.as_ref().and_then(|local| local.registry.label.as_ref())) {
        (View::Box(label), Some(own)) => label == own,
        _ => false,
    };
    let boxes = async {
        if is_own { Ok(Default::default()) } else { boxes::gather(reader, question, &sources.default_account, progress).await }
    };
    let reports = reports::gather(&sources.status, sources.deployment.as_ref(), &sources.turns, local.as_ref(), question.as_of);
    let (boxes, reports) = tokio::join!(boxes, reports);
    let (boxes, unlisted) = boxes?;
    let fleet = FleetEvidence {
        as_of: question.as_of,
        view: question.view.clone(),
        what_if_keep: question.what_if_keep,
        boxes,
        local: local.filter(|_| is_own || question.view == View::Fleet).map(|local| local.registry),
        unlisted,
        reports,
    };
    known(&fleet, question, sources).await?;
    Ok(fleet)
}

/// Refuses to leave out a box that nobody knows: it is more likely a typing error than a box without a trace.
async fn known(fleet: &FleetEvidence, question: &Question, sources: &Sources) -> Result<(), CommandError> {
    let reader = Reader::new(sources.deployment.as_ref(), &sources.turns);
    for label in &question.without_boxes {
        let reported = match &fleet.reports {
            ReportsEvidence::Listed { reports, .. } => reports.iter().any(|one| is_of(one, label)),
            ReportsEvidence::Unavailable(_) => false,
        };
        if reported {
            continue;
        }
        let (current, generations) = (crate::platform::keys::current(label), crate::platform::keys::generations(label));
        let (current, generations) = tokio::join!(reader.list(&current), reader.list(&generations));
        if current?.is_empty() && generations?.is_empty() {
            return Err(CommandError::new(Exit::NotFound, format!("--without-box {label}: nothing is known of such a box"))
                .hint("the boxes that report: carlosctl report list"));
        }
    }
    Ok(())
}

fn is_of(report: &ReportEvidence, label: &Label) -> bool {
    report.report.key.ends_with(&format!("/{label}.json"))
}

/// The box reports alone.
pub(crate) async fn reports(sources: &Sources, local: Option<&LocalRead>, as_of: Timestamp) -> ReportsEvidence {
    reports::gather(&sources.status, sources.deployment.as_ref(), &sources.turns, local, as_of).await
}

/// One app. Where no document bears on it, nothing is read.
pub(crate) async fn app(sources: &Sources, judge: &Judge<'_>, name: &AppName) -> AppEvidence {
    let reader = Reader::new(sources.deployment.as_ref(), &sources.turns);
    let root = sources.release_key.as_ref().map_err(String::as_str);
    if judge.rests_on_documents(&name.account, &name.app) {
        app::gather(reader, name, root, sources.manifests.as_ref()).await
    } else {
        app::unread(name)
    }
}

/// What `of` makes of each of these apps, in their order, a few at a time.
///
/// Apps that are under way hold turns. Whoever takes an app out must not wait for a turn before the next one is asked for:
/// whatever makes requests belongs into `of`.
pub(crate) fn apps<'a, T, F: Future<Output = T> + 'a>(
    names: Vec<AppName>,
    of: impl Fn(AppName) -> F + 'a,
) -> impl Stream<Item = T> + 'a
where
    T: 'a,
{
    stream::iter(names).map(of).buffered(APPS_AT_ONCE)
}

/// Reads one document that a listing showed.
async fn document<T>(reader: Reader<'_>, key: String, read: impl Fn(&str, &[u8]) -> Result<T, DocumentError>) -> Found<T> {
    let answer = reader.get(&key, MAX_BYTES as u64).await;
    found(key, answer, read)
}

/// What came of reading an object as a document.
fn found<T>(
    key: String,
    answer: Result<Object, StoreError>,
    read: impl Fn(&str, &[u8]) -> Result<T, DocumentError>,
) -> Found<T> {
    match answer {
        Err(error) => Found { key, etag: String::new(), content: Seen::Unreadable(error.to_string()) },
        Ok(object) => {
            // The finding names the key itself.
            let content = read(&key, &object.body).map_or_else(|error| Seen::Unreadable(error.without_key()), Seen::Read);
            Found { key, etag: object.meta.etag, content }
        }
    }
}

/// Whether every other request would fail in the same way.
fn is_fatal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NoStore { .. }
            | StoreError::Credentials { .. }
            | StoreError::ClockSkew { .. }
            | StoreError::WrongRegion { .. }
    )
}
