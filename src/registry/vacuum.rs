//! A clean copy of a registry that may be live (seed 000, `SnapshotTo`).

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::open::uri;
use super::{Registry, RegistryError};

impl Registry {
    /// Writes what is committed now to `destination`, which must not exist, with mode 0600. Another process may go on
    /// writing: the copy is of one moment. Only the copy is written, and it is removed again when it could not be finished.
    /// It is not synced to the disk: it is there to be uploaded.
    ///
    /// # Errors
    /// `Io` when the destination exists or cannot be written.
    pub fn vacuum_into(&self, destination: &Path) -> Result<(), RegistryError> {
        self.still_wanted()?;
        // Created before SQLite would, which makes it as readable as the umask lets it. SQLite fills an empty file.
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(destination)
            .map_err(|error| RegistryError::Io(format!("{}: {error}", destination.display())))?;
        self.connection.execute_batch("PRAGMA synchronous = OFF")?;
        let copied = self.connection.execute("VACUUM INTO ?1", [uri(destination, "mode=rw")]);
        let finished = copied.map_err(RegistryError::from).and_then(|_| self.still_unchanged());
        if finished.is_err() {
            // What is left over is only a part of a copy; the error that matters is the first.
            let _ = std::fs::remove_file(destination);
        }
        finished
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rusqlite::Connection;

    use super::*;
    use crate::demo::registry::{build, build_live, busy_box};

    #[test]
    fn a_copy_of_a_live_registry_is_whole_private_and_of_the_same_content() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build_live(&path, &busy_box(200, "v1")).expect("a registry");
        let writer = Connection::open(&path).expect("it opens");
        writer.execute_batch("UPDATE routes SET caps = 'dns'").expect("it writes");
        // A change under way, which the copy must not contain and must not wait for.
        writer.execute_batch("BEGIN IMMEDIATE; UPDATE routes SET caps = 'uncommitted'").expect("it writes");

        let live = Registry::open_live(&path).expect("it opens");
        let copy = directory.path().join("copy ?#.db");
        live.vacuum_into(&copy).expect("copied");
        assert_eq!(std::fs::metadata(&copy).expect("a file").permissions().mode() & 0o777, 0o600);
        let snapshot = Registry::open_snapshot(&copy).expect("it opens");
        assert!(snapshot.check().expect("it runs").is_clean());
        assert_eq!(snapshot.fingerprint(), live.fingerprint());
        assert_eq!(snapshot.census("ops").expect("it counts").box_scoped["caps"], 200);
    }

    #[test]
    fn nothing_is_overwritten_and_no_part_of_a_copy_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build(&path, &busy_box(20, "v1")).expect("a registry");
        let live = Registry::open_live(&path).expect("it opens");
        let taken = directory.path().join("taken");
        std::fs::write(&taken, b"precious").expect("written");
        assert!(matches!(live.vacuum_into(&taken), Err(RegistryError::Io(_))));
        assert_eq!(std::fs::read(&taken).expect("it reads"), b"precious");

        let copy = directory.path().join("copy.db");
        live.interrupter().interrupt();
        assert_eq!(live.vacuum_into(&copy), Err(RegistryError::Interrupted));
        assert!(!copy.exists());
    }
}
