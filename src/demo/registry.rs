//! Builds registries as the platform's agent keeps them (formats.md section 4). The same input gives the same bytes.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, params};

use crate::registry::RegistryError;

/// The documented schema. A constraint of it is one that the platform's documents name.
pub const SCHEMA: &str = "
CREATE TABLE routes (
    host TEXT PRIMARY KEY, app TEXT NOT NULL DEFAULT '', account TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '', prev_version TEXT NOT NULL DEFAULT '', good_version TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL DEFAULT 'instance', unit TEXT NOT NULL DEFAULT '', addr TEXT NOT NULL DEFAULT '',
    socket TEXT NOT NULL DEFAULT '', hibernate INTEGER NOT NULL DEFAULT 0, tunnel INTEGER NOT NULL DEFAULT 0,
    build_state TEXT NOT NULL DEFAULT '', caps TEXT NOT NULL DEFAULT '', replication TEXT NOT NULL DEFAULT '',
    environment TEXT NOT NULL DEFAULT '', canary TEXT NOT NULL DEFAULT '', provisioned INTEGER NOT NULL DEFAULT 0,
    channel TEXT NOT NULL DEFAULT '', region TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'ready'
);
CREATE INDEX routes_app ON routes(account, app);
CREATE TABLE route_aliases (alias TEXT PRIMARY KEY, host TEXT NOT NULL);
CREATE TABLE route_paths (host TEXT NOT NULL, prefix TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY (host, prefix));
";

/// One route, its aliases and its paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteSpec {
    /// The row's identity.
    pub host: String,
    /// The app; empty for a route of no app.
    pub app: String,
    /// The account; empty for the default one.
    pub account: String,
    /// The adopted version.
    pub version: String,
    /// The version before it.
    pub prev_version: String,
    /// The fallback of a planned wake.
    pub good_version: String,
    /// `instance`, `service`, `static`, …
    pub kind: String,
    /// The systemd unit that owns the process.
    pub unit: String,
    /// A fixed upstream.
    pub addr: String,
    /// The instance's socket.
    pub socket: String,
    /// Whether the activator puts it to sleep.
    pub hibernate: bool,
    /// Whether it is reached through a tunnel.
    pub tunnel: bool,
    /// The JSON copy of its build state.
    pub build_state: String,
    /// Capability grants.
    pub caps: String,
    /// How its data is replicated.
    pub replication: String,
    /// Its environment.
    pub environment: String,
    /// Its canary slug.
    pub canary: String,
    /// Whether a bucket record minted it.
    pub provisioned: bool,
    /// The channel it follows.
    pub channel: String,
    /// Where it runs.
    pub region: String,
    /// Other names of the host.
    pub aliases: Vec<String>,
    /// Path prefixes and their targets.
    pub paths: Vec<(String, String)>,
}

impl RouteSpec {
    /// An instance that hibernates, of no app yet.
    #[must_use]
    pub fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            kind: "instance".to_owned(),
            hibernate: true,
            channel: "stable".to_owned(),
            socket: format!("/run/carlos/{host}.sock"),
            ..Self::default()
        }
    }

    /// Of this account and app.
    #[must_use]
    pub fn app(mut self, account: &str, app: &str) -> Self {
        account.clone_into(&mut self.account);
        app.clone_into(&mut self.app);
        self
    }

    /// At these versions, with a build state that names the first.
    #[must_use]
    pub fn versions(mut self, version: &str, prev: &str, good: &str) -> Self {
        version.clone_into(&mut self.version);
        prev.clone_into(&mut self.prev_version);
        good.clone_into(&mut self.good_version);
        self.build_state = serde_json::json!({
            "state": {"last_executed": version}, "known": true, "read_err": ""
        })
        .to_string();
        self
    }
}

/// `number` routes of a few apps, as a busy box has them; `version` is adopted by all of them.
#[must_use]
pub fn busy_box(number: usize, version: &str) -> Vec<RouteSpec> {
    const APPS: [(&str, &str); 4] = [("acme", "shop"), ("acme", "blog"), ("globex", "portal"), ("", "console")];
    (0..number)
        .map(|at| {
            let (account, app) = APPS[at % APPS.len()];
            let mut route = RouteSpec::new(&format!("{app}-{at:04}.example.org")).app(account, app).versions(
                version,
                "v-previous",
                "v-good",
            );
            route.caps = if at % 5 == 0 { "dns,mail".to_owned() } else { String::new() };
            route.environment = if at % 7 == 0 { "staging".to_owned() } else { "production".to_owned() };
            "eu-west-1".clone_into(&mut route.region);
            route.provisioned = at % 3 == 0;
            if at % 10 == 0 {
                route.aliases.push(format!("www.{app}-{at:04}.example.org"));
                route.paths.push(("/api".to_owned(), "api.example.org".to_owned()));
            }
            route
        })
        .collect()
}

/// Writes a snapshot as the agent makes it: `VACUUM INTO`, not in WAL mode, mode 0600. `path` must not exist.
///
/// # Errors
/// When it exists or cannot be written, or two routes have one host.
pub fn build(path: &Path, routes: &[RouteSpec]) -> Result<(), RegistryError> {
    create(path)?;
    let connection = Connection::open_in_memory()?;
    fill(&connection, routes)?;
    connection.execute("VACUUM INTO ?1", [text(path)?])?;
    Ok(())
}

/// Writes a live registry as the agent keeps it: in WAL mode, folded in and closed. `path` must not exist.
///
/// # Errors
/// As [`build`].
pub fn build_live(path: &Path, routes: &[RouteSpec]) -> Result<(), RegistryError> {
    create(path)?;
    let connection = Connection::open(path)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    fill(&connection, routes)?;
    connection.close().map_err(|(_, error)| error.into())
}

/// A snapshot's bytes.
///
/// # Errors
/// As [`build`].
pub fn snapshot_bytes(routes: &[RouteSpec]) -> Result<Vec<u8>, RegistryError> {
    let connection = Connection::open_in_memory()?;
    fill(&connection, routes)?;
    // Through a file, because an image in memory and a vacuumed copy are not the same bytes.
    let directory = crate::host::private::directory("carlosctl-").map_err(|error| RegistryError::Io(error.to_string()))?;
    let path = directory.path().join("registry.db");
    connection.execute("VACUUM INTO ?1", [text(&path)?])?;
    std::fs::read(&path).map_err(|error| RegistryError::Io(error.to_string()))
}

fn create(path: &Path) -> Result<(), RegistryError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map(|_| ())
        .map_err(|error| RegistryError::Io(format!("{}: {error}", path.display())))
}

fn text(path: &Path) -> Result<&str, RegistryError> {
    path.to_str().ok_or_else(|| RegistryError::Io(format!("{}: the name is not UTF-8", path.display())))
}

fn fill(connection: &Connection, routes: &[RouteSpec]) -> Result<(), RegistryError> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(SCHEMA)?;
    for route in routes {
        insert(&transaction, route)?;
    }
    transaction.commit()?;
    Ok(())
}

fn insert(connection: &Connection, route: &RouteSpec) -> Result<(), RegistryError> {
    connection
        .prepare_cached(
            "INSERT INTO routes (host, app, account, version, prev_version, good_version, kind, unit, addr, socket, \
             hibernate, tunnel, build_state, caps, replication, environment, canary, provisioned, channel, region) \
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20)",
        )?
        .execute(params![
            route.host,
            route.app,
            route.account,
            route.version,
            route.prev_version,
            route.good_version,
            route.kind,
            route.unit,
            route.addr,
            route.socket,
            route.hibernate,
            route.tunnel,
            route.build_state,
            route.caps,
            route.replication,
            route.environment,
            route.canary,
            route.provisioned,
            route.channel,
            route.region,
        ])?;
    for alias in &route.aliases {
        connection.prepare_cached("INSERT INTO route_aliases VALUES (?1, ?2)")?.execute([alias, &route.host])?;
    }
    for (prefix, target) in &route.paths {
        connection.prepare_cached("INSERT INTO route_paths VALUES (?1, ?2, ?3)")?.execute([&route.host, prefix, target])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn the_same_routes_give_the_same_bytes_and_what_was_asked_for() {
        let routes = busy_box(200, "v1");
        let bytes = snapshot_bytes(&routes).expect("bytes");
        assert_eq!(snapshot_bytes(&routes).expect("bytes"), bytes);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build(&path, &routes).expect("a registry");
        assert_eq!(std::fs::read(&path).expect("it reads"), bytes);
        assert!(build(&path, &routes).is_err(), "nothing is overwritten");
        let live = directory.path().join("live.db");
        build_live(&live, &routes).expect("a registry");
        let fingerprint = |path| Registry::open_live(path).expect("it opens").fingerprint();
        assert_eq!(fingerprint(&live), fingerprint(&path));
    }
}
