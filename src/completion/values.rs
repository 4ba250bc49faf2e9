//! What only the store knows, for the scripts: one a line, or nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Wanted;
use super::line::Line;
use crate::context::Context;
use crate::platform::keys::{self, SnapshotKey};
use crate::platform::{Label, Stamp};
use crate::store::{ReadStore, StoreError};
use crate::world::{Recorder, World};

/// By this the scripts are told from people. No command begins so.
const ASKS: &str = "__complete";
/// How long a shell may be kept waiting.
const PATIENCE: Duration = Duration::from_millis(900);

/// What the scripts ask: `carlosctl __complete boxes 'carlosctl restore --from-box ed'`.
#[derive(Debug)]
pub(crate) struct Question {
    wanted: Wanted,
    /// The line that is being typed, up to the cursor.
    line: String,
}

impl Question {
    /// The question, where the arguments are one.
    pub(crate) fn read(args: &[OsString]) -> Option<Self> {
        let [_, asks, wanted, line] = args else { return None };
        let wanted = Wanted::ALL.into_iter().find(|other| other.word() == wanted)?;
        (asks == ASKS).then(|| Self { wanted, line: line.to_string_lossy().into_owned() })
    }

    /// Prints what may be typed next. Whatever goes wrong is silence: a shell is in the middle of a line.
    pub(crate) async fn answer(&self, world: &mut World) {
        // Without a terminal of its own, nothing that this starts, a helper for credentials say, can ask for anything there. It
        // fails only where there was no shell that waits.
        let _ = rustix::process::setsid();
        // What hangs is left behind, and not waited for.
        world.patience = Duration::ZERO;
        let (wanted, line, env, now) = (self.wanted, self.line.clone(), world.env.clone(), (world.now)());
        let (answered, answer) = oneshot::channel();
        // On a thread of its own: a settings file may be a pipe, or on a disk that is gone, and then even opening it hangs.
        std::thread::spawn(move || {
            let nobody = Recorder::default();
            let mut world = World::scripted(env, move || now, &nobody, &nobody);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let values = runtime.ok().and_then(|runtime| runtime.block_on(find(wanted, &line, &mut world)));
            let _ = answered.send(values);
        });
        if let Ok(Ok(Some(values))) = tokio::time::timeout(PATIENCE, answer).await {
            let text = values.into_iter().map(|value| value + "\n").collect::<String>();
            let _ = world.out.write_all(text.as_bytes()).and_then(|()| world.out.flush());
        }
    }
}

/// Everything that may be typed there; `None` where it cannot be told.
async fn find(wanted: Wanted, line: &str, world: &mut World) -> Option<Vec<String>> {
    let Line { global, env, label } = Line::read(line, world.env.get("HOME").map(String::as_str))?;
    world.env.extend(env);
    let context = Context::new(&global, world).ok()?;
    let store = context.deployment().await.ok()?;
    values(wanted, label.as_ref(), store.as_ref()).await.ok()
}

async fn values(wanted: Wanted, label: Option<&Label>, store: &dyn ReadStore) -> Result<Vec<String>, StoreError> {
    match (wanted, label) {
        (Wanted::Boxes, _) => boxes(store).await,
        (Wanted::Snapshots, Some(label)) => {
            let fixed = ["current", "good"].map(str::to_owned).into_iter();
            Ok(fixed.chain(newest_first(generations(label, store).await?)).collect())
        }
        (Wanted::Holds, Some(label)) => Ok(newest_first(holds(label, store).await?)),
        (Wanted::Snapshots | Wanted::Holds, None) => Ok(Vec::new()),
    }
}

/// Every box that has a current snapshot or generations.
async fn boxes(store: &dyn ReadStore) -> Result<Vec<String>, StoreError> {
    let (current, generations) = tokio::try_join!(store.list(keys::SNAPSHOTS), store.list_dirs(keys::GENERATIONS))?;
    let mut labels = BTreeSet::new();
    for object in current {
        if let SnapshotKey::Current(label) = keys::read_snapshot_key(&object.key) {
            labels.insert(label);
        }
    }
    labels.extend(generations.iter().filter_map(|prefix| last_segment::<Label>(prefix)));
    Ok(labels.iter().map(ToString::to_string).collect())
}

async fn generations(label: &Label, store: &dyn ReadStore) -> Result<Vec<Stamp>, StoreError> {
    let objects = store.list(&keys::generations(label)).await?;
    let stamp = |key: &str| match keys::read_snapshot_key(key) {
        SnapshotKey::Generation(_, stamp) => Some(stamp),
        _ => None,
    };
    Ok(objects.iter().filter_map(|object| stamp(&object.key)).collect())
}

async fn holds(label: &Label, store: &dyn ReadStore) -> Result<Vec<Stamp>, StoreError> {
    let directories = store.list_dirs(&keys::holds(label)).await?;
    Ok(directories.iter().filter_map(|prefix| last_segment(prefix)).collect())
}

fn newest_first(mut stamps: Vec<Stamp>) -> Vec<String> {
    stamps.sort_unstable();
    stamps.iter().rev().map(ToString::to_string).collect()
}

/// The name of a "directory", where it is one of ours.
fn last_segment<T: std::str::FromStr>(prefix: &str) -> Option<T> {
    prefix.strip_suffix('/')?.rsplit('/').next()?.parse().ok()
}
