//! The receipt of a restore: what was installed, from where, over what, and what was allowed (formats.md section 7).

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::view::Answered;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Code, Finding};
use crate::platform::{Stamp, keys};
use crate::store::{self, Body, StoreError, WriteStore};

/// How often the bucket may call a name taken that is free beside the registry: a store that says so of every name is not to be
/// asked for ever.
const CONFLICTS_BORNE: u32 = 10;

/// The document. It says what the answer says, and who did it.
#[derive(Serialize)]
struct Receipt<'a> {
    schema: &'static str,
    as_of: Timestamp,
    host: &'a str,
    allowed: &'a [Code],
    #[serde(flatten)]
    answered: &'a Answered,
}

/// Writes the receipt beside the registry and into the bucket. The restore is done by now, so a receipt that could not be
/// written is a finding and no fault. Receipts are create-only: one whose second is taken gets the next.
pub(super) async fn write(
    answered: &mut Answered,
    host: &str,
    allowed: &[Code],
    now: Timestamp,
    store: Result<&dyn WriteStore, CommandError>,
) {
    let standby = answered.this_box.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
    let mut conflicts = 0;
    let seconds = (0..).map(|second| now.saturating_add(SignedDuration::from_secs(second)).unwrap_or(now));
    for stamp in seconds.map(Stamp::at) {
        let file = receipt_file(&answered.target, stamp);
        if file.symlink_metadata().is_ok() {
            continue;
        }
        let key = keys::restore_receipt(&standby, stamp);
        answered.receipt_file = Some(file.clone());
        answered.receipt = Some(key.clone());
        let receipt = Receipt { schema: "carlosctl.restore-receipt/1", as_of: now, host, allowed, answered };
        let body = match serde_json::to_vec_pretty(&receipt) {
            Ok(body) => body,
            Err(error) => return missing(answered, "receipt", &error.to_string(), true, true),
        };
        let stored = match store {
            Ok(store) => store::create(store, &key, &Body::from(body.clone())).await.map(|_| ()),
            Err(ref error) => {
                missing(answered, &key, &error.message, false, true);
                Ok(())
            }
        };
        match stored {
            Err(StoreError::Conflict { .. }) if conflicts < CONFLICTS_BORNE => {
                conflicts += 1;
                continue;
            }
            Err(error) => missing(answered, &key, &error.to_string(), false, true),
            Ok(()) => {}
        }
        if let Err(error) = beside(&file, &body) {
            missing(answered, &file.display().to_string(), &error.to_string(), true, false);
        }
        return;
    }
}

fn missing(answered: &mut Answered, subject: &str, because: &str, file: bool, bucket: bool) {
    answered.findings.push(Finding::warning(
        Code::ReceiptNotStored,
        subject,
        format!("the registry is in place, and this receipt could not be written: {because}"),
    ));
    if file {
        answered.receipt_file = None::<PathBuf>;
    }
    if bucket {
        answered.receipt = None;
    }
}

/// Beside the registry, under its name.
fn receipt_file(registry: &Path, stamp: Stamp) -> PathBuf {
    let mut name = registry.as_os_str().to_owned();
    name.push(format!(".restore-{stamp}.json"));
    name.into()
}

/// A file of its own, 0600, whole or not there. What root writes here stays readable for the service that lives here.
fn beside(path: &Path, body: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut staged = tempfile::Builder::new().prefix(".carlosctl-receipt-").tempfile_in(directory)?;
    if let Ok(facts) = directory.metadata() {
        let (uid, gid) = (rustix::fs::Uid::from_raw(facts.uid()), rustix::fs::Gid::from_raw(facts.gid()));
        // Only root can; for anyone else the file is their own.
        let _ = rustix::fs::fchown(staged.as_file(), Some(uid), Some(gid));
    }
    staged.write_all(body)?;
    staged.as_file().sync_all()?;
    staged.persist_noclobber(path).map_err(|error| error.error)?;
    std::fs::File::open(directory)?.sync_all()
}

/// What an exit becomes when the receipt is not where it should be: done, but not all of it.
pub(super) fn exit(answered: &Answered) -> Exit {
    if answered.receipt.is_some() && answered.receipt_file.is_some() { Exit::Done } else { Exit::Partly }
}
