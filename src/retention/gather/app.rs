//! One app: its retention record, pipeline, releases, records, pointers and tags. Two reads and four listings, and each
//! document once.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt};

use super::document;
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
pub(super) async fn gather(reader: Reader<'_>, name: &AppName, root: Result<&RootKey, &str>) -> AppEvidence {
    let (account, app) = (name.account.as_str(), name.app.as_str());
    let (retention, pipeline, releases, records, pointers, tags) = tokio::join!(
        optional(reader, keys::retention_record(account, app), retention_record::read),
        optional(reader, keys::pipeline(account, app), Pipeline::read),
        releases(reader, name),
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

/// Every release directory with its objects, and every manifest.
async fn releases(reader: Reader<'_>, name: &AppName) -> Seen<Vec<ReleaseEvidence>> {
    let objects = match reader.list(&keys::releases(&name.account, &name.app)).await {
        Ok(objects) => objects,
        Err(error) => return Seen::Unreadable(error.to_string()),
    };
    let mut versions: BTreeMap<String, (bool, Vec<ObjectMeta>)> = BTreeMap::new();
    for object in objects {
        let (version, is_manifest) = match keys::read(&object.key) {
            Some((_, _, AppKey::Manifest(version))) => (version.to_owned(), true),
            Some((_, _, AppKey::ReleaseObject(version))) => (version.to_owned(), false),
            _ => continue,
        };
        let entry = versions.entry(version).or_default();
        entry.0 |= is_manifest;
        entry.1.push(object);
    }
    let reads = stream::iter(versions).map(|(version, (has_manifest, objects))| async move {
        let manifest = if has_manifest {
            let key = keys::manifest(&name.account, &name.app, &version);
            Some(document(reader, key, Manifest::read).await)
        } else {
            None
        };
        ReleaseEvidence { version, manifest, objects }
    });
    Seen::Read(reads.buffered(reader.turns().number).collect().await)
}
