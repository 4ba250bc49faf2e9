//! Places and files of our own that nobody else can look into or put anything beside, whatever umask we were started with.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::{Builder, TempDir};

/// Of 62 letters each: more than anybody tries.
const RANDOM_LETTERS: usize = 16;

/// A new directory with an unguessable name and mode 0700 below the system's temporary directory, removed when dropped.
///
/// # Errors
/// The local disk's.
pub fn directory(prefix: &str) -> io::Result<TempDir> {
    directory_in(&std::env::temp_dir(), prefix)
}

/// As [`directory`], below `parent`.
///
/// # Errors
/// The local disk's.
pub fn directory_in(parent: &Path, prefix: &str) -> io::Result<TempDir> {
    // Without a mode it would be as wide as the umask lets it.
    let mode = Permissions::from_mode(0o700);
    Builder::new().prefix(prefix).rand_bytes(RANDOM_LETTERS).permissions(mode).tempdir_in(parent)
}

/// A new file with mode 0600, open for reading and writing; never through a link and never over anything.
///
/// # Errors
/// `AlreadyExists` where something has the name, a link to nothing too; else the local disk's.
pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Opens an ordinary file to read it. Never waits for somebody at the other end of a pipe.
///
/// # Errors
/// `InvalidInput` for what is no ordinary file; else the local disk's.
pub fn open_file(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK)
}

/// As [`open_file`], and never through a link.
///
/// # Errors
/// As [`open_file`].
pub fn open_own(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK | OFlags::NOFOLLOW)
}

/// The whole of a file of ours that lies where others may write: itself and nothing that it links to, and at most
/// `limit_bytes` of it.
///
/// # Errors
/// `InvalidInput` for what is no ordinary file or too large; else the local disk's.
pub fn read_own(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_own(path)?;
    let mut body = Vec::new();
    file.take(limit_bytes.saturating_add(1)).read_to_end(&mut body)?;
    if body.len() as u64 > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("larger than {limit_bytes} bytes")));
    }
    Ok(body)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags((flags | OFlags::CLOEXEC).bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not an ordinary file")) }
}
