//! The receipt of a drill in the bucket. Its key says how it went, so that a listing alone shows the last drill of a box.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::view::Drilled;
use crate::finding::{self, Code, Finding};
use crate::platform::{Stamp, keys};
use crate::store::{self, StoreError, WriteStore};

/// How many names are tried.
const SECONDS_TRIED: i64 = 10;

/// The document. It says what the answer says, and where it was done.
#[derive(Serialize)]
struct Receipt<'a> {
    schema: &'static str,
    as_of: Timestamp,
    host: &'a str,
    #[serde(flatten)]
    drilled: &'a Drilled,
}

/// Writes the receipt. One whose second is taken gets the next. That it could not be written is a finding and no fault.
pub(super) async fn write(drilled: &mut Drilled, host: &str, now: Timestamp, store: &dyn WriteStore) {
    for second in 0..SECONDS_TRIED {
        let stamp = Stamp::at(now.saturating_add(SignedDuration::from_secs(second)).unwrap_or(now));
        let key = keys::drill(&drilled.label, stamp, drilled.verdict.word());
        drilled.receipt = Some(key.clone());
        let receipt = Receipt { schema: "carlosctl.drill-receipt/1", as_of: now, host, drilled };
        let body = match serde_json::to_vec_pretty(&receipt) {
            Ok(body) => body,
            Err(error) => return missing(drilled, &key, &error.to_string()),
        };
        match store::create(store, &key, &body.into()).await {
            Ok(_) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return missing(drilled, &key, &error.to_string()),
        }
    }
    missing(
        drilled,
        &keys::drill(&drilled.label.clone(), Stamp::at(now), drilled.verdict.word()),
        "every name of the next 10 seconds is taken, or so the store says",
    );
}

fn missing(drilled: &mut Drilled, subject: &str, because: &str) {
    drilled.receipt = None;
    drilled.findings.push(
        Finding::warning(
            Code::ReceiptNotStored,
            subject,
            format!("the drill is done, and its receipt could not be written: {because}"),
        )
        .hint("where this identity may only read: --no-receipt"),
    );
    finding::sort(&mut drilled.findings);
}
