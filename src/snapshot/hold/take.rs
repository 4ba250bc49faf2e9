//! Taking a hold: copy everything first, hash the copies, seal.

use sha2::{Digest, Sha256};

use super::{HeldObject, Hold};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding};
use crate::platform::document::MAX_BYTES;
use crate::platform::{Label, Stamp, hex, keys};
use crate::snapshot::evidence::{BoxEvidence, SidecarRead};
use crate::snapshot::versions;
use crate::store::{self, ObjectMeta, ReadStore, StoreError, WriteStore};
use crate::terminal::Progress;

/// One copy to be made.
struct Wanted {
    from: ObjectMeta,
    name: String,
}

/// Holds what was seen of a box, as of `stamp`. The second value says that an equal, sealed hold was there already.
///
/// # Errors
/// Not found when there is nothing to hold; `Changed` (exit 7) when an object changed while it was copied, which leaves an
/// unsealed hold that `snapshot list` shows as cut short.
pub async fn take(
    store: &dyn WriteStore,
    seen: &BoxEvidence,
    stamp: Stamp,
    progress: &Progress,
) -> Result<(Hold, bool), CommandError> {
    let wanted = wanted(seen);
    if wanted.is_empty() {
        return Err(CommandError::new(Exit::NotFound, format!("box {}: nothing to hold", seen.label)));
    }
    if let Some(hold) = equal_hold(store, seen, &wanted).await? {
        return Ok((hold, true));
    }
    // Each is copied, and its copy is hashed.
    progress.expect(2 * wanted.iter().map(|wanted| wanted.from.bytes).sum::<u64>());
    let stamp = free_stamp(seen, stamp);
    let mut findings = Vec::new();
    if let (None, SidecarRead::NotRead { because }) = (&seen.sidecar_object, &seen.sidecar) {
        let because = format!("its sidecar is not held, because it could not be looked at: {because}");
        findings.push(Finding::warning(Code::NotRead, seen.label.as_str(), because));
    }
    let mut copies = Vec::new();
    // Copies first: they are quick, and the agent may prune while content is hashed.
    for wanted in wanted {
        let to = format!("{}{}", keys::hold(&seen.label, stamp), wanted.name);
        match store::copy(store, &wanted.from, &to).await {
            Ok(copy) => {
                progress.advance(copy.bytes);
                copies.push((wanted.from, copy));
            }
            Err(error) if error.is_missing() => findings.push(Finding::warning(
                Code::NotRead,
                seen.label.as_str(),
                format!("{} was pruned before it could be held", wanted.from.key),
            )),
            Err(StoreError::Conflict { detail, .. }) => return Err(changed(&seen.label, &wanted.from.key, &detail)),
            Err(error) => return Err(error.into()),
        }
    }
    let mut objects = Vec::new();
    for (from, copy) in copies {
        let sha256 = sha256_of(store, &copy.key, progress).await?;
        objects.push(HeldObject { object: copy, from: from.key, from_etag: from.etag, from_version: from.version_id, sha256 });
    }
    finding::sort(&mut findings);
    let hold = Hold { label: seen.label.clone(), hold: stamp, objects, findings };
    seal(store, &hold).await?;
    Ok((hold, false))
}

/// `stamp`, or the first second after it that no hold of this box has: two holds within one second are two holds.
fn free_stamp(seen: &BoxEvidence, stamp: Stamp) -> Stamp {
    let mut free = stamp;
    while seen.holds.iter().any(|hold| hold.stamp == free) {
        free = free.next_second();
    }
    free
}

fn changed(label: &Label, key: &str, detail: &str) -> CommandError {
    CommandError::new(Exit::Changed, format!("{key} changed while it was held ({detail}); the hold is not sealed"))
        .hint(format!("run it again: carlosctl snapshot hold --box {label}"))
}

/// Everything of a box that a restore could want. An older version is named by when it was written.
fn wanted(seen: &BoxEvidence) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    wanted.extend(seen.current.clone().map(|from| Wanted { from, name: "current.db".to_owned() }));
    wanted.extend(seen.sidecar_object.clone().map(|from| Wanted { from, name: "current.json".to_owned() }));
    wanted.extend(
        seen.generations
            .iter()
            .map(|generation| Wanted { from: generation.object.clone(), name: format!("{}.db", generation.stamp) }),
    );
    let older = versions::last_good(seen).filter(|version| !version.is_latest);
    if let Some(older) = older
        && !wanted.iter().any(|wanted| wanted.from.etag == older.object.etag && wanted.from.bytes == older.object.bytes)
    {
        let mut stamp = Stamp::at(older.object.last_modified);
        while wanted.iter().any(|wanted| wanted.name == format!("{stamp}.db")) {
            stamp = stamp.next_second();
        }
        wanted.push(Wanted { from: older.object.clone(), name: format!("{stamp}.db") });
    }
    wanted
}

/// A sealed hold that already has exactly what is wanted. A hold that does not read is not equal to anything.
async fn equal_hold(store: &dyn ReadStore, seen: &BoxEvidence, wanted: &[Wanted]) -> Result<Option<Hold>, CommandError> {
    let mut want: Vec<(&str, &str)> =
        wanted.iter().map(|wanted| (wanted.from.key.as_str(), wanted.from.etag.as_str())).collect();
    want.sort_unstable();
    for held in seen.holds.iter().filter(|held| held.sealed) {
        let key = format!("{}{}", keys::hold(&seen.label, held.stamp), keys::HOLD_SEAL);
        let object = match store.get(&key, MAX_BYTES as u64).await {
            Ok(object) => object,
            Err(error) if error.is_missing() => continue,
            Err(error) => return Err(error.into()),
        };
        let Ok(hold) = serde_json::from_slice::<Hold>(&object.body) else { continue };
        let mut have: Vec<(&str, &str)> =
            hold.objects.iter().map(|held| (held.from.as_str(), held.from_etag.as_str())).collect();
        have.sort_unstable();
        let all_there = hold.objects.iter().all(|copy| held.objects.iter().any(|there| there.key == copy.object.key));
        if have == want && all_there {
            return Ok(Some(hold));
        }
    }
    Ok(None)
}

async fn sha256_of(store: &dyn ReadStore, key: &str, progress: &Progress) -> Result<String, CommandError> {
    let mut reader = store.open(key, None).await?;
    let mut hash = Sha256::new();
    while let Some(chunk) = reader.chunks.next().await? {
        hash.update(&chunk);
        progress.advance(chunk.len() as u64);
    }
    Ok(hex(&hash.finalize()))
}

async fn seal(store: &dyn WriteStore, hold: &Hold) -> Result<(), CommandError> {
    let key = format!("{}{}", keys::hold(&hold.label, hold.hold), keys::HOLD_SEAL);
    let body = serde_json::to_vec_pretty(hold).map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))?;
    store::create(store, &key, &body.into()).await?;
    Ok(())
}
