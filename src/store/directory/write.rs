//! Changing what is below the root: staged in a scratch file, published in one step, made durable, under one lock.
//!
//! Creating is atomic against anyone (`RENAME_NOREPLACE`, or link(2)). Replacing and deleting an exact etag compare and
//! act under a lock file, which holds among programs that take it: every carlosctl on this machine.

use std::fs::{File, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, linkat, mkdirat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::names::{self, OWN, fault};
use super::tree::{CHUNK_BYTES, Root, facts, meta, open_object};
use crate::store::key::{hex_digest, random_name};
use crate::store::{ObjectMeta, Put, StoreError};

/// The lock file's name, below [`OWN`].
const LOCK: &str = "lock";
/// How long another process may hold the lock: it is held for a comparison and a rename, never for an upload.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// Content that waits in the scratch directory for its name. Removed again unless it is published.
#[derive(Debug)]
pub(super) struct Staged {
    scratch: OwnedFd,
    name: String,
    /// Locked while its writer lives, so that leftovers of dead writers can be told from work under way.
    file: File,
    /// The SHA-256 of the content, which is the etag.
    pub(super) etag: String,
}

impl Staged {
    /// The facts of what was published as `key`.
    pub(super) fn meta(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        meta(key, &self.file.metadata().map_err(|error| fault(key, &error))?, self.etag.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a rename nothing is left under this name.
        let _ = unlinkat(&self.scratch, &self.name, AtFlags::empty());
    }
}

impl Root {
    /// Writes content to a scratch file and makes it durable there. `key` is for messages.
    pub(super) fn stage(&self, key: &str, content: &mut dyn Read) -> Result<Staged, StoreError> {
        let scratch = self.scratch()?;
        let name = random_name()?;
        let file = {
            // Both under the lock: nobody may take a scratch file for a leftover before its writer has locked it.
            let _lock = self.lock(&scratch)?;
            sweep(&scratch);
            let file = create_file(&scratch, &name).map_err(|error| fault(key, &error))?;
            file.try_lock().map_err(|error| fault(key, &error.into()))?;
            file
        };
        let mut staged = Staged { scratch, name, file, etag: String::new() };
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let read = content.read(&mut buffer).map_err(|error| fault(key, &error))?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            staged.file.write_all(&buffer[..read]).map_err(|error| fault(key, &error))?;
        }
        staged.file.sync_all().map_err(|error| fault(key, &error))?;
        staged.etag = hex_digest(hasher);
        Ok(staged)
    }

    /// Gives staged content its key, under `condition`, in one step, and makes that durable.
    pub(super) fn publish(&self, staged: &Staged, key: &str, condition: &Put) -> Result<(), StoreError> {
        let (directories, name) = names::of_key(key)?;
        let fail = |error: io::Error| fault(key, &error);
        let _lock = self.lock(&staged.scratch)?;
        let parent = match condition {
            Put::Create => self.make_directories(&directories, key)?,
            Put::Replace(etag) => {
                let gone = || conflict(key, "nothing is there any more");
                let parent = self.directory(&directories, key)?.ok_or_else(gone)?;
                let (mut old, _) = open_object(&parent, name, key)?.ok_or_else(gone)?;
                if facts(&mut old, key)?.etag != *etag {
                    return Err(conflict(key, "its content is another one now"));
                }
                adopt(&staged.file, &old, 0o777).map_err(fail)?;
                renameat(&staged.scratch, &staged.name, &parent, name).map_err(|error| fail(error.into()))?;
                return sync(&parent).map_err(fail);
            }
        };
        let parent_file = File::from(parent.try_clone().map_err(fail)?);
        adopt(&staged.file, &parent_file, 0o664).map_err(fail)?;
        match create_only(staged, &parent, name) {
            Ok(()) => sync(&parent).map_err(fail),
            Err(Errno::EXIST) if open_object(&parent, name, key)?.is_none() => Err(StoreError::BadKey {
                key: key.to_owned(),
                because: "other keys are below it, and a directory cannot hold both".to_owned(),
            }),
            Err(Errno::EXIST) => Err(conflict(key, "something is there already")),
            Err(error) => Err(fail(error.into())),
        }
    }

    /// Deletes an object, with `etag` only exactly that one. `NotFound` where there is none.
    pub(super) fn remove(&self, key: &str, etag: Option<&str>) -> Result<(), StoreError> {
        let (directories, name) = names::of_key(key)?;
        let fail = |error: io::Error| fault(key, &error);
        // Before the lock: what is not there is not worth making our own directory for.
        self.object(key)?;
        let _lock = self.lock(&self.scratch()?)?;
        let missing = || StoreError::NotFound { key: key.to_owned() };
        let parent = self.directory(&directories, key)?.ok_or_else(missing)?;
        let (mut file, _) = open_object(&parent, name, key)?.ok_or_else(missing)?;
        if let Some(etag) = etag
            && facts(&mut file, key)?.etag != etag
        {
            return Err(conflict(key, "its content is another one now; it was not deleted"));
        }
        unlinkat(&parent, name, AtFlags::empty()).map_err(|error| fail(error.into()))?;
        sync(&parent).map_err(fail)?;
        self.prune(&directories, key)
    }

    /// Removes the directories that a deletion left empty, innermost first.
    fn prune(&self, directories: &[&str], key: &str) -> Result<(), StoreError> {
        for depth in (0..directories.len()).rev() {
            let Some(parent) = self.directory(&directories[..depth], key)? else { continue };
            match unlinkat(&parent, directories[depth], AtFlags::REMOVEDIR) {
                Ok(()) => sync(&parent).map_err(|error| fault(key, &error))?,
                Err(Errno::NOENT) => {}
                // Not empty, or not ours to remove: listings leave out empty directories anyway.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Makes the directories of a key, each like the one it is in, and makes them durable.
    fn make_directories(&self, names: &[&str], key: &str) -> Result<OwnedFd, StoreError> {
        let fail = |error: io::Error| fault(key, &error);
        let mut at = self.fd.try_clone().map_err(fail)?;
        for name in names {
            at = make_directory(&at, name).map_err(|error| match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOTDIR | Errno::LOOP) => StoreError::BadKey {
                    key: key.to_owned(),
                    because: format!("{name:?} is no directory here, so nothing can be below it"),
                },
                _ => fail(error),
            })?;
        }
        Ok(at)
    }

    /// The directory of our own files.
    fn scratch(&self) -> Result<OwnedFd, StoreError> {
        make_directory(&self.fd, OWN).map_err(|error| fault(OWN, &error))
    }

    /// Waits for the one lock of this store.
    fn lock(&self, scratch: &OwnedFd) -> Result<File, StoreError> {
        let fail = |error: io::Error| fault(LOCK, &error);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(scratch, LOCK, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => match create_file(scratch, LOCK) {
                Ok(file) => file,
                // Another process made it first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    File::from(openat(scratch, LOCK, flags, Mode::empty()).map_err(|error| fail(error.into()))?)
                }
                Err(error) => return Err(fail(error)),
            },
            Err(error) => return Err(fail(error.into())),
        };
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() > LOCK_WAIT => {
                    return Err(StoreError::Unavailable {
                        subject: format!("{}/{OWN}/{LOCK}", self.path.display()),
                        detail: format!("another process has held it for {} seconds", LOCK_WAIT.as_secs()),
                    });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

fn conflict(key: &str, detail: &str) -> StoreError {
    StoreError::Conflict { key: key.to_owned(), detail: detail.to_owned() }
}

/// Gives the staged file its name unless that is taken, without a moment in which a reader could see half of it.
fn create_only(staged: &Staged, parent: &OwnedFd, name: &str) -> Result<(), Errno> {
    match renameat_with(&staged.scratch, &staged.name, parent, name, RenameFlags::NOREPLACE) {
        // A file system that cannot: a second link refuses just as atomically, and dropping `staged` removes the first.
        Err(Errno::INVAL | Errno::NOSYS) => linkat(&staged.scratch, &staged.name, parent, name, AtFlags::empty()),
        result => result,
    }
}

fn create_file(at: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(at, name, flags, Mode::RUSR | Mode::WUSR)?);
    adopt(&file, &File::from(at.try_clone()?), 0o664)?;
    Ok(file)
}

fn make_directory(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let made = match mkdirat(at, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(at, name, flags, Mode::empty())?;
    if made {
        adopt(&File::from(directory.try_clone()?), &File::from(at.try_clone()?), 0o7775)?;
        sync(at)?;
    }
    Ok(directory)
}

/// Owner and mode (masked) like `model`'s, so that what root writes here stays usable for the service that lives here.
fn adopt(file: &File, model: &File, mask: u32) -> io::Result<()> {
    let (mine, model) = (file.metadata()?, model.metadata()?);
    if (mine.uid(), mine.gid()) != (model.uid(), model.gid()) {
        let owner = rustix::fs::Uid::from_raw(model.uid());
        let group = rustix::fs::Gid::from_raw(model.gid());
        // Only root can; for anyone else the file is their own, as any other program's would be.
        let _ = rustix::fs::fchown(file.as_fd(), Some(owner), Some(group));
    }
    file.set_permissions(Permissions::from_mode(model.mode() & mask))
}

fn sync(directory: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::fsync(directory)?)
}

/// Removes scratch files whose writers are dead. Best effort: they are in nobody's way.
fn sweep(scratch: &OwnedFd) {
    let Ok(entries) = Dir::read_from(scratch) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if entry.file_name().to_bytes().starts_with(b".") || name.to_bytes() == LOCK.as_bytes() {
            continue;
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(fd) = openat(scratch, name, flags, Mode::empty())
            && File::from(fd).try_lock().is_ok()
        {
            let _ = unlinkat(scratch, name, AtFlags::empty());
        }
    }
}
