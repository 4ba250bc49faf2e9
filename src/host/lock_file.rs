//! The lock file beside the registry: who is at it, and nobody else.
//!
//! What counts is the kernel's lock on the open file, never that the file exists: the lock of a killed run is gone with it,
//! so there is no stale lock and nothing to break. The text in the file only names the holder for a message. The file is
//! removed when the lock is given back; whoever locked a file that is no longer at its path tries again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::interlock::{Claim, InterlockError};

/// A file may be removed under us as often as others come and go; more often than this is no accident.
const MAX_TRIES: usize = 32;

/// A claim is short; a longer text is not ours.
const MAX_CLAIM_BYTES: u64 = 4096;

/// The lock, held until dropped.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// The lock that nobody else may hold beside.
    pub(super) fn exclusive(path: PathBuf, claim: &Claim) -> Result<Self, InterlockError> {
        Self::acquire(path, claim, File::try_lock)
    }

    /// The lock that others of its kind may hold beside.
    pub(super) fn shared(path: PathBuf, claim: &Claim) -> Result<Self, InterlockError> {
        Self::acquire(path, claim, File::try_lock_shared)
    }

    fn acquire(path: PathBuf, claim: &Claim, try_lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, InterlockError> {
        let io = |source| InterlockError::LockFile { path: path.clone(), source };
        for _ in 0..MAX_TRIES {
            let file = open(&path).map_err(io)?;
            match try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(refused(&file)),
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
            if !is_at(&file, &path).map_err(io)? {
                continue;
            }
            let lock = Self { file, path };
            lock.name_holder(claim);
            return Ok(lock);
        }
        Err(io(io::Error::other("it was removed each time it was locked")))
    }

    /// Writes who holds it. It is a courtesy to the next one who comes, so a failure stops nothing.
    fn name_holder(&self, claim: &Claim) {
        let write = || -> io::Result<()> {
            let mut file = &self.file;
            let text = serde_json::to_string(claim)?;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())
        };
        let _ = write();
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Only the last holder removes it: with the lock to itself, and while the path still means this file.
        if self.file.try_lock().is_ok() && is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether a lock that excludes everybody else is held on `path` now.
pub(super) fn is_held(path: &Path) -> io::Result<bool> {
    let file = match OpenOptions::new().read(true).custom_flags(flags()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Who has a lock of either kind on `path` now, as the refusal that a new one would get.
pub(super) fn holder(path: &Path) -> io::Result<Option<InterlockError>> {
    let file = match OpenOptions::new().read(true).custom_flags(flags()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(refused(&file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens or creates the lock file: never through a link, never a pipe that would make us wait.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).mode(0o600).custom_flags(flags()).open(path)?;
    let metadata = file.metadata()?;
    // What we are about to write over must be a file that is this and nothing else.
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(io::Error::other("not an ordinary file of its own; remove it"));
    }
    if metadata.nlink() == 1 && metadata.len() == 0 {
        give_to_directory_owner(&file, path);
    }
    Ok(file)
}

/// Root creates it, and the service user has to be able to lock it too. Where this is not allowed we are that user already.
fn give_to_directory_owner(file: &File, path: &Path) {
    if let Some(Ok(directory)) = path.parent().map(Path::metadata) {
        let (uid, gid) = (rustix::fs::Uid::from_raw(directory.uid()), rustix::fs::Gid::from_raw(directory.gid()));
        let _ = rustix::fs::fchown(file, Some(uid), Some(gid));
    }
}

fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed()
}

/// Whether `path` still names the file that is open.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match path.symlink_metadata() {
        Ok(there) => Ok((open.dev(), open.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Names the holder, as far as the text in the file tells.
fn refused(file: &File) -> InterlockError {
    let mut text = String::new();
    let read = file.take(MAX_CLAIM_BYTES).read_to_string(&mut text);
    let who = read.ok().and_then(|_| serde_json::from_str::<Claim>(&text).ok()).map(Box::new);
    // A shared holder lets a shared lock through, an exclusive one lets nothing through.
    if file.try_lock_shared().is_ok() { InterlockError::Running { who } } else { InterlockError::InProgress { who } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(host: &str) -> Claim {
        Claim::new("restore", host, jiff::Timestamp::UNIX_EPOCH)
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db.lock");
        (directory, path)
    }

    fn holder_of(path: &Path) -> Option<String> {
        match holder(path).expect("it can be looked at")? {
            InterlockError::InProgress { who } => Some(who.map_or_else(|| "nobody knows".to_owned(), |who| who.host)),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn without_a_lock_file_nobody_holds_it_and_what_cannot_be_looked_at_is_not_known() {
        let (_directory, path) = place();
        assert_eq!((is_held(&path).ok(), holder_of(&path)), (Some(false), None));
        std::os::unix::fs::symlink("elsewhere", &path).expect("a link");
        assert!(is_held(&path).is_err() && holder(&path).is_err());
    }

    /// A longer name that an earlier holder left does not spoil the new one's.
    #[test]
    fn the_holder_is_named_in_a_file_that_is_written_anew() {
        let (_directory, path) = place();
        std::fs::write(&path, "x".repeat(500)).expect("a file");
        let lock = LockFile::exclusive(path.clone(), &claim("standby")).expect("the lock");
        assert_eq!(holder_of(&path).as_deref(), Some("standby"));
        drop(lock);
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_file_of_another_that_has_come_since_is_left() {
        let (_directory, path) = place();
        let lock = LockFile::exclusive(path.clone(), &claim("standby")).expect("the lock");
        assert_eq!(is_at(&lock.file, &path).ok(), Some(true));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(is_at(&lock.file, &path).ok(), Some(false));
        std::fs::write(&path, "another").expect("a file");
        assert_eq!(is_at(&lock.file, &path).ok(), Some(false));
        drop(lock);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "another");
    }

    #[test]
    fn a_pipe_is_no_lock_file() {
        let (_directory, path) = place();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
        let refused = LockFile::exclusive(path, &claim("standby")).expect_err("no lock");
        assert!(refused.to_string().ends_with("not an ordinary file of its own; remove it"), "{refused}");
    }

    /// Only root can give files away, and only root needs to.
    #[test]
    fn what_root_creates_belongs_to_the_owner_of_the_directory() {
        let (directory, path) = place();
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let owner = |path: &Path| path.metadata().map(|facts| (facts.uid(), facts.gid())).expect("it is there");
        std::os::unix::fs::chown(directory.path(), Some(1234), Some(4321)).expect("given");
        let lock = LockFile::exclusive(path.clone(), &claim("standby")).expect("the lock");
        assert_eq!(owner(&path), (1234, 4321));
        drop(lock);
        // One that somebody has written to is somebody's already.
        std::fs::write(&path, "an earlier holder").expect("a file");
        let _lock = LockFile::exclusive(path.clone(), &claim("standby")).expect("the lock");
        assert_eq!(owner(&path), (0, 0));
    }
}
