//! The few file-system steps that an install is made of. None of them ever overwrites or follows anything, and an interrupted
//! call is made again.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

/// Device and inode of what is at `path`, itself and not what it links to; none where nothing is.
pub(super) fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives `from` the name `to`, which nothing may have. Where a killed run did half of it, does the other half.
pub(super) fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match rename(from, to, RenameFlags::NOREPLACE) {
        Err(error) if lacks_flags(error) => {
            if let Err(error) = link(from, to)
                && !is_same(from, to)?
            {
                return Err(error);
            }
            remove(from)
        }
        Err(Errno::EXIST) if is_same(from, to)? => remove(from),
        result => Ok(result?),
    }
}

/// Exchanges the names of two files in one step. False where the filesystem cannot, and nothing was done.
pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    match rename(one, other, RenameFlags::EXCHANGE) {
        Err(error) if lacks_flags(error) => Ok(false),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(true),
    }
}

/// Gives `from` the name `to` in one step, whatever has that name now. Only for what has another name already.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    // Without flags, which not every filesystem knows.
    std::fs::rename(from, to)
}

/// Gives `path` a second name, which nothing may have.
pub(super) fn link(path: &Path, second: &Path) -> io::Result<()> {
    Ok(retry_on_intr(|| rustix::fs::linkat(CWD, path, CWD, second, AtFlags::empty()))?)
}

/// Removes a name; that it is not there is fine.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match retry_on_intr(|| rustix::fs::unlink(path)) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// `path` with `end` put to its name.
pub(super) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(identity(one)?.is_some_and(|one| identity(other).is_ok_and(|other| other == Some(one))))
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::renameat_with(CWD, from, CWD, to, flags))
}

/// A kernel or filesystem that does not know the flags of `renameat2`.
fn lacks_flags(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_ends_what_was_half_done_and_never_removes_another_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        std::fs::write(&from, b"the old registry").expect("a file");
        std::fs::write(&to, b"another").expect("a file");
        assert_eq!(move_to(&from, &to).map_err(|error| error.kind()), Err(io::ErrorKind::AlreadyExists));
        let read = |path: &Path| std::fs::read(path).expect("a file");
        assert_eq!((read(&from), read(&to)), (b"the old registry".to_vec(), b"another".to_vec()));
        // A killed run gave it the second name already.
        remove(&to).expect("removed");
        link(&from, &to).expect("linked");
        move_to(&from, &to).expect("moved");
        assert_eq!((from.exists(), read(&to)), (false, b"the old registry".to_vec()));
        remove(&from).expect("that it is not there is fine");
    }
}
