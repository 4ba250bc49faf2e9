//! The nonce before the first deletion, and the receipt after the last (formats.md section 7).

use jiff::Timestamp;
use serde::Serialize;

use super::answer::{Counts, Ran, Receipted};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Code, Finding};
use crate::platform::{Label, Stamp, keys};
use crate::retention::evidence::View;
use crate::retention::evidence_file::json;
use crate::retention::plan::{Header, random};
use crate::store::{self, StoreError, WriteStore};

/// Whether a plan was used already.
///
/// # Errors
/// The store's.
pub(super) async fn is_claimed(store: &dyn WriteStore, nonce: &str) -> Result<bool, CommandError> {
    match store.head(&keys::retention_claim(nonce)).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Uses a plan up, before anything is deleted.
///
/// # Errors
/// Changed (exit 7) where somebody did so before; else the store's.
pub(super) async fn claim(store: &dyn WriteStore, plan: &Header, host: &str, now: Timestamp) -> Result<(), CommandError> {
    #[derive(Serialize)]
    struct Claim<'a> {
        schema: &'static str,
        at: Timestamp,
        nonce: &'a str,
        host: &'a str,
        /// Of this run only: an equal body read back is then ours, and nobody else's.
        run: String,
    }
    let claim = Claim { schema: "carlosctl.retention-claim/1", at: now, nonce: plan.nonce(), host, run: random()? };
    let key = keys::retention_claim(plan.nonce());
    match store::create(store, &key, &json(&claim)?.into_bytes().into()).await {
        Ok(_) => Ok(()),
        Err(StoreError::Conflict { .. }) => {
            Err(CommandError::new(Exit::Changed, format!("the plan was used already ({key}); nothing was deleted"))
                .hint(plan.again()))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Serialize)]
struct Receipt<'a> {
    schema: &'static str,
    as_of: Timestamp,
    host: &'a str,
    store: String,
    nonce: &'a str,
    planned_at: Timestamp,
    view: &'a View,
    without_boxes: &'a [Label],
    /// Whether every deletion was of one exact etag.
    exact: bool,
    apps: Vec<Receipted<'a>>,
    counts: Counts,
}

/// Writes the receipt. Everything is deleted by now, so a receipt that could not be written is a finding and no fault.
pub(super) async fn write(ran: &mut Ran, header: &Header, is_exact: bool, store: &dyn WriteStore, host: &str, now: Timestamp) {
    let key = keys::retention_receipt(Stamp::at(now), header.nonce());
    let (apps, counts) = ran.receipted();
    let receipt = Receipt {
        schema: "carlosctl.retention-receipt/1",
        as_of: now,
        host,
        store: store.describe(),
        nonce: header.nonce(),
        planned_at: header.created_at(),
        view: header.view(),
        without_boxes: header.without_boxes(),
        exact: is_exact,
        apps,
        counts,
    };
    let written = match json(&receipt) {
        Ok(body) => store::create(store, &key, &body.into_bytes().into()).await.map(|_| ()).map_err(|error| error.to_string()),
        Err(error) => Err(error.message),
    };
    match written {
        Ok(()) => ran.written(key),
        Err(because) => ran.find(Finding::warning(
            Code::ReceiptNotStored,
            key,
            format!("the versions are deleted, and the receipt could not be written: {because}"),
        )),
    }
}
