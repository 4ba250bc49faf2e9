//! The apps that the boxes host: releases with artifacts, signed channel pointers, records and policies.

use std::io;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::boxes::VERSION;
use super::bucket::Bucket;
use crate::platform::pointer::{self, ChannelPointer, Promotion, ReleaseKey};
use crate::platform::{hex, keys};

/// The apps that [`super::registry::busy_box`] routes to.
const APPS: [(&str, &str); 4] = [("acme", "shop"), ("acme", "blog"), ("globex", "portal"), ("ops", "console")];
/// Their releases, oldest first.
const VERSIONS: [&str; 8] = ["v1", "v2", "v3", "v-good", "v4", "v-previous", "v5", VERSION];
/// The key of this demo signs nothing outside it.
const SEED: [u8; 32] = [7; 32];

/// Writes the apps, and answers the public key that verifies their pointers.
pub(super) fn write(bucket: &Bucket, now: Timestamp) -> io::Result<String> {
    let key = ReleaseKey::from_seed(&SEED);
    for (account, app) in APPS {
        releases(bucket, account, app, now)?;
        let promoted = now - SignedDuration::from_hours(24 * 5);
        bucket.document(&keys::app::retention_record(account, app), &json!({"keep": 3}), promoted)?;
        bucket.document(
            &keys::app::pipeline(account, app),
            &json!({"channels": [{"name": "edge", "bake": "0s"}, {"name": "stable", "bake": "24h"}]}),
            promoted,
        )?;
        bucket.document(&keys::app::tag(account, app, "v0.5.0"), &json!({"tag": "v0.5.0", "version": "v3"}), promoted)?;
        let pointer = ChannelPointer {
            account: account.to_owned(),
            app: app.to_owned(),
            channel: "stable".to_owned(),
            version: VERSION.to_owned(),
            promoted_at: Some(promoted),
            history: vec![Promotion { version: "v5".to_owned(), promoted_at: Some(promoted - SignedDuration::from_hours(48)) }],
            lease_expires_at: None,
        };
        let signed = pointer::sign(&key, &pointer).map_err(io::Error::other)?;
        bucket.put(&keys::app::channel(account, app, "stable"), &signed, promoted)?;
        let host = format!("{app}-{:04}.example.org", APPS.iter().position(|(_, name)| *name == app).unwrap_or_default());
        bucket.document(
            &keys::app::record(account, app, &host),
            &json!({"host": host, "kind": "instance", "hibernate": true}),
            promoted,
        )?;
    }
    Ok(key.public_text())
}

fn releases(bucket: &Bucket, account: &str, app: &str, now: Timestamp) -> io::Result<()> {
    for (at, version) in (0_i64..).zip(VERSIONS) {
        let shipped = now - SignedDuration::from_hours(24 * (40 - 4 * at));
        let artifact = format!("{app} {version}\n").repeat(2_000);
        let sha256 = hex(&Sha256::digest(artifact.as_bytes()));
        bucket.put(&keys::app::artifact(account, app, &sha256), artifact.as_bytes(), shipped)?;
        let manifest = json!({
            "v": 1, "account": account, "app": app, "version": version, "kind": "binary", "shipped_at": shipped,
            "artifacts": [{"target": "linux-arm64", "sha256": sha256, "bytes": artifact.len()}],
        });
        bucket.document(&keys::app::manifest(account, app, version), &manifest, shipped)?;
    }
    Ok(())
}
