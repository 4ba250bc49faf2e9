//! Releasing a hold: the one way in which this program deletes a copy of a snapshot.

use jiff::Timestamp;
use serde::Serialize;

use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::{Label, Stamp, keys};
use crate::snapshot::look::look;
use crate::snapshot::select::Selector;
use crate::store::WriteStore;
use crate::terminal::{self, Consent, Paper};

#[derive(Debug, Serialize)]
struct Released {
    #[serde(rename = "box")]
    label: Label,
    hold: Stamp,
    deleted: Vec<String>,
}

/// Runs `snapshot hold release`.
///
/// # Errors
/// Not found, not confirmed, or the store's.
pub(super) async fn run(
    label: &Label,
    hold: Stamp,
    confirm: Option<&str>,
    context: &mut Context<'_>,
) -> Result<Exit, CommandError> {
    let now: Timestamp = context.now();
    let look = look(context, label, &[&Selector::Current]).await?;
    let held = look.seen.holds.iter().find(|held| held.stamp == hold).ok_or_else(|| {
        let there: Vec<String> = look.seen.holds.iter().map(|held| held.stamp.to_string()).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        CommandError::new(Exit::NotFound, format!("box {label}: no hold {hold}; there is: {there}"))
    })?;
    context.say(&format!(
        "hold {hold} of box {label}: {} of {} will be deleted for good",
        terminal::count(held.objects.len() as u64, "object"),
        terminal::bytes(held.objects.iter().map(|object| object.bytes).sum())
    ));
    let consent = context.consent(&format!("deleting hold {hold}"), label.as_str(), confirm)?;
    let store = context.deployment_for_writing().await?;
    let _acting = context.world.acting.begin().await;
    let deleted = delete(store.as_ref(), label, hold, &consent).await?;
    context.answer(&Released { label: label.clone(), hold, deleted }, now)?;
    Ok(Exit::Done)
}

/// Deletes the seal first, so that a release that is cut short leaves a hold that nobody trusts.
async fn delete(store: &dyn WriteStore, label: &Label, hold: Stamp, _consent: &Consent) -> Result<Vec<String>, CommandError> {
    let prefix = keys::hold(label, hold);
    let seal = format!("{prefix}{}", keys::HOLD_SEAL);
    let mut keys: Vec<String> =
        store.list(&prefix).await?.into_iter().map(|object| object.key).filter(|key| *key != seal).collect();
    keys.insert(0, seal);
    for key in &keys {
        store.delete(key).await?;
    }
    Ok(keys)
}

impl Answer for Released {
    const SCHEMA: &'static str = "carlosctl.snapshot-hold-release/1";

    fn text(&self, _: Paper) -> String {
        format!("released hold {} of box {}: {} objects deleted\n", self.hold, self.label, self.deleted.len())
    }
}
