use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn codes(target: &Target, needed_bytes: u64) -> Vec<&'static str> {
    target.findings(needed_bytes).iter().map(|finding| finding.code.as_str()).collect()
}

fn look(path: &Path) -> Target {
    Target::look(path).expect("facts")
}

#[test]
fn links_resolve_to_the_real_file_also_when_it_is_not_there_yet() {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path().canonicalize().expect("a real path");
    std::fs::create_dir_all(root.join("real/deep")).expect("a directory");
    symlink("real", root.join("data")).expect("a link");
    symlink("deep/store.db", root.join("real/registry.db")).expect("a link");
    let absent = look(&root.join("data/registry.db"));
    assert_eq!((absent.path.as_path(), absent.kind), (root.join("real/deep/store.db").as_path(), Kind::Absent));
    std::fs::write(root.join("real/deep/store.db-wal"), b"x").expect("a file");
    std::fs::write(root.join("real/deep/store.db"), b"four").expect("a file");
    let there = look(&root.join("data/./registry.db"));
    assert_eq!((there.kind, there.file.as_ref().map(|file| file.bytes)), (Kind::File, Some(4)));
    assert_eq!(there.sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>(), ["store.db-wal"]);
    assert!(!there.is_as_in(&absent) && there.is_as_in(&look(&root.join("data/registry.db"))));
    assert_eq!(codes(&there, 1), Vec::<&str>::new());

    symlink("loop.db", root.join("loop.db")).expect("a link");
    assert!(Target::look(&root.join("loop.db")).is_err());
    assert!(Target::look(Path::new("/")).is_err());
}

#[test]
fn what_is_no_file_of_its_own_is_unsafe() {
    let root = tempfile::tempdir().expect("a directory");
    assert_eq!(codes(&look(&root.path().join("missing/registry.db")), 1), ["target-unwritable"]);
    assert_eq!(codes(&look(root.path()), 0), ["target-unsafe"]);
    assert_eq!(look(Path::new("/dev/null")).kind, Kind::Special);
    let file = root.path().join("registry.db");
    std::fs::write(&file, b"x").expect("a file");
    std::fs::hard_link(&file, root.path().join("second name")).expect("a link");
    assert_eq!(codes(&look(&file), 1), ["target-unsafe"]);
    std::fs::remove_file(root.path().join("second name")).expect("removed");
    // A second name that an interrupted run of ours left is no foreign one.
    std::fs::hard_link(&file, root.path().join("registry.db.before-20261130T100000Z")).expect("a link");
    assert_eq!(codes(&look(&file), 1), Vec::<&str>::new());
}

#[test]
fn room_and_owner_are_judged() {
    let root = tempfile::tempdir().expect("a directory");
    let file = root.path().join("registry.db");
    assert_eq!(codes(&look(&file), u64::MAX), ["no-space"]);
    std::fs::write(root.path().join("registry.db-wal"), [0; 1000]).expect("a file");
    assert_eq!(look(&file).space_needed_bytes(4096), 5096);
    let mut target = look(&file);
    target.looked_as_uid = 4_000_000_001;
    assert_eq!(codes(&target, 1), ["target-unwritable"]);
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o500)).expect("a mode");
    let read_only = look(&file);
    let expected: &[&str] = if read_only.looked_as_uid == 0 { &[] } else { &["target-unwritable"] };
    assert_eq!(codes(&read_only, 1), expected);
    let mut mounted = look(&file);
    mounted.directory.as_mut().expect("a directory").read_only = true;
    assert_eq!(codes(&mounted, 1), ["target-unwritable"]);
}

#[test]
fn facts_are_evidence_and_read_back() {
    let root = tempfile::tempdir().expect("a directory");
    let file = root.path().join("registry.db");
    std::fs::write(&file, b"x").expect("a file");
    std::fs::write(root.path().join("registry.db.before-20261130T100000Z"), b"x").expect("a file");
    let target = look(&file);
    let text = serde_json::to_string(&target).expect("text");
    assert_eq!(serde_json::from_str::<Target>(&text).expect("facts"), target);
    assert_eq!(target.ours.len(), 1);
}
