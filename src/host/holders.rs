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
        findings.push(Finding::blocking(Code::HoldersUnknown, &path, because).hint("run as root"));
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
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};

    /// A python process that ran `script` (with the registry's path in `path`), said so, and waits until it is dropped.
    struct Python(Child);

    impl Python {
        fn run(path: &Path, script: &str) -> Self {
            let script = format!(
                "import sys, os, mmap, sqlite3\npath = sys.argv[1]\n{script}\nprint('ready', flush=True)\nsys.stdin.read()"
            );
            let mut child = Command::new("python3")
                .args(["-c", &script])
                .arg(path)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("python3 is needed by this test: apt-get install python3");
            let mut line = String::new();
            BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
            assert_eq!(line, "ready\n");
            Self(child)
        }
    }

    impl Drop for Python {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn registry() -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().canonicalize().expect("a real path").join("registry.db");
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection.execute_batch("CREATE TABLE routes (host TEXT)").expect("a table");
        (directory, path)
    }

    fn held(path: &Path) -> Vec<Holder> {
        scan(Path::new(PROC), &Target::look(path).expect("facts")).found
    }

    #[test]
    fn a_process_with_the_database_open_is_named_also_when_idle() {
        let (_directory, path) = registry();
        assert_eq!(held(&path), []);
        let python = Python::run(&path, "c = sqlite3.connect(path); c.execute('select * from routes').fetchall()");
        let found = held(&path);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].pid, found[0].files.as_slice()), (python.0.id(), ["registry.db".to_owned()].as_slice()));
        assert!(found[0].command.starts_with("python"), "{found:?}");
        let target = Target::look(&path).expect("facts");
        let findings = findings(&Holders { found, ..Holders::default() }, &target);
        assert_eq!((findings[0].code, findings[0].stops(&[Code::RegistryHeld])), (Code::RegistryHeld, true));
        drop(python);
        assert_eq!(held(&path), []);
    }

    #[test]
    fn side_files_count_as_the_database_does() {
        let (_directory, path) = registry();
        let _python = Python::run(
            &path,
            "c = sqlite3.connect(path); c.execute('pragma journal_mode=wal'); c.execute('insert into routes values (1)'); c.commit()",
        );
        let found = held(&path);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].files, ["registry.db", "registry.db-shm", "registry.db-wal"]);
    }

    #[test]
    fn a_mapping_without_a_descriptor_is_seen() {
        let (_directory, path) = registry();
        std::fs::write(path.with_file_name("registry.db-shm"), [0; 4096]).expect("a file");
        let script = "f = open(path + '-shm', 'r+b'); m = mmap.mmap(f.fileno(), 0); f.close()";
        let _python = Python::run(&path, script);
        let found = held(&path);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].files, ["registry.db-shm"]);
    }

    #[test]
    fn a_deleted_inode_is_seen_in_descriptors_and_mappings() {
        let (_directory, path) = registry();
        for script in [
            "f = open(path, 'rb'); os.unlink(path)",
            "f = open(path, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); f.close(); os.unlink(path)",
            "f = open(path + '-journal', 'wb'); os.unlink(path + '-journal')",
        ] {
            std::fs::File::create(&path).and_then(|mut file| file.write_all(&[1; 4096])).expect("a file");
            let _python = Python::run(&path, script);
            let found = held(&path);
            assert_eq!(found.len(), 1, "{script}");
            assert!(found[0].files[0].ends_with(" (deleted)"), "{found:?}");
        }
    }

    #[test]
    fn a_registry_kept_from_an_earlier_install_counts_and_other_files_do_not() {
        let (_directory, path) = registry();
        let kept = path.with_file_name("registry.db.before-20261130T100000Z");
        std::fs::write(&kept, b"x").expect("a file");
        std::fs::write(path.with_file_name("registry.db.notes"), b"x").expect("a file");
        let python = Python::run(&path, "f = open(path + '.before-20261130T100000Z', 'rb')");
        assert_eq!(held(&path)[0].files, ["registry.db.before-20261130T100000Z"]);
        drop(python);
        let _python = Python::run(&path, "f = open(path + '.notes', 'rb'); os.unlink(path + '.notes')");
        assert_eq!(held(&path), []);
    }

    #[test]
    fn what_cannot_be_looked_into_is_counted_and_blocks() {
        let (_directory, path) = registry();
        let target = Target::look(&path).expect("facts");
        let proc = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(proc.path().join("1/fd")).expect("a directory");
        std::fs::write(proc.path().join("1/maps"), b"").expect("a file");
        // Not a directory, so neither of the two can be read, whoever runs this test.
        std::fs::create_dir_all(proc.path().join("77/maps")).expect("a directory");
        std::fs::write(proc.path().join("77/fd"), b"").expect("a file");
        let holders = scan(proc.path(), &target);
        assert_eq!((holders.found.len(), &holders.not_looked_into[..], holders.some_hidden), (0, &[77][..], false));
        let unknown = findings(&holders, &target);
        assert_eq!((unknown.len(), unknown[0].code), (1, Code::HoldersUnknown));
        assert!(unknown[0].stops(&[]));
        assert!(unknown[0].because.starts_with("1 other process (pid 77) could not"), "{}", unknown[0].because);

        // The kernel's list of locks tells whether an agent can be among them.
        let inode = target.file.as_ref().expect("a file").inode;
        for (lock, stops) in [(format!("00:1b:{inode}"), true), (format!("00:1b:{}", inode + 1), false)] {
            let list = format!(
                "1: POSIX  ADVISORY  READ 77 {lock} 1073741826 1073742335\n1: -> FLOCK  ADVISORY  WRITE 5 00:1b:1 0 EOF\n"
            );
            std::fs::write(proc.path().join("locks"), list).expect("a file");
            let unknown = findings(&scan(proc.path(), &target), &target);
            assert_eq!((unknown.len(), unknown[0].code, unknown[0].stops(&[])), (1, Code::HoldersUnknown, stops));
        }

        let hidden = scan(&proc.path().join("nowhere"), &target);
        assert!(hidden.some_hidden);
        assert_eq!(findings(&hidden, &target)[0].code, Code::HoldersUnknown);
    }
}
