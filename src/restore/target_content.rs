//! What the target holds before it is replaced.

use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::Sha256;

use super::evidence::TargetContent;
use super::last::Last;
use crate::error::CommandError;
use crate::finding::{Code, Finding};
use crate::host::names::SIDES;
use crate::host::private;
use crate::host::target::{Kind, Target};
use crate::platform::hex;
use crate::registry::{Registry, RegistryError};
use crate::snapshot::{Landing, Private, blocking};
use crate::store::digest_of;
use crate::terminal;

/// Reads the target: whether it already equals the chosen content, else what is in it.
///
/// # Errors
/// Only when the work itself failed; an unreadable target is an answer.
pub(crate) async fn read(
    target: &Target,
    bytes: u64,
    sha256: &str,
    default_account: &str,
) -> Result<TargetContent, CommandError> {
    let Some(file) = target.file.as_ref().filter(|_| target.kind == Kind::File) else { return Ok(TargetContent::Absent) };
    if let Some(odd) = target.odd_sides().into_iter().next() {
        return Ok(TargetContent::Unreadable(odd));
    }
    let may_equal = file.bytes == bytes && target.sides.iter().all(|side| side.bytes == 0);
    let path = target.path.clone();
    let (sha256, default_account) = (sha256.to_owned(), default_account.to_owned());
    blocking(move || {
        if may_equal && sha256_of(&path).is_ok_and(|found| found == sha256) {
            return TargetContent::Equal;
        }
        match census(&path, &default_account) {
            Ok(census) => TargetContent::Registry(Box::new(census)),
            Err(RegistryError::Header(crate::registry::HeaderFault::Empty)) => TargetContent::Registry(Box::default()),
            Err(error) => TargetContent::Unreadable(error.to_string()),
        }
    })
    .await
}

/// A registry with routes of its own is where a restore would go. After an earlier restore they are that one's, and there is a
/// way back.
pub(crate) fn not_empty(subject: &str, routes: u64, last: Option<&Last>) -> Finding {
    let of_its_own = format!("the registry here has {} of its own", terminal::count(routes, "route"));
    match last {
        Some(Last::Restored(restored)) => {
            let because = format!(
                "{of_its_own}, since {} was restored into it at {}; --allow target-not-empty replaces it, and the file is kept",
                restored.from_box,
                terminal::instant(restored.at)
            );
            Finding::blocking(Code::TargetNotEmpty, subject, because).hint("to take that restore back: carlosctl restore undo")
        }
        _ => Finding::blocking(Code::TargetNotEmpty, subject, of_its_own)
            .hint("is this the standby? then restore with --allow target-not-empty; the old file is kept"),
    }
}

fn census(path: &Path, default_account: &str) -> Result<crate::registry::Census, RegistryError> {
    match Registry::open_live(path).and_then(|registry| registry.census(default_account)) {
        // A killed agent left a change to be finished or undone, which would write: done on a copy.
        Err(RegistryError::Unfinished(_) | RegistryError::Io(_)) => {
            let copy = Copy::of(path).map_err(|error| RegistryError::Io(error.to_string()))?;
            copy.recover()?;
            Registry::open_snapshot(copy.registry.path())?.census(default_account)
        }
        answer => answer,
    }
}

/// A private copy of a registry and its side files.
struct Copy {
    registry: Private,
}

impl Copy {
    fn of(path: &Path) -> std::io::Result<Self> {
        let registry = Private::create().map_err(|error| std::io::Error::other(error.message))?;
        std::io::copy(&mut private::open_file(path)?, &mut registry.file())?;
        // Not -shm: it is an index of the -wal, and SQLite makes a new one.
        for side in SIDES.iter().filter(|side| **side != "-shm") {
            let from = with_suffix(path, side);
            if from.symlink_metadata().is_ok() {
                let mut copy = private::create_file(&with_suffix(registry.path(), side))?;
                std::io::copy(&mut private::open_own(&from)?, &mut copy)?;
            }
        }
        Ok(Self { registry })
    }

    /// Lets SQLite finish what a killed writer left.
    fn recover(&self) -> Result<(), RegistryError> {
        let connection = rusqlite::Connection::open(self.registry.path())?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        connection.close().map_err(|(_, error)| error.into())
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The sha256 of a whole file, in hex.
pub(crate) fn sha256_of(path: &Path) -> std::io::Result<String> {
    Ok(hex(&digest_of::<Sha256>(&mut File::open(path)?)?.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::registry::{RouteSpec, build, build_live, busy_box};
    use rusqlite::Connection;

    struct Bench {
        _directory: tempfile::TempDir,
        path: PathBuf,
    }

    fn routes() -> Vec<RouteSpec> {
        busy_box(200, "v5")
    }

    impl Bench {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("registry.db");
            Self { _directory: directory, path }
        }

        /// What a writer that is killed now leaves: its files as they are at this moment.
        fn killed(original: &Path) -> Self {
            let bench = Self::new();
            for end in ["", "-wal", "-shm", "-journal"] {
                let from = with_suffix(original, end);
                if from.exists() {
                    std::fs::copy(from, with_suffix(&bench.path, end)).expect("a copy");
                }
            }
            bench
        }

        fn side(&self, end: &str) -> u64 {
            with_suffix(&self.path, end).metadata().map_or(0, |facts| facts.len())
        }

        /// What is there, against an object of that length and digest.
        async fn content(&self, bytes: u64, sha256: &str) -> TargetContent {
            let target = Target::look(&self.path).expect("facts");
            let before = std::fs::read(&self.path).ok();
            let found = read(&target, bytes, sha256, "ops").await.expect("an answer");
            assert_eq!(std::fs::read(&self.path).ok(), before, "looking changes nothing");
            found
        }

        async fn routes(&self) -> Option<u64> {
            match self.content(1, "").await {
                TargetContent::Registry(census) => Some(census.routes),
                _ => None,
            }
        }
    }

    #[tokio::test]
    async fn it_is_equal_only_byte_for_byte_and_alone() {
        let bench = Bench::new();
        assert_eq!(bench.content(1, "").await, TargetContent::Absent);
        build(&bench.path, &routes()).expect("a registry");
        let (bytes, sha256) = (bench.side(""), sha256_of(&bench.path).expect("a digest"));
        assert_eq!(bench.content(bytes, &sha256).await, TargetContent::Equal);
        std::fs::write(with_suffix(&bench.path, "-wal"), "").expect("a file");
        assert_eq!(bench.content(bytes, &sha256).await, TargetContent::Equal);
        let another = "0".repeat(64);
        assert!(matches!(bench.content(bytes, &another).await, TargetContent::Registry(census) if census.routes == 200));
        // Of the same bytes, and with a WAL that may say otherwise.
        std::fs::write(with_suffix(&bench.path, "-wal"), "x").expect("a file");
        assert_ne!(bench.content(bytes, &sha256).await, TargetContent::Equal);
    }

    /// What the agent had written and was in no database file yet is what would be lost.
    #[tokio::test]
    async fn what_is_only_in_the_wal_of_a_killed_agent_counts() {
        let original = Bench::new();
        build_live(&original.path, &routes()).expect("a registry");
        let connection = Connection::open(&original.path).expect("a database");
        connection.execute_batch("PRAGMA wal_autocheckpoint=0; PRAGMA journal_mode=WAL").expect("a mode");
        connection.execute("DELETE FROM routes WHERE rowid > 150", []).expect("fewer rows");
        let bench = Bench::killed(&original.path);
        assert!(bench.side("-wal") > 0);
        assert_eq!(bench.routes().await, Some(150));
    }

    #[tokio::test]
    async fn what_a_killed_writer_had_not_committed_does_not_count() {
        let original = Bench::new();
        build(&original.path, &routes()).expect("a registry");
        let connection = Connection::open(&original.path).expect("a database");
        connection.execute_batch("PRAGMA journal_mode=DELETE; PRAGMA cache_size=1; BEGIN").expect("a transaction");
        connection.execute("DELETE FROM routes WHERE rowid > 150", []).expect("fewer rows");
        connection.cache_flush().expect("half of it is in the file");
        let bench = Bench::killed(&original.path);
        assert!(bench.side("-journal") > 0);
        assert_eq!(bench.routes().await, Some(200));
    }
}
