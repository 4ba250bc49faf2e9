//! The exchange: a registry takes the place of another in one step, and whoever comes after a kill can tell how far it got.
//!
//! The registry that is to be put in place first gets a name beside it, `<kept name>.swap-<its inode>`. Then the two names
//! are exchanged, and then the replaced registry, which now has the swap name, gets its kept name. At every moment the inode
//! behind the swap name says on which side of the exchange we are: it is the one in the name before, another one after.
//! Nothing else has to be written down, nothing is overwritten, and nothing that was at the path is ever without a name.
//!
//! Where a filesystem cannot exchange, the old registry gets its kept name as a second name and is then replaced.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fold::Folded;
use super::install::InstallError;
use super::interlock::{Interlock, InterlockError};
use super::names::{self, Kept, SIDES};
use super::steps;

/// A registry that takes the place of another, and the names that both have on the way.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The registry's path.
    pub(super) path: PathBuf,
    /// What the replaced registry will be called.
    pub(super) kept: Kept,
    /// The inode of the one that takes its place.
    pub(super) incoming: u64,
    /// Where that one goes back to when nothing comes of it: none for a staged one, which can be fetched again.
    pub(super) origin: Option<Kept>,
}

/// On which side of the exchange the names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The old registry is at the path, and nothing is left of the attempt.
    Before,
    /// The new one is, and the old one has its kept name.
    After,
}

impl Exchange {
    /// Puts the registry that is now called `from` in place. Returns what the replaced one is called, where there was one.
    ///
    /// # Errors
    /// Everything is as it was, unless the error is [`InstallError::Unfinished`].
    pub(super) fn run(&self, from: &Path, interlock: &Interlock, folded: &Folded) -> Result<Option<PathBuf>, InstallError> {
        let done = match folded {
            Folded::Absent => self.fill(from).map_err(InstallError::at("putting the registry in place", &self.path)),
            Folded::Whole => self.swap(from, interlock, false),
            Folded::AsItIs => self.swap(from, interlock, true),
        };
        // Also after an error: what the names say counts, and a second look costs nothing when the first was cut short.
        let settled = self.settle().or_else(|_| self.settle());
        match (settled, done) {
            (Ok(Side::After), _) => Ok((*folded != Folded::Absent).then(|| self.kept_path())),
            (Ok(Side::Before), Err(error)) => Err(error),
            (Ok(Side::Before), Ok(())) => Err(InterlockError::Replaced { path: self.path.clone() }.into()),
            (Err(source), _) => {
                Err(InstallError::Unfinished { path: self.path.clone(), in_place: self.in_place().ok(), source })
            }
        }
    }

    /// Nothing is at the path. Side files that lie there belong to a registry that is gone, and would be taken for the new
    /// one's.
    fn fill(&self, from: &Path) -> io::Result<()> {
        move_sides(&self.path, &self.kept_path())?;
        steps::sync_directory(self.directory())?;
        self.refuse_sides()?;
        steps::move_to(from, &self.path)
    }

    fn swap(&self, from: &Path, interlock: &Interlock, with_sides: bool) -> Result<(), InstallError> {
        let at = || InstallError::at("preparing the exchange", &self.path);
        steps::move_to(from, &self.swap_path()).map_err(at())?;
        steps::sync_directory(self.directory()).map_err(at())?;
        if with_sides {
            move_sides(&self.path, &self.kept_path()).map_err(at())?;
            steps::sync_directory(self.directory()).map_err(at())?;
        }
        self.refuse_sides().map_err(at())?;
        let locked = interlock.registry().map(super::interlock::RegistryLock::identity);
        if steps::identity(&self.path).map_err(at())? != locked {
            return Err(InterlockError::Replaced { path: self.path.clone() }.into());
        }
        if steps::exchange(&self.swap_path(), &self.path).map_err(InstallError::at("exchanging", &self.path))? {
            return Ok(());
        }
        let cannot = |source| InstallError::NoExchange { path: self.path.clone(), source };
        steps::link(&self.path, &self.kept_path()).map_err(cannot)?;
        steps::sync_directory(self.directory()).map_err(at())?;
        steps::replace(&self.swap_path(), &self.path).map_err(InstallError::at("replacing", &self.path))
    }

    /// Finds out on which side of the exchange the names are, and ends it there: completes it, or undoes what led to it.
    /// Can be cut short anywhere and done again.
    pub(super) fn settle(&self) -> io::Result<Side> {
        let swap = self.swap_path();
        let kept = self.kept_path();
        let side = match steps::identity(&swap)? {
            Some((_, inode)) if inode != self.incoming => {
                steps::move_to(&swap, &kept)?;
                Side::After
            }
            None if self.in_place()? => Side::After,
            attempted => {
                self.remove_second_name()?;
                // Before the swap name goes, which is what says that they belong to the path.
                if steps::identity(&kept)?.is_none() && self.takes_sides_back()? {
                    move_sides(&kept, &self.path)?;
                }
                steps::sync_directory(self.directory())?;
                if attempted.is_some() {
                    match self.origin {
                        Some(origin) => steps::move_to(&swap, &self.beside(&names::kept(self.base(), origin)))?,
                        None => steps::remove(&swap)?,
                    }
                }
                Side::Before
            }
        };
        steps::sync_directory(self.directory())?;
        Ok(side)
    }

    /// Side files go back to a path that is as we found it: still empty, or with the old registry unwritten since we began.
    /// Beside anything else they would be taken for what they are not.
    fn takes_sides_back(&self) -> io::Result<bool> {
        if steps::identity(&self.path)?.is_none() {
            return Ok(true);
        }
        if steps::identity(&self.swap_path())?.is_none() {
            return Ok(false);
        }
        // The staged registry got its swap name under the lock.
        let began = self.swap_path().symlink_metadata()?;
        for end in ["", SIDES[0], SIDES[1], SIDES[2]] {
            match steps::with_end(&self.path, end).symlink_metadata() {
                Ok(file) if (file.mtime(), file.mtime_nsec()) > (began.ctime(), began.ctime_nsec()) => return Ok(false),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }

    /// Where there is no exchange, the old registry may have its kept name already while it is still at the path.
    fn remove_second_name(&self) -> io::Result<()> {
        let kept = steps::identity(&self.kept_path())?;
        if kept.is_some() && kept == steps::identity(&self.path)? {
            steps::remove(&self.kept_path())?;
        }
        Ok(())
    }

    /// Whether the new registry is at the path.
    pub(super) fn in_place(&self) -> io::Result<bool> {
        Ok(steps::identity(&self.path)?.is_some_and(|(_, inode)| inode == self.incoming))
    }

    fn refuse_sides(&self) -> io::Result<()> {
        for side in SIDES {
            let path = steps::with_end(&self.path, side);
            if steps::identity(&path)?.is_some() {
                return Err(io::Error::other(format!("{} appeared meanwhile", path.display())));
            }
        }
        Ok(())
    }

    fn kept_path(&self) -> PathBuf {
        self.beside(&names::kept(self.base(), self.kept))
    }

    pub(super) fn swap_path(&self) -> PathBuf {
        self.beside(&names::swap(self.base(), self.kept, self.incoming, self.origin))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    fn base(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// Moves the side files that are there along with a registry's name.
fn move_sides(from: &Path, to: &Path) -> io::Result<()> {
    for side in SIDES {
        let from = steps::with_end(from, side);
        if steps::identity(&from)?.is_some() {
            steps::move_to(&from, &steps::with_end(to, side))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
