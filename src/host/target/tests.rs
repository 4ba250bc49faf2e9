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

/// What only another user, another filesystem or another moment shows, each as a fact of its own.
#[test]
fn each_fact_that_stands_in_the_way_stops_alone() {
    let root = tempfile::tempdir().expect("a directory");
    let file = root.path().join("registry.db");
    std::fs::write(&file, b"x").expect("a file");
    let whys = |change: &dyn Fn(&mut FileFacts, &mut DirectoryFacts, &mut u32)| {
        let mut target = look(&file);
        let Target { file: Some(file), directory: Some(directory), looked_as_uid, .. } = &mut target else { panic!("facts") };
        change(file, directory, looked_as_uid);
        target.findings(1000).into_iter().map(|finding| (finding.code.as_str(), finding.because)).collect::<Vec<_>>()
    };
    let one = |code, because: &str| vec![(code, because.to_owned())];
    let mount_point = "the file itself is a mount point, so it cannot be exchanged";
    assert_eq!(whys(&|file, _, _| file.mount_point = true), one("target-unsafe", mount_point));
    let permission = "no permission to create files in the directory";
    assert_eq!(whys(&|_, directory, _| directory.writable = false), one("target-unwritable", permission));
    assert_eq!(whys(&|_, directory, _| directory.free_bytes = 1000), []);
    let room = "an install needs 1000 bytes, and 999 are free";
    assert_eq!(whys(&|_, directory, _| directory.free_bytes = 999), one("no-space", room));
    // Root may give a file to anybody, and everybody to themselves.
    let owned_by = |owner: u32, looks: u32| {
        whys(&move |file, directory, uid| (file.uid, directory.uid, directory.writable, *uid) = (owner, 7, true, looks))
    };
    assert_eq!(owned_by(41, 0), []);
    assert_eq!(owned_by(41, 41), []);
    let foreign = "the registry belongs to uid 41, and uid 42 cannot give it a file";
    assert_eq!(owned_by(41, 42), one("target-unwritable", foreign));
}

#[test]
fn another_directory_of_that_name_is_not_as_it_was() {
    let root = tempfile::tempdir().expect("a directory");
    let (data, moved) = (root.path().join("data"), root.path().join("moved"));
    std::fs::create_dir(&data).expect("a directory");
    std::fs::write(data.join("registry.db"), b"x").expect("a file");
    let earlier = look(&data.join("registry.db"));
    std::fs::rename(&data, &moved).expect("renamed");
    std::fs::create_dir(&data).expect("a directory");
    std::fs::rename(moved.join("registry.db"), data.join("registry.db")).expect("renamed");
    let now = look(&data.join("registry.db"));
    assert_eq!((&now.path, &now.file), (&earlier.path, &earlier.file));
    assert!(!now.is_as_in(&earlier));
}

#[test]
fn what_is_in_the_way_is_said_in_its_words() {
    let root = tempfile::tempdir().expect("a directory");
    let because = |path: &Path| look(path).findings(0).into_iter().map(|finding| finding.because).collect::<Vec<_>>();
    assert_eq!(because(root.path()), ["a directory, not a file"]);
    assert_eq!(because(Path::new("/dev/null")), ["a device, socket or pipe, not a file"]);
    let file = root.path().join("registry.db");
    std::fs::create_dir(root.path().join("registry.db-wal")).expect("a directory");
    std::fs::write(root.path().join("registry.db-shm"), b"x").expect("a file");
    std::fs::hard_link(root.path().join("registry.db-shm"), root.path().join("other")).expect("a link");
    assert_eq!(because(&file), ["registry.db-wal is not an ordinary file", "registry.db-shm has a second name (a hard link)",]);
    let shared = look(Path::new("/dev/shm/registry.db")).directory.map(|directory| directory.filesystem);
    assert_eq!(shared.as_deref(), Some("tmpfs"));
    let other = look(Path::new("/proc/registry.db")).directory.map(|directory| directory.filesystem);
    assert_eq!(other.as_deref(), Some("type 0x9fa0"));
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
