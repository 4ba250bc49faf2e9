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

/// The registry that an undo would put back: the one that the last restore replaced.
#[must_use]
pub fn newest_before(target: &Target) -> Option<(Kept, PathBuf)> {
    let newest = target.ours.iter().filter_map(|other| match other.beside {
        Some(Beside::Kept { kept, side: false }) if kept.reason == Reason::Before => Some(kept),
        _ => None,
    });
    newest.max().map(|kept| (kept, target.directory().join(names::kept(target.base(), kept))))
}

/// Puts the newest `before-<stamp>` back at the path of `interlock`.
///
/// # Errors
/// See [`InstallError`].
pub fn undo(target: &Target, interlock: &Interlock, stamp: Stamp) -> Result<Undone, InstallError> {
    if target.path != interlock.path() {
        return Err(InterlockError::Replaced { path: target.path.clone() }.into());
    }
    let path = interlock.path();
    recover(interlock)?;
    let target = Target::look(path).map_err(|error| InstallError::at("looking again", path)(std::io::Error::other(error)))?;
    let Some((origin, from)) = newest_before(&target) else {
        return Err(InstallError::NothingToUndo { path: path.to_owned() });
    };
    let incoming = own_file(&from)?;
    let folded = fold(interlock)?;
    let exchange = Exchange { path: path.to_owned(), kept: next(path, Reason::Undone, stamp)?, incoming, origin: Some(origin) };
    let kept = exchange.run(&from, interlock, &folded)?;
    let strays = kept.as_deref().map_or_else(Holders::default, |kept| strays(path, kept));
    Ok(Undone { path: path.to_owned(), from, kept, strays })
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
