//! Where a registry is received and checked before anybody sees it: a file in a private directory beside the registry.
//!
//! Beside it, because only within one filesystem does a rename happen at once. In a directory of its own with mode 0700 and
//! an unguessable name, because whoever checks the file opens it with SQLite, and SQLite believes any `-wal` or `-journal`
//! that lies beside: nobody else may put one there.
//!
//! The file is locked while its maker lives, so that a killed run's remains can be told from a download under way.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};

use super::interlock::Interlock;
use super::names::{self, Beside, SIDES};
use super::steps;
use super::target::Target;

const FILE: &str = "staged.db";

/// A registry that is being received. Removed when dropped, unless it was installed.
#[derive(Debug)]
pub struct Staged {
    file: File,
    directory: PathBuf,
    path: PathBuf,
    identity: (u64, u64),
    /// Whether something is on its way to the disk.
    settling: Arc<AtomicBool>,
}

/// The staging file or its directory said no.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct StageError {
    /// Where.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Staged {
    /// An empty file for a registry that is to be installed at `target`, mode 0600 from the first moment.
    ///
    /// # Errors
    /// The target's directory does not take it.
    pub fn create(target: &Target) -> Result<Self, StageError> {
        let mut random = [0; 16];
        let directory = target.directory();
        let at = |path: &Path, source| StageError { path: path.to_owned(), source };
        getrandom::fill(&mut random).map_err(|error| at(directory, io::Error::other(error)))?;
        let directory = directory.join(names::stage(target.base(), u128::from_ne_bytes(random)));
        DirBuilder::new().mode(0o700).create(&directory).map_err(|error| at(&directory, error))?;
        let staged = Self::create_in(&directory);
        if staged.is_err() {
            let _ = std::fs::remove_dir_all(&directory);
        }
        staged.map_err(|error| at(&directory, error))
    }

    fn create_in(directory: &Path) -> io::Result<Self> {
        let held = hold(directory)?;
        let path = directory.join(FILE);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(&held, FILE, flags, Mode::RUSR | Mode::WUSR)?);
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.try_lock()?;
        let metadata = file.metadata()?;
        Ok(Self {
            file,
            directory: directory.to_owned(),
            path,
            identity: (metadata.dev(), metadata.ino()),
            settling: Arc::default(),
        })
    }

    /// Where it is, for checking it. Side files that the check leaves there are removed with the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins to write what was received to the disk, on a thread of its own, so that the install has less to wait for. That
    /// it is there is made sure of by the install: through a handle that was opened before, which is told of every failure.
    pub fn settle(&self) {
        if self.settling.swap(true, Ordering::AcqRel) {
            return;
        }
        let (path, settling) = (self.path.clone(), Arc::clone(&self.settling));
        let settle = move || {
            let _ = File::open(path).and_then(|file| file.sync_data());
            settling.store(false, Ordering::Release);
        };
        // Where there is no thread to be had, it is done later.
        let _ = std::thread::Builder::new().name("settle".to_owned()).spawn(settle);
    }

    /// How many bytes were received.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Device and inode.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// The names of side files that something left beside the staged file.
    pub(super) fn sides(&self) -> io::Result<Vec<&'static str>> {
        let mut found = Vec::new();
        for side in SIDES {
            if steps::identity(&steps::with_end(&self.path, side))?.is_some() {
                found.push(side);
            }
        }
        Ok(found)
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After an install the file has another name and only the directory is left.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Holds on to the directory that was just made, so that what follows happens in it and nowhere else: whoever owns the
/// directory around it can put a link in its place.
fn hold(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(CWD, directory, flags, Mode::empty())?;
    let facts = fstat(&held)?;
    if facts.st_uid != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it was replaced while it was made"));
    }
    // A umask can only take away; what it took from the owner is given back.
    if facts.st_mode & 0o7777 != 0o700 {
        std::fs::set_permissions(format!("/proc/self/fd/{}", held.as_raw_fd()), Permissions::from_mode(0o700))?;
    }
    Ok(held)
}

/// Removes what killed runs staged beside the registry of `interlock`; what a live run stages stays.
///
/// # Errors
/// Something could not be looked at or removed; the first such error, after everything was tried.
pub fn clean(interlock: &Interlock) -> Result<(), StageError> {
    let directory = interlock.path().parent().unwrap_or(Path::new("/"));
    let base = interlock.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let at = |path: &Path, source| StageError { path: path.to_owned(), source };
    let mut first = Ok(());
    for (name, beside) in names::list(directory, base).map_err(|error| at(directory, error))? {
        if beside == Beside::Stage {
            let path = directory.join(name);
            let removed = clean_one(&path).map_err(|error| at(&path, error));
            first = first.and(removed);
        }
    }
    first
}

fn clean_one(directory: &Path) -> io::Result<()> {
    if !directory.symlink_metadata()?.is_dir() {
        return Err(io::Error::other("named like a staging directory of ours and is none; remove it"));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(flags).open(directory.join(FILE)) {
        Ok(file) => match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => std::fs::remove_dir_all(directory),
        },
        // Its maker was killed, or is, between two steps; then it sees its directory gone and says so.
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::remove_dir(directory),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::interlock::Claim;
    use jiff::Timestamp;

    fn target() -> (tempfile::TempDir, Target) {
        let directory = tempfile::tempdir().expect("a directory");
        let target = Target::look(&directory.path().join("registry.db")).expect("facts");
        (directory, target)
    }

    fn stages(target: &Target) -> usize {
        let found = names::list(target.directory(), target.base()).expect("a list");
        found.iter().filter(|(_, beside)| *beside == Beside::Stage).count()
    }

    #[test]
    fn it_is_private_from_the_first_moment_and_gone_when_dropped() {
        let (_directory, target) = target();
        // As a shell with umask 000 and one with umask 777 would start us.
        for umask in [0o000, 0o777] {
            let earlier = rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
            let staged = Staged::create(&target);
            rustix::process::umask(earlier);
            let mut staged = staged.expect("a staged file");
            staged.write_all(b"bytes").expect("written");
            assert_eq!(staged.bytes().expect("a length"), 5);
            let mode = |path: &Path| path.metadata().expect("facts").permissions().mode() & 0o7777;
            assert_eq!((mode(staged.path()), mode(&staged.directory)), (0o600, 0o700));
            assert_eq!(stages(&target), 1);
            std::fs::write(steps::with_end(staged.path(), "-wal"), b"left by a check").expect("a file");
            drop(staged);
            assert_eq!(stages(&target), 0);
        }
    }

    /// Nobody can have put something in the place of the next one.
    #[test]
    fn no_two_have_a_name_that_can_be_told_before() {
        let (_directory, target) = target();
        let names = [(); 2].map(|()| Staged::create(&target).expect("a staged file").directory.clone());
        assert_ne!(names[0], names[1]);
        assert!(!names.contains(&target.directory().join(names::stage(target.base(), 0))));
    }

    #[test]
    fn what_is_received_is_on_its_way_to_the_disk_once_at_a_time() {
        let (_directory, target) = target();
        let staged = Staged::create(&target).expect("a staged file");
        for _ in 0..2 {
            staged.settling.store(true, Ordering::Release);
            staged.settle();
            assert!(staged.settling.load(Ordering::Acquire), "the one that is under way is not ended by another");
            staged.settling.store(false, Ordering::Release);
            staged.settle();
            let begun = std::time::Instant::now();
            while staged.settling.load(Ordering::Acquire) {
                assert!(begun.elapsed().as_secs() < 30, "it never ends");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn remains_of_a_killed_run_are_removed_and_a_live_one_is_left_alone() {
        let (_directory, target) = target();
        let alive = Staged::create(&target).expect("a staged file");
        let dead = target.directory().join(names::stage(target.base(), 1));
        std::fs::create_dir(&dead).expect("a directory");
        std::fs::write(dead.join(FILE), b"half").expect("a file");
        std::fs::write(dead.join("staged.db-journal"), b"x").expect("a file");
        let empty = target.directory().join(names::stage(target.base(), 2));
        std::fs::create_dir(&empty).expect("a directory");
        let interlock = Interlock::acquire(&target, &Claim::new("restore", "x", Timestamp::UNIX_EPOCH)).expect("the interlock");
        clean(&interlock).expect("cleaned");
        assert_eq!((stages(&target), alive.path().exists()), (1, true));
    }

    #[test]
    fn a_link_in_place_of_the_directory_that_was_made_is_not_entered() {
        let (directory, _target) = target();
        let precious = directory.path().join("precious");
        std::fs::create_dir(&precious).expect("a directory");
        std::fs::set_permissions(&precious, Permissions::from_mode(0o755)).expect("a mode");
        let link = directory.path().join("stage");
        std::os::unix::fs::symlink(&precious, &link).expect("a link");
        assert!(Staged::create_in(&link).is_err());
        assert_eq!(precious.metadata().expect("facts").permissions().mode() & 0o7777, 0o755);
        assert_eq!(std::fs::read_dir(&precious).expect("a list").count(), 0);
    }

    #[test]
    fn a_link_that_is_named_like_a_stage_is_not_followed() {
        let (directory, target) = target();
        let precious = directory.path().join("precious");
        std::fs::create_dir(&precious).expect("a directory");
        std::fs::write(precious.join(FILE), b"x").expect("a file");
        std::os::unix::fs::symlink(&precious, target.directory().join(names::stage(target.base(), 3))).expect("a link");
        let interlock = Interlock::acquire(&target, &Claim::new("restore", "x", Timestamp::UNIX_EPOCH)).expect("the interlock");
        assert!(clean(&interlock).is_err());
        assert!(precious.join(FILE).exists());
    }
}
