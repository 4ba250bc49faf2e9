//! Looks at one box, and says what exists when it does not.

use std::sync::Arc;

use jiff::Timestamp;

use super::evidence::{BoxEvidence, Scene, SidecarRead};
use super::gather::{Reports, Scope, gather};
use super::proof::Expected;
use super::select::{Chosen, Selector, Source};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::document::MAX_BYTES;
use crate::platform::{Label, Sidecar, Stamp, keys};
use crate::store::ReadStore;
use crate::terminal;

/// One box and the store it was seen in.
pub struct Look {
    /// The store.
    pub store: Arc<dyn ReadStore>,
    /// The box.
    pub seen: BoxEvidence,
}

/// Looks at `label`, with older versions when `selector` needs them.
///
/// # Errors
/// Not found (exit 10) when the bucket has nothing of that box; else the store's.
pub async fn look(context: &Context<'_>, label: &Label, selectors: &[&Selector]) -> Result<Look, CommandError> {
    let store = context.deployment().await?;
    let status = context.status_store().await?.unwrap_or_else(|| Arc::clone(&store));
    let reports = Reports { store: status.as_ref(), prefix: &context.settings.status_prefix };
    let all_versions = selectors.iter().any(|selector| matches!(selector, Selector::Version(_)));
    // A file is looked at without the bucket's consent.
    let doubtful = selectors.iter().all(|selector| matches!(selector, Selector::File(_)));
    let scope = Scope { boxes: vec![label.clone()], all_versions, doubtful, concurrency: context.settings.concurrency };
    let progress = context.progress_listing();
    let mut scene = gather(store.as_ref(), &reports, &scope).await?;
    drop(progress);
    if !doubtful {
        must_exist(store.as_ref(), &scene, &scope.boxes).await?;
    }
    let seen = scene.boxes.remove(label).unwrap_or_else(|| BoxEvidence::new(label.clone()));
    Ok(Look { store, seen })
}

/// Refuses boxes of which nothing was seen, naming those that exist.
///
/// # Errors
/// Not found (exit 10).
pub async fn must_exist(store: &dyn ReadStore, scene: &Scene, labels: &[Label]) -> Result<(), CommandError> {
    let Some(unknown) = labels.iter().find(|label| scene.boxes.get(*label).is_none_or(BoxEvidence::is_empty)) else {
        return Ok(());
    };
    let mut known = known_labels(store).await?;
    known.sort();
    let error = CommandError::new(Exit::NotFound, format!("no snapshot of box {unknown} in {}", store.describe()));
    Err(match terminal::nearest(unknown.as_str(), known.iter().map(Label::as_str)) {
        _ if known.is_empty() => error.hint("no box has a snapshot there; check --bucket or --dir"),
        Some(near) => error.hint(format!("did you mean {near}? every box: carlosctl snapshot list")),
        None => error.hint(format!("boxes there: {}", shown(&known))),
    })
}

/// Every label that has a current snapshot or generations.
async fn known_labels(store: &dyn ReadStore) -> Result<Vec<Label>, CommandError> {
    let mut labels = std::collections::BTreeSet::new();
    for object in store.list(keys::SNAPSHOTS).await? {
        if let keys::SnapshotKey::Current(label) | keys::SnapshotKey::Sidecar(label) = keys::read_snapshot_key(&object.key) {
            labels.insert(label);
        }
    }
    for prefix in store.list_dirs(keys::GENERATIONS).await? {
        labels.extend(prefix.strip_prefix(keys::GENERATIONS).and_then(|name| name.trim_end_matches('/').parse::<Label>().ok()));
    }
    Ok(labels.into_iter().collect())
}

fn shown(labels: &[Label]) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = labels.iter().take(SHOWN).map(Label::as_str).collect();
    let more = labels.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
}

impl Look {
    /// What is expected of a chosen object: its sidecar only when that describes exactly this object.
    #[must_use]
    pub fn expected(&self, chosen: &Chosen, default_account: &str) -> Expected {
        let describes = match (&chosen.source, &self.seen.current, self.seen.sidecar.document()) {
            (Source::Object(object), Some(current), Some(sidecar)) => {
                object.etag == current.etag && object.bytes == current.bytes && sidecar.bytes == current.bytes
            }
            _ => false,
        };
        let sidecar = if describes { self.seen.sidecar.document().cloned() } else { None };
        Expected { subject: chosen.source.name(), sidecar, default_account: default_account.to_owned() }
    }

    /// Whether the sidecar is still the one that was seen. A box that writes meanwhile is not dead.
    ///
    /// # Errors
    /// The store's.
    pub async fn sidecar_changed(&self) -> Result<bool, CommandError> {
        let (_, read) = super::gather::read_sidecar(self.store.as_ref(), &self.seen.label).await;
        match read {
            // What could not be read before either is a finding already.
            SidecarRead::NotRead { .. } if matches!(self.seen.sidecar, SidecarRead::NotRead { .. }) => Ok(false),
            SidecarRead::NotRead { because } => Err(CommandError::new(Exit::Unavailable, because)),
            read => Ok(read != self.seen.sidecar),
        }
    }

    /// When a chosen object is of, as far as its name or sidecar tells. A held copy is of when the original was, and its hold has
    /// the sidecar too; where that one does not tell, nobody knows.
    pub async fn chosen_at(&self, chosen: &Chosen) -> Option<Timestamp> {
        let (seen, object) = (&self.seen, chosen.source.object()?);
        match keys::read_snapshot_key(&object.key) {
            keys::SnapshotKey::Current(label) if label == seen.label && object.version_id.is_none() => seen.current_at(),
            keys::SnapshotKey::Generation(_, stamp) => Some(stamp.instant()),
            keys::SnapshotKey::Hold(label, hold, name) => match name.strip_suffix(".db")?.parse::<Stamp>() {
                Ok(stamp) => Some(stamp.instant()),
                Err(_) => self.held_current_at(&keys::hold(&label, hold), object.bytes).await,
            },
            _ => Some(object.last_modified),
        }
    }

    /// When the current snapshot of a hold is of: its sidecar says it, where it describes this one.
    async fn held_current_at(&self, hold: &str, bytes: u64) -> Option<Timestamp> {
        let key = format!("{hold}current.json");
        let object = self.store.get(&key, MAX_BYTES as u64).await.ok()?;
        Sidecar::read(&key, &object.body).ok().filter(|sidecar| sidecar.bytes == bytes)?.created_at
    }
}
