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
    // Nor another's file, which would be written through its other name.
    let other = bench.path.with_file_name("other.db");
    std::fs::copy(&bench.path, &other).and_then(|_| std::fs::hard_link(&other, &before)).expect("a link");
    assert!(matches!(bench.undo(), Err(InstallError::KeptAsSet { .. })));
    std::fs::remove_file(&before).and_then(|()| std::fs::remove_file(&other)).expect("removed");
    std::fs::hard_link(&bench.path, &before).expect("a link");
    // A second name of the registry itself is what a killed run left, and no registry to go back to.
    assert!(matches!(bench.undo(), Err(InstallError::NothingToUndo { .. })));
    assert_eq!(bench.names(), ["registry.db"]);
}

/// An undo that was cut off: before the exchange or after it, with an older registry to go back to as well.
fn cut_off(after: bool) -> (Bench, Candidate) {
    let bench = Bench::with_old();
    bench.install_at("20261130T110000Z").expect("installed");
    bench.install_at("20261130T120000Z").expect("installed");
    let target = bench.target();
    let (origin, from) = newest_before(&target).expect("kept");
    let kept = Kept { reason: Reason::Undone, stamp: "20261130T123000Z".parse().expect("a stamp"), nth: 1 };
    let exchange =
        Exchange { path: bench.path.clone(), kept, incoming: own_file(&from).expect("its own"), origin: Some(origin) };
    std::fs::rename(&from, exchange.swap_path()).expect("renamed");
    if after {
        assert!(steps::exchange(&exchange.swap_path(), &bench.path).expect("exchanged"));
    }
    let candidate = candidate(&bench.target()).expect("something to put back");
    assert_eq!(candidate.kept, origin);
    (bench, candidate)
}

#[test]
fn an_undo_that_was_cut_off_is_completed_and_goes_back_no_further() {
    let (bench, found) = cut_off(true);
    assert_eq!(found.file, bench.path);
    let undone = bench.undo().expect("undone");
    assert_eq!((&undone.from, &undone.kept), (&found.name, &found.in_place_of));
    assert_eq!(kind(&bench.path), "new");
    let names = ["registry.db", "registry.db.before-20261130T110000Z", "registry.db.undone-20261130T123000Z"];
    assert_eq!(bench.names(), names);
    assert_eq!(last_undone(&bench.target()).map(|stamp| stamp.to_string()).as_deref(), Some("20261130T123000Z"));
}

#[test]
fn an_undo_that_was_cut_off_before_the_exchange_is_done_as_it_was_meant() {
    let (bench, found) = cut_off(false);
    assert!(found.file != bench.path && found.file.exists(), "{found:?}");
    assert_eq!((found.in_place_of, kind(&found.file).as_str()), (None, "new"));
    assert_eq!(bench.undo().expect("undone").from, found.name);
    let names = ["registry.db", "registry.db.before-20261130T110000Z", "registry.db.undone-20261130T130000Z"];
    assert_eq!(bench.names(), names);
}

#[test]
fn only_what_was_shown_is_put_back() {
    let bench = Bench::with_old();
    bench.install_at("20261130T110000Z").expect("installed");
    let (shown, _) = newest_before(&bench.target()).expect("kept");
    bench.install_at("20261130T120000Z").expect("installed");
    let refused = undo(&bench.target(), &bench.interlock(), "20261130T130000Z".parse().expect("a stamp"), shown);
    assert!(matches!(refused, Err(InstallError::OtherToUndo { .. })), "{refused:?}");
    assert_eq!(bench.names().len(), 3);
}
