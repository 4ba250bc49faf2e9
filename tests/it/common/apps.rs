//! Apps in a deployment: releases, pointers, tags, records and reports, as the platform leaves them.

use std::path::PathBuf;

use carlosctl::demo::registry::RouteSpec;
use carlosctl::platform::pointer::{self, ChannelPointer, Promotion, ReleaseKey};
use carlosctl::platform::{BoxMetrics, BoxReport, HostBuilds};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::deployment::{Deployment, registry_of};
use super::{Invocation, carlosctl};

/// A deployment whose boxes report, whose pointers are signed, and whose instants all go back to one.
pub(crate) struct Bench {
    pub(crate) deployment: Deployment,
    pub(crate) now: Timestamp,
}

/// One app of a bench.
pub(crate) struct App<'b> {
    bench: &'b Bench,
    account: String,
    name: String,
}

/// The deployment's release key.
pub(crate) fn release_key() -> ReleaseKey {
    ReleaseKey::from_seed(&[7; 32])
}

/// An instance route of `ops/<app>` at these versions.
pub(crate) fn route(host: &str, app: &str, version: &str, prev: &str, good: &str) -> RouteSpec {
    RouteSpec::new(host).app("ops", app).versions(version, prev, good)
}

impl Bench {
    /// An empty deployment, as it is at `now`.
    pub(crate) fn at(now: Timestamp) -> Self {
        Self { deployment: Deployment::new(), now }
    }

    /// An empty deployment of 30 November 2026, noon.
    pub(crate) fn fixed() -> Self {
        Self::at(super::deployment::at("2026-11-30T12:00:00Z"))
    }

    /// An empty deployment of this very moment, for what cannot be told the time.
    pub(crate) fn live() -> Self {
        Self::at(Timestamp::from_second(Timestamp::now().as_second()).expect("an instant"))
    }

    /// So many hours before the bench's instant.
    pub(crate) fn ago(&self, hours: i64) -> String {
        (self.now - SignedDuration::from_hours(hours)).to_string()
    }

    /// Writes an object as if an hour ago.
    pub(crate) fn put(&self, key: &str, body: impl AsRef<[u8]>) {
        self.deployment.put(key, body.as_ref(), &self.ago(1));
    }

    /// The command, on this deployment as its own status store.
    pub(crate) fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        self.with_status(args, self.deployment.dir())
    }

    /// The command, with the boxes' reports elsewhere.
    pub(crate) fn with_status<'a>(&self, args: impl IntoIterator<Item = &'a str>, status: PathBuf) -> Invocation {
        self.alone(args).env("CARLOS_STATUS_DIR", status)
    }

    /// The command on this deployment, without a status store.
    pub(crate) fn alone<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        carlosctl(args)
            .dir(&self.deployment.dir())
            .env("CARLOS_RELEASE_PUBKEY", release_key().public_text())
            .env("CARLOS_DATA_DIR", self.deployment.beside("data"))
    }

    /// `retention explain` at the bench's instant.
    pub(crate) fn explain<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Invocation {
        self.run(["retention", "explain"].into_iter().chain(args)).arg("--as-of").arg(self.now.to_string())
    }

    /// A box with these routes: its snapshot, and a fresh report of its build states.
    pub(crate) fn boxed(&self, label: &str, routes: &[RouteSpec]) {
        self.snapshot(label, routes);
        let hosts = routes.iter().map(|route| (route.host.as_str(), route.app.as_str(), vec![route.version.as_str()], true));
        self.report(label, 0, hosts);
    }

    /// Only the snapshot of a box.
    pub(crate) fn snapshot(&self, label: &str, routes: &[RouteSpec]) {
        self.deployment.pass(label, &self.ago(1), &registry_of(routes));
    }

    /// A report of `hours` ago: host, app of `ops`, builds, complete.
    pub(crate) fn report<'a>(
        &self,
        label: &str,
        hours: i64,
        hosts: impl IntoIterator<Item = (&'a str, &'a str, Vec<&'a str>, bool)>,
    ) {
        self.report_below("", label, &self.ago(hours), hosts);
    }

    /// A report at an exact instant, below a status prefix or a fleet.
    pub(crate) fn report_below<'a>(
        &self,
        prefix: &str,
        label: &str,
        generated_at: &str,
        hosts: impl IntoIterator<Item = (&'a str, &'a str, Vec<&'a str>, bool)>,
    ) {
        let builds = |(host, app, builds, complete): (&str, &str, Vec<&str>, bool)| {
            let builds = builds.into_iter().filter(|build| !build.is_empty()).map(str::to_owned).collect();
            (host.to_owned(), HostBuilds { account: "ops".to_owned(), app: app.to_owned(), builds, complete })
        };
        let metrics = BoxMetrics { build_states: hosts.into_iter().map(builds).collect(), build_states_err: String::new() };
        let generated_at = Some(generated_at.parse().expect("an instant"));
        let report = BoxReport { label: label.to_owned(), generated_at, metrics: Some(metrics) };
        self.put(&format!("{prefix}status/boxes/{label}.json"), report.to_json().expect("JSON"));
    }

    /// The app `ops/<app>`.
    pub(crate) fn app(&self, app: &str) -> App<'_> {
        App { bench: self, account: "ops".to_owned(), name: app.to_owned() }
    }

    /// `ops/shop` keeps 2 of `v1` to `v5`, a day apart, the newest a week old; `edge-a1` runs `v5` after `v4`.
    pub(crate) fn shop(&self) -> App<'_> {
        let shop = self.app("shop").keep(2);
        for (number, days) in [(1, 11), (2, 10), (3, 9), (4, 8), (5, 7)] {
            shop.release(&format!("v{number}"), days * 24);
        }
        self.boxed("edge-a1", &[route("shop-1.example", "shop", "v5", "v4", "")]);
        shop
    }
}

impl App<'_> {
    /// The key of something of the app.
    pub(crate) fn key(&self, rest: &str) -> String {
        format!("apps/{}/{}/{rest}", self.account, self.name)
    }

    /// Writes the retention record.
    pub(crate) fn keep(self, keep: u32) -> Self {
        self.bench.put(&self.key("retention.json"), format!("{{\"keep\":{keep}}}"));
        self
    }

    /// A release shipped so many hours ago, with an artifact of its own and one more object.
    pub(crate) fn release(&self, version: &str, hours: i64) -> &Self {
        self.release_of(version, hours, &[&format!("artifact of {version}")])
    }

    /// A release shipped so many hours ago that needs artifacts of these contents.
    pub(crate) fn release_of(&self, version: &str, hours: i64, contents: &[&str]) -> &Self {
        let shipped = self.bench.ago(hours);
        let mut artifacts = Vec::new();
        for content in contents {
            let sha256 = sha256(content);
            self.bench.deployment.put(&self.key(&format!("artifacts/{sha256}")), content.as_bytes(), &shipped);
            artifacts.push(json!({"target": "linux-arm64", "sha256": sha256, "bytes": content.len()}));
        }
        let manifest = json!({
            "v": 1, "account": self.account, "app": self.name, "version": version, "kind": "binary",
            "shipped_at": shipped, "artifacts": artifacts,
        });
        let directory = self.key(&format!("releases/{version}/"));
        self.bench.deployment.put(&format!("{directory}notes.txt"), format!("notes on {version}").as_bytes(), &shipped);
        self.bench.deployment.put(&format!("{directory}manifest.json"), manifest.to_string().as_bytes(), &shipped);
        self
    }

    /// A release directory without a manifest, written so many hours ago.
    pub(crate) fn incomplete(&self, version: &str, hours: i64) -> &Self {
        let key = self.key(&format!("releases/{version}/notes.txt"));
        self.bench.deployment.put(&key, b"half", &self.bench.ago(hours));
        self
    }

    /// A signed pointer to `version` since a week, with these versions before it.
    pub(crate) fn pointer(&self, channel: &str, version: &str, history: &[&str]) -> &Self {
        let promoted = self.bench.now - SignedDuration::from_hours(7 * 24);
        let history = history.iter().map(|one| Promotion { version: (*one).to_owned(), promoted_at: None }).collect();
        let pointer = ChannelPointer {
            account: self.account.clone(),
            app: self.name.clone(),
            channel: channel.to_owned(),
            version: version.to_owned(),
            promoted_at: Some(promoted),
            history,
            lease_expires_at: None,
        };
        let envelope = pointer::sign(&release_key(), &pointer).expect("an envelope");
        self.bench.put(&self.key(&format!("channels/{channel}.json")), envelope);
        self
    }

    /// A tag.
    pub(crate) fn tag(&self, tag: &str, version: &str) -> &Self {
        self.bench.put(&self.key(&format!("tags/{tag}.json")), json!({"tag": tag, "version": version}).to_string());
        self
    }

    /// A provision record; `pin` may be empty.
    pub(crate) fn record(&self, host: &str, pin: &str) -> &Self {
        self.bench.put(&self.key(&format!("instances/{host}.json")), json!({"host": host, "pin": pin}).to_string());
        self
    }
}

/// A content's digest, as an artifact is named.
pub(crate) fn sha256(content: &str) -> String {
    sha256_of(content.as_bytes())
}

/// The digest of any bytes.
pub(crate) fn sha256_of(content: &[u8]) -> String {
    carlosctl::platform::hex(&Sha256::digest(content))
}
