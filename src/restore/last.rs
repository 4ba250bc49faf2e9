//! The receipts beside the registry, read again: what was restored last, and whether it was taken back.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use super::restore_command;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::host::private;
use crate::host::target::Target;
use crate::platform::document::{Document, MAX_BYTES};
use crate::platform::{Label, Stamp};
use crate::snapshot;
use crate::store::ObjectMeta;

/// What was done last to a registry, as its receipt says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Last {
    /// It was restored.
    Restored(Restored),
    /// The restore before was taken back.
    TakenBack {
        /// When.
        at: Timestamp,
        /// The receipt's file name.
        receipt: String,
        /// What was taken back, where its own receipt is there.
        was: Option<Restored>,
    },
}

/// A restore, as its receipt says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Restored {
    /// Whose registry it was.
    pub(crate) from_box: Label,
    /// The box that it was restored on, where that is told.
    pub(crate) this_box: Option<Label>,
    /// When.
    pub(crate) at: Timestamp,
    /// The selector that names what was chosen.
    pub(crate) chosen: String,
    /// The object that was installed; none when it was a file.
    pub(crate) object: Option<ObjectMeta>,
    /// How many routes it has.
    pub(crate) routes: Option<u64>,
    /// Where what it replaced is kept; none where nothing was there.
    pub(crate) before: Option<PathBuf>,
}

impl Restored {
    /// Whether the dead box itself was rebuilt under its label.
    pub(crate) fn same_label(&self) -> bool {
        self.this_box.as_ref() == Some(&self.from_box)
    }

    /// The command that does it again.
    pub(crate) fn again(&self) -> String {
        restore_command(&self.from_box, &self.chosen, self.same_label())
    }
}

/// The part of a receipt that is read again.
#[derive(Deserialize)]
struct Receipt {
    as_of: Timestamp,
    outcome: String,
    from_box: Option<Label>,
    this_box: Option<Label>,
    at: Option<String>,
    object: Option<ObjectMeta>,
    rows: Option<BTreeMap<String, u64>>,
    before: Option<PathBuf>,
}

impl Receipt {
    fn restored(self) -> Option<Restored> {
        let Self { as_of, outcome, from_box, this_box, at, object, rows, before } = self;
        let routes = rows.and_then(|rows| rows.get("routes").copied());
        (outcome == "installed").then_some(())?;
        Some(Restored { from_box: from_box?, this_box, at: as_of, chosen: at?, object, routes, before })
    }
}

/// What was done last to this registry.
///
/// # Errors
/// The disk's; refused for a newest receipt that does not read.
pub(crate) fn last(target: &Target) -> Result<Option<Last>, CommandError> {
    let Some(path) = receipts(target)?.pop() else { return Ok(None) };
    let receipt = read(&path)?;
    if receipt.outcome != "undone" {
        return Ok(receipt.restored().map(Last::Restored));
    }
    let was = receipt.at.and_then(|before| replaced(target, OsStr::new(&before)));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(Last::TakenBack { at: receipt.as_of, receipt: name, was }))
}

/// The restore that replaced the registry which is now called `before`, where its receipt is there and reads.
pub(super) fn replaced(target: &Target, before: &OsStr) -> Option<Restored> {
    let kept = |receipt: &Receipt| receipt.before.as_deref().and_then(Path::file_name) == Some(before);
    let newest_first = receipts(target).ok()?.into_iter().rev();
    newest_first.filter_map(|path| read(&path).ok()).filter(kept).find_map(Receipt::restored)
}

/// The receipts beside a registry, oldest first.
fn receipts(target: &Target) -> Result<Vec<PathBuf>, CommandError> {
    let prefix = format!("{}.restore-", target.base());
    let names = match std::fs::read_dir(target.directory()) {
        Ok(names) => names,
        Err(error) => return Err(snapshot::disk(target.directory(), &error)),
    };
    let is_receipt = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(&prefix));
        name.and_then(|name| name.strip_suffix(".json")).is_some_and(|stamp| stamp.parse::<Stamp>().is_ok())
    };
    let mut receipts: Vec<PathBuf> = names.filter_map(|entry| Some(entry.ok()?.path())).filter(is_receipt).collect();
    receipts.sort();
    Ok(receipts)
}

fn read(path: &Path) -> Result<Receipt, CommandError> {
    let name = path.display().to_string();
    let body = private::read_own(path, MAX_BYTES as u64).map_err(|error| snapshot::disk(path, &error))?;
    let unreadable = |error: &dyn std::fmt::Display| CommandError::new(Exit::Refused, format!("{error}; nothing was watched"));
    Document::parse(&name, &body).map_err(|error| unreadable(&error))?;
    serde_json::from_slice(&body).map_err(|error| unreadable(&format!("{name}: {error}")))
}
