//! Opening a registry so that opening it changes nothing.
//!
//! A reader of SQLite is not harmless by itself: it creates `-wal` and `-shm` beside a database in WAL mode, and believes
//! whatever `-wal` or `-journal` happens to lie there. So there are three ways in, and each says whose view it is.
//!
//! Opening reads the header first and closes it again, which gives back every POSIX lock that this process has on the file.
//! So one process opens one live registry one at a time, and not while it holds the interlock.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;

use super::header::{self, HEADER_BYTES, Header};
use super::{HeaderFault, RegistryError};

/// How long a reader waits for a writer before it says `Busy`.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// After how many of SQLite's own operations it asks whether to go on: many times in a millisecond.
const OPERATIONS_BETWEEN: i32 = 1000;

/// A registry that is open for questions. Send, not Sync: one question at a time.
#[derive(Debug)]
pub struct Registry {
    pub(super) connection: Connection,
    /// Set where SQLite was told that the file does not change: then it is us who look whether that stayed true.
    unchanged: Option<(PathBuf, FileState)>,
    interrupted: Arc<AtomicBool>,
}

/// Stops a question that is being answered, from another thread. Sticky: later questions are not begun either.
#[derive(Debug, Clone, Default)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// The question ends with [`RegistryError::Interrupted`].
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What tells a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Registry {
    /// Opens a snapshot in a private place of our own, alone and as it is: no file beside it is read or created, and no
    /// byte of it changes, even where its header says WAL.
    ///
    /// # Errors
    /// [`RegistryError::Header`] before SQLite is asked; `Io` when it cannot be read.
    pub fn open_snapshot(path: &Path) -> Result<Self, RegistryError> {
        let path = &real(path)?;
        let (first, state) = first_bytes(path)?;
        header::judge(&first, state.bytes)?;
        Self::open_unchanging(path, state)
    }

    /// Opens a live registry that another process may be writing, and sees what that process has committed.
    ///
    /// A database in WAL mode that nobody has open is read as it stands, because SQLite would leave a `-wal` and a `-shm`
    /// beside it; should somebody open it meanwhile, the question ends with `Changed`.
    ///
    /// # Errors
    /// As [`open_snapshot`](Self::open_snapshot), and `Unfinished` where a killed writer's change has to be undone first.
    pub fn open_live(path: &Path) -> Result<Self, RegistryError> {
        let path = &real(path)?;
        let (first, state) = first_bytes(path)?;
        // Not its size: while a WAL is folded in, the file is shorter than its header for a moment.
        let header = header::identify(&first, state.bytes)?;
        Self::open_beside(path, header, state)
    }

    /// Opens a staged or installed file as the agent will: whatever `-wal` or `-journal` lies beside it takes effect here
    /// as it would there. That is the proof that counts, because a leftover `-wal` is believed by SQLite and called whole.
    /// Still without writing anything.
    ///
    /// # Errors
    /// As [`open_live`](Self::open_live), and a short file is one here.
    pub fn open_as_agent(path: &Path) -> Result<Self, RegistryError> {
        let path = &real(path)?;
        let (first, state) = first_bytes(path)?;
        let header = header::judge(&first, state.bytes)?;
        Self::open_beside(path, header, state)
    }

    fn open_beside(path: &Path, header: Header, state: FileState) -> Result<Self, RegistryError> {
        for suffix in ["-wal", "-shm", "-journal"] {
            ordinary(&beside(path, suffix))?;
        }
        // Without anything in a -wal there is nothing to see but the file itself, so both ways in give the same answer; only
        // the ordinary one would leave files behind.
        let shm = exists(&beside(path, "-shm"))?;
        let nothing_more = match size(&beside(path, "-wal"))? {
            None => true,
            // Somebody may just have opened it.
            Some(bytes) => bytes == 0 && !shm,
        };
        if header.wal && nothing_more {
            return Self::open_unchanging(path, state);
        }
        // With a -shm that nobody else has open, SQLite would rebuild it in place; told not to touch it, it builds its own
        // in memory. That does not work beside every writer, and beside a writer a touched -shm is nothing new.
        if shm {
            let registry = Self::connect(path, "mode=ro&readonly_shm=1", None)?;
            if registry.read(|connection| Ok(connection.execute_batch("SELECT 1 FROM sqlite_schema")?)).is_ok() {
                return Ok(registry);
            }
        }
        Self::connect(path, "mode=ro", None)
    }

    fn open_unchanging(path: &Path, state: FileState) -> Result<Self, RegistryError> {
        Self::connect(path, "mode=ro&immutable=1", Some((path.to_owned(), state)))
    }

    fn connect(path: &Path, parameters: &str, unchanged: Option<(PathBuf, FileState)>) -> Result<Self, RegistryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri(path, parameters), flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        // The file may come from anyone who can write to the bucket: nothing in its schema may act on its own.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        // The checks read a file from end to end and gain nothing by a larger cache, which each thread would keep for itself.
        connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA cache_size = -256")?;
        let registry = Self { connection, unchanged, interrupted: Arc::default() };
        registry.interrupted_by(&Interrupter::default())
    }

    /// A handle that stops a question from another thread, as Ctrl-C must stop the check of a large file.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.interrupted))
    }

    /// Lets one handle stop the questions of several registries.
    ///
    /// # Errors
    /// `Other`, which is not expected.
    pub fn interrupted_by(mut self, interrupter: &Interrupter) -> Result<Self, RegistryError> {
        // Asked for by SQLite itself as it works. Its own interrupt would be forgotten when it comes between two statements.
        let asked = Arc::clone(&interrupter.0);
        self.connection.progress_handler(OPERATIONS_BETWEEN, Some(move || asked.load(Ordering::Relaxed)))?;
        self.interrupted = Arc::clone(&interrupter.0);
        Ok(self)
    }

    /// Answers one question in one read transaction: of one moment, even while another process writes.
    pub(super) fn read<T>(&self, question: impl FnOnce(&Connection) -> Result<T, RegistryError>) -> Result<T, RegistryError> {
        self.still_wanted()?;
        let transaction = self.connection.unchecked_transaction()?;
        let answer = question(&transaction);
        drop(transaction);
        self.still_unchanged()?;
        answer
    }

    pub(super) fn still_wanted(&self) -> Result<(), RegistryError> {
        if self.interrupted.load(Ordering::Relaxed) { Err(RegistryError::Interrupted) } else { Ok(()) }
    }

    /// Whether a file that SQLite was told does not change has not changed.
    pub(super) fn still_unchanged(&self) -> Result<(), RegistryError> {
        match &self.unchanged {
            Some((path, state)) => {
                // Looked at, not opened: closing a descriptor would give back the locks that this process has on the file.
                let metadata = std::fs::metadata(path);
                let metadata = metadata.map_err(|error| RegistryError::Io(format!("{}: {error}", path.display())))?;
                if FileState::of(&metadata) == *state { Ok(()) } else { Err(RegistryError::Changed) }
            }
            None => Ok(()),
        }
    }
}

/// The file itself where `path` is a link to it: its `-wal` lies beside the file, not beside the link.
fn real(path: &Path) -> Result<PathBuf, RegistryError> {
    path.canonicalize().map_err(|error| RegistryError::Io(format!("{}: {error}", path.display())))
}

/// The file beside `path` that SQLite would name with this suffix.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// SQLite would wait for ever at a pipe that has the name of a journal.
fn ordinary(path: &Path) -> Result<(), RegistryError> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => Err(RegistryError::Io(format!("{}: is not an ordinary file", path.display()))),
        _ => Ok(()),
    }
}

fn exists(path: &Path) -> Result<bool, RegistryError> {
    Ok(size(path)?.is_some())
}

/// The size of a file; `None` when it is not there.
fn size(path: &Path) -> Result<Option<u64>, RegistryError> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RegistryError::Io(format!("{}: {error}", path.display()))),
    }
}

/// The header's bytes (fewer where the file has fewer) and the state of the file that they were read from.
fn first_bytes(path: &Path) -> Result<(Vec<u8>, FileState), RegistryError> {
    let failed = |error: std::io::Error| RegistryError::Io(format!("{}: {error}", path.display()));
    let metadata = std::fs::metadata(path).map_err(failed)?;
    // Opening a pipe would wait for a writer for ever.
    if !metadata.is_file() {
        return Err(RegistryError::Header(HeaderFault::NotSqlite { because: "it is not an ordinary file" }));
    }
    let mut first = Vec::with_capacity(HEADER_BYTES);
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    file.take(HEADER_BYTES as u64).read_to_end(&mut first).map_err(failed)?;
    let state = FileState::of(&metadata);
    Ok((first, state))
}

/// `path` as SQLite's `file:` name. Every byte that could mean something in a URI is written as `%xx`.
pub(super) fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push('?');
    uri.push_str(parameters);
    uri
}
