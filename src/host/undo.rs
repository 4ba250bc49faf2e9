//! Undo: the registry that the last restore replaced comes back, by the same exchange and under the same interlock, and what
//! it replaces is kept as `undone-<stamp>`.
//!
//! It is the kept file itself that comes back, with its owner and mode: nothing is copied, and no room is needed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::exchange::Exchange;
use super::fold::fold;
use super::holders::Holders;
use super::install::{InstallError, next, strays};
use super::interlock::{Interlock, InterlockError};
use super::names::{self, Beside, Kept, Reason, SIDES};
use super::recover::recover;
use super::steps;
use super::target::Target;
use crate::platform::Stamp;

/// An undo that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The registry's path.
    pub path: PathBuf,
    /// What the registry that came back was called.
    pub from: PathBuf,
    /// Where the registry is that it replaced, where there was one.
    pub kept: Option<PathBuf>,
    /// Processes that still have the replaced registry open; see [`super::install::Installed::strays`].
    pub strays: Holders,
}

/// The registry that an undo puts back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Which it is.
    pub kept: Kept,
    /// What it is called.
    pub name: PathBuf,
    /// Where it is: under its name, or where an undo that was cut off had it.
    pub file: PathBuf,
    /// Where an undo that was cut off had put it in place already: what the registry is called that it replaced.
    pub in_place_of: Option<PathBuf>,
}

/// The registry that an undo puts back: the one that the last restore replaced. An undo that was cut off comes first, else
/// the one that comes again would go back one restore further.
#[must_use]
pub fn candidate(target: &Target) -> Option<Candidate> {
    let named = |kept: Kept| target.directory().join(names::kept(target.base(), kept));
    let cut_off = target.ours.iter().find_map(|other| match other.beside {
        Some(Beside::Swap { kept, incoming, origin: Some(origin) }) => Some((kept, incoming, origin)),
        _ => None,
    });
    if let Some((kept, incoming, origin)) = cut_off {
        let exchange = Exchange { path: target.path.clone(), kept, incoming, origin: Some(origin) };
        let in_place = exchange.in_place().unwrap_or(false);
        let file = if in_place { target.path.clone() } else { exchange.swap_path() };
        return Some(Candidate { kept: origin, name: named(origin), file, in_place_of: in_place.then(|| named(kept)) });
    }
    newest_before(target).map(|(kept, name)| Candidate { kept, file: name.clone(), name, in_place_of: None })
}

/// The registry that the last restore replaced.
#[must_use]
pub fn newest_before(target: &Target) -> Option<(Kept, PathBuf)> {
    kept_here(target, Reason::Before).max().map(|kept| (kept, target.directory().join(names::kept(target.base(), kept))))
}

/// When an undo put a registry back here for the last time: one more goes back one restore further.
#[must_use]
pub fn last_undone(target: &Target) -> Option<Stamp> {
    kept_here(target, Reason::Undone).max().map(|kept| kept.stamp)
}

fn kept_here(target: &Target, reason: Reason) -> impl Iterator<Item = Kept> + '_ {
    target.ours.iter().filter_map(move |other| match other.beside {
        Some(Beside::Kept { kept, side: false }) if kept.reason == reason => Some(kept),
        _ => None,
    })
}

/// Puts `wanted` back at the path of `interlock`, or completes the undo of it that was cut off.
///
/// # Errors
/// See [`InstallError`]; also where it is no longer the one that an undo puts back.
pub fn undo(target: &Target, interlock: &Interlock, stamp: Stamp, wanted: Kept) -> Result<Undone, InstallError> {
    if target.path != interlock.path() {
        return Err(InterlockError::Replaced { path: target.path.clone() }.into());
    }
    let path = interlock.path();
    let Candidate { name: from, in_place_of, .. } = found(path, wanted)?;
    recover(interlock)?;
    if let Some(kept) = in_place_of {
        let strays = strays(path, &kept);
        return Ok(Undone { path: path.to_owned(), from, kept: Some(kept), strays });
    }
    // What looked like a kept registry may have been a second name that a killed run left.
    found(path, wanted)?;
    let incoming = own_file(&from)?;
    let folded = fold(interlock)?;
    let exchange = Exchange { path: path.to_owned(), kept: next(path, Reason::Undone, stamp)?, incoming, origin: Some(wanted) };
    let kept = exchange.run(&from, interlock, &folded)?;
    let strays = kept.as_deref().map_or_else(Holders::default, |kept| strays(path, kept));
    Ok(Undone { path: path.to_owned(), from, kept, strays })
}

/// What an undo at `path` puts back, if that is `wanted`.
fn found(path: &Path, wanted: Kept) -> Result<Candidate, InstallError> {
    let target = Target::look(path).map_err(|error| InstallError::at("looking again", path)(std::io::Error::other(error)))?;
    let found = candidate(&target).ok_or_else(|| InstallError::NothingToUndo { path: path.to_owned() })?;
    if found.kept == wanted {
        return Ok(found);
    }
    Err(InstallError::OtherToUndo { path: path.to_owned(), wanted, found: found.kept })
}

/// The inode of a kept registry that is one file, all of it, and nobody else's.
fn own_file(path: &Path) -> Result<u64, InstallError> {
    let at = || InstallError::at("looking at the kept registry", path);
    let metadata = path.symlink_metadata().map_err(at())?;
    let mut whole = metadata.is_file() && metadata.nlink() == 1;
    for side in SIDES {
        whole &= steps::identity(&steps::with_end(path, side)).map_err(at())?.is_none();
    }
    if whole { Ok(metadata.ino()) } else { Err(InstallError::KeptAsSet { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests;
