//! How much a store has answered so far, for whoever waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what a store answers. Cloning shares the count.
#[derive(Debug, Clone, Default)]
pub struct Tally(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    listed: AtomicU64,
    read: AtomicU64,
}

impl Tally {
    /// How many objects, versions and directories were listed.
    #[must_use]
    pub fn listed(&self) -> u64 {
        self.0.listed.load(Ordering::Relaxed)
    }

    /// How many small objects were read whole.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    pub(super) fn add_listed(&self, number: usize) {
        self.0.listed.fetch_add(number as u64, Ordering::Relaxed);
    }

    pub(super) fn add_read(&self) {
        self.0.read.fetch_add(1, Ordering::Relaxed);
    }
}
