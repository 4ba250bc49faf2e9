//! Fills a directory store with boxes, apps and releases.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use carlosctl::demo::registry::{RouteSpec, build_live, busy_box, snapshot_bytes};
use carlosctl::platform::pointer::{self, ChannelPointer, ReleaseKey};
use carlosctl::platform::{BoxMetrics, BoxReport, HostBuilds, Label, Sidecar, Stamp, hex, keys};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Failure;

const GENERATIONS: i64 = 8;
const ACCOUNT: &str = "acme";

/// How large a deployment is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) boxes: u64,
    pub(crate) apps: u64,
    pub(crate) versions: u64,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} boxes, {} apps x {} versions", self.boxes, self.apps, self.versions)
    }
}

struct Bucket(PathBuf);

impl Bucket {
    fn put(&self, key: &str, body: &[u8], written: Timestamp) -> Result<(), Failure> {
        let path = self.0.join(key);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, body)?;
        let since_1970 = written.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
        File::options().write(true).open(&path)?.set_modified(SystemTime::UNIX_EPOCH + since_1970)?;
        Ok(())
    }
}

/// Builds it, and answers the public key of its channel pointers.
pub(crate) fn build(root: &Path, size: Size, now: Timestamp) -> Result<String, Failure> {
    let bucket = Bucket(root.to_owned());
    let key = ReleaseKey::from_seed(&[7; 32]);
    for number in 0..size.boxes {
        one_box(&bucket, number, size, now)?;
    }
    for number in 0..size.apps {
        app(&bucket, &format!("app-{number:04}"), size.versions, &key, now)?;
    }
    Ok(key.public_text())
}

/// Three routes a box, so that every app runs somewhere.
fn one_box(bucket: &Bucket, number: u64, size: Size, now: Timestamp) -> Result<(), Failure> {
    let label: Label = format!("edge-{number:04}").parse()?;
    let version = format!("v{:04}", size.versions);
    let apps = (0..3).map(|at| (number * 3 + at) % size.apps.max(1));
    let hosts: Vec<(String, String)> =
        apps.map(|app| (format!("app-{app:04}-{label}.example"), format!("app-{app:04}"))).collect();
    let route = |(host, app): &(String, String)| RouteSpec::new(host).app(ACCOUNT, app).versions(&version, "", "");
    let registry = snapshot_bytes(&hosts.iter().map(route).collect::<Vec<_>>())?;
    for back in (0..GENERATIONS).rev() {
        let written = now - SignedDuration::from_hours(back) - SignedDuration::from_mins(1);
        bucket.put(&keys::generation(&label, Stamp::at(written)), &registry, written)?;
    }
    let written = now - SignedDuration::from_mins(1);
    bucket.put(&keys::current(&label), &registry, written)?;
    let sidecar = Sidecar {
        label: label.to_string(),
        fingerprint: "ab12".to_owned(),
        created_at: Some(written),
        bytes: registry.len() as u64,
    };
    bucket.put(&keys::sidecar(&label), &sidecar.to_json()?, written)?;
    let builds = |(host, app): (String, String)| {
        (host, HostBuilds { account: ACCOUNT.to_owned(), app, builds: vec![version.clone()], complete: true })
    };
    let build_states = hosts.into_iter().map(builds).collect();
    let metrics = Some(BoxMetrics { build_states, build_states_err: String::new() });
    let report = BoxReport { label: label.to_string(), generated_at: Some(written), metrics };
    bucket.put(&keys::report("", &label), &report.to_json()?, written)
}

/// An app that keeps a tenth of its versions, the newest promoted.
fn app(bucket: &Bucket, app: &str, versions: u64, key: &ReleaseKey, now: Timestamp) -> Result<(), Failure> {
    let newest = format!("v{versions:04}");
    for number in 1..=versions {
        let version = format!("v{number:04}");
        let shipped = now - SignedDuration::from_hours(24 * i64::try_from(versions - number + 8)?);
        let artifact = format!("{app} {version}\n");
        let sha256 = hex(&Sha256::digest(artifact.as_bytes()));
        bucket.put(&keys::app::artifact(ACCOUNT, app, &sha256), artifact.as_bytes(), shipped)?;
        let manifest = json!({
            "v": 1, "account": ACCOUNT, "app": app, "version": version, "kind": "binary", "shipped_at": shipped,
            "artifacts": [{"target": "linux-arm64", "sha256": sha256, "bytes": artifact.len()}],
        });
        bucket.put(&keys::app::manifest(ACCOUNT, app, &version), manifest.to_string().as_bytes(), shipped)?;
    }
    let promoted = now - SignedDuration::from_hours(24 * 7);
    let keep = json!({"keep": (versions / 10).max(1)});
    bucket.put(&keys::app::retention_record(ACCOUNT, app), keep.to_string().as_bytes(), promoted)?;
    let pointer = ChannelPointer {
        account: ACCOUNT.to_owned(),
        app: app.to_owned(),
        channel: "stable".to_owned(),
        version: newest,
        promoted_at: Some(promoted),
        history: Vec::new(),
        lease_expires_at: None,
    };
    bucket.put(&keys::app::channel(ACCOUNT, app, "stable"), &pointer::sign(key, &pointer)?, promoted)
}

/// A live registry of about so many MiB, in as many rows as that takes.
pub(crate) fn build_registry(path: &Path, mib: u64) -> Result<(), Failure> {
    build_live(path, &busy_box(120, "v1"))?;
    let connection = rusqlite::Connection::open(path)?;
    // About half a KiB a row, with what SQLite needs for the index.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = OFF;
         WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {})
         INSERT INTO routes (host, app, account, version, environment, caps)
         SELECT 'host-' || n || '.example.org', 'shop', 'acme', 'v1', hex(randomblob(200)), 'dns,mail' FROM number;
         PRAGMA wal_checkpoint(TRUNCATE);",
        mib * 2_048
    ))?;
    Ok(())
}
