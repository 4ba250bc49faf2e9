//! Installing a staged registry: at every instant, and after a kill or a failing disk at any step, an ordinary open of the
//! path sees the complete old registry or the complete new one, and running the command again converges.
//!
//! The order, and why a cut between any two steps is harmless:
//!
//! 1. End what a killed run left ([`super::recover`]). The old registry is at the path.
//! 2. Give the staged file its owner, mode and label, and make it durable. It is in its private directory; the old registry is
//!    at the path.
//! 3. Fold the old registry under the exclusive lock (`fold`): SQLite's own steps, each of which SQLite recovers
//!    from. The old registry is at the path, at first with side files, then without.
//! 4. Exchange (`exchange`). No side file is beside either of the two, so they cannot be mixed.
//! 5. Give the old registry its kept name, make the names durable, and look whether somebody waited for the old one.
//!
//! An old registry that SQLite cannot open for writing cannot be folded. It and its side files are kept together as they are:
//! they are moved before the exchange, so that between the two a kill leaves the unreadable database alone at the path; the
//! next run puts the side files back and begins again. They are never beside the new one.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Gid, Uid, XattrFlags};
use rustix::io::{Errno, retry_on_intr};

use super::exchange::Exchange;
use super::fold::fold;
use super::holders::{self, Holders};
use super::interlock::{Interlock, InterlockError};
use super::names::{self, Kept, Reason};
use super::recover::recover;
use super::stage::Staged;
use super::target::Target;
use crate::platform::Stamp;

/// What else than owner and mode a file keeps: its `SELinux` label, and its access control list.
const KEPT_ATTRIBUTES: [&str; 2] = ["security.selinux", "system.posix_acl_access"];

/// Longer than an agent waits for a lock.
const STRAY_LOOKS: u32 = 32;
const STRAY_PAUSE: Duration = Duration::from_millis(200);

/// An install that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The registry's path.
    pub path: PathBuf,
    /// Where the replaced registry is, where there was one.
    pub before: Option<PathBuf>,
    /// Processes that still have the replaced registry open: they opened it while it was locked, and must be stopped before
    /// anything else, because SQLite finds side files by path.
    pub strays: Holders,
    /// Attributes of the old file that the new one could not be given, with the reason; `restorecon` helps with a label.
    pub attributes_lost: Vec<String>,
}

/// Why it was not installed. Except for [`InstallError::Unfinished`] everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The interlock is another registry's, or was lost.
    #[error(transparent)]
    Interlock(#[from] InterlockError),
    /// The new file cannot get the owner of the old one.
    #[error("{}: cannot be given to uid {uid}, gid {gid}: {source}", path.display())]
    Owner {
        /// The registry.
        path: PathBuf,
        /// The owner that it must have.
        uid: u32,
        /// The group that it must have.
        gid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The old registry's WAL could not be written into it, and that may be different the next time.
    #[error("{}: the old registry could not be folded: {source}", path.display())]
    Fold {
        /// The registry.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The filesystem can neither exchange two names nor give a file a second one.
    #[error("{}: this filesystem cannot replace the registry in one step: {source}", path.display())]
    NoExchange {
        /// The registry.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something left side files beside the staged registry, so its bytes are not all of it.
    #[error("{}: the staged registry has side files: {}", path.display(), sides.join(", "))]
    StagedSides {
        /// The staged file.
        path: PathBuf,
        /// The ends of their names.
        sides: Vec<&'static str>,
    },
    /// Undo found no registry to put back.
    #[error("{}: no registry was kept beside it", path.display())]
    NothingToUndo {
        /// The registry.
        path: PathBuf,
    },
    /// Undo would put back another registry than the one that was shown.
    #[error("{}: {found} is what an undo puts back now, not {wanted}", path.display())]
    OtherToUndo {
        /// The registry.
        path: PathBuf,
        /// What was shown.
        wanted: super::names::Kept,
        /// What there is.
        found: super::names::Kept,
    },
    /// The kept registry could not be folded when it was replaced, so it is several files, and several files cannot be
    /// exchanged at once.
    #[error("{}: was kept with its side files, or is no file of its own, and has to be put back by hand", path.display())]
    KeptAsSet {
        /// The kept registry.
        path: PathBuf,
    },
    /// A step failed.
    #[error("{}: {what}: {source}", path.display())]
    Step {
        /// What was being done.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A step failed, and so did taking back or completing the ones before. Running the command again ends it.
    #[error("{}: {}, and not every step could be ended: {source}", path.display(), which(*in_place))]
    Unfinished {
        /// The registry.
        path: PathBuf,
        /// Whether the new registry is at the path; none where that cannot be told.
        in_place: Option<bool>,
        /// What the system said.
        source: io::Error,
    },
}

impl InstallError {
    /// For `map_err`: a step that failed.
    pub(super) fn at(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Step { what, path, source }
    }

    /// Whether the new registry is at the path all the same; none where that cannot be told.
    #[must_use]
    pub fn in_place(&self) -> Option<bool> {
        if let Self::Unfinished { in_place, .. } = self { *in_place } else { Some(false) }
    }
}

fn which(in_place: Option<bool>) -> &'static str {
    match in_place {
        Some(true) => "the new registry is in place",
        Some(false) => "the old registry is in place",
        None => "it cannot be told whether the old or the new registry is in place",
    }
}

/// Puts `staged` at the path of `interlock`, and keeps what was there as `before-<stamp>`.
///
/// # Errors
/// See [`InstallError`].
pub fn install(staged: Staged, target: &Target, interlock: &Interlock, stamp: Stamp) -> Result<Installed, InstallError> {
    if target.path != interlock.path() {
        return Err(InterlockError::Replaced { path: target.path.clone() }.into());
    }
    let path = interlock.path();
    recover(interlock)?;
    let sides = staged.sides().map_err(InstallError::at("looking at the staged registry", path))?;
    if !sides.is_empty() {
        return Err(InstallError::StagedSides { path: staged.path().to_owned(), sides });
    }
    let attributes_lost = adopt(&staged, path)?;
    staged.file().sync_all().map_err(InstallError::at("making the staged registry durable", path))?;
    let folded = fold(interlock)?;
    let (_, incoming) = staged.identity();
    let exchange = Exchange { path: path.to_owned(), kept: next(path, Reason::Before, stamp)?, incoming, origin: None };
    let before = exchange.run(staged.path(), interlock, &folded)?;
    drop(staged);
    let strays = before.as_deref().map_or_else(Holders::default, |before| strays(path, before));
    Ok(Installed { path: path.to_owned(), before, strays, attributes_lost })
}

/// A name for the registry that is replaced.
pub(super) fn next(path: &Path, reason: Reason, stamp: Stamp) -> Result<Kept, InstallError> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let base = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let there = names::list(directory, base).map_err(InstallError::at("listing the directory", directory))?;
    Ok(Kept::next(reason, stamp, &there))
}

/// Waits until nobody has the replaced registry open any more. As long as the interlock is held they cannot read or write it,
/// so they give up; who does not is named.
pub(super) fn strays(path: &Path, replaced: &Path) -> Holders {
    let name = replaced.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut looks = 1;
    loop {
        let Ok(target) = Target::look(path) else { return Holders { some_hidden: true, ..Holders::default() } };
        let mut strays = holders::scan(Path::new(holders::PROC), &target);
        strays.found.retain(|holder| holder.files.iter().any(|file| file == name));
        if strays.found.is_empty() || looks == STRAY_LOOKS {
            return strays;
        }
        looks += 1;
        std::thread::sleep(STRAY_PAUSE);
    }
}

/// Gives the staged file the owner, mode and attributes of the registry at `path`; where there is none, its directory's owner
/// and mode 0600. Owner first, so that the file is never readable by more than it will be.
fn adopt(staged: &Staged, path: &Path) -> Result<Vec<String>, InstallError> {
    let at = || InstallError::at("looking at the registry", path);
    let file = staged.file();
    let old = match path.symlink_metadata() {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(at()(error)),
    };
    let (uid, gid, mode) = if let Some(old) = &old {
        (old.uid(), old.gid(), old.mode() & 0o777)
    } else {
        let directory = path.parent().unwrap_or(Path::new("/")).metadata().map_err(at())?;
        (directory.uid(), directory.gid(), 0o600)
    };
    let now = file.metadata().map_err(at())?;
    if (now.uid(), now.gid()) != (uid, gid) {
        retry_on_intr(|| rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))))
            .map_err(|errno| InstallError::Owner { path: path.to_owned(), uid, gid, source: errno.into() })?;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode)).map_err(InstallError::at("setting the mode", path))?;
    let mut lost = Vec::new();
    if old.is_some() {
        for name in KEPT_ATTRIBUTES {
            if let Err(error) = copy_attribute(path, file, name) {
                lost.push(format!("{name}: {}", io::Error::from(error)));
            }
        }
    }
    Ok(lost)
}

/// By path on the old file: opening and closing it would give our lock on it back.
fn copy_attribute(from: &Path, to: &std::fs::File, name: &str) -> Result<(), Errno> {
    let mut value = vec![0; 64 * 1024];
    match rustix::fs::lgetxattr(from, name, &mut value) {
        Ok(bytes) => value.truncate(bytes),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => return Ok(()),
        Err(error) => return Err(error),
    }
    rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())
}

#[cfg(test)]
mod tests;
