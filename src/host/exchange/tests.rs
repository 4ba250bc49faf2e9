use super::*;
use crate::host::names::Reason;
use crate::platform::Stamp;
use std::time::{Duration, SystemTime};

/// A directory in which an exchange was cut short somewhere, and the exchange.
struct Cut {
    directory: tempfile::TempDir,
    exchange: Exchange,
}

fn kept(stamp: &str) -> Kept {
    let stamp: Stamp = stamp.parse().expect("a stamp");
    Kept { reason: Reason::Before, stamp, nth: 1 }
}

impl Cut {
    /// The registry that is put in place is called `incoming`, and nothing else is there.
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        std::fs::write(directory.path().join("incoming"), "new").expect("a file");
        let incoming = directory.path().join("incoming").metadata().expect("facts").ino();
        Self { directory, exchange: Exchange { path, kept: kept("20261130T120000Z"), incoming, origin: None } }
    }

    fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.directory.path().join(name), content).expect("a file");
        self
    }

    fn kept(self, end: &str, content: &str) -> Self {
        self.with(&format!("registry.db.before-20261130T120000Z{end}"), content)
    }

    /// The incoming one has this name now.
    fn incoming_at(self, path: &Path) -> Self {
        std::fs::rename(self.directory.path().join("incoming"), path).expect("renamed");
        self
    }

    fn swapped(self) -> Self {
        let swap = self.exchange.swap_path();
        self.incoming_at(&swap)
    }

    /// What was written last, counted from the moment at which the incoming one got its swap name.
    fn written(self, name: &str, after: Duration, is_before: bool) -> Self {
        let began = self.exchange.swap_path().symlink_metadata().expect("facts");
        let nanoseconds = u32::try_from(began.ctime_nsec()).expect("below a second");
        let began = SystemTime::UNIX_EPOCH + Duration::new(began.ctime().unsigned_abs(), nanoseconds);
        let at = if is_before { began - after } else { began + after };
        let file = std::fs::File::options().write(true).open(self.directory.path().join(name)).expect("a file");
        file.set_modified(at).expect("a time");
        self
    }

    /// On which side it ends, and what is there then. Doing it again changes nothing.
    fn settled(&self) -> (Side, String) {
        let side = self.exchange.settle().expect("settled");
        let names = self.names();
        let again = self.exchange.settle().expect("settled again");
        assert_eq!((again, self.names()), (side, names.clone()));
        (side, names)
    }

    fn names(&self) -> String {
        let entries = std::fs::read_dir(self.directory.path()).expect("a directory");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        let said = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_str().expect("text").replace("20261130T120000Z", "NOW");
            format!("{name}={}", std::fs::read_to_string(path).expect("text"))
        };
        paths.iter().map(said).collect::<Vec<_>>().join(" ")
    }
}

fn ended(side: Side, names: &str) -> (Side, String) {
    (side, names.to_owned())
}

#[test]
fn what_was_not_begun_is_before_it_and_nothing_is_touched() {
    let cut = Cut::new().with("registry.db", "old");
    assert_eq!(cut.settled(), ended(Side::Before, "incoming=new registry.db=old"));
    // Also where nothing was at the path, and where the incoming one has a name to go back to.
    assert_eq!(Cut::new().settled(), ended(Side::Before, "incoming=new"));
    let mut undo = Cut::new();
    undo.exchange.origin = Some(kept("20261129T120000Z"));
    assert_eq!(undo.settled(), ended(Side::Before, "incoming=new"));
}

#[test]
fn before_the_exchange_the_incoming_one_goes_back_where_it_came_from() {
    let staged = Cut::new().with("registry.db", "old").swapped();
    assert_eq!(staged.settled(), ended(Side::Before, "registry.db=old"));
    let mut undo = Cut::new().with("registry.db", "old");
    undo.exchange.origin = Some(kept("20261129T120000Z"));
    let undo = undo.swapped();
    assert_eq!(undo.settled(), ended(Side::Before, "registry.db=old registry.db.before-20261129T120000Z=new"));
}

#[test]
fn after_the_exchange_the_old_one_gets_its_kept_name() {
    let cut = Cut::new();
    let (path, swap) = (cut.exchange.path.clone(), cut.exchange.swap_path());
    std::fs::write(swap, "old").expect("a file");
    let cut = cut.incoming_at(&path);
    assert_eq!(cut.settled(), ended(Side::After, "registry.db=new registry.db.before-NOW=old"));
}

#[test]
fn where_nothing_can_be_exchanged_the_second_name_of_the_old_one_goes() {
    let cut = Cut::new().with("registry.db", "old").swapped();
    std::fs::hard_link(&cut.exchange.path, cut.exchange.kept_path()).expect("a link");
    assert_eq!(cut.settled(), ended(Side::Before, "registry.db=old"));
    // Another registry of that name stays.
    let cut = Cut::new().with("registry.db", "old").kept("", "earlier").swapped();
    assert_eq!(cut.settled(), ended(Side::Before, "registry.db=old registry.db.before-NOW=earlier"));
}

#[test]
fn side_files_go_back_to_a_path_that_is_as_it_was_found() {
    let alone = Cut::new().kept("-wal", "orphan");
    assert_eq!(alone.settled(), ended(Side::Before, "incoming=new registry.db-wal=orphan"));
    let second = Duration::from_secs(1);
    let back = ended(Side::Before, "registry.db=old registry.db-journal=side");
    for (after, is_before) in [(second, true), (Duration::ZERO, false)] {
        let cut = Cut::new().with("registry.db", "old").kept("-journal", "side").swapped();
        assert_eq!(cut.written("registry.db", after, is_before).settled(), back);
    }
}

#[test]
fn side_files_never_go_to_a_registry_that_was_written_since() {
    let second = Duration::from_secs(1);
    let stay = ended(Side::Before, "registry.db=old registry.db.before-NOW-journal=side");
    for after in [Duration::from_micros(1), second] {
        let cut = Cut::new().with("registry.db", "old").kept("-journal", "side").swapped();
        assert_eq!(cut.written("registry.db", after, false).settled(), stay);
    }
    // A WAL that came since is somebody's writing too.
    let cut = Cut::new().with("registry.db", "old").with("registry.db-wal", "since").kept("-journal", "side").swapped();
    let cut = cut.written("registry.db", second, true).written("registry.db-wal", second, false);
    let stay = "registry.db=old registry.db-wal=since registry.db.before-NOW-journal=side";
    assert_eq!(cut.settled(), ended(Side::Before, stay));
    // Nothing says any more when it began.
    let cut = Cut::new().with("registry.db", "another").kept("-wal", "side");
    let stay = "incoming=new registry.db=another registry.db.before-NOW-wal=side";
    assert_eq!(cut.settled(), ended(Side::Before, stay));
    // They belong to a kept registry that is there.
    let cut = Cut::new().kept("", "earlier").kept("-wal", "side");
    let stay = "incoming=new registry.db.before-NOW=earlier registry.db.before-NOW-wal=side";
    assert_eq!(cut.settled(), ended(Side::Before, stay));
}
