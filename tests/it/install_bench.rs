//! Registries in every state that a killed agent leaves, a child process that replaces them, and what an ordinary open sees.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use carlosctl::host::install::{InstallError, install};
use carlosctl::host::interlock::{Claim, Interlock};
use carlosctl::host::names::{self, Beside, Reason, SIDES};
use carlosctl::host::stage::Staged;
use carlosctl::host::target::Target;
use carlosctl::host::undo::{candidate, undo};
use rusqlite::Connection;

pub(crate) const ROWS: u32 = 300;

/// What is at the registry's path before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    Absent,
    /// Nothing, and the side files of a registry that somebody removed.
    Orphans,
    /// An agent's database, whose last rows are only in its WAL.
    Wal,
    /// A populated database and the hot journal of a transaction that was cut short.
    HotJournal,
    /// A database with overwritten pages, some of which are in its WAL.
    Damaged,
    /// No database any more, and side files beside it that are none either.
    Unreadable,
    /// An agent's database after a restore, with rows in its WAL and the old registry kept.
    Restored,
}

/// What an ordinary open of a registry sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Absent,
    /// Every row is of this kind, none is missing, and the database is whole.
    Complete(String),
    /// Anything else, in words.
    Other(String),
}

impl Content {
    pub(crate) fn complete(kind: &str) -> Self {
        Self::Complete(kind.to_owned())
    }
}

/// A directory with a registry in `state`, and beside the directory a source to install.
pub(crate) fn bench(state: State) -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir().expect("a directory");
    let directory = base.path().canonicalize().expect("a real path").join("data");
    std::fs::create_dir(&directory).expect("a directory");
    build(state, &directory);
    database(&base.path().join("source"), "new");
    (base, directory)
}

/// Makes a state in `directory`, whose registry is `registry.db`.
pub(crate) fn build(state: State, directory: &Path) {
    let path = directory.join("registry.db");
    match state {
        State::Absent => {}
        State::Orphans => {
            build(State::Wal, directory);
            std::fs::remove_file(&path).expect("removed");
        }
        State::Wal => agent_database(&path, "old"),
        State::HotJournal => hot_journal(&path, "old"),
        State::Damaged => {
            build(State::Wal, directory);
            std::fs::write(&path, vec![0x5a; 8192]).expect("a file");
        }
        State::Unreadable => {
            for (end, byte) in [("", 0x5a), ("-wal", 0x33), ("-shm", 0x44), ("-journal", 0x55)] {
                std::fs::write(with_end(&path, end), vec![byte; 8192]).expect("a file");
            }
        }
        State::Restored => {
            agent_database(&path, "new");
            database(&directory.join("registry.db.before-20261130T100000Z"), "old");
        }
    }
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let file = entry.expect("an entry").path();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    }
}

/// A snapshot as `VACUUM INTO` makes it.
pub(crate) fn database(path: &Path, kind: &str) {
    let connection = Connection::open(path).expect("a database");
    fill(&connection, kind, 0..ROWS);
}

/// Written in a private directory and copied while it is open, so that nothing is folded in.
fn agent_database(path: &Path, kind: &str) {
    let private = tempfile::tempdir().expect("a directory");
    let original = private.path().join("registry.db");
    let connection = Connection::open(&original).expect("a database");
    connection.pragma_update(None, "journal_mode", "wal").expect("a mode");
    connection.pragma_update(None, "wal_autocheckpoint", 0).expect("a pragma");
    fill(&connection, kind, 0..ROWS / 2);
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
    fill(&connection, kind, ROWS / 2..ROWS);
    copy_set(&original, path);
    assert!(path.with_file_name("registry.db-wal").metadata().expect("a WAL").len() > 4096);
}

fn hot_journal(path: &Path, kind: &str) {
    let private = tempfile::tempdir().expect("a directory");
    let original = private.path().join("registry.db");
    let connection = Connection::open(&original).expect("a database");
    fill(&connection, kind, 0..ROWS);
    // A cache of one page makes SQLite write changed pages before the end, which is what a killed writer leaves.
    connection.execute_batch("PRAGMA cache_size=1; BEGIN; UPDATE routes SET kind = 'cut short'").expect("changes");
    copy_set(&original, path);
    let alone = private.path().join("alone.db");
    std::fs::copy(path, &alone).expect("a copy");
    assert_ne!(read_content(&alone), Content::complete(kind), "without its journal it would be something else");
}

fn fill(connection: &Connection, kind: &str, rows: std::ops::Range<u32>) {
    let create = "CREATE TABLE IF NOT EXISTS routes (host TEXT PRIMARY KEY, kind TEXT, padding BLOB); BEGIN";
    connection.execute_batch(create).expect("a table");
    for row in rows {
        let host = format!("host-{row:05}");
        connection.execute("INSERT INTO routes VALUES (?1, ?2, zeroblob(200))", (host, kind)).expect("a row");
    }
    connection.execute_batch("COMMIT").expect("committed");
}

/// A database and whatever lies beside it by name.
pub(crate) fn copy_set(from: &Path, to: &Path) {
    for end in ["", SIDES[0], SIDES[1], SIDES[2]] {
        let from = with_end(from, end);
        if from.exists() {
            std::fs::copy(from, with_end(to, end)).expect("a copy");
        }
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    path.with_file_name(format!("{}{end}", path.file_name().and_then(|name| name.to_str()).expect("a name")))
}

/// What an ordinary open of `path` would see, without disturbing it.
pub(crate) fn content(path: &Path) -> Content {
    let private = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    let copy = private.path().join("copy.db");
    copy_set(path, &copy);
    if copy.exists() { read_content(&copy) } else { Content::Absent }
}

fn read_content(path: &Path) -> Content {
    let read = || -> Result<Content, rusqlite::Error> {
        let connection = Connection::open(path)?;
        let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let sql = "SELECT count(*), count(DISTINCT host), min(kind), max(kind) FROM routes";
        let (rows, hosts, low, high): (u32, u32, String, String) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        let complete = whole == "ok" && rows == ROWS && hosts == ROWS && low == high;
        Ok(if complete { Content::Complete(low) } else { Content::Other(format!("{whole}, {rows} rows, {low} to {high}")) })
    };
    read().unwrap_or_else(|error| Content::Other(error.to_string()))
}

/// Every kept registry with what an ordinary open of it sees, and every other file of ours that is still there.
pub(crate) fn beside(directory: &Path) -> (Vec<(Reason, Content)>, Vec<String>) {
    let mut kept_registries = Vec::new();
    let mut other = Vec::new();
    for (name, beside) in names::list(directory, "registry.db").expect("a list") {
        match beside {
            Beside::Kept { kept, side: false } => kept_registries.push((kept.reason, content(&directory.join(name)))),
            Beside::Kept { .. } => {}
            Beside::Lock | Beside::Stage | Beside::Swap { .. } => other.push(name),
        }
    }
    (kept_registries, other)
}

/// What the child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Install,
    Undo,
}

const DIRECTORY: &str = "CARLOSCTL_TEST_INSTALL_IN";
const ACT: &str = "CARLOSCTL_TEST_INSTALL_ACT";

/// This test binary as a program that installs or undoes in `directory`. It says which thread does it, and waits for a line
/// before it does.
pub(crate) fn child(act: Act, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["install_bench::a_child_process_installs", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIRECTORY, directory).env(ACT, if act == Act::Undo { "undo" } else { "install" });
    command
}

/// The child's part. What it says on an error begins with `in place`, `refused` or `unknown`.
fn act(act: Act, directory: &Path) -> Result<(), String> {
    let path = directory.join("registry.db");
    let target = Target::look(&path).map_err(|error| format!("refused: {error}"))?;
    let stamp = "20261130T120000Z".parse().expect("a stamp");
    let claim = Claim::new("restore", "test", jiff::Timestamp::UNIX_EPOCH);
    if act == Act::Undo {
        let interlock = Interlock::acquire(&target, &claim).map_err(|error| format!("refused: {error}"))?;
        let wanted = candidate(&target).ok_or("refused: no registry was kept")?.kept;
        return undo(&target, &interlock, stamp, wanted).map(|_| ()).map_err(|error| said(&error));
    }
    let mut staged = Staged::create(&target).map_err(|error| format!("refused: {error}"))?;
    let source = directory.with_file_name("source");
    let bytes = std::fs::read(source).expect("the source");
    staged.write_all(&bytes).map_err(|error| format!("refused: {error}"))?;
    let interlock = Interlock::acquire(&target, &claim).map_err(|error| format!("refused: {error}"))?;
    install(staged, &target, &interlock, stamp).map(|_| ()).map_err(|error| said(&error))
}

fn said(error: &InstallError) -> String {
    let kind = match error.in_place() {
        Some(true) => "in place",
        Some(false) => "refused",
        None => "unknown",
    };
    format!("{kind}: {error}")
}

/// On its own a plain install; for the tests that kill it, the child.
#[test]
fn a_child_process_installs() {
    let what = if std::env::var_os(ACT).is_some_and(|act| act == "undo") { Act::Undo } else { Act::Install };
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let thread = std::fs::read_link("/proc/thread-self").expect("a thread");
        println!("\nTHREAD {}", thread.file_name().and_then(|name| name.to_str()).expect("a number"));
        std::io::stdin().read_line(&mut String::new()).expect("a line");
        let said = act(what, Path::new(&directory)).err().unwrap_or_else(|| "installed".to_owned());
        println!("RESULT {said}");
        return;
    }
    let (_base, directory) = bench(State::Wal);
    act(Act::Install, &directory).expect("installed");
    assert_eq!(content(&directory.join("registry.db")), Content::complete("new"));
}
