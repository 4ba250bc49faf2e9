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
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::lock_file::{self, LockFile};
use super::names;
use super::target::Target;

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
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::fs::symlink;
    use std::process::{Child, Command, Stdio};

    fn claim() -> Claim {
        Claim::new("restore", "edge-b2", Timestamp::UNIX_EPOCH)
    }

    fn registry(journal_mode: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().canonicalize().expect("a real path").join("registry.db");
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection.pragma_update(None, "journal_mode", journal_mode).expect("a mode");
        connection.execute_batch("CREATE TABLE routes (host TEXT); INSERT INTO routes VALUES ('a')").expect("a table");
        (directory, path)
    }

    fn acquire(path: &Path) -> Result<Interlock, InterlockError> {
        Interlock::acquire(&Target::look(path).expect("facts"), &claim())
    }

    /// Runs python to its end and returns what it printed.
    fn python(path: &Path, script: &str) -> String {
        let script = format!("import sys, os, sqlite3\npath = sys.argv[1]\n{script}");
        let output = Command::new("python3").args(["-c", &script]).arg(path).output().expect("python3 starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// A python process that ran `script` and waits.
    fn waiting(path: &Path, script: &str) -> Child {
        let script =
            format!("import sys, fcntl, sqlite3\npath = sys.argv[1]\n{script}\nprint('ready', flush=True)\nsys.stdin.read()");
        let mut child = Command::new("python3")
            .args(["-c", &script])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut String::new()).expect("a line");
        child
    }

    fn end(mut child: Child) {
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    const TRY_ALL: &str = "
for sql in ['select * from routes', 'insert into routes values (2)', 'pragma journal_mode=wal', 'pragma journal_mode=delete']:
    try:
        c = sqlite3.connect(path, timeout=0); c.execute(sql).fetchall(); c.commit(); c.close(); print('went through:', sql)
    except sqlite3.OperationalError as e:
        print(e, end=';')";

    #[test]
    fn no_other_process_reads_or_writes_while_it_is_held_in_either_journal_mode() {
        for mode in ["delete", "wal", "truncate", "persist"] {
            let (_directory, path) = registry(mode);
            let interlock = acquire(&path).expect("the interlock");
            assert_eq!(python(&path, TRY_ALL), "database is locked;".repeat(4), "{mode}");
            drop(interlock);
            assert_eq!(python(&path, TRY_ALL).matches("went through").count(), 4, "{mode}");
        }
    }

    #[test]
    fn an_idle_wal_connection_an_open_reader_and_a_writer_refuse_it() {
        for (mode, script) in [
            ("wal", "c = sqlite3.connect(path); c.execute('select 1 from routes').fetchall()"),
            ("wal", "c = sqlite3.connect(path); c.execute('begin immediate')"),
            ("delete", "c = sqlite3.connect(path); c.execute('begin'); c.execute('select * from routes').fetchall()"),
            ("delete", "c = sqlite3.connect(path); c.execute('begin immediate')"),
        ] {
            let (_directory, path) = registry(mode);
            let child = waiting(&path, script);
            let refused = acquire(&path);
            assert!(matches!(refused, Err(InterlockError::Held { .. })), "{mode} {script}: {refused:?}");
            end(child);
            drop(acquire(&path).expect("the interlock"));
        }
    }

    #[test]
    fn taking_and_giving_back_changes_nothing_and_leaves_nothing() {
        let (directory, path) = registry("wal");
        // An uncheckpointed WAL, as a killed agent leaves it.
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection.execute_batch("INSERT INTO routes VALUES ('b')").expect("a row");
        let other = directory.path().join("copy");
        std::fs::create_dir(&other).expect("a directory");
        for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
            std::fs::copy(directory.path().join(name), other.join(name)).expect("a copy");
        }
        let path = other.join("registry.db");
        let state = || {
            let mut state = Vec::new();
            for entry in std::fs::read_dir(&other).expect("a directory") {
                let entry = entry.expect("an entry").path();
                state.push((entry.clone(), std::fs::read(&entry).expect("bytes"), entry.metadata().expect("facts").ino()));
            }
            state.sort();
            state
        };
        let before = state();
        let interlock = acquire(&path).expect("the interlock");
        assert_eq!(state().len(), 4, "the lock file");
        drop(interlock);
        assert_eq!(state(), before);
    }

    #[test]
    fn a_second_restore_is_refused_and_the_first_is_named() {
        let (_directory, path) = registry("wal");
        let held = acquire(&path).expect("the interlock");
        assert!(Interlock::is_held(&path).expect("an answer"));
        let error = acquire(&path).expect_err("refused");
        assert!(matches!(&error, InterlockError::InProgress { who: Some(who) } if **who == claim()), "{error:?}");
        assert!(error.to_string().contains("restore on edge-b2, pid "), "{error}");
        assert!(matches!(Running::start(&path, &claim()), Err(InterlockError::InProgress { .. })));
        drop(held);
        assert!(!Interlock::is_held(&path).expect("an answer"));
        assert!(!lock_path(&path).exists());
    }

    #[test]
    fn box_halves_share_and_keep_a_restore_out() {
        let (_directory, path) = registry("wal");
        let first = Running::start(&path, &claim()).expect("runs");
        let second = Running::start(&path, &claim()).expect("runs");
        assert!(!Interlock::is_held(&path).expect("an answer"));
        assert!(matches!(acquire(&path), Err(InterlockError::Running { who: Some(_) })));
        drop(first);
        assert!(matches!(acquire(&path), Err(InterlockError::Running { .. })));
        drop(second);
        assert!(!lock_path(&path).exists());
        drop(acquire(&path).expect("the interlock"));
    }

    #[test]
    fn a_lock_file_that_a_killed_run_left_is_no_lock() {
        let (_directory, path) = registry("delete");
        let own_pid = std::process::id();
        let text = format!("{{\"operation\":\"restore\",\"host\":\"x\",\"pid\":{own_pid},\"since\":\"2026-11-30T10:00:00Z\"}}");
        std::fs::write(lock_path(&path), text).expect("a file");
        drop(acquire(&path).expect("the interlock"));
        // Nor is one that another process locked, and whose text means nothing, a reason to say nonsense.
        std::fs::write(lock_path(&path), b"\xff\x1b[2J").expect("a file");
        let child = waiting(&path, "f = open(path + '.carlosctl-lock', 'rb'); fcntl.flock(f, fcntl.LOCK_EX)");
        assert!(matches!(acquire(&path), Err(InterlockError::InProgress { who: None })));
        end(child);
        drop(acquire(&path).expect("the interlock"));
    }

    #[test]
    fn a_lock_file_that_is_something_else_is_neither_followed_nor_written() {
        let (directory, path) = registry("delete");
        let victim = directory.path().join("victim");
        std::fs::File::create(&victim).and_then(|mut file| file.write_all(b"precious")).expect("a file");
        symlink(&victim, lock_path(&path)).expect("a link");
        assert!(matches!(acquire(&path), Err(InterlockError::LockFile { .. })));
        std::fs::remove_file(lock_path(&path)).expect("removed");
        std::fs::hard_link(&victim, lock_path(&path)).expect("a link");
        assert!(matches!(acquire(&path), Err(InterlockError::LockFile { .. })));
        std::fs::remove_file(lock_path(&path)).expect("removed");
        std::fs::create_dir(lock_path(&path)).expect("a directory");
        assert!(matches!(acquire(&path), Err(InterlockError::LockFile { .. })));
        assert_eq!(std::fs::read(&victim).expect("bytes"), b"precious");
    }

    #[test]
    fn what_was_looked_at_must_still_be_there() {
        let (_directory, path) = registry("delete");
        let target = Target::look(&path).expect("facts");
        std::fs::copy(&path, path.with_extension("new")).expect("a copy");
        std::fs::rename(path.with_extension("new"), &path).expect("renamed");
        assert!(matches!(Interlock::acquire(&target, &claim()), Err(InterlockError::Replaced { .. })));
        std::fs::remove_file(&path).expect("removed");
        assert!(matches!(Interlock::acquire(&target, &claim()), Err(InterlockError::Replaced { .. })));
        let absent = Target::look(&path).expect("facts");
        drop(Interlock::acquire(&absent, &claim()).expect("the interlock"));
        std::fs::write(&path, b"").expect("a file");
        assert!(matches!(Interlock::acquire(&absent, &claim()), Err(InterlockError::Replaced { .. })));
        assert!(!lock_path(&path).exists());
    }
}
