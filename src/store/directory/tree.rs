//! Walking and reading below the root, one name at a time and never through a link.
//!
//! Every step is an `openat` with `O_NOFOLLOW` from the directory before it, and no name is `..`, so there is no path out.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use sha2::Sha256;

use super::names::{self, OWN, fault, not_an_object};
use crate::platform::hex;
use crate::store::digest::digest_of;
use crate::store::key::sha256_hex;
use crate::store::{ObjectMeta, StoreError, Tally};

/// How much is read at once.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;
/// How often a file that changes while it is read is read again.
const READS: usize = 3;
/// How often a file with two names is looked at before they are believed to stay.
const LOOKS: usize = 10;

/// The open root of a directory store.
#[derive(Debug)]
pub(super) struct Root {
    /// Where it is, for people.
    pub(super) path: PathBuf,
    /// The directory itself; renaming it does not lead elsewhere.
    pub(super) fd: OwnedFd,
}

/// One name in a directory.
struct Entry {
    name: String,
    kind: FileType,
}

impl Root {
    /// Opens the root. The root itself may be named through a link: it is the operator's own words.
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat(CWD, &path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self { path, fd }),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(StoreError::NoStore { store: path.display().to_string() }),
            Err(error) => Err(fault(&path.display().to_string(), &error.into())),
        }
    }

    /// The directory that `names` lead to, or `None` where there is none. `key` is for messages.
    pub(super) fn directory(&self, names: &[&str], key: &str) -> Result<Option<OwnedFd>, StoreError> {
        let mut at = open_directory(&self.fd, ".").map_err(|error| fault(key, &error.into()))?;
        for name in names {
            at = match open_directory(&at, name) {
                Ok(next) => next,
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::NOTDIR | Errno::LOOP) => return no_directory(&at, name, key),
                Err(error) => return Err(fault(key, &error.into())),
            };
        }
        Ok(Some(at))
    }

    /// The open file of an object, and its facts. `NotFound` where there is no plain file.
    pub(super) fn object(&self, key: &str) -> Result<(File, Metadata), StoreError> {
        let (directories, name) = names::of_key(key)?;
        let missing = || StoreError::NotFound { key: key.to_owned() };
        let directory = self.directory(&directories, key)?.ok_or_else(missing)?;
        open_object(&directory, name, key)?.ok_or_else(missing)
    }

    /// Every object below `prefix`, in no order; counted as they are found.
    pub(super) fn list(&self, prefix: &str, tally: &Tally) -> Result<Vec<ObjectMeta>, StoreError> {
        let mut objects = Vec::new();
        let mut waiting = vec![prefix.to_owned()];
        while let Some(prefix) = waiting.pop() {
            let Some(directory) = self.directory(&names::of_prefix(&prefix)?, &prefix)? else { continue };
            for entry in entries(&directory, &prefix)? {
                let key = format!("{prefix}{}", entry.name);
                match entry.kind {
                    FileType::Directory => waiting.push(format!("{key}/")),
                    FileType::RegularFile => {
                        names::of_key(&key)?;
                        // One that is gone by now was deleted meanwhile, as it may be between two pages of any listing.
                        if let Some((mut file, _)) = open_object(&directory, &entry.name, &key)? {
                            objects.push(facts(&mut file, &key)?);
                            tally.add_listed(1);
                        }
                    }
                    // Leaving it out would hide what it was put there to say; a pin, perhaps.
                    kind => return Err(not_an_object(&key, words(kind))),
                }
            }
        }
        Ok(objects)
    }

    /// The directories directly below `prefix` that hold an object at any depth, in no order.
    pub(super) fn list_directories(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let Some(directory) = self.directory(&names::of_prefix(prefix)?, prefix)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in entries(&directory, prefix)? {
            let key = format!("{prefix}{}", entry.name);
            match entry.kind {
                FileType::RegularFile => {}
                FileType::Directory => {
                    let below = format!("{key}/");
                    if self.holds_something(&below)? {
                        found.push(below);
                    }
                }
                kind => return Err(not_an_object(&key, words(kind))),
            }
        }
        Ok(found)
    }

    /// Whether anything but directories is below `prefix`: a bucket has no empty directories either.
    fn holds_something(&self, prefix: &str) -> Result<bool, StoreError> {
        let mut waiting = vec![prefix.to_owned()];
        while let Some(prefix) = waiting.pop() {
            let Some(directory) = self.directory(&names::of_prefix(&prefix)?, &prefix)? else { continue };
            for entry in entries(&directory, &prefix)? {
                if entry.kind != FileType::Directory {
                    return Ok(true);
                }
                waiting.push(format!("{prefix}{}/", entry.name));
            }
        }
        Ok(false)
    }
}

fn open_directory(at: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Why `name` is no directory: below a plain file there is nothing; anything else is refused.
fn no_directory(at: &OwnedFd, name: &str, key: &str) -> Result<Option<OwnedFd>, StoreError> {
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Directory => Ok(None),
            kind => Err(not_an_object(key, &format!("below {name:?}, {}", words(kind)))),
        },
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(fault(key, &error.into())),
    }
}

/// Opens one plain file of a directory, or `None` where there is none.
pub(super) fn open_object(at: &OwnedFd, name: &str, key: &str) -> Result<Option<(File, Metadata)>, StoreError> {
    // Looked at before it is opened: opening a device or a pipe may do something, or wait.
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(None),
            kind => return Err(not_an_object(key, words(kind))),
        },
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(fault(key, &error.into())),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(at, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(fault(key, &error.into())),
    };
    let metadata = settled(&file).map_err(|error| fault(key, &error))?;
    if !metadata.is_file() {
        return Err(not_an_object(key, "no plain file any more"));
    }
    if metadata.nlink() > 1 {
        return Err(not_an_object(key, &format!("one of {} hard links to one file", metadata.nlink())));
    }
    Ok(Some((file, metadata)))
}

/// The facts of a file once it has one name: whoever publishes with link(2) gives it two for a moment.
fn settled(file: &File) -> io::Result<Metadata> {
    for _ in 0..LOOKS {
        let metadata = file.metadata()?;
        if metadata.nlink() <= 1 {
            return Ok(metadata);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    file.metadata()
}

/// The names in a directory, ours left out.
fn entries(directory: &OwnedFd, prefix: &str) -> Result<Vec<Entry>, StoreError> {
    let fail = |error: Errno| fault(prefix, &error.into());
    let mut found = Vec::new();
    for entry in Dir::read_from(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." || (prefix.is_empty() && bytes == OWN.as_bytes()) {
            continue;
        }
        let Ok(name) = std::str::from_utf8(bytes) else {
            let name = String::from_utf8_lossy(bytes);
            return Err(not_an_object(&format!("{prefix}{name}"), "a name that is not UTF-8"));
        };
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(fail(error)),
            },
            kind => kind,
        };
        found.push(Entry { name: name.to_owned(), kind });
    }
    Ok(found)
}

fn words(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "neither file nor directory",
    }
}

/// The facts of an open file: its digest is of the whole content as it was at one moment.
pub(super) fn facts(file: &mut File, key: &str) -> Result<ObjectMeta, StoreError> {
    stable(file, key, |file| {
        let (sha256, bytes) = digest_of::<Sha256>(file)?;
        Ok((hex(&sha256), bytes, ()))
    })
    .map(|(meta, ())| meta)
}

/// The facts and the whole content of an open file of at most `limit_bytes`.
pub(super) fn content(file: &mut File, key: &str, limit_bytes: u64) -> Result<(ObjectMeta, Vec<u8>), StoreError> {
    let too_large = |bytes| StoreError::TooLarge { key: key.to_owned(), bytes, limit_bytes };
    let bytes = file.metadata().map_err(|error| fault(key, &error))?.len();
    if bytes > limit_bytes {
        return Err(too_large(bytes));
    }
    let (meta, body) = stable(file, key, |file| {
        let mut body = Vec::new();
        file.take(limit_bytes.saturating_add(1)).read_to_end(&mut body)?;
        Ok((sha256_hex(&body), body.len() as u64, body))
    })?;
    if meta.bytes > limit_bytes { Err(too_large(meta.bytes)) } else { Ok((meta, body)) }
}

/// Reads until nothing changed under the reading. Our own writes never change a file, but other programs' may.
fn stable<T>(
    file: &mut File,
    key: &str,
    read: impl Fn(&mut File) -> io::Result<(String, u64, T)>,
) -> Result<(ObjectMeta, T), StoreError> {
    let fail = |error: io::Error| fault(key, &error);
    for _ in 0..READS {
        let before = file.metadata().map_err(fail)?;
        file.rewind().map_err(fail)?;
        let (etag, bytes, value) = read(file).map_err(fail)?;
        let after = file.metadata().map_err(fail)?;
        if unchanged(&before, &after) && bytes == after.len() {
            return Ok((meta(key, &after, etag)?, value));
        }
    }
    Err(changed(key))
}

/// Whether a file looks as it did.
pub(super) fn unchanged(before: &Metadata, after: &Metadata) -> bool {
    let looks = |of: &Metadata| (of.len(), of.mtime(), of.mtime_nsec());
    looks(before) == looks(after)
}

/// The error of a file that was written to while it was read.
pub(super) fn changed(key: &str) -> StoreError {
    StoreError::Incomplete { subject: key.to_owned(), detail: "the file was changed while it was read".to_owned() }
}

/// The facts of a file whose digest is known.
pub(super) fn meta(key: &str, metadata: &Metadata, etag: String) -> Result<ObjectMeta, StoreError> {
    let last_modified = i32::try_from(metadata.mtime_nsec())
        .ok()
        .and_then(|nanoseconds| Timestamp::new(metadata.mtime(), nanoseconds).ok())
        .ok_or_else(|| StoreError::Other { subject: key.to_owned(), detail: "its modification time is no time".to_owned() })?;
    Ok(ObjectMeta { key: key.to_owned(), bytes: metadata.len(), etag, last_modified, version_id: None })
}
