//! The sum of the digests of a table's rows: hashed while the next rows are read.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

use sha2::{Digest, Sha256};

use super::RegistryError;

/// How many bytes of rows are hashed in one go.
const BATCH_BYTES: usize = 64 * 1024;
/// How many batches may wait to be hashed.
const BATCHES_WAITING: usize = 4;
/// From which batch on a thread of its own hashes. Smaller tables are not worth one, nor where many registries are read at once.
const BATCHES_HERE: usize = 64;

/// How many rows there are, and the sum of their SHA-256 as 256-bit numbers, little end first, without carry out.
pub(super) type RowSum = (u64, [u8; 32]);

/// Adds up what `next` puts behind the bytes that are there, a row each time, until it answers `false`.
///
/// # Errors
/// Those of `next`.
pub(super) fn add_up(mut next: impl FnMut(&mut Vec<u8>) -> Result<bool, RegistryError>) -> Result<RowSum, RegistryError> {
    scope(|scope| {
        let (mut count, mut batches, mut sum) = (0, 0, [0; 32]);
        let mut beside = None;
        let mut batch = Batch::new();
        while next(&mut batch.bytes)? {
            count += 1;
            batch.ends.push(batch.bytes.len());
            if batch.bytes.len() < BATCH_BYTES {
                continue;
            }
            batches += 1;
            let full = std::mem::replace(&mut batch, Batch::new());
            if batches == BATCHES_HERE {
                // Where no thread can be had, this one does it all.
                beside = Beside::start(scope).ok();
            }
            match &beside {
                Some(beside) => beside.hash(full),
                None => full.add_to(&mut sum),
            }
        }
        batch.add_to(&mut sum);
        if let Some(beside) = beside {
            add(&mut sum, &beside.finish());
        }
        Ok((count, sum))
    })
}

/// Rows as bytes, one behind the other, and where each ends.
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    fn new() -> Self {
        Self { bytes: Vec::with_capacity(BATCH_BYTES), ends: Vec::new() }
    }

    fn add_to(&self, sum: &mut [u8; 32]) {
        let mut from = 0;
        for &end in &self.ends {
            add(sum, &Sha256::digest(&self.bytes[from..end]));
            from = end;
        }
    }
}

/// The thread that hashes.
struct Beside<'scope> {
    batches: SyncSender<Batch>,
    sum: ScopedJoinHandle<'scope, [u8; 32]>,
}

impl<'scope> Beside<'scope> {
    fn start(scope: &'scope Scope<'scope, '_>) -> std::io::Result<Self> {
        let (batches, waiting) = sync_channel::<Batch>(BATCHES_WAITING);
        let sum = Builder::new().spawn_scoped(scope, move || {
            let mut sum = [0; 32];
            for batch in waiting {
                batch.add_to(&mut sum);
            }
            sum
        })?;
        Ok(Self { batches, sum })
    }

    fn hash(&self, batch: Batch) {
        // It is gone only after a panic, which `finish` passes on.
        let _ = self.batches.send(batch);
    }

    fn finish(self) -> [u8; 32] {
        drop(self.batches);
        self.sum.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn add(sum: &mut [u8; 32], digest: &[u8]) {
    let mut carry = 0;
    for (total, byte) in sum.iter_mut().zip(digest) {
        let (partly, one) = total.overflowing_add(*byte);
        let (whole, two) = partly.overflowing_add(carry);
        *total = whole;
        carry = u8::from(one || two);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digests of so many rows of a length each, added up one by one.
    fn one_by_one(rows: usize, length: usize) -> RowSum {
        let mut sum = [0; 32];
        for row in 0..rows {
            add(&mut sum, &Sha256::digest(vec![row.to_le_bytes()[0]; length]));
        }
        (rows as u64, sum)
    }

    fn added_up(rows: usize, length: usize) -> RowSum {
        let mut left = 0..rows;
        let next = |bytes: &mut Vec<u8>| {
            let row = left.next();
            bytes.extend(row.into_iter().flat_map(|row| vec![row.to_le_bytes()[0]; length]));
            Ok(row.is_some())
        };
        add_up(next).expect("it adds up")
    }

    #[test]
    fn the_sum_is_the_same_beside_and_here() {
        let enough = BATCHES_HERE * BATCH_BYTES;
        for (rows, length) in [(0, 0), (3, 0), (3, 5), (2, BATCH_BYTES), (enough / 1000 + 200, 1000), (90, BATCH_BYTES + 1)] {
            assert_eq!(added_up(rows, length), one_by_one(rows, length), "{rows} rows of {length}");
        }
        assert_ne!(added_up(90, BATCH_BYTES), added_up(91, BATCH_BYTES));
    }

    #[test]
    fn a_failure_ends_it_beside_and_here() {
        for rows in [1, BATCHES_HERE + 3] {
            let mut row = 0;
            let failed = add_up(|bytes| {
                bytes.extend(vec![0; BATCH_BYTES]);
                row += 1;
                if row > rows { Err(RegistryError::Interrupted) } else { Ok(true) }
            });
            assert!(matches!(failed, Err(RegistryError::Interrupted)), "{rows}");
        }
    }
}
