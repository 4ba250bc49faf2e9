//! What only a directory can get wrong: links out of it, leftovers, half-written files, fifty processes at once.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use carlosctl::store::{Body, DirectoryStore, Put, ReadStore, StoreError, WriteStore};

use crate::common::child;

fn body(text: &str) -> Body {
    Body::from(text.as_bytes().to_vec())
}

fn open(path: &Path) -> DirectoryStore {
    DirectoryStore::open(path).expect("it opens")
}

/// Every path below a directory, links not followed.
fn tree(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("it can be listed").flatten() {
            paths.push(entry.path().strip_prefix(root).expect("below").display().to_string());
            if entry.file_type().expect("a type").is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    paths.sort();
    paths
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_no_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = DirectoryStore::open(&directory.path().join("none")).expect_err("it is missing");
    assert!(matches!(missing, StoreError::NoStore { .. }), "{missing:?}");
    fs::write(directory.path().join("file"), "x").expect("it is written");
    let file = DirectoryStore::open(&directory.path().join("file")).expect_err("it is a file");
    assert!(matches!(file, StoreError::NoStore { .. }), "{file:?}");
    let store = open(&directory.path().join("."));
    assert_eq!(Some(store.name().as_str()), directory.path().file_name().and_then(|name| name.to_str()));
}

#[tokio::test]
async fn no_link_leads_out_of_it_and_none_passes_for_an_object() {
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("secret"), "secret").expect("it is written");
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    fs::create_dir(root.join("d")).expect("it is made");
    symlink(outside.path(), root.join("out")).expect("a link");
    symlink(outside.path().join("secret"), root.join("d/soft")).expect("a link");
    let store = open(root);
    for key in ["out/secret", "d/soft"] {
        let results = [
            store.get(key, 99).await.map(|_| ()),
            store.head(key).await.map(|_| ()),
            store.open(key, None).await.map(|_| ()),
            store.put(key, &body("x"), &Put::Create).await.map(|_| ()),
            store.put(key, &body("x"), &Put::Replace("e".into())).await.map(|_| ()),
            store.delete(key).await,
            store.delete_exact(key, "e").await,
        ];
        for result in results {
            let error = result.expect_err("it is refused");
            assert!(!error.is_missing() && !matches!(error, StoreError::Conflict { .. }), "{key}: {error:?}");
            assert!(!error.to_string().contains("secret\n"), "{error}");
        }
    }
    assert_eq!(fs::read_to_string(outside.path().join("secret")).expect("it is there"), "secret");
    assert_eq!(fs::read_dir(outside.path()).expect("it can be listed").count(), 1);
    // A listing that left it out would hide what it was put there to say.
    for prefix in ["", "d/"] {
        let error = store.list(prefix).await.expect_err("it holds a link");
        assert!(error.to_string().contains("symbolic link"), "{error}");
    }
    assert!(store.list_dirs("").await.is_err());
    assert!(store.put("out", &body("x"), &Put::Create).await.is_err());
}

#[tokio::test]
async fn what_is_no_plain_file_is_no_object() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    fs::write(root.join("one"), "x").expect("it is written");
    fs::hard_link(root.join("one"), root.join("two")).expect("a link");
    let fifo = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().expect("mkfifo starts");
    assert!(fifo.success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket");
    let store = open(root);
    for (key, what) in [("one", "hard links"), ("two", "hard links"), ("pipe", "a pipe"), ("socket", "a socket")] {
        let error = store.get(key, 9).await.expect_err("it is refused");
        assert!(error.to_string().contains(what), "{key}: {error}");
    }
    assert!(store.list("").await.is_err());

    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").expect("it is written");
    let error = open(directory.path()).list("").await.expect_err("it has no key");
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[tokio::test]
async fn our_own_files_are_no_keys_and_writing_leaves_nothing_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    store.put("a/b/k", &body("x"), &Put::Create).await.expect("it is written");
    store.put("a/b/k", &body("y"), &Put::Create).await.expect_err("it is there");
    assert_eq!(tree(directory.path()), [".carlosctl", ".carlosctl/lock", "a", "a/b", "a/b/k"]);
    let keys: Vec<String> = store.list("").await.expect("a listing").into_iter().map(|object| object.key).collect();
    assert_eq!(keys, ["a/b/k"]);
    assert_eq!(store.list_dirs("").await.expect("a listing"), ["a/"]);
    for key in [".carlosctl/lock", ".carlosctl/x", ".carlosctl"] {
        assert!(matches!(store.get(key, 9).await, Err(StoreError::BadKey { .. })), "{key}");
        assert!(matches!(store.put(key, &body("x"), &Put::Create).await, Err(StoreError::BadKey { .. })), "{key}");
    }
    assert!(matches!(store.list(".carlosctl/").await, Err(StoreError::BadKey { .. })));
    // What a killed writer left is swept away by the next one.
    fs::write(directory.path().join(".carlosctl/0123456789abcdef"), "half").expect("it is written");
    store.delete("a/b/k").await.expect("it is deleted");
    store.put("z", &body("x"), &Put::Create).await.expect("it is written");
    assert_eq!(tree(directory.path()), [".carlosctl", ".carlosctl/lock", "z"], "no empty directories, no leftovers");
}

#[tokio::test]
async fn reading_changes_nothing_at_all() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(directory.path().join("a/empty")).expect("it is made");
    fs::write(directory.path().join("a/k"), "x").expect("it is written");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).expect("it is read-only");
    let before = tree(directory.path());
    let store = open(directory.path());
    assert_eq!(store.list("").await.expect("a listing").len(), 1);
    assert_eq!(store.list_dirs("a/").await.expect("a listing"), Vec::<String>::new(), "an empty directory is nothing");
    store.get("a/k", 9).await.expect("it is there");
    store.delete("a/none").await.expect("there is nothing to delete");
    assert_eq!(tree(directory.path()), before);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).expect("it can be removed");
}

#[tokio::test]
async fn names_that_no_file_can_have_are_refused_in_words() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    let long = "n".repeat(256);
    for key in ["../up", "a/../b", "a//b", "./a", "a/", "/a", &long] {
        for result in [
            store.get(key, 9).await.map(|_| ()),
            store.put(key, &body("x"), &Put::Create).await.map(|_| ()),
            store.delete(key).await,
        ] {
            assert!(matches!(result, Err(StoreError::BadKey { .. })), "{key}: {result:?}");
        }
    }
    assert_eq!(tree(directory.path()), Vec::<String>::new(), "refused before any I/O");
    store.put("k", &body("x"), &Put::Create).await.expect("it is written");
    let below = store.put("k/below", &body("x"), &Put::Create).await.expect_err("k is a file");
    assert!(matches!(below, StoreError::BadKey { .. }), "{below:?}");
    assert!(store.get("k/below", 9).await.expect_err("there is nothing").is_missing());
    store.put("d/k", &body("x"), &Put::Create).await.expect("it is written");
    let above = store.put("d", &body("x"), &Put::Create).await.expect_err("d is a directory");
    assert!(matches!(above, StoreError::BadKey { .. }), "{above:?}");
    assert!(store.get("d", 9).await.expect_err("a directory is no object").is_missing());
    store.delete("d").await.expect("there is no such object");
    assert_eq!(store.list("d/").await.expect("a listing").len(), 1);
}

#[tokio::test]
async fn facts_are_the_files_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    fs::write(directory.path().join("k"), "content").expect("it is written");
    let at = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_794_700_800_123_456_789);
    fs::File::options().write(true).open(directory.path().join("k")).expect("it opens").set_modified(at).expect("dated");
    let meta = store.head("k").await.expect("it is there");
    assert_eq!(meta.last_modified.to_string(), "2026-11-15T00:00:00.123456789Z");
    assert_eq!(meta.etag, "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73");

    // Same length, same time, other content: no remembered digest may hide it.
    fs::write(directory.path().join("k"), "CONTENT").expect("it is written");
    fs::File::options().write(true).open(directory.path().join("k")).expect("it opens").set_modified(at).expect("dated");
    assert_ne!(store.head("k").await.expect("it is there").etag, meta.etag);
    assert!(matches!(store.delete_exact("k", &meta.etag).await, Err(StoreError::Conflict { .. })));

    // What is written looks like what it replaces, or like what it is in.
    fs::set_permissions(directory.path().join("k"), fs::Permissions::from_mode(0o640)).expect("set");
    let etag = store.head("k").await.expect("it is there").etag;
    store.put("k", &body("new"), &Put::Replace(etag)).await.expect("the etag is right");
    assert_eq!(fs::metadata(directory.path().join("k")).expect("it is there").mode() & 0o777, 0o640);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o2750)).expect("set");
    store.put("sub/k", &body("x"), &Put::Create).await.expect("it is written");
    assert_eq!(fs::metadata(directory.path().join("sub")).expect("it is there").mode() & 0o777, 0o750);
    assert_eq!(fs::metadata(directory.path().join("sub/k")).expect("it is there").mode() & 0o777, 0o640);
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("k");
    fs::write(&path, vec![1; 1 << 20]).expect("it is written");
    let store = open(directory.path());
    let mut reader = store.open("k", None).await.expect("it opens");
    assert!(reader.chunks.next().await.expect("a piece").is_some());
    fs::write(&path, vec![2; 1 << 20]).expect("it is overwritten in place");
    let error = loop {
        match reader.chunks.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it passed for whole"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Incomplete { .. }), "{error:?}");

    // Replaced by rename, as we write, the old content stays readable to its end.
    let mut reader = store.open("k", None).await.expect("it opens");
    let etag = reader.meta.etag.clone();
    store.put("k", &body("new"), &Put::Replace(etag)).await.expect("the etag is right");
    let mut bytes = 0;
    while let Some(chunk) = reader.chunks.next().await.expect("a piece") {
        bytes += chunk.len();
    }
    assert_eq!(bytes, 1 << 20);
}

/// Fifty processes create one key and replace one etag.
#[tokio::test]
async fn of_fifty_processes_one_wins() {
    const NAME: &str = "store_directory::of_fifty_processes_one_wins";
    if let Some(role) = child::role() {
        let [root, number, etag] = role.as_slice() else { panic!("three words") };
        let condition = if etag.is_empty() { Put::Create } else { Put::Replace(etag.clone()) };
        match open(Path::new(root)).put("race/k", &body(number), &condition).await {
            Ok(_) => child::say(number),
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().to_str().expect("a UTF-8 path");
    let store = open(directory.path());
    for round in 0..2 {
        let etag = if round == 0 { String::new() } else { store.head("race/k").await.expect("it is there").etag };
        let number = |n: usize| format!("{round}-{n}");
        let children: Vec<_> = (0..50).map(|n| child::spawn(NAME, &[root, &number(n), &etag], &[])).collect();
        let winners: Vec<String> = children.into_iter().flat_map(child::said).collect();
        assert_eq!(winners.len(), 1, "{winners:?}");
        let stored = store.get("race/k", 99).await.expect("it is there").body;
        assert_eq!(stored, winners[0].as_bytes());
    }
    assert_eq!(tree(directory.path()), [".carlosctl", ".carlosctl/lock", "race", "race/k"]);
}
