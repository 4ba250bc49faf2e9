//! What the tests of install and undo share.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Connection;

use super::install::{InstallError, Installed, install};
use super::interlock::{Claim, Interlock};
use super::names::{Kept, Reason};
use super::stage::Staged;
use super::steps;
use super::target::Target;
use super::undo::{Undone, candidate, undo};

/// A directory, perhaps with a registry at `path`, and the bytes of one to install.
pub(super) struct Bench {
    pub(super) base: tempfile::TempDir,
    pub(super) path: PathBuf,
    pub(super) source: Vec<u8>,
}

pub(super) fn fill(connection: &Connection, kind: &str) {
    connection.execute_batch("CREATE TABLE IF NOT EXISTS routes (host TEXT, kind TEXT)").expect("a table");
    connection.execute("INSERT INTO routes VALUES ('a', ?1)", [kind]).expect("a row");
}

/// What is at the path, by an ordinary open of a copy.
pub(super) fn kind(path: &Path) -> String {
    let copy = tempfile::tempdir().expect("a directory");
    let copy = copy.path().join("copy.db");
    for end in ["", "-wal", "-journal"] {
        let _ = std::fs::copy(steps::with_end(path, end), steps::with_end(&copy, end));
    }
    let connection = Connection::open(&copy).expect("a database");
    connection
        .query_row("SELECT group_concat(kind) FROM routes", [], |row| row.get(0))
        .unwrap_or_else(|error| error.to_string())
}

impl Bench {
    /// A directory with nothing in it, and a registry to install.
    pub(super) fn empty() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        let directory = base.path().canonicalize().expect("a real path").join("data");
        std::fs::create_dir(&directory).expect("a directory");
        let source = base.path().join("source");
        fill(&Connection::open(&source).expect("a database"), "new");
        let source = std::fs::read(source).expect("bytes");
        Self { base, path: directory.join("registry.db"), source }
    }

    /// With the registry of a killed agent at the path.
    pub(super) fn with_old() -> Self {
        let bench = Self::empty();
        let original = bench.path.with_file_name("original.db");
        let connection = Connection::open(&original).expect("a database");
        connection.pragma_update(None, "journal_mode", "wal").expect("a mode");
        fill(&connection, "old");
        for end in ["", "-wal", "-shm"] {
            std::fs::copy(steps::with_end(&original, end), steps::with_end(&bench.path, end)).expect("a copy");
        }
        drop(connection);
        std::fs::remove_file(&original).expect("removed");
        bench
    }

    pub(super) fn target(&self) -> Target {
        Target::look(&self.path).expect("facts")
    }

    pub(super) fn interlock(&self) -> Interlock {
        Interlock::acquire(&self.target(), &Claim::new("restore", "x", Timestamp::UNIX_EPOCH)).expect("the interlock")
    }

    pub(super) fn staged(&self) -> Staged {
        let mut staged = Staged::create(&self.target()).expect("staged");
        staged.write_all(&self.source).expect("written");
        staged
    }

    pub(super) fn install_at(&self, stamp: &str) -> Result<Installed, InstallError> {
        let staged = self.staged();
        install(staged, &self.target(), &self.interlock(), stamp.parse().expect("a stamp"))
    }

    pub(super) fn install(&self) -> Installed {
        self.install_at("20261130T120000Z").expect("installed")
    }

    pub(super) fn undo(&self) -> Result<Undone, InstallError> {
        let target = self.target();
        // What it puts back cannot be told where nothing was kept; then it must say so itself.
        let nothing = Kept { reason: Reason::Before, stamp: "20261130T130000Z".parse().expect("a stamp"), nth: 1 };
        let wanted = candidate(&target).map_or(nothing, |found| found.kept);
        undo(&target, &self.interlock(), "20261130T130000Z".parse().expect("a stamp"), wanted)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.target().directory()).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }
}

pub(super) fn owner_and_mode(path: &Path) -> (u32, u32, u32) {
    let metadata = path.metadata().expect("facts");
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
}

pub(super) fn give(path: &Path, uid: u32, gid: u32, mode: u32) {
    std::os::unix::fs::chown(path, Some(uid), Some(gid)).expect("run this test as root");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}
