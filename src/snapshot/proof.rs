//! What only the content can tell of a snapshot. Everything runs on a private copy and leaves it as it was.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::fetch::{Fetched, fetch};
use super::landing::Landing;
use super::select::Chosen;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding, Severity};
use crate::platform::Sidecar;
use crate::registry::{Census, Check, FINGERPRINT_PREFIX, Interrupter, Registry, RegistryError};
use crate::store::ReadStore;
use crate::terminal::{self, Progress};

/// From this size on the check and the count of a file go on at once.
const READ_TWICE_AT_ONCE_BYTES: u64 = 32 * 1024 * 1024;
/// How many registries are open at once: each has work for a whole processor.
static DATABASES: Semaphore = Semaphore::const_new(4);
/// How many lines of unreadable text are named one by one.
const TEXTS_NAMED: usize = 5;

/// What is expected of the content.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// What the findings are about: a key or path.
    pub subject: String,
    /// The sidecar, when it describes exactly this object.
    pub sidecar: Option<Sidecar>,
    /// The account of a route that names none.
    pub default_account: String,
}

impl Expected {
    /// The fingerprint that the content must have. One that the platform wrote is opaque.
    fn our_fingerprint(&self) -> Option<&str> {
        let written = &self.sidecar.as_ref()?.fingerprint;
        written.starts_with(FINGERPRINT_PREFIX).then_some(written)
    }
}

/// What was proved of one object.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The sha256 of the whole content, in hex.
    pub sha256: String,
    /// What is in it, when it is a registry.
    pub census: Option<Census>,
    /// Everything found, sorted.
    pub findings: Vec<Finding>,
}

/// Three answers; the third is never yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything that was looked at is as it should be.
    Good,
    /// Something could not be looked at.
    Unknown,
    /// Something is wrong.
    Bad,
}

impl Verdict {
    /// The verdict that findings amount to.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let blocking = || findings.iter().filter(|finding| finding.severity == Severity::Blocking);
        if blocking().any(|finding| finding.code != Code::NotRead) {
            Self::Bad
        } else if blocking().next().is_some() {
            Self::Unknown
        } else {
            Self::Good
        }
    }

    /// The word as it is shown.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
        }
    }
}

impl Proof {
    /// Rows of `routes`; `None` when it is no registry.
    #[must_use]
    pub fn routes(&self) -> Option<u64> {
        self.census.as_ref().map(|census| census.routes)
    }

    /// Rows of every table.
    #[must_use]
    pub fn rows(&self) -> BTreeMap<String, u64> {
        self.census.as_ref().map(|census| census.tables.clone()).unwrap_or_default()
    }

    /// The verdict on the content.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.findings)
    }
}

/// Fetches what was chosen and proves it.
///
/// # Errors
/// The store's or the local disk's; a bad content is no error but the answer.
pub async fn fetch_and_prove<L: Landing>(
    store: &dyn ReadStore,
    chosen: &Chosen,
    expected: Expected,
    landing: L,
    progress: Option<&Progress>,
) -> Result<(Fetched<L>, Proof), CommandError> {
    let fetched = fetch(store, chosen, landing, progress).await?;
    let path = fetched.landing.path().to_owned();
    let sha256 = fetched.sha256.clone();
    let _turn = database_turn().await?;
    let proof = interruptible(move |interrupter| prove(&path, sha256, &expected, &interrupter)).await?;
    Ok((fetched, proof))
}

/// A turn to open a registry that was fetched: many arrive at once.
///
/// # Errors
/// None that happens: the turns are never closed.
pub async fn database_turn() -> Result<SemaphorePermit<'static>, CommandError> {
    DATABASES.acquire().await.map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))
}

/// As [`blocking`], for questions to SQLite: whoever stops waiting for the answer also stops the work, so that Ctrl-C in the
/// check of a large file ends the program at once.
///
/// # Errors
/// Only when the work itself panicked.
pub async fn interruptible<T: Send + 'static>(work: impl FnOnce(Interrupter) -> T + Send + 'static) -> Result<T, CommandError> {
    struct Waiting(Interrupter);
    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.interrupt();
        }
    }
    let waiting = Waiting(Interrupter::default());
    let interrupter = waiting.0.clone();
    let answer = blocking(move || work(interrupter)).await;
    drop(waiting);
    answer
}

/// Runs SQLite's work where it blocks nobody.
///
/// # Errors
/// Only when the work itself panicked.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))
}

/// Proves the snapshot at `path`, a private copy. Interrupted, it is not known whether it is good.
#[must_use]
pub fn prove(path: &Path, sha256: String, expected: &Expected, interrupter: &Interrupter) -> Proof {
    let mut findings = Vec::new();
    let census = match look_inside(path, expected, interrupter, &mut findings) {
        Ok(census) => Some(census),
        Err(error) => {
            findings.push(Finding::blocking(error.code(), &expected.subject, error.to_string()));
            None
        }
    };
    finding::sort(&mut findings);
    Proof { sha256, census, findings }
}

fn look_inside(
    path: &Path,
    expected: &Expected,
    interrupter: &Interrupter,
    findings: &mut Vec<Finding>,
) -> Result<Census, RegistryError> {
    let (check, counted) = checked_and_counted(path, expected, interrupter);
    let check = check?;
    if !check.damage.is_empty() {
        findings.push(Finding::blocking(Code::IntegrityFailed, &expected.subject, check.damage.join("; ")));
    }
    if !check.foreign_keys.is_empty() {
        findings.push(Finding::warning(Code::IntegrityFailed, &expected.subject, check.foreign_keys.join("; ")));
    }
    let (census, recomputed) = counted?;
    if census.routes == 0 {
        findings.push(Finding::blocking(Code::NoRows, &expected.subject, "the registry has no routes"));
    }
    describe_oddities(&census, &expected.subject, findings);
    if let (Some(written), Some(recomputed)) = (expected.our_fingerprint(), recomputed)
        && check.damage.is_empty()
        && recomputed != written
    {
        findings.push(Finding::blocking(
            Code::FingerprintMismatch,
            &expected.subject,
            format!("the sidecar says {written}, the content is {recomputed}"),
        ));
    }
    Ok(census)
}

/// What a registry holds, and its fingerprint where there is one of ours to compare it with.
type Counted = (Census, Option<String>);

/// The two readings of the whole file. Of a large one both at once: each waits for the disk and for SQLite's own work.
fn checked_and_counted(
    path: &Path,
    expected: &Expected,
    interrupter: &Interrupter,
) -> (Result<Check, RegistryError>, Result<Counted, RegistryError>) {
    let open = || Registry::open_snapshot(path)?.interrupted_by(interrupter);
    let count = |registry: &Registry| {
        if expected.our_fingerprint().is_none() {
            return Ok((registry.census(&expected.default_account)?, None));
        }
        let (census, fingerprint) = registry.census_and_fingerprint(&expected.default_account)?;
        Ok((census, Some(fingerprint)))
    };
    if std::fs::metadata(path).is_ok_and(|facts| facts.len() >= READ_TWICE_AT_ONCE_BYTES) {
        return std::thread::scope(|scope| {
            let checking = scope.spawn(|| open()?.check());
            let counted = open().and_then(|registry| count(&registry));
            let lost = |_| Err(RegistryError::Other("the check was lost".to_owned()));
            (checking.join().unwrap_or_else(lost), counted)
        });
    }
    match open() {
        Ok(registry) => (registry.check(), count(&registry)),
        Err(error) => (Err(error.clone()), Err(error)),
    }
}

/// What a newer or damaged writer left, and is copied as it is.
fn describe_oddities(census: &Census, subject: &str, findings: &mut Vec<Finding>) {
    if !census.unknown.is_empty() {
        findings.push(Finding::warning(
            Code::SchemaUnknown,
            subject,
            format!("not known to this program, and copied as it is: {}", census.unknown.join(", ")),
        ));
    }
    if census.unreadable_text > 0 {
        let named: Vec<String> = census
            .unreadable
            .iter()
            .take(TEXTS_NAMED)
            .map(|text| format!("{} {}, column {}: {}: {}", text.table, text.row, text.column, text.because, text.value))
            .collect();
        let more = census.unreadable_text.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        findings.push(Finding::warning(Code::TextUnreadable, subject, format!("{}{more}", named.join("; "))));
    }
}

/// What the content tells when it is compared with an older rung that did not collapse: less than half of its routes, or of
/// its hosts, is left. Nothing left is judged by `no-rows`.
#[must_use]
pub fn collapse(at: &str, census: &Census, older_at: &str, older: &Census) -> Option<String> {
    if census.routes.saturating_mul(2) < older.routes {
        return Some(format!(
            "{at} has {} of the {} that {older_at} has; last good is {older_at}",
            terminal::count(census.routes, "route"),
            older.routes
        ));
    }
    let hosts = census.hosts();
    let older_hosts = older.hosts();
    let left = older_hosts.intersection(&hosts).count();
    (left * 2 < older_hosts.len()).then(|| {
        format!(
            "{at} has {left} of the {} that {older_at} has; last good is {older_at}",
            terminal::count(older_hosts.len() as u64, "host")
        )
    })
}

/// The last rung of a history that did not collapse, found by walking it from the oldest: what a standby wrote over it, twice
/// even, does not become what the next one is compared with.
#[derive(Debug, Default)]
pub struct Reference<'r>(Option<(&'r str, &'r Census)>);

impl<'r> Reference<'r> {
    /// Goes one rung on.
    ///
    /// # Errors
    /// It collapsed: because of what, and against which one.
    pub fn step(&mut self, at: &'r str, census: &'r Census) -> Result<(), (String, &'r str)> {
        if let Some((older_at, older)) = self.0
            && let Some(because) = collapse(at, census, older_at, older)
        {
            return Err((because, older_at));
        }
        if census.routes > 0 {
            self.0 = Some((at, census));
        }
        Ok(())
    }

    /// Its selector; none where no rung had a route.
    #[must_use]
    pub fn last(&self) -> Option<&'r str> {
        self.0.map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn who_stops_waiting_for_a_proof_stops_the_proof() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let body = crate::demo::registry::snapshot_bytes(&crate::demo::registry::busy_box(200, "v5")).expect("a registry");
        std::fs::write(&path, body).expect("a file");
        let proof = prove(&path, String::new(), &Expected::default(), &Interrupter::default());
        assert_eq!(proof.verdict(), Verdict::Good);

        let (begun, begins) = mpsc::channel();
        let (proved, proofs) = mpsc::channel();
        let work = tokio::spawn(interruptible(move |interrupter| {
            begun.send(()).expect("the test waits");
            // Longer than any file that a test could build: asked again and again, until it is stopped.
            let proof = (0..100_000)
                .map(|_| prove(&path, String::new(), &Expected::default(), &interrupter))
                .find(|proof| proof.verdict() != Verdict::Good);
            proved.send(proof).expect("the test waits");
        }));
        tokio::task::spawn_blocking(move || begins.recv()).await.expect("a thread").expect("it begins");
        work.abort();
        let proof = tokio::task::spawn_blocking(move || proofs.recv_timeout(Duration::from_secs(20)));
        let proof = proof.await.expect("a thread").expect("it stops").expect("it did not come to its end");
        assert_eq!(proof.verdict(), Verdict::Unknown);
    }
}
