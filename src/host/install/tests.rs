use super::*;
use crate::host::bench::{Bench, fill, give, kind, owner_and_mode};
use crate::host::fold::Folded;
use crate::host::interlock::Claim;
use crate::host::steps;
use crate::host::waiting::Python;
use jiff::Timestamp;
use rusqlite::Connection;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

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
    let installed = absent.install();
    assert_eq!((installed.before, installed.attributes_lost), (None, Vec::<String>::new()));
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
    let target = Target::look(Path::new(&path)).expect("facts");
    let staged = Staged::create(&target).expect("staged");
    let interlock = Interlock::acquire(&target, &Claim::new("restore", "x", Timestamp::UNIX_EPOCH)).expect("the interlock");
    println!("{}", install(staged, &target, &interlock, Stamp::at(Timestamp::UNIX_EPOCH)).expect_err("refused"));
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
fn a_registry_that_was_replaced_after_the_fold_is_not_exchanged() {
    let bench = Bench::with_old();
    let (staged, interlock) = (bench.staged(), bench.interlock());
    let folded = fold(&interlock).expect("folded");
    let other = bench.path.with_file_name("other.db");
    fill(&Connection::open(&other).expect("a database"), "agent");
    std::fs::rename(&other, &bench.path).expect("renamed");
    let kept = next(&bench.path, Reason::Before, Stamp::at(Timestamp::UNIX_EPOCH)).expect("a name");
    let exchange = Exchange { path: bench.path.clone(), kept, incoming: staged.identity().1, origin: None };
    let error = exchange.run(staged.path(), &interlock, &folded).expect_err("refused");
    assert!(matches!(error, InstallError::Interlock(InterlockError::Replaced { .. })), "{error}");
    drop((staged, interlock));
    assert_eq!((kind(&bench.path), bench.names()), ("agent".to_owned(), vec!["registry.db".to_owned()]));
}

#[test]
fn a_side_file_that_appears_after_the_fold_stops_the_exchange() {
    let bench = Bench::with_old();
    let (staged, interlock) = (bench.staged(), bench.interlock());
    let folded = fold(&interlock).expect("folded");
    std::fs::write(steps::with_end(&bench.path, "-wal"), b"x").expect("a file");
    let kept = next(&bench.path, Reason::Before, Stamp::at(Timestamp::UNIX_EPOCH)).expect("a name");
    let exchange = Exchange { path: bench.path.clone(), kept, incoming: staged.identity().1, origin: None };
    let error = exchange.run(staged.path(), &interlock, &folded).expect_err("refused");
    assert!(error.to_string().contains("appeared meanwhile"), "{error}");
    drop((staged, interlock));
    assert_eq!(bench.names(), ["registry.db", "registry.db-wal"]);
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
fn a_registry_of_a_newer_format_is_kept_as_it_is_and_stays_locked() {
    let bench = Bench::with_old();
    std::fs::remove_file(steps::with_end(&bench.path, "-wal")).expect("removed");
    let mut bytes = bench.source.clone();
    bytes[19] = 3;
    std::fs::write(&bench.path, &bytes).expect("a file");
    let interlock = bench.interlock();
    assert_eq!(fold(&interlock).expect("looked at"), Folded::AsItIs);
    let script = "import sys, sqlite3; sqlite3.connect(sys.argv[1], timeout=0).execute('select * from routes')";
    let output = Command::new("python3").args(["-c", script]).arg(&bench.path).output().expect("python3 starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("database is locked"));
    drop(interlock);
    let before = bench.install().before.expect("a kept file");
    assert_eq!((kind(&bench.path), std::fs::read(before).expect("bytes")), ("new".to_owned(), bytes));
}

#[test]
fn giving_the_interlock_back_removes_nothing_of_the_new_registry() {
    let bench = Bench::with_old();
    let interlock = bench.interlock();
    install(bench.staged(), &bench.target(), &interlock, "20261130T120000Z".parse().expect("a stamp")).expect("installed");
    // As an agent would that starts in this moment.
    for side in ["-wal", "-shm", "-journal"] {
        std::fs::write(steps::with_end(&bench.path, side), [1; 100]).expect("a file");
    }
    drop(interlock);
    assert!(["-wal", "-shm", "-journal"].iter().all(|side| steps::with_end(&bench.path, side).exists()));
}

#[test]
fn a_reader_that_opened_the_old_registry_stops_the_fold() {
    let bench = Bench::with_old();
    let interlock = bench.interlock();
    // As a bug of ours would: opening and closing the registry gives the lock back.
    drop(std::fs::File::open(&bench.path).expect("a file"));
    let python = Python::run(&bench.path, "c = sqlite3.connect(path); c.execute('select * from routes').fetchall()");
    let error = install(bench.staged(), &bench.target(), &interlock, Stamp::at(Timestamp::UNIX_EPOCH)).expect_err("refused");
    assert!(matches!(error, InstallError::Interlock(InterlockError::Held { .. })), "{error}");
    drop(python);
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

#[test]
fn an_install_ends_what_an_interrupted_one_left() {
    let bench = Bench::with_old();
    let kept = Kept { reason: Reason::Before, stamp: "20261129T120000Z".parse().expect("a stamp"), nth: 1 };
    let left = bench.path.with_file_name("left");
    std::fs::write(&left, b"staged").expect("a file");
    let swap = bench.path.with_file_name(names::swap("registry.db", kept, left.metadata().expect("facts").ino(), None));
    std::fs::rename(&left, &swap).expect("renamed");
    let stage = bench.path.with_file_name(names::stage("registry.db", 1));
    std::fs::create_dir(&stage).expect("a directory");
    bench.install();
    assert_eq!(bench.names(), ["registry.db", "registry.db.before-20261130T120000Z"]);
    assert_eq!(kind(&bench.path), "new");
}

/// Who still has one open that an earlier install replaced was named then.
#[test]
fn only_who_has_the_replaced_registry_open_is_named() {
    let bench = Bench::with_old();
    let before = bench.install().before.expect("kept");
    let python = Python::run(&before, "f = open(path, 'rb')");
    let again = bench.install_at("20261130T130000Z").expect("installed");
    drop(python);
    assert_eq!(again.strays.found, []);
}

#[test]
fn which_registry_is_in_place_is_told_where_it_is_known() {
    let unfinished = |in_place| InstallError::Unfinished {
        path: "/data/registry.db".into(),
        in_place,
        source: std::io::Error::other("gone"),
    };
    for known in [Some(true), Some(false), None] {
        assert_eq!(unfinished(known).in_place(), known);
    }
    assert_eq!(InstallError::NothingToUndo { path: "/data/registry.db".into() }.in_place(), Some(false));
}
