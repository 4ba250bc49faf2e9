use super::*;
use crate::host::fold::Folded;
use crate::host::interlock::Claim;
use crate::host::steps;
use crate::host::undo::{newest_before, undo};
use jiff::Timestamp;
use rusqlite::Connection;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

struct Bench {
    base: tempfile::TempDir,
    path: PathBuf,
    source: Vec<u8>,
}

fn fill(connection: &Connection, kind: &str) {
    connection.execute_batch("CREATE TABLE IF NOT EXISTS routes (host TEXT, kind TEXT)").expect("a table");
    connection.execute("INSERT INTO routes VALUES ('a', ?1)", [kind]).expect("a row");
}

/// What is at the path, by an ordinary open of a copy.
fn kind(path: &Path) -> String {
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
    fn empty() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        let directory = base.path().canonicalize().expect("a real path").join("data");
        std::fs::create_dir(&directory).expect("a directory");
        let source = base.path().join("source");
        fill(&Connection::open(&source).expect("a database"), "new");
        let source = std::fs::read(source).expect("bytes");
        Self { base, path: directory.join("registry.db"), source }
    }

    /// With the registry of a killed agent at the path.
    fn with_old() -> Self {
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

    fn target(&self) -> Target {
        Target::look(&self.path).expect("facts")
    }

    fn interlock(&self) -> Interlock {
        Interlock::acquire(&self.target(), &Claim::new("restore", "x", Timestamp::UNIX_EPOCH)).expect("the interlock")
    }

    fn staged(&self) -> Staged {
        let mut staged = Staged::create(&self.target()).expect("staged");
        staged.write_all(&self.source).expect("written");
        staged
    }

    fn install_at(&self, stamp: &str) -> Result<Installed, InstallError> {
        let staged = self.staged();
        install(staged, &self.target(), &self.interlock(), stamp.parse().expect("a stamp"))
    }

    fn install(&self) -> Installed {
        self.install_at("20261130T120000Z").expect("installed")
    }

    fn undo(&self) -> Result<crate::host::undo::Undone, InstallError> {
        undo(&self.target(), &self.interlock(), "20261130T130000Z".parse().expect("a stamp"))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.target().directory()).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }
}

fn owner_and_mode(path: &Path) -> (u32, u32, u32) {
    let metadata = path.metadata().expect("facts");
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
}

fn give(path: &Path, uid: u32, gid: u32, mode: u32) {
    std::os::unix::fs::chown(path, Some(uid), Some(gid)).expect("run this test as root");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn the_old_registry_is_kept_whole_and_nothing_else_is_left() {
    let bench = Bench::with_old();
    let installed = bench.install();
    assert_eq!(kind(&bench.path), "new");
    let before = installed.before.expect("a kept registry");
    assert_eq!(
        (kind(&before), installed.strays.found, installed.attributes_lost),
        ("old".to_owned(), vec![], Vec::<String>::new())
    );
    assert_eq!(bench.names(), ["registry.db", "registry.db.before-20261130T120000Z"]);
    assert_eq!(std::fs::read(&bench.path).expect("bytes"), bench.source, "byte for byte");
}

#[test]
fn owner_and_mode_are_the_old_files_or_the_directorys() {
    let bench = Bench::with_old();
    give(&bench.path, 4321, 5432, 0o640);
    bench.install();
    assert_eq!(owner_and_mode(&bench.path), (4321, 5432, 0o640));

    let absent = Bench::empty();
    give(absent.target().directory(), 4321, 5432, 0o750);
    assert_eq!(absent.install().before, None);
    assert_eq!(owner_and_mode(&absent.path), (4321, 5432, 0o600));
    assert_eq!(absent.names(), ["registry.db"]);
}

#[test]
fn label_and_access_list_are_the_old_files() {
    let bench = Bench::with_old();
    let entry = |tag: u16, bits: u16, id: u32| [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat();
    let none = u32::MAX;
    let entries =
        [entry(1, 6, none), entry(2, 4, 4321), entry(4, 4, none), entry(0x10, 4, none), entry(0x20, 0, none)].concat();
    let list = [&2_u32.to_le_bytes()[..], &entries].concat();
    let label = b"system_u:object_r:carlos_t:s0".to_vec();
    let wanted = [("security.selinux", label), ("system.posix_acl_access", list)];
    for (name, value) in &wanted {
        rustix::fs::setxattr(&bench.path, *name, value, XattrFlags::empty())
            .expect("run this test as root, on ext4 or the like");
    }
    assert_eq!(bench.install().attributes_lost, Vec::<String>::new());
    for (name, value) in &wanted {
        let mut found = vec![0; 1000];
        let bytes = rustix::fs::getxattr(&bench.path, *name, &mut found).expect("an attribute");
        assert_eq!(&found[..bytes], value, "{name}");
    }
}

#[test]
fn a_user_who_cannot_give_the_file_away_changes_nothing() {
    let bench = Bench::with_old();
    give(&bench.path, 4321, 5432, 0o666);
    give(bench.target().directory(), 4321, 5432, 0o777);
    for side in ["-wal", "-shm"] {
        give(&steps::with_end(&bench.path, side), 4321, 5432, 0o666);
    }
    let program = std::env::current_exe().expect("this program");
    // The program may lie where only root gets to.
    let copy = bench.path.with_file_name("program");
    std::fs::copy(program, &copy).expect("a copy");
    give(&copy, 0, 0, 0o755);
    give(bench.base.path(), 0, 0, 0o755);
    let before = std::fs::read(steps::with_end(&bench.path, "-wal")).expect("bytes");
    let output = Command::new(&copy)
        .uid(8765)
        .gid(8765)
        .args(["host::install::tests::the_part_of_another_user", "--exact", "--nocapture"])
        .env("CARLOSCTL_TEST_OTHER_USER", &bench.path)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("cannot be given to uid 4321, gid 5432"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_file(copy).expect("removed");
    assert_eq!(bench.names(), ["registry.db", "registry.db-shm", "registry.db-wal"]);
    assert_eq!(std::fs::read(steps::with_end(&bench.path, "-wal")).expect("bytes"), before);
    assert_eq!(kind(&bench.path), "old");
}

/// On its own an install by whoever runs the tests; for the test above, by somebody else.
#[test]
fn the_part_of_another_user() {
    let Some(path) = std::env::var_os("CARLOSCTL_TEST_OTHER_USER") else {
        let bench = Bench::empty();
        bench.install();
        return assert_eq!(kind(&bench.path), "new");
    };
    let bench = Bench { path: PathBuf::from(path), ..Bench::empty() };
    println!("{}", bench.install_at("20261130T120000Z").expect_err("refused"));
}

#[test]
fn two_installs_in_one_second_keep_both() {
    let bench = Bench::with_old();
    let first = bench.install().before.expect("a kept registry");
    let kept = std::fs::read(&first).expect("bytes");
    let second = bench.install().before.expect("a kept registry");
    assert_eq!(second, steps::with_end(&first, ".2"));
    assert_eq!((kind(&first), kind(&second)), ("old".to_owned(), "new".to_owned()));
    assert_eq!(std::fs::read(&first).expect("bytes"), kept);
}

#[test]
fn a_registry_that_appeared_meanwhile_is_not_overwritten() {
    let bench = Bench::empty();
    let (staged, target, interlock) = (bench.staged(), bench.target(), bench.interlock());
    fill(&Connection::open(&bench.path).expect("a database"), "agent");
    let error = install(staged, &target, &interlock, "20261130T120000Z".parse().expect("a stamp")).expect_err("refused");
    assert!(matches!(error, InstallError::Interlock(InterlockError::Replaced { .. })), "{error}");
    drop(interlock);
    assert_eq!((kind(&bench.path), bench.names()), ("agent".to_owned(), vec!["registry.db".to_owned()]));
}

#[test]
fn the_interlock_must_be_that_registrys() {
    let (bench, other) = (Bench::with_old(), Bench::with_old());
    let error =
        install(bench.staged(), &bench.target(), &other.interlock(), Stamp::at(Timestamp::UNIX_EPOCH)).expect_err("refused");
    assert!(matches!(error, InstallError::Interlock(InterlockError::Replaced { .. })), "{error}");
    assert_eq!((kind(&bench.path), kind(&other.path)), ("old".to_owned(), "old".to_owned()));
}

#[test]
fn a_staged_registry_with_side_files_is_refused() {
    let bench = Bench::with_old();
    let staged = bench.staged();
    std::fs::write(steps::with_end(staged.path(), "-wal"), b"x").expect("a file");
    let error = install(staged, &bench.target(), &bench.interlock(), Stamp::at(Timestamp::UNIX_EPOCH)).expect_err("refused");
    assert!(matches!(&error, InstallError::StagedSides { sides, .. } if sides == &["-wal"]), "{error}");
    assert_eq!(kind(&bench.path), "old");
}

#[test]
fn side_files_that_lie_where_no_registry_is_are_moved_away() {
    let bench = Bench::with_old();
    std::fs::remove_file(&bench.path).expect("removed");
    bench.install();
    assert_eq!(kind(&bench.path), "new");
    let stem = "registry.db.before-20261130T120000Z";
    assert_eq!(bench.names(), ["registry.db".to_owned(), format!("{stem}-shm"), format!("{stem}-wal")]);
}

#[test]
fn what_is_no_database_is_kept_with_its_side_files_and_undo_says_so() {
    let bench = Bench::empty();
    for (end, bytes) in [("", "no database"), ("-wal", "no wal"), ("-journal", "no journal")] {
        std::fs::write(steps::with_end(&bench.path, end), bytes).expect("a file");
    }
    let before = bench.install().before.expect("a kept file");
    for (end, bytes) in [("", "no database"), ("-wal", "no wal"), ("-journal", "no journal")] {
        assert_eq!(std::fs::read_to_string(steps::with_end(&before, end)).expect("bytes"), bytes);
    }
    assert_eq!(kind(&bench.path), "new");
    assert!(matches!(bench.undo(), Err(InstallError::KeptAsSet { .. })));
    assert_eq!(kind(&bench.path), "new");
}

#[test]
fn an_empty_file_is_replaced_as_any_other() {
    let bench = Bench::empty();
    std::fs::write(&bench.path, b"").expect("a file");
    let before = bench.install().before.expect("a kept file");
    assert_eq!((kind(&bench.path), before.metadata().expect("facts").len()), ("new".to_owned(), 0));
}

#[test]
fn a_damaged_schema_is_folded_all_the_same() {
    let bench = Bench::with_old();
    let connection = Connection::open(&bench.path).expect("a database");
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("set");
    connection
        .execute_batch("PRAGMA writable_schema=ON; INSERT INTO sqlite_schema VALUES ('table','x','x',9,'no sql at all')")
        .expect("damaged");
    drop(connection);
    assert!(kind(&bench.path).contains("malformed"));
    let interlock = bench.interlock();
    assert_eq!(fold(&interlock).expect("folded"), Folded::Whole);
    drop(interlock);
    assert_eq!(bench.names(), ["registry.db"]);
}

#[test]
fn a_reader_that_opened_the_old_registry_stops_the_fold() {
    let bench = Bench::with_old();
    let interlock = bench.interlock();
    // As a bug of ours would: opening and closing the registry gives the lock back.
    drop(std::fs::File::open(&bench.path).expect("a file"));
    let script = "import sys, sqlite3
c = sqlite3.connect(sys.argv[1]); c.execute('select * from routes').fetchall()
print('ready', flush=True); sys.stdin.read()";
    let mut python = Command::new("python3")
        .args(["-c", script])
        .arg(&bench.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    BufReader::new(python.stdout.take().expect("a pipe")).read_line(&mut String::new()).expect("a line");
    let error = install(bench.staged(), &bench.target(), &interlock, Stamp::at(Timestamp::UNIX_EPOCH)).expect_err("refused");
    assert!(matches!(error, InstallError::Interlock(InterlockError::Held { .. })), "{error}");
    python.kill().expect("killed");
    python.wait().expect("ended");
    drop(interlock);
    assert_eq!(kind(&bench.path), "old");
    bench.install();
}

#[test]
fn who_waited_for_the_old_registry_is_named_and_can_write_to_neither() {
    let bench = Bench::with_old();
    let interlock = bench.interlock();
    let script = "import sys, sqlite3
c = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
print('ready', flush=True)
for sql in ['pragma journal_mode=wal', \"insert into routes values ('b', 'stray')\"]:
    try:
        print(c.execute(sql).fetchall())
    except sqlite3.Error as error:
        print(error)";
    let mut python =
        Command::new("python3").args(["-c", script]).arg(&bench.path).stdout(Stdio::piped()).spawn().expect("python3 starts");
    let mut lines = BufReader::new(python.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let installed =
        install(bench.staged(), &bench.target(), &interlock, "20261130T120000Z".parse().expect("a stamp")).expect("installed");
    assert_eq!(installed.strays.found.iter().map(|stray| stray.pid).collect::<Vec<_>>(), [python.id()]);
    drop(interlock);
    let said: Vec<String> = lines.collect();
    python.wait().expect("it ends");
    assert!(said.iter().any(|line| line.contains("readonly")), "{said:?}");
    assert_eq!((kind(&bench.path), kind(&installed.before.expect("kept"))), ("new".to_owned(), "old".to_owned()));
    assert_eq!(bench.names(), ["registry.db", "registry.db.before-20261130T120000Z"]);
}

#[test]
fn undo_brings_the_last_one_back_and_keeps_what_it_replaces() {
    let bench = Bench::with_old();
    give(&bench.path, 4321, 5432, 0o640);
    bench.install_at("20261130T120000Z").expect("installed");
    // The clock was set back in between; the last restore is the last all the same.
    bench.install_at("20251130T120000Z").expect("installed");
    assert_eq!(newest_before(&bench.target()).map(|(kept, _)| kept.to_string()).as_deref(), Some("before-20261130T120000Z.2"));
    let undone = bench.undo().expect("undone");
    assert_eq!((kind(&bench.path), kind(&undone.kept.expect("kept"))), ("new".to_owned(), "new".to_owned()));
    bench.undo().expect("undone");
    assert_eq!((kind(&bench.path), owner_and_mode(&bench.path)), ("old".to_owned(), (4321, 5432, 0o640)));
    let names = ["registry.db", "registry.db.undone-20261130T130000Z", "registry.db.undone-20261130T130000Z.2"];
    assert_eq!(bench.names(), names);
    assert!(matches!(bench.undo(), Err(InstallError::NothingToUndo { .. })));
    std::fs::remove_file(&bench.path).expect("removed");
    assert!(matches!(bench.undo(), Err(InstallError::NothingToUndo { .. })));
}

#[test]
fn undo_fills_an_empty_path_and_takes_no_link_for_a_registry() {
    let bench = Bench::with_old();
    let before = bench.install().before.expect("kept");
    std::fs::remove_file(&bench.path).expect("removed");
    let undone = bench.undo().expect("undone");
    assert_eq!((undone.kept, kind(&bench.path)), (None, "old".to_owned()));
    std::os::unix::fs::symlink("/etc/passwd", &before).expect("a link");
    assert!(matches!(bench.undo(), Err(InstallError::KeptAsSet { .. })));
    std::fs::remove_file(&before).expect("removed");
    std::fs::hard_link(&bench.path, &before).expect("a link");
    // A second name of the registry itself is what a killed run left, and no registry to go back to.
    assert!(matches!(bench.undo(), Err(InstallError::NothingToUndo { .. })));
    assert_eq!(bench.names(), ["registry.db"]);
}

#[test]
fn a_cut_between_the_exchange_and_the_kept_name_is_completed() {
    let bench = Bench::with_old();
    let before = bench.install().before.expect("kept");
    let kept = Kept { reason: Reason::Before, stamp: "20261130T120000Z".parse().expect("a stamp"), nth: 1 };
    let incoming = bench.path.metadata().expect("facts").ino();
    let swap = bench.path.with_file_name(names::swap("registry.db", kept, incoming, None));
    std::fs::rename(&before, &swap).expect("renamed");
    recover(&bench.interlock()).expect("recovered");
    assert_eq!((kind(&before), swap.exists()), ("old".to_owned(), false));

    // And one before the exchange is taken back: the inode in the name is the one behind it.
    std::fs::write(&swap, b"staged").expect("a file");
    let staged = bench.path.with_file_name(names::swap("registry.db", kept, swap.metadata().expect("facts").ino(), None));
    std::fs::rename(&swap, &staged).expect("renamed");
    recover(&bench.interlock()).expect("recovered");
    assert_eq!((kind(&before), staged.exists()), ("old".to_owned(), false));
}
