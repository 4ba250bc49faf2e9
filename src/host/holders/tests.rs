use super::super::waiting::Python;
use super::*;
use std::io::Write;

/// Maps the descriptor `f`, and closes it. Python's own mapping would keep a copy of it.
const MAP: &str = "from ctypes import *; map = CDLL(None).mmap; map.restype = c_void_p; \
    map.argtypes = [c_void_p, c_size_t, c_int, c_int, c_int, c_long]; assert map(None, 4096, 1, 1, f, 0) + 1; os.close(f)";

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
    assert_eq!((found[0].pid, found[0].files.as_slice()), (python.pid(), ["registry.db".to_owned()].as_slice()));
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
    let script = format!("f = os.open(path + '-shm', os.O_RDWR); {MAP}");
    let _python = Python::run(&path, &script);
    let found = held(&path);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].files, ["registry.db-shm"]);
}

#[test]
fn a_deleted_inode_is_seen_in_descriptors_and_mappings() {
    let (_directory, path) = registry();
    for script in [
        "f = open(path, 'rb'); os.unlink(path)",
        &format!("f = os.open(path, os.O_RDONLY); {MAP}; os.unlink(path)"),
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
        let list =
            format!("1: POSIX  ADVISORY  READ 77 {lock} 1073741826 1073742335\n1: -> FLOCK  ADVISORY  WRITE 5 00:1b:1 0 EOF\n");
        std::fs::write(proc.path().join("locks"), list).expect("a file");
        let unknown = findings(&scan(proc.path(), &target), &target);
        assert_eq!((unknown.len(), unknown[0].code, unknown[0].stops(&[])), (1, Code::HoldersUnknown, stops));
    }

    let hidden = scan(&proc.path().join("nowhere"), &target);
    assert!(hidden.some_hidden);
    assert_eq!(findings(&hidden, &target)[0].code, Code::HoldersUnknown);
}

/// Processes as the kernel would show them, for what no process of ours can be made to look like.
struct Proc(tempfile::TempDir);

impl Proc {
    fn new() -> Self {
        let proc = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(proc.path().join("1/fd")).expect("a directory");
        Self(proc)
    }

    /// A process with these links among its descriptors, and this text as its mappings.
    fn process(self, pid: u32, descriptors: &[&str], maps: &str) -> Self {
        let directory = self.0.path().join(pid.to_string());
        std::fs::create_dir_all(directory.join("fd")).expect("a directory");
        for (number, text) in descriptors.iter().enumerate() {
            std::os::unix::fs::symlink(text, directory.join(format!("fd/{number}"))).expect("a link");
        }
        std::fs::write(directory.join("maps"), maps).expect("a file");
        self
    }

    fn held(&self, path: &Path) -> Vec<(u32, String)> {
        let found = scan(self.0.path(), &Target::look(path).expect("facts")).found;
        found.into_iter().map(|holder| (holder.pid, holder.files.join(" "))).collect()
    }
}

#[test]
fn a_mapping_is_known_by_its_device_or_where_that_is_another_by_its_path() {
    let (_directory, path) = registry();
    let facts = Target::look(&path).expect("facts").file.expect("a file");
    let device = format!("{:02x}:{:02x}", rustix::fs::major(facts.device), rustix::fs::minor(facts.device));
    let (inode, other, there) = (facts.inode, facts.inode + 1, path.display());
    let line = |device: &str, inode: u64, path: &str| format!("7f00-7f01 r--s 00000000 {device} {inode}      {path}\n");
    let anonymous = "7f02-7f03 rw-p 00000000 00:00 0 \n";
    let proc = Proc::new()
        .process(10, &[], &(anonymous.to_owned() + &line(&device, inode, "/elsewhere")))
        .process(11, &[], &line("fffe:fe", inode, &there.to_string()))
        .process(12, &[], &line("fffe:fe", other, &there.to_string()))
        .process(13, &[], &line("fffe:fe", inode, "/elsewhere"))
        .process(14, &[], &line("fffe:fe", other, &format!("{there}-wal (deleted)")))
        .process(9, &[], &line(&device, inode, &there.to_string()));
    let held: Vec<(u32, String)> = [(9, "registry.db"), (10, "registry.db"), (11, "registry.db")]
        .into_iter()
        .chain([(14, "registry.db-wal (deleted)")])
        .map(|(pid, files)| (pid, files.to_owned()))
        .collect();
    assert_eq!(proc.held(&path), held);
}

#[test]
fn a_deleted_registry_of_ours_is_known_by_its_name() {
    let (_directory, path) = registry();
    let deleted = |end: &str| format!("{}{end} (deleted)", path.display());
    for end in ["", "-wal", ".before-20261130T100000Z", ".before-20261130T100000Z-wal"] {
        let proc = Proc::new().process(77, &[&deleted(end)], "");
        assert_eq!(proc.held(&path), [(77, format!("registry.db{end} (deleted)"))]);
    }
    for other in [deleted(".notes"), deleted("2"), "/elsewhere/registry.db (deleted)".to_owned(), "pipe:[77]".to_owned()] {
        assert_eq!(Proc::new().process(77, &[&other], "").held(&path), [], "{other}");
    }
}

#[test]
fn not_seeing_every_process_blocks_unless_the_locks_say_that_none_works_on_it() {
    let (_directory, path) = registry();
    let target = Target::look(&path).expect("facts");
    let said = |not_looked_into: &[u32], some_hidden: bool, locked: Option<bool>| {
        let not_looked_into = not_looked_into.to_vec();
        let found = findings(&Holders { found: vec![], not_looked_into, some_hidden, locked }, &target);
        found.into_iter().map(|finding| (finding.stops(&[]), finding.because)).collect::<Vec<_>>()
    };
    assert_eq!(said(&[], false, Some(false)), []);
    assert_eq!(said(&[], false, Some(true)), []);
    assert_eq!(said(&[], false, None), []);
    let quiet = "1 other process (pid 1) could not be looked into; no lock on the registry says that one works on it";
    assert_eq!(said(&[1], false, Some(false)), [(false, quiet.to_owned())]);
    let unknown = "1 other process (pid 1) could not be looked into, so it is not known whether one has the registry open";
    assert_eq!(said(&[1], false, Some(true)), [(true, unknown.to_owned())]);
    assert_eq!(said(&[1], false, None), [(true, unknown.to_owned())]);
    let hidden = "processes are hidden from this user, so it is not known whether one has the registry open";
    for locked in [Some(false), Some(true), None] {
        assert_eq!(said(&[], true, locked), [(true, hidden.to_owned())]);
        assert_eq!(said(&[1], true, locked), [(true, hidden.to_owned())]);
    }
    assert!(said(&[1, 2, 3, 4, 5], false, None)[0].1.starts_with("5 other processes (pid 1, 2, 3, 4, 5) could"));
    assert!(said(&[1, 2, 3, 4, 5, 6], false, None)[0].1.starts_with("6 other processes (pid 1, 2, 3, 4, 5, …) could"));
}

/// Our own lock on the registry, which is held while this is asked, is nobody else's.
#[test]
fn our_own_lock_is_not_anothers() {
    let (_directory, path) = registry();
    let target = Target::look(&path).expect("facts");
    let proc = Proc::new();
    std::os::unix::fs::symlink("77", proc.0.path().join("self")).expect("a link");
    let inode = target.file.as_ref().expect("a file").inode;
    for (pid, locked) in [(77, false), (78, true)] {
        let list = format!("1: POSIX  ADVISORY  WRITE {pid} 00:1b:{inode} 0 EOF\n");
        std::fs::write(proc.0.path().join("locks"), list).expect("a file");
        assert_eq!(scan(proc.0.path(), &target).locked, Some(locked));
    }
}
