//! Every box's registry: its current snapshot, and the generation that tells whether that one lost rows.
//!
//! A snapshot is downloaded into a private file, read for its routes, and dropped: memory does not grow with their size.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::stream::{self, StreamExt};

use super::reader::Reader;
use super::{Question, is_fatal};
use crate::error::CommandError;
use crate::platform::{Label, Stamp, keys};
use crate::registry::{Registry as Database, RegistryError};
use crate::retention::decide::collapsed;
use crate::retention::evidence::{
    BoxEvidence, Found, GenerationEvidence, Registry, RouteEvidence, RoutePins, Seen, Unlisted, View,
};
use crate::snapshot::{Chosen, Landing, Private, SMALL_BYTES, Source, blocking, database_turn, fell, fetch};
use crate::store::ObjectMeta;
use crate::terminal::Progress;

/// Up to this size the newest other generation is always read: rows may be lost without as many pages. A larger one is read
/// only when current looks as if it had lost something.
const ALWAYS_READ_BYTES: u64 = 1024 * 1024;

/// The boxes, and the prefixes that could not be listed.
pub(super) type Boxes = (Vec<BoxEvidence>, Vec<Unlisted>);

/// Looks at the boxes that count in this view.
///
/// # Errors
/// Only what no other request would survive: no such store, no credentials.
pub(super) async fn gather(
    reader: Reader<'_>,
    question: &Question,
    default_account: &str,
    progress: &Progress,
) -> Result<Boxes, CommandError> {
    match &question.view {
        View::Box(label) => one(reader, label, default_account).await.map(|boxes| (boxes, Vec::new())),
        View::Fleet => fleet(reader, question, default_account, progress).await,
    }
}

/// Only the current snapshot of one box; what its generations say is no matter to its own pass.
async fn one(reader: Reader<'_>, label: &str, default_account: &str) -> Result<Vec<BoxEvidence>, CommandError> {
    let Ok(name) = label.parse::<Label>() else { return Ok(Vec::new()) };
    let key = keys::current(&name);
    let listed = match reader.head(&key).await {
        Ok(object) => object,
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        Err(error) if is_fatal(&error) => return Err(error.into()),
        Err(error) => return Ok(vec![with_current(label, unread(key, error.to_string()))]),
    };
    let current = snapshot(reader, &listed, default_account).await;
    Ok(vec![with_current(label, current)])
}

fn with_current(label: &str, current: Found<Registry>) -> BoxEvidence {
    BoxEvidence { label: label.to_owned(), left_out: false, known_from: Vec::new(), current: Some(current), newest_other: None }
}

/// What the listings say of one box.
#[derive(Default)]
struct Listed {
    current: Option<ObjectMeta>,
    generations: Vec<(Stamp, ObjectMeta)>,
}

async fn fleet(
    reader: Reader<'_>,
    question: &Question,
    default_account: &str,
    progress: &Progress,
) -> Result<Boxes, CommandError> {
    let mut unlisted = Vec::new();
    let mut boxes: BTreeMap<String, Listed> = BTreeMap::new();
    let (snapshots, generations) = tokio::join!(reader.list(keys::SNAPSHOTS), reader.list(keys::GENERATIONS));
    for (prefix, listing) in [(keys::SNAPSHOTS, snapshots), (keys::GENERATIONS, generations)] {
        match listing {
            Ok(objects) => objects.into_iter().for_each(|object| sort_in(&mut boxes, object)),
            Err(error) if is_fatal(&error) => return Err(error.into()),
            Err(error) => unlisted.push(Unlisted { prefix: prefix.to_owned(), because: error.to_string() }),
        }
    }
    for label in &question.without_boxes {
        boxes.entry(label.to_string()).or_default();
    }
    progress.expect(boxes.len() as u64);
    let left_out = |label: &str| question.without_boxes.iter().any(|one| one.as_str() == label);
    let reads = stream::iter(boxes).map(|(label, listed)| async {
        let evidence = if left_out(&label) {
            BoxEvidence { label, left_out: true, known_from: Vec::new(), current: None, newest_other: None }
        } else {
            read(reader, label, listed, default_account).await
        };
        progress.advance(1);
        evidence
    });
    Ok((reads.buffered(reader.turns().number).collect().await, unlisted))
}

/// Labels are taken as they are: a box whose name we would not have given has pins all the same.
fn sort_in(boxes: &mut BTreeMap<String, Listed>, object: ObjectMeta) {
    if let Some(name) = object.key.strip_prefix(keys::SNAPSHOTS) {
        if let Some(label) = name.strip_suffix(".db").filter(|label| !label.is_empty() && !label.contains('/')) {
            let label = label.to_owned();
            boxes.entry(label).or_default().current = Some(object);
        }
        return;
    }
    if let Some((label, name)) = object.key.strip_prefix(keys::GENERATIONS).and_then(|rest| rest.split_once('/'))
        && let Some(stamp) = name.strip_suffix(".db").and_then(|stamp| stamp.parse().ok())
        && !label.is_empty()
    {
        let label = label.to_owned();
        boxes.entry(label).or_default().generations.push((stamp, object));
    }
}

async fn read(reader: Reader<'_>, label: String, listed: Listed, default_account: &str) -> BoxEvidence {
    let Listed { current, mut generations } = listed;
    generations.sort_by_key(|(stamp, _)| std::cmp::Reverse(*stamp));
    let Some(current) = current else {
        let known_from = generations.into_iter().next().map(|(_, object)| object.key).into_iter().collect();
        return BoxEvidence { label, left_out: false, known_from, current: None, newest_other: None };
    };
    let generations: Vec<ObjectMeta> = generations.into_iter().map(|(_, object)| object).collect();
    let found = snapshot(reader, &current, default_account).await;
    let newest_other = match &found.content {
        Seen::Read(registry) => compared_with(reader, &generations, &current, registry, default_account).await,
        Seen::Unreadable(_) => None,
    };
    BoxEvidence { label, left_out: false, known_from: Vec::new(), current: Some(found), newest_other }
}

/// The generation with which current is compared: the newest other one that did not collapse itself and is not known to be
/// empty. A standby that clobbered twice has left generations that are as empty as its current.
async fn compared_with(
    reader: Reader<'_>,
    newest_first: &[ObjectMeta],
    current: &ObjectMeta,
    registry: &Registry,
    default_account: &str,
) -> Option<GenerationEvidence> {
    let others: Vec<&ObjectMeta> =
        not_collapsed(newest_first).into_iter().filter(|object| object.etag != current.etag).collect();
    let small = others.iter().take_while(|other| other.bytes <= SMALL_BYTES).count();
    if small > 0 {
        return among_small(reader, &others[..small], default_account).await;
    }
    let mut last = None;
    for other in others {
        let evidence = large(reader, other, registry, default_account).await;
        let empty = evidence.rows == Some(0);
        last = Some(evidence);
        if !empty {
            break;
        }
    }
    last
}

/// Small registries lose most of their rows without losing a page, so all are read, and the history is walked from the
/// oldest.
async fn among_small(reader: Reader<'_>, newest_first: &[&ObjectMeta], default_account: &str) -> Option<GenerationEvidence> {
    let reads = stream::iter(newest_first).map(|other| snapshot(reader, other, default_account));
    let read: Vec<Found<Registry>> = reads.buffered(reader.turns().number).collect().await;
    let newest = newest_first.first().map(|other| listed(other));
    let mut last: Option<GenerationEvidence> = None;
    for (other, found) in newest_first.iter().zip(read).rev() {
        let Seen::Read(registry) = found.content else { continue };
        let before = last.as_ref().filter(|last| last.rows != Some(0));
        if before.is_none_or(|before| registry.rows > 0 && collapsed(&registry, before).is_none()) {
            last = Some(with_content(listed(other), registry));
        }
    }
    last.or(newest)
}

/// The generations that did not collapse against the last older one that had not, newest first.
fn not_collapsed(newest_first: &[ObjectMeta]) -> Vec<&ObjectMeta> {
    let mut whole: Vec<&ObjectMeta> = Vec::new();
    for object in newest_first.iter().rev().filter(|object| object.bytes > 0) {
        if whole.last().is_none_or(|before| !fell(before.bytes, object.bytes)) {
            whole.push(object);
        }
    }
    whole.reverse();
    whole
}

/// A generation that is not small, read where that is cheap or its listing looks suspicious.
async fn large(reader: Reader<'_>, other: &ObjectMeta, current: &Registry, default_account: &str) -> GenerationEvidence {
    let looks_collapsed = current.rows == 0 || current.bytes.saturating_mul(2) < other.bytes;
    if (other.bytes <= ALWAYS_READ_BYTES || looks_collapsed)
        && let Seen::Read(registry) = snapshot(reader, other, default_account).await.content
    {
        return with_content(listed(other), registry);
    }
    listed(other)
}

/// A generation as far as its listing tells.
fn listed(other: &ObjectMeta) -> GenerationEvidence {
    GenerationEvidence { key: other.key.clone(), etag: other.etag.clone(), bytes: other.bytes, rows: None, hosts: None }
}

fn with_content(listed: GenerationEvidence, registry: Registry) -> GenerationEvidence {
    let hosts = registry.routes.into_iter().map(|route| route.host).collect();
    GenerationEvidence { rows: Some(registry.rows), hosts: Some(hosts), ..listed }
}

/// One snapshot: downloaded, checked, read for its routes, dropped.
async fn snapshot(reader: Reader<'_>, listed: &ObjectMeta, default_account: &str) -> Found<Registry> {
    match fetched(reader, listed).await {
        Err(because) => unread(listed.key.clone(), because),
        Ok((etag, landing)) => {
            let account = default_account.to_owned();
            let bytes = listed.bytes;
            let read = async {
                let _turn = database_turn().await.map_err(|error| error.message)?;
                let read = blocking(move || read_snapshot(landing.path(), bytes, &account)).await;
                read.map_err(|error| error.message)?.map_err(|error| error.to_string())
            };
            let content = read.await.map_or_else(Seen::Unreadable, Seen::Read);
            Found { key: listed.key.clone(), etag, content }
        }
    }
}

async fn fetched(reader: Reader<'_>, listed: &ObjectMeta) -> Result<(String, Private), String> {
    let (store, _turn) = reader.turn().await.map_err(|error| error.to_string())?;
    let chosen =
        Chosen { at: listed.key.clone(), source: Source::Object(listed.clone()), because: "its pins count".to_owned() };
    let landing = Private::create().map_err(|error| error.message)?;
    let fetched = fetch(store, &chosen, landing, None).await.map_err(|error| error.message)?;
    Ok((fetched.meta.etag, fetched.landing))
}

fn unread(key: String, because: String) -> Found<Registry> {
    Found { key, etag: String::new(), content: Seen::Unreadable(because) }
}

fn read_snapshot(path: &Path, bytes: u64, default_account: &str) -> Result<Registry, RegistryError> {
    let database = Database::open_snapshot(path)?;
    // A damaged page may hide rows, and with them pins, without any error of the question itself.
    if let Some(damage) = database.check()?.damage.first() {
        return Err(RegistryError::Damaged(damage.clone()));
    }
    content(&database, bytes, default_account)
}

/// What retention needs of a registry.
///
/// # Errors
/// Where it cannot be told which versions, or which apps, its rows hold on to.
pub(crate) fn content(database: &Database, bytes: u64, default_account: &str) -> Result<Registry, RegistryError> {
    let found = database.routes(default_account)?;
    let rows = (found.rows.len() + found.unreadable.len()) as u64;
    let mut routes: Vec<RouteEvidence> = found
        .rows
        .into_iter()
        .filter(|row| !row.app.is_empty())
        .map(|row| RouteEvidence {
            host: row.host,
            account: row.account,
            app: row.app,
            pins: Seen::Read(RoutePins {
                version: row.version,
                prev_version: row.prev_version,
                good_version: row.good_version,
            }),
        })
        .collect();
    for row in found.unreadable {
        let because = format!("its {} is {}: {}", row.column, row.because, row.value);
        let Some((account, app)) = row.app else {
            return Err(RegistryError::Lacking(format!(
                "which app the row of host {:?} is of is not known: {because}",
                row.host
            )));
        };
        if !app.is_empty() {
            routes.push(RouteEvidence { host: row.host, account, app, pins: Seen::Unreadable(because) });
        }
    }
    routes.sort();
    Ok(Registry { bytes, rows, routes })
}
