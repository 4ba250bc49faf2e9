//! Folding the old registry: its WAL written into it, a hot journal rolled back, and no side file left beside it, all under
//! the exclusive lock. Afterwards the file alone is the complete old registry, and one exchange can replace it.
//!
//! It is also left in rollback mode. A process that waits for the lock while the exchange happens ends up with the old file
//! open under the new one's path. In WAL mode its first write would go to a `-wal` beside the new registry; in rollback mode
//! SQLite notices before writing that the file was moved, and refuses (`SQLITE_READONLY_DBMOVED`).

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::OFlags;

use super::install::InstallError;
use super::interlock::{Interlock, InterlockError};
use super::names::SIDES;
use super::steps;

/// Others may hold SQLite's lock for a moment while they find out that they cannot have it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// How a database, a journal that would be rolled back, and a WAL begin (the last byte of a WAL's is its byte order).
const DATABASE_MAGIC: &[u8] = b"SQLite format 3\0";
const JOURNAL_MAGIC: &[u8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const WAL_MAGIC: &[u8] = &[0x37, 0x7f, 0x06];

/// What folding came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// There is no old registry.
    Absent,
    /// The file alone is the old registry.
    Whole,
    /// SQLite cannot open it for writing, so it and its side files are kept together, as they are.
    AsItIs,
}

/// Folds the registry that `interlock` holds.
pub(super) fn fold(interlock: &Interlock) -> Result<Folded, InstallError> {
    let path = interlock.path();
    let there = steps::identity(path).map_err(InstallError::at("looking at the registry", path))?;
    let Some(registry) = interlock.registry() else {
        return match there {
            None => Ok(Folded::Absent),
            Some(_) => Err(InterlockError::Replaced { path: path.to_owned() }.into()),
        };
    };
    if there != Some(registry.identity()) {
        return Err(InterlockError::Replaced { path: path.to_owned() }.into());
    }
    let start = registry.start().map_err(InstallError::at("reading the registry", path))?;
    if !is_readable(&start, path).map_err(InstallError::at("reading the registry's side files", path))? {
        return Ok(Folded::AsItIs);
    }
    match fold_file(path) {
        Ok(connection) => {
            interlock.keep(connection);
            // SQLite locks the bytes that it needs, one after the other; this is all of them again.
            registry.take(path)?;
            remove_sides(path).map_err(InstallError::at("removing the old registry's empty side files", path))?;
            Ok(Folded::Whole)
        }
        Err(error) => {
            // SQLite closed the file, and with it gave our lock back.
            registry.take(path)?;
            match what_to_do(&error) {
                Verdict::Held => Err(InterlockError::Held { path: path.to_owned() }.into()),
                Verdict::KeepAsItIs => Ok(Folded::AsItIs),
                Verdict::Refuse => Err(InstallError::Fold { path: path.to_owned(), source: error }),
            }
        }
    }
}

fn fold_file(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    // Where opening for writing fails for a moment, SQLite opens for reading and says nothing.
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(error(rusqlite::ffi::SQLITE_CANTOPEN));
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Damage in the schema is kept, not judged: folding needs none. Said first, because other pragmas read the schema.
    connection.execute_batch("PRAGMA writable_schema=ON")?;
    // Before the first access: then also a WAL is read without the shared-memory file, and the lock stays until closing.
    pragma(&connection, "locking_mode=EXCLUSIVE")?;
    connection.execute_batch("PRAGMA synchronous=FULL; BEGIN EXCLUSIVE; COMMIT")?;
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy != 0 {
        return Err(error(rusqlite::ffi::SQLITE_BUSY));
    }
    if pragma(&connection, "journal_mode=DELETE")? != "delete" {
        return Err(error(rusqlite::ffi::SQLITE_BUSY));
    }
    // Closes SQLite's journal, so that the connection, when it is closed long after the exchange, has no side file to remove:
    // it would do so by path, and at that path is the new registry's.
    pragma(&connection, "journal_mode=MEMORY")?;
    Ok(connection)
}

/// Whether there is anything that SQLite could read: a database that begins as one, or a WAL or journal that has its beginning.
/// Otherwise SQLite is not let near it, because opening removes side files that it can make nothing of.
fn is_readable(start: &[u8], path: &Path) -> io::Result<bool> {
    Ok(!start.is_empty()
        && (start.starts_with(DATABASE_MAGIC)
            || begins_with(&steps::with_end(path, "-wal"), WAL_MAGIC)?
            || begins_with(&steps::with_end(path, "-journal"), JOURNAL_MAGIC)?))
}

/// Whether a side file is there and begins so. Never through a link, never a pipe that would make us wait.
fn begins_with(path: &Path, magic: &[u8]) -> io::Result<bool> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let mut start = vec![0; magic.len()];
    match OpenOptions::new().read(true).custom_flags(flags).open(path).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) => Ok(start == magic),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Runs a pragma that answers with one text.
fn pragma(connection: &Connection, pragma: &str) -> Result<String, rusqlite::Error> {
    connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
}

fn error(code: std::ffi::c_int) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
}

/// SQLite leaves a journal with a blank header and perhaps an old shared-memory file. Nothing is removed that still says
/// anything.
fn remove_sides(path: &Path) -> io::Result<()> {
    let wal = steps::with_end(path, "-wal");
    match wal.symlink_metadata() {
        Ok(metadata) if metadata.len() > 0 => return Err(io::Error::other("the WAL is not empty after the checkpoint")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if begins_with(&steps::with_end(path, "-journal"), JOURNAL_MAGIC)? {
        return Err(io::Error::other("the journal is still hot after the rollback"));
    }
    for side in SIDES {
        steps::remove(&steps::with_end(path, side))?;
    }
    steps::sync_directory(path.parent().unwrap_or(Path::new("/")))
}

enum Verdict {
    Held,
    KeepAsItIs,
    Refuse,
}

/// Damage, a foreign format and no database at all are kept as they are. Whatever may be different the next time is refused.
fn what_to_do(error: &rusqlite::Error) -> Verdict {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => Verdict::Held,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::ReadOnly | ErrorCode::Unknown) => {
            Verdict::KeepAsItIs
        }
        _ => Verdict::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite removes side files of a database that it takes for a new one.
    #[test]
    fn an_empty_file_beside_a_wal_is_not_for_sqlite_to_open() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let readable = |start: &[u8]| is_readable(start, &path).expect("it is looked at");
        assert!(readable(DATABASE_MAGIC));
        assert!(!readable(b"no database, and no side files"));
        for (end, magic) in [("-wal", WAL_MAGIC), ("-journal", JOURNAL_MAGIC)] {
            let side = steps::with_end(&path, end);
            std::fs::write(&side, b"something else of that name").expect("a file");
            assert!(!readable(b"damaged"), "{end}");
            std::fs::write(&side, [magic, b"and more"].concat()).expect("a file");
            assert!(readable(b"damaged"), "{end}");
            assert!(!readable(b""), "{end}");
            steps::remove(&side).expect("removed");
        }
    }

    #[test]
    fn the_wal_beside_an_empty_file_stays_when_it_is_folded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let wal = steps::with_end(&path, "-wal");
        let left = [WAL_MAGIC, &[0x82; 64]].concat();
        std::fs::write(&path, b"").expect("a file");
        std::fs::write(&wal, &left).expect("a file");
        let target = crate::host::target::Target::look(&path).expect("facts");
        let claim = crate::host::interlock::Claim::new("restore", "host".to_owned(), jiff::Timestamp::UNIX_EPOCH);
        let interlock = Interlock::acquire(&target, &claim).expect("the interlock");
        fold(&interlock).expect("kept as it is");
        assert_eq!(std::fs::read(&wal).expect("it stays"), left);
    }
}
