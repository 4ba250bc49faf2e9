//! The interlock: a guard value that is held, not probed, from before the last check until after the proof.
//!
//! It is two locks, both the kernel's, both gone with the process:
//!
//! 1. The lock file beside the registry keeps out other restores and `box run`.
//! 2. SQLite's own lock on the old registry keeps out everything that opens databases through SQLite, an agent that starts at
//!    the wrong moment for one. What excludes readers and writers in every journal mode is the exclusive lock on the database
//!    file itself: a connection in WAL mode holds a shared lock on it for as long as it is open, so having it means that there
//!    is no such connection, and no new one gets in. `BEGIN EXCLUSIVE` alone would let readers and idle WAL connections be.
//!
//! Taking the interlock changes nothing about the registry: the bytes that SQLite locks are locked directly. SQLite itself,
//! whose opening would roll back a hot journal, comes in only when the old registry is folded.
//!
//! **While an interlock is held, nothing else in this process may open and close the registry's file.** Closing any descriptor
//! of a file gives back all POSIX locks that the process has on it. Folding takes the lock again and so notices.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::lock_file::{self, LockFile};
use super::names;
use super::target::{Kind, Target};

/// Who holds a lock, in the words of the holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What is being done: `restore`, `restore undo`, `box run`.
    pub operation: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Since when.
    pub since: Timestamp,
}

/// Both locks, held until dropped.
#[derive(Debug)]
pub struct Interlock {
    path: PathBuf,
    // Given back in this order: SQLite first, then the registry, the lock file last.
    folded: Mutex<Option<Connection>>,
    registry: Option<RegistryLock>,
    _lock: LockFile,
}

/// The lock on the old registry's file, and which file that is.
#[derive(Debug)]
pub(super) struct RegistryLock {
    file: File,
    identity: (u64, u64),
}

/// The lock that a running box half holds, so that no restore begins meanwhile.
#[derive(Debug)]
pub struct Running {
    _lock: LockFile,
}

/// Why the interlock could not be had. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum InterlockError {
    /// Another restore or undo is at this registry.
    #[error("another restore of this registry is in progress{}", by(who.as_deref()))]
    InProgress {
        /// Who, where the lock file says it.
        who: Option<Box<Claim>>,
    },
    /// A `box run` is at this registry.
    #[error("the box half runs on this registry{}", by(who.as_deref()))]
    Running {
        /// Who, where the lock file says it.
        who: Option<Box<Claim>>,
    },
    /// A process has the registry open through SQLite.
    #[error("{}: another process has the registry open", path.display())]
    Held {
        /// The registry.
        path: PathBuf,
    },
    /// What is at the path is no longer what was looked at.
    #[error("{}: the registry was replaced meanwhile", path.display())]
    Replaced {
        /// The registry.
        path: PathBuf,
    },
    /// The lock file could not be opened, created or locked.
    #[error("{}: {source}", path.display())]
    LockFile {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The registry could not be opened for locking.
    #[error("{}: {source}", path.display())]
    Registry {
        /// The registry.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn by(who: Option<&Claim>) -> String {
    who.map_or_else(String::new, |claim| {
        format!(": {} on {}, pid {}, since {}", claim.operation, claim.host, claim.pid, claim.since)
    })
}

impl Claim {
    /// A claim of this process.
    #[must_use]
    pub fn new(operation: impl Into<String>, host: impl Into<String>, since: Timestamp) -> Self {
        Self { operation: operation.into(), host: host.into(), pid: std::process::id(), since }
    }
}

impl Interlock {
    /// Takes both locks, or none. Never waits.
    ///
    /// # Errors
    /// Somebody else is at the registry, or it cannot be told.
    pub fn acquire(target: &Target, claim: &Claim) -> Result<Self, InterlockError> {
        // Opening a device may do something; nothing but a file is opened.
        if matches!(target.kind, Kind::Directory | Kind::Special) {
            let source = io::Error::other("not a file");
            return Err(InterlockError::Registry { path: target.path.clone(), source });
        }
        let lock = LockFile::exclusive(lock_path(&target.path), claim)?;
        let registry = RegistryLock::acquire(&target.path)?;
        let looked_at = target.file.as_ref().map(|file| (file.device, file.inode));
        if registry.as_ref().map(|registry| registry.identity) != looked_at {
            return Err(InterlockError::Replaced { path: target.path.clone() });
        }
        Ok(Self { path: target.path.clone(), folded: Mutex::new(None), registry, _lock: lock })
    }

    /// Whether a restore or undo holds the interlock of the registry at `path` (its real path) now.
    ///
    /// # Errors
    /// The lock file cannot be looked at, so it is not known.
    pub fn is_held(path: &Path) -> Result<bool, InterlockError> {
        let path = lock_path(path);
        lock_file::is_held(&path).map_err(|source| InterlockError::LockFile { path, source })
    }

    /// Who is at the registry at `path` (its real path) now: a restore or undo, or a box half, as the error that
    /// [`acquire`](Self::acquire) would give.
    ///
    /// # Errors
    /// The lock file cannot be looked at, so it is not known.
    pub fn holder(path: &Path) -> Result<Option<InterlockError>, InterlockError> {
        let path = lock_path(path);
        lock_file::holder(&path).map_err(|source| InterlockError::LockFile { path, source })
    }

    /// The registry whose interlock this is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps SQLite's connection, and with it SQLite's lock, until the end.
    pub(super) fn keep(&self, connection: Connection) {
        *self.folded.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// The lock on the old registry, where there was one.
    pub(super) fn registry(&self) -> Option<&RegistryLock> {
        self.registry.as_ref()
    }
}

impl Running {
    /// Says that the box half runs on the registry at `path` (its real path). Several may.
    ///
    /// # Errors
    /// A restore or undo holds the interlock, or it cannot be told.
    pub fn start(path: &Path, claim: &Claim) -> Result<Self, InterlockError> {
        Ok(Self { _lock: LockFile::shared(lock_path(path), claim)? })
    }
}

impl RegistryLock {
    /// Locks what is at `path`; nothing there is nothing to lock.
    fn acquire(path: &Path) -> Result<Option<Self>, InterlockError> {
        let io = |source| InterlockError::Registry { path: path.to_owned(), source };
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
        let file = match OpenOptions::new().read(true).write(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let metadata = file.metadata().map_err(io)?;
        let lock = Self { file, identity: (metadata.dev(), metadata.ino()) };
        lock.take(path)?;
        match path.symlink_metadata() {
            Ok(there) if (there.dev(), there.ino()) == lock.identity => Ok(Some(lock)),
            Ok(_) => Err(InterlockError::Replaced { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(InterlockError::Replaced { path: path.to_owned() }),
            Err(error) => Err(io(error)),
        }
    }

    /// Locks the whole file, and with it the bytes that SQLite's every lock lies on. Taking it twice is taking it once.
    pub(super) fn take(&self, path: &Path) -> Result<(), InterlockError> {
        rustix::io::retry_on_intr(|| rustix::fs::fcntl_lock(&self.file, FlockOperation::NonBlockingLockExclusive)).map_err(
            |errno| match errno {
                Errno::AGAIN | Errno::ACCESS => InterlockError::Held { path: path.to_owned() },
                other => InterlockError::Registry { path: path.to_owned(), source: other.into() },
            },
        )
    }

    /// The first 16 bytes of the file, without opening it again.
    pub(super) fn start(&self) -> io::Result<Vec<u8>> {
        let mut start = vec![0; 16];
        let bytes = self.file.read_at(&mut start, 0)?;
        start.truncate(bytes);
        Ok(start)
    }

    /// Device and inode of the file that is locked.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.identity
    }
}

fn lock_path(registry: &Path) -> PathBuf {
    let base = registry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    registry.with_file_name(names::lock(base))
}

#[cfg(test)]
mod tests;
