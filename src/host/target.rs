//! What is at the registry's path, before anything is done there: plain facts, and the findings that follow from them
//! alone. Nothing is opened, so looking never disturbs a lock that SQLite holds.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, StatxAttributes, StatxFlags};
use serde::{Deserialize, Serialize};

use super::names::{self, Beside, SIDES};
use crate::finding::{Code, Finding};

/// Links that are followed before a path counts as a loop; the kernel's own number.
const MAX_LINKS: usize = 40;

/// The facts about a registry's path at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The path as it was given.
    pub named: PathBuf,
    /// The real path: absolute, and no link in it. Everything is done here.
    pub path: PathBuf,
    /// What is there.
    pub kind: Kind,
    /// The file, where there is an ordinary one.
    pub file: Option<FileFacts>,
    /// The directory of the real path; none where it is missing.
    pub directory: Option<DirectoryFacts>,
    /// SQLite's side files beside it, in the order of [`SIDES`].
    pub sides: Vec<OtherFile>,
    /// Our own files beside it, sorted by name: kept registries, and what a killed run left.
    pub ours: Vec<OtherFile>,
    /// The user that looked.
    pub looked_as_uid: u32,
}

/// What is at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Nothing.
    Absent,
    /// An ordinary file.
    File,
    /// A directory.
    Directory,
    /// A device, socket or pipe.
    Special,
}

/// An ordinary file at the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Names that it has besides this one and those that an interrupted run of ours gave it.
    pub other_links: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its permission bits.
    pub mode: u32,
    /// Its length.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Whether something is mounted on exactly this file, so that it cannot be exchanged.
    pub mount_point: bool,
}

/// The directory that the registry lives in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryFacts {
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its permission bits.
    pub mode: u32,
    /// Whether we may create and rename files in it.
    pub writable: bool,
    /// Whether its filesystem is mounted read-only.
    pub read_only: bool,
    /// The filesystem's type, by name where it is a usual one.
    pub filesystem: String,
    /// Bytes that are free for an ordinary user.
    pub free_bytes: u64,
}

/// Another file in the directory that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFile {
    /// Its name.
    pub name: String,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its length.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Whether it is an ordinary file.
    pub is_file: bool,
    /// How many names it has.
    pub links: u64,
    /// What it is, where it is one of ours.
    pub beside: Option<Beside>,
}

/// Why the facts could not be had.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The path cannot be a registry's.
    #[error("{}: {because}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not.
        because: &'static str,
    },
    /// The system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl Target {
    /// Looks at `named`, following links to the real file.
    ///
    /// # Errors
    /// The path is no path of a file, or could not be looked at.
    pub fn look(named: &Path) -> Result<Self, TargetError> {
        let path = real_path(named)?;
        // Paths are written into evidence, receipts and messages, all of them text.
        let (Some(_), Some(directory), Some(base)) =
            (path.to_str(), path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(TargetError::Path { path, because: "not UTF-8, or not the path of a file" });
        };
        let facts = directory_facts(directory).map_err(io_at(directory))?;
        let metadata = optional(path.symlink_metadata()).map_err(io_at(&path))?;
        let mut sides = Vec::new();
        let mut ours = Vec::new();
        if facts.is_some() {
            for side in SIDES {
                let name = format!("{base}{side}");
                sides.extend(other_file(directory, name, None).map_err(io_at(directory))?);
            }
            for (name, beside) in names::list(directory, base).map_err(io_at(directory))? {
                ours.extend(other_file(directory, name, Some(beside)).map_err(io_at(directory))?);
            }
        }
        let kind = metadata.as_ref().map_or(Kind::Absent, kind);
        let file = match &metadata {
            Some(metadata) if kind == Kind::File => Some(file_facts(&path, metadata, &ours).map_err(io_at(&path))?),
            _ => None,
        };
        let looked_as_uid = rustix::process::geteuid().as_raw();
        Ok(Self { named: named.to_owned(), path: path.clone(), kind, file, directory: facts, sides, ours, looked_as_uid })
    }

    /// The directory of the real path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// The registry's file name.
    #[must_use]
    pub fn base(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Whether the registry is as it was when `earlier` was looked at: same directory, same file, and nothing written to it
    /// or its side files since.
    #[must_use]
    pub fn is_as_in(&self, earlier: &Self) -> bool {
        let directory = |of: &Self| of.directory.as_ref().map(|directory| (directory.device, directory.inode));
        (&self.path, self.kind, &self.file, &self.sides) == (&earlier.path, earlier.kind, &earlier.file, &earlier.sides)
            && directory(self) == directory(earlier)
    }

    /// The side files that are not files of their own, in words. SQLite would wait at a pipe for ever, and would empty a file
    /// under another name of it.
    #[must_use]
    pub fn odd_sides(&self) -> Vec<String> {
        let odd = |side: &OtherFile| match (side.is_file, side.links) {
            (false, _) => Some(format!("{} is not an ordinary file", side.name)),
            (true, 2..) => Some(format!("{} has a second name (a hard link)", side.name)),
            (true, _) => None,
        };
        self.sides.iter().filter_map(odd).collect()
    }

    /// The room that an install takes: the new registry beside the old one, and what the old one grows by when its WAL is
    /// folded in.
    #[must_use]
    pub fn space_needed_bytes(&self, installed_bytes: u64) -> u64 {
        let wal = self.sides.iter().filter(|side| side.name.ends_with("-wal")).map(|side| side.bytes);
        wal.fold(installed_bytes, u64::saturating_add)
    }

    /// What stands in the way of installing a registry of `installed_bytes` here, as far as the path alone tells.
    #[must_use]
    pub fn findings(&self, installed_bytes: u64) -> Vec<Finding> {
        let needed_bytes = self.space_needed_bytes(installed_bytes);
        let path = self.path.display().to_string();
        let mut findings = Vec::new();
        let mut unsafe_because = |because: &str| findings.push(Finding::blocking(Code::TargetUnsafe, &path, because));
        match self.kind {
            Kind::Directory => unsafe_because("a directory, not a file"),
            Kind::Special => unsafe_because("a device, socket or pipe, not a file"),
            Kind::Absent | Kind::File => {}
        }
        if let Some(file) = &self.file {
            if file.other_links > 0 {
                unsafe_because("the file has a second name (a hard link), which would keep the old registry");
            }
            if file.mount_point {
                unsafe_because("the file itself is a mount point, so it cannot be exchanged");
            }
        }
        for odd in self.odd_sides() {
            unsafe_because(&odd);
        }
        findings.extend(self.unwritable().map(|(because, hint)| {
            Finding::blocking(Code::TargetUnwritable, self.directory().display().to_string(), because).hint(hint)
        }));
        if let Some(directory) = &self.directory
            && directory.free_bytes < needed_bytes
        {
            let because = format!("an install needs {needed_bytes} bytes, and {} are free", directory.free_bytes);
            findings.push(
                Finding::blocking(Code::NoSpace, self.directory().display().to_string(), because)
                    .hint("free room in that filesystem"),
            );
        }
        findings
    }

    fn unwritable(&self) -> Option<(String, &'static str)> {
        let Some(directory) = &self.directory else {
            return Some(("the directory is missing".to_owned(), "create it, owned by the service user"));
        };
        if directory.read_only {
            return Some(("the filesystem is mounted read-only".to_owned(), "mount it read-write"));
        }
        if !directory.writable {
            return Some(("no permission to create files in the directory".to_owned(), "run as root"));
        }
        let owner = self.file.as_ref().map_or(directory.uid, |file| file.uid);
        if self.looked_as_uid != 0 && owner != self.looked_as_uid {
            let because = format!("the registry belongs to uid {owner}, and uid {} cannot give it a file", self.looked_as_uid);
            return Some((because, "run as root or as that user"));
        }
        None
    }
}

/// Follows links in the last component, also to a file that is not there yet; the directory is resolved by the kernel.
fn real_path(named: &Path) -> Result<PathBuf, TargetError> {
    let mut path = std::path::absolute(named).map_err(io_at(named))?;
    for _ in 0..MAX_LINKS {
        let Some(Component::Normal(base)) = path.components().next_back() else {
            return Err(TargetError::Path { path, because: "not the path of a file" });
        };
        let base: OsString = base.to_owned();
        let parent = path.parent().unwrap_or(Path::new("/"));
        let Some(directory) = optional(parent.canonicalize()).map_err(io_at(parent))? else {
            return Ok(path);
        };
        let real = directory.join(base);
        match optional(real.symlink_metadata()).map_err(io_at(&real))? {
            Some(metadata) if metadata.is_symlink() => {
                path = directory.join(real.read_link().map_err(io_at(&real))?);
            }
            _ => return Ok(real),
        }
    }
    Err(TargetError::Path { path: named.to_owned(), because: "too many links, or a loop of them" })
}

fn kind(metadata: &Metadata) -> Kind {
    if metadata.is_file() {
        Kind::File
    } else if metadata.is_dir() {
        Kind::Directory
    } else {
        Kind::Special
    }
}

fn file_facts(path: &Path, metadata: &Metadata, ours: &[OtherFile]) -> io::Result<FileFacts> {
    let same = |other: &&OtherFile| (other.device, other.inode) == (metadata.dev(), metadata.ino());
    let own_links = ours.iter().filter(same).count() as u64;
    let statx = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    Ok(FileFacts {
        device: metadata.dev(),
        inode: metadata.ino(),
        other_links: metadata.nlink().saturating_sub(1 + own_links),
        uid: metadata.uid(),
        gid: metadata.gid(),
        mode: metadata.mode() & 0o7777,
        bytes: metadata.len(),
        modified_ns: modified_ns(metadata),
        mount_point: statx.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
    })
}

fn directory_facts(directory: &Path) -> io::Result<Option<DirectoryFacts>> {
    let Some(metadata) = optional(directory.metadata())? else { return Ok(None) };
    if !metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    let space = rustix::fs::statvfs(directory)?;
    let allowed = rustix::fs::accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    Ok(Some(DirectoryFacts {
        device: metadata.dev(),
        inode: metadata.ino(),
        uid: metadata.uid(),
        gid: metadata.gid(),
        mode: metadata.mode() & 0o7777,
        writable: allowed.is_ok(),
        read_only: space.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        filesystem: filesystem_name(&rustix::fs::statfs(directory)?),
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
    }))
}

fn filesystem_name(statfs: &rustix::fs::StatFs) -> String {
    match statfs.f_type {
        0xEF53 => "ext4".to_owned(),
        0x5846_5342 => "xfs".to_owned(),
        0x9123_683E => "btrfs".to_owned(),
        0x0102_1994 => "tmpfs".to_owned(),
        0x794C_7630 => "overlay".to_owned(),
        0x2FC1_2FC1 => "zfs".to_owned(),
        0x6969 => "nfs".to_owned(),
        0x6573_5546 => "fuse".to_owned(),
        0x4D44 => "vfat".to_owned(),
        other => format!("type {other:#x}"),
    }
}

fn other_file(directory: &Path, name: String, beside: Option<Beside>) -> io::Result<Option<OtherFile>> {
    let metadata = optional(directory.join(&name).symlink_metadata())?;
    Ok(metadata.map(|metadata| OtherFile {
        name,
        device: metadata.dev(),
        inode: metadata.ino(),
        bytes: metadata.len(),
        modified_ns: modified_ns(&metadata),
        is_file: metadata.is_file(),
        links: metadata.nlink(),
        beside,
    }))
}

fn modified_ns(metadata: &Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}

/// What is not there is an answer, not an error.
fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> TargetError {
    let path = path.to_owned();
    |source| TargetError::Io { path, source }
}

#[cfg(test)]
mod tests;
