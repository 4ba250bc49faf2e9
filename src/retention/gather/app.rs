//! One app: its retention record, pipeline, releases, records, pointers and tags. Two reads and four listings, and each
//! document once.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt};

use super::document;
use super::manifests::{Entry, Kept, Manifests};
use super::reader::Reader;
use crate::platform::keys::app::{self as keys, AppKey};
use crate::platform::pointer::{self, RootKey};
use crate::platform::{DocumentError, Manifest, Pipeline, ProvisionRecord, retention_record, tag};
use crate::retention::app_name::AppName;
use crate::retention::evidence::{AppEvidence, Found, ReleaseEvidence, Seen};
use crate::store::ObjectMeta;

/// An app of which nothing was read, because nothing bears on it.
pub(super) fn unread(name: &AppName) -> AppEvidence {
    AppEvidence {
        account: name.account.clone(),
        app: name.app.clone(),
        retention: None,
        pipeline: None,
        releases: Seen::Read(Vec::new()),
        records: Seen::Read(Vec::new()),
        pointers: Seen::Read(Vec::new()),
        tags: Seen::Read(Vec::new()),
    }
}

/// Reads everything of one app. Nothing here is an error: what could not be read says so where it is missing.
pub(super) async fn gather(
    reader: Reader<'_>,
    name: &AppName,
    root: Result<&RootKey, &str>,
    manifests: Option<&Manifests>,
) -> AppEvidence {
    let (account, app) = (name.account.as_str(), name.app.as_str());
    let (retention, pipeline, releases, records, pointers, tags) = tokio::join!(
        optional(reader, keys::retention_record(account, app), retention_record::read),
        optional(reader, keys::pipeline(account, app), Pipeline::read),
        releases(reader, name, manifests),
        below(reader, keys::records(account, app), |what| matches!(what, AppKey::Record(_)), ProvisionRecord::read),
        below(
            reader,
            keys::channels(account, app),
            |what| matches!(what, AppKey::Channel(_)),
            |key, bytes| { pointer::read(key, bytes, root) }
        ),
        below(reader, keys::tags(account, app), |what| matches!(what, AppKey::Tag(_)), tag::read),
    );
    AppEvidence { account: account.to_owned(), app: app.to_owned(), retention, pipeline, releases, records, pointers, tags }
}

/// A document that may be absent, which is something else than one that does not read.
async fn optional<T>(
    reader: Reader<'_>,
    key: String,
    read: impl Fn(&str, &[u8]) -> Result<T, DocumentError>,
) -> Option<Found<T>> {
    match reader.get(&key, crate::platform::document::MAX_BYTES as u64).await {
        Err(error) if error.is_missing() => None,
        answer => Some(super::found(key, answer, read)),
    }
}

/// Every document of one kind below a prefix.
async fn below<T>(
    reader: Reader<'_>,
    prefix: String,
    is_wanted: impl Fn(AppKey<'_>) -> bool,
    read: impl Fn(&str, &[u8]) -> Result<T, DocumentError> + Copy,
) -> Seen<Vec<Found<T>>> {
    let objects = match reader.list(&prefix).await {
        Ok(objects) => objects,
        Err(error) => return Seen::Unreadable(error.to_string()),
    };
    let wanted =
        objects.into_iter().map(|object| object.key).filter(|key| keys::read(key).is_some_and(|(_, _, what)| is_wanted(what)));
    let reads = stream::iter(wanted).map(|key| document(reader, key, read));
    Seen::Read(reads.buffered(reader.turns().number).collect().await)
}

/// Every release directory with its objects, and every manifest. Manifests that were kept are not read again.
async fn releases(reader: Reader<'_>, name: &AppName, manifests: Option<&Manifests>) -> Seen<Vec<ReleaseEvidence>> {
    let prefix = keys::releases(&name.account, &name.app);
    let (objects, kept) = tokio::join!(reader.list(&prefix), kept(manifests, name));
    let objects = match objects {
        Ok(objects) => objects,
        Err(error) => return Seen::Unreadable(error.to_string()),
    };
    let mut versions: BTreeMap<String, Vec<ObjectMeta>> = BTreeMap::new();
    for object in objects {
        if let Some((_, _, AppKey::Manifest(version) | AppKey::ReleaseObject(version))) = keys::read(&object.key) {
            versions.entry(version.to_owned()).or_default().push(object);
        }
    }
    let of = |listed: &ObjectMeta| matches!(keys::read(&listed.key), Some((_, _, AppKey::Manifest(_))));
    let reads = stream::iter(versions).map(|(version, objects)| {
        let kept = kept.get(&version);
        async move {
            let (manifest, entry) = match objects.iter().find(|object| of(object)) {
                Some(listed) => manifest(reader, listed, kept).await,
                None => (None, None),
            };
            (ReleaseEvidence { version, manifest, objects }, entry)
        }
    });
    let read: Vec<(ReleaseEvidence, Option<Entry>)> = reads.buffered(reader.turns().number).collect().await;
    let (mut releases, mut now) = (Vec::with_capacity(read.len()), Kept::new());
    for (release, entry) in read {
        now.extend(entry.map(|entry| (release.version.clone(), entry)));
        releases.push(release);
    }
    if let Some(manifests) = manifests.cloned().filter(|_| now != kept) {
        let name = name.clone();
        let _ = tokio::task::spawn_blocking(move || manifests.write(&name, now)).await;
    }
    Seen::Read(releases)
}

async fn kept(manifests: Option<&Manifests>, name: &AppName) -> Kept {
    let Some(manifests) = manifests.cloned() else { return Kept::new() };
    let name = name.clone();
    tokio::task::spawn_blocking(move || manifests.read(&name)).await.unwrap_or_default()
}

/// A manifest that is listed, from what was kept or from the store; and what is to be kept of it.
async fn manifest(reader: Reader<'_>, listed: &ObjectMeta, kept: Option<&Entry>) -> (Option<Found<Manifest>>, Option<Entry>) {
    let key = listed.key.clone();
    if let Some((entry, object)) = kept.and_then(|entry| Some((entry, entry.of(listed)?))) {
        return (Some(super::found(key, Ok(object), Manifest::read)), Some(entry.clone()));
    }
    let answer = reader.get(&key, crate::platform::document::MAX_BYTES as u64).await;
    let entry = answer.as_ref().ok().and_then(|object| Entry::new(listed, object));
    (Some(super::found(key, answer, Manifest::read)), entry)
}
