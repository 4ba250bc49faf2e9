//! Every object that a decision rests on, by key and etag.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::CommandError;
use crate::platform::hex;
use crate::retention::evidence::{AppEvidence, FleetEvidence, Found, LocalRegistry, Seen};
use crate::retention::evidence_file::json;

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Class {
    /// A box's current snapshot.
    Registry,
    /// The generation that it was compared with.
    Generation,
    /// This machine's registry; its etag is a digest of its pins.
    LocalRegistry,
    /// The app's retention record.
    RetentionRecord,
    /// Its pipeline.
    Pipeline,
    /// An object of a release, as it was listed.
    Release,
    /// A manifest, as it was read.
    Manifest,
    /// A provision record.
    Record,
    /// A channel pointer.
    Pointer,
    /// A tag.
    Tag,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Input {
    /// What it is.
    pub(crate) class: Class,
    /// Its key, or the path of this machine's registry.
    pub(crate) key: String,
    /// Its etag as of the read; empty where it could not be read.
    pub(crate) etag: String,
}

fn input(class: Class, key: &str, etag: &str) -> Input {
    Input { class, key: key.to_owned(), etag: etag.to_owned() }
}

fn of<T>(class: Class, found: &Found<T>) -> Input {
    input(class, &found.key, &found.etag)
}

/// What is common to all apps. Reports are not here: they are rewritten all the time, and count by what they say.
///
/// # Errors
/// Only for what cannot be written as JSON.
pub(crate) fn fleet_inputs(fleet: &FleetEvidence) -> Result<Vec<Input>, CommandError> {
    let mut inputs = Vec::new();
    for one in fleet.boxes.iter().filter(|one| !one.left_out) {
        inputs.extend(one.current.as_ref().map(|found| of(Class::Registry, found)));
        inputs.extend(one.newest_other.as_ref().map(|other| input(Class::Generation, &other.key, &other.etag)));
    }
    if let Some(local) = &fleet.local {
        inputs.push(input(Class::LocalRegistry, &local.path, &digest(local)?));
    }
    inputs.sort();
    Ok(inputs)
}

/// Of what a live registry says to retention, and of nothing else: it is written all the time.
fn digest(local: &LocalRegistry) -> Result<String, CommandError> {
    let said = match &local.content {
        Seen::Read(registry) => json(&(registry.rows, &registry.routes))?,
        Seen::Unreadable(because) => because.clone(),
    };
    Ok(format!("sha256:{}", hex(&Sha256::digest(said))))
}

/// Every document of one app.
pub(super) fn app_inputs(app: &AppEvidence) -> Vec<Input> {
    let mut inputs = Vec::new();
    inputs.extend(app.retention.as_ref().map(|found| of(Class::RetentionRecord, found)));
    inputs.extend(app.pipeline.as_ref().map(|found| of(Class::Pipeline, found)));
    if let Seen::Read(releases) = &app.releases {
        for release in releases {
            inputs.extend(release.objects.iter().map(|object| input(Class::Release, &object.key, &object.etag)));
            inputs.extend(release.manifest.as_ref().map(|found| of(Class::Manifest, found)));
        }
    }
    push(&mut inputs, Class::Record, &app.records);
    push(&mut inputs, Class::Pointer, &app.pointers);
    push(&mut inputs, Class::Tag, &app.tags);
    inputs.sort();
    inputs
}

fn push<T>(inputs: &mut Vec<Input>, class: Class, seen: &Seen<Vec<Found<T>>>) {
    if let Seen::Read(found) = seen {
        inputs.extend(found.iter().map(|found| of(class, found)));
    }
}
