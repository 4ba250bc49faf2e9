//! Which processes have the registry open: an agent that systemd knows nothing of, a shell somebody forgot.
//!
//! Every process's open files and mappings are compared with the registry, its side files and the registries kept from
//! earlier installs, by device and inode, and deleted ones by their path. A process on an old inode matters as much as one
//! on the new: SQLite finds side files by path, so it would put its `-wal` beside a database that is not its own.
//!
//! Locks alone do not show this: in rollback mode an idle connection holds none.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags};
use serde::{Deserialize, Serialize};

use super::names::{self, Beside, SIDES};
use super::target::Target;
use crate::finding::{Code, Finding};
use crate::terminal;

/// Where the kernel shows processes.
pub const PROC: &str = "/proc";

/// What the scan found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Holders {
    /// Processes that hold something of the registry, by pid.
    pub found: Vec<Holder>,
    /// The processes that could not be looked into.
    pub not_looked_into: Vec<u32>,
    /// Whether processes may be hidden altogether, so that `not_looked_into` is too short.
    pub some_hidden: bool,
    /// Whether another process has a lock on a file of the registry; none where the kernel's list could not be read.
    pub locked: Option<bool>,
}

/// One process that holds something of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its command name, as the process chose it: foreign text.
    pub command: String,
    /// What it holds, by file name, sorted.
    pub files: Vec<String>,
}

/// Scans every process below `proc` but this one.
#[must_use]
pub fn scan(proc: &Path, target: &Target) -> Holders {
    let watched = Watched::of(target);
    let mut holders = Holders { some_hidden: !proc.join("1").exists(), ..Holders::default() };
    let Ok(entries) = std::fs::read_dir(proc) else {
        return Holders { some_hidden: true, ..holders };
    };
    let own = own_pid(proc);
    for entry in entries {
        let Ok(entry) = entry else {
            holders.some_hidden = true;
            continue;
        };
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == own {
            continue;
        }
        let mut files = BTreeSet::new();
        let complete = gone_is_empty(open_files(&entry.path(), &watched, &mut files));
        // A bonus: SQLite keeps the descriptor of whatever it maps, so the descriptors alone are a complete look. A hardened
        // process 1 lets even root read only those.
        let _ = mappings(&entry.path(), &watched, &mut files);
        if !files.is_empty() {
            let command = std::fs::read(entry.path().join("comm")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).trim_end_matches('\n').to_owned();
            holders.found.push(Holder { pid, command, files: files.into_iter().collect() });
        } else if !complete {
            holders.not_looked_into.push(pid);
        }
    }
    holders.found.sort_by_key(|holder| holder.pid);
    holders.locked = locked(proc, &watched, own);
    holders
}

/// What the scan means: a holder blocks, and so does not knowing.
#[must_use]
pub fn findings(holders: &Holders, target: &Target) -> Vec<Finding> {
    let path = target.path.display().to_string();
    let mut findings: Vec<Finding> = holders
        .found
        .iter()
        .map(|Holder { pid, command, files }| {
            let because = format!("pid {pid} ({command}) has {} open", files.join(", "));
            Finding::blocking(Code::RegistryHeld, &path, because).hint("stop that process; nothing was changed")
        })
        .collect();
    let unseen = !holders.not_looked_into.is_empty() || holders.some_hidden;
    // An agent keeps its registry in WAL mode, and SQLite keeps a lock for as long as such a registry is open. So a process
    // that may not be looked into, as a hardened process 1, and that has no lock, does not work on it.
    if unseen && !holders.some_hidden && holders.locked == Some(false) {
        let count = unseen_processes(&holders.not_looked_into);
        let because = format!("{count} could not be looked into; no lock on the registry says that one works on it");
        findings.push(Finding::warning(Code::HoldersUnknown, &path, because));
    } else if unseen {
        let because = if holders.some_hidden {
            "processes are hidden from this user, so it is not known whether one has the registry open".to_owned()
        } else {
            let count = unseen_processes(&holders.not_looked_into);
            format!("{count} could not be looked into, so it is not known whether one has the registry open")
        };
        findings.push(
            Finding::blocking(Code::HoldersUnknown, &path, because)
                .hint("run as root; where that was root, see that none of those is an agent, then --allow holders-unknown"),
        );
    }
    findings
}

/// How many, and which: `2 other processes (pid 1, 77)`.
fn unseen_processes(pids: &[u32]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = pids.iter().take(SHOWN).map(u32::to_string).collect();
    if pids.len() > SHOWN {
        names.push("…".to_owned());
    }
    format!("{} (pid {})", terminal::count(pids.len() as u64, "other process"), names.join(", "))
}

/// The files that nobody may have open.
struct Watched<'t> {
    directory: &'t Path,
    base: &'t str,
    /// By device and inode.
    there: BTreeMap<(u64, u64), &'t str>,
}

impl<'t> Watched<'t> {
    fn of(target: &'t Target) -> Self {
        let mut there = BTreeMap::new();
        if let Some(file) = &target.file {
            there.insert((file.device, file.inode), target.base());
        }
        let registries = target.ours.iter().filter(|other| matters(other.beside));
        for other in target.sides.iter().chain(registries) {
            there.insert((other.device, other.inode), other.name.as_str());
        }
        Self { directory: target.directory(), base: target.base(), there }
    }

    fn inode(&self, device: u64, inode: u64) -> Option<String> {
        self.there.get(&(device, inode)).map(|name| (*name).to_owned())
    }

    /// The registry's name in the text of a link, where the kernel says that this file was deleted.
    fn deleted(&self, text: &[u8]) -> Option<String> {
        let path = Path::new(std::ffi::OsStr::from_bytes(text.strip_suffix(b" (deleted)")?));
        let name = path.file_name()?.to_str()?;
        let side = name.strip_prefix(self.base).is_some_and(|end| end.is_empty() || SIDES.contains(&end));
        let ours = side || matters(names::read(self.base, name));
        (path.parent() == Some(self.directory) && ours).then(|| format!("{name} (deleted)"))
    }
}

/// The lock file and a staged registry are not what SQLite works on.
fn matters(beside: Option<Beside>) -> bool {
    matches!(beside, Some(Beside::Kept { .. } | Beside::Swap { .. }))
}

fn open_files(process: &Path, watched: &Watched, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(process.join("fd"))? {
        let link = entry?.path();
        let Some(text) = gone_is_none(std::fs::read_link(&link))? else { continue };
        let text = text.as_os_str().as_bytes();
        // Pipes, sockets and the like have no path.
        if !text.starts_with(b"/") {
            continue;
        }
        found.extend(watched.deleted(text));
        // The file itself and not its filesystem is asked, so that a dead network mount of another process holds nobody up.
        let flags = AtFlags::STATX_DONT_SYNC;
        let statx = rustix::fs::statx(CWD, &link, flags, StatxFlags::BASIC_STATS).map_err(io::Error::from);
        if let Some(statx) = gone_is_none(statx)? {
            let device = rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor);
            found.extend(watched.inode(device, statx.stx_ino));
        }
    }
    Ok(())
}

/// A file may be mapped and its descriptor closed; SQLite maps `-shm`.
fn mappings(process: &Path, watched: &Watched, found: &mut BTreeSet<String>) -> io::Result<()> {
    for line in std::fs::read(process.join("maps"))?.split(|byte| *byte == b'\n') {
        // address perms offset device inode path
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let (Some(device), Some(inode), Some(path)) = (fields.nth(3), fields.next(), fields.next()) else { continue };
        let path = path.trim_ascii_start();
        found.extend(watched.deleted(path));
        let Some(inode) = std::str::from_utf8(inode).ok().and_then(|inode| inode.parse::<u64>().ok()) else { continue };
        if let Some(name) = device_number(device).and_then(|device| watched.inode(device, inode)) {
            found.insert(name);
        }
        // Some filesystems show another device here than everywhere else; then path and inode together say it.
        let by_path = watched.there.iter().find(|((_, number), name)| {
            *number == inode && Path::new(std::ffi::OsStr::from_bytes(path)) == watched.directory.join(name)
        });
        found.extend(by_path.map(|(_, name)| (*name).to_owned()));
    }
    Ok(())
}

/// Whether a process besides `own` has a lock on a watched file, from the kernel's list: the files are not opened, because
/// closing them would give our own locks back.
fn locked(proc: &Path, watched: &Watched, own: u32) -> Option<bool> {
    let list = std::fs::read_to_string(proc.join("locks")).ok()?;
    Some(list.lines().any(|line| {
        // 1: POSIX ADVISORY READ 1234 fd:01:5678 1073741826 1073742335; a waiter has a -> behind its number.
        let mut fields = line.split_ascii_whitespace().filter(|field| *field != "->").skip(4);
        let (Some(pid), Some(file)) = (fields.next(), fields.next()) else { return false };
        // The inode alone: some filesystems show another device here than everywhere else, and one lock too many is safe.
        let inode = file.rsplit(':').next().and_then(|inode| inode.parse::<u64>().ok());
        pid != own.to_string() && watched.there.keys().any(|(_, watched)| Some(*watched) == inode)
    }))
}

/// `fd:01` as the kernel writes it in maps.
fn device_number(text: &[u8]) -> Option<u64> {
    let (major, minor) = std::str::from_utf8(text).ok()?.split_once(':')?;
    Some(rustix::fs::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
}

fn own_pid(proc: &Path) -> u32 {
    let own = std::fs::read_link(proc.join("self")).ok().and_then(|link| link.to_str()?.parse().ok());
    own.unwrap_or_else(std::process::id)
}

/// Whether the look was complete; a process that ended meanwhile holds nothing.
fn gone_is_empty(result: io::Result<()>) -> bool {
    gone_is_none(result).is_ok()
}

fn gone_is_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
