use super::*;
use crate::host::bench::{Bench, give, kind, owner_and_mode};

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
