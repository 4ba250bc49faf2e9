use super::super::waiting::Python;
use super::*;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Command;

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
        let child = Python::run(&path, script);
        let refused = acquire(&path);
        assert!(matches!(refused, Err(InterlockError::Held { .. })), "{mode} {script}: {refused:?}");
        drop(child);
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
    let child = Python::run(&path, "f = open(path + '.carlosctl-lock', 'rb'); fcntl.flock(f, fcntl.LOCK_EX)");
    assert!(matches!(acquire(&path), Err(InterlockError::InProgress { who: None })));
    drop(child);
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

#[test]
fn what_is_no_file_is_not_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = directory.path().join("registry.db");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    assert!(matches!(acquire(&pipe), Err(InterlockError::Registry { .. })));
    assert!(!lock_path(&pipe).exists());
}

#[test]
fn many_that_come_and_go_never_hold_it_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    let holders = std::sync::atomic::AtomicUsize::new(0);
    let most = std::sync::atomic::AtomicUsize::new(0);
    let times = std::sync::atomic::AtomicUsize::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..400 {
                    // The file is removed each time it is given back, so some lock one that is gone.
                    if let Ok(lock) = LockFile::exclusive(lock_path(&path), &claim()) {
                        most.fetch_max(holders.fetch_add(1, order) + 1, order);
                        times.fetch_add(1, order);
                        std::thread::yield_now();
                        holders.fetch_sub(1, order);
                        drop(lock);
                    }
                }
            });
        }
    });
    assert!(times.into_inner() > 10);
    assert_eq!((most.into_inner(), lock_path(&path).exists()), (1, false));
}
