//! Where everything is, below the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::Failure;

/// The directories of the bench.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
}

impl Place {
    /// `target/bench`.
    pub(crate) fn new() -> Result<Self, Failure> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target directory")?;
        let place = Self { root: target.join("bench") };
        fs::create_dir_all(&place.root)?;
        Ok(place)
    }

    /// A directory that stays from one run to the next.
    pub(crate) fn lasting(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// An empty directory.
    pub(crate) fn empty(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join("scratch").join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// Whether something that takes long was done before, by its name.
    pub(crate) fn is_done(&self, what: &str) -> bool {
        self.root.join("done").join(what).exists()
    }

    /// Notes that something was done.
    pub(crate) fn done(&self, what: &str) -> Result<(), Failure> {
        let done = self.lasting("done")?;
        fs::write(done.join(what), "")?;
        Ok(())
    }

    /// The binary that is measured.
    pub(crate) fn binary() -> PathBuf {
        std::env::var_os("CARLOSCTL_BENCH_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_carlosctl").into(), PathBuf::from)
    }
}
