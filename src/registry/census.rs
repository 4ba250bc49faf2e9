//! What a registry holds, counted: the part of its content that an operator recognises.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fingerprint::Content;
use super::hosts::Hosts;
use super::schema::same_name;
use super::value::{Value, shown, text};
use super::{Registry, RegistryError, Table};

/// The columns that only a snapshot can rebuild (seed 000: the ones that `Fingerprint` omits).
const BOX_SCOPED: [&str; 7] = ["caps", "unit", "replication", "environment", "account", "canary", "provisioned"];

/// Every column of `routes` that has a public name. Others are copied like these, and named in a warning.
const KNOWN_COLUMNS: [&str; 40] = [
    "host",
    "app",
    "account",
    "version",
    "prev_version",
    "good_version",
    "kind",
    "unit",
    "addr",
    "addrs",
    "socket",
    "hibernate",
    "tunnel",
    "build_state",
    "caps",
    "replication",
    "environment",
    "canary",
    "provisioned",
    "channel",
    "region",
    "status",
    "health",
    "fleet_box",
    "platform",
    "gate",
    "db_path",
    "replica",
    "replicas",
    "backing",
    "db",
    "steering",
    "role",
    "created_at",
    "updated_at",
    "id",
    "state",
    "sidecar",
    "pin",
    "prefix",
];

/// The tables that have a public name (formats.md section 4).
const KNOWN_TABLES: [&str; 3] = ["routes", "route_aliases", "route_paths"];

/// How many unreadable values are described; all are counted.
const UNREADABLE_SHOWN: usize = 20;

/// The content of a registry, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Rows by table.
    pub tables: BTreeMap<String, u64>,
    /// Rows of `routes`.
    pub routes: u64,
    /// The hosts of every app, by account and app. Routes without an app are under the empty app.
    pub apps: Vec<AppHosts>,
    /// The box-scoped columns that are set in at least one route, with the number of routes.
    pub box_scoped: BTreeMap<String, u64>,
    /// Columns of `routes` that have no public name, as `routes.<column>`, and tables that have none.
    pub unknown: Vec<String>,
    /// How many values of the known tables are not text that can be compared.
    pub unreadable_text: u64,
    /// The first of them.
    pub unreadable: Vec<Unreadable>,
}

/// One app and where it is hosted here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppHosts {
    /// Its account, the default one where the route names none.
    pub account: String,
    /// Its name; empty for routes without an app.
    pub app: String,
    /// Its hosts, sorted.
    pub hosts: Hosts,
}

/// A value that is not text that can be compared: not UTF-8, hiding a NUL, or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The table.
    pub table: String,
    /// The row, by its first column as shown.
    pub row: String,
    /// The column.
    pub column: String,
    /// What is wrong with it.
    pub because: String,
    /// The whole value, as it can be shown.
    pub value: String,
}

impl Census {
    /// A digest of all of it: two that have the same are the same, and one of them need not be kept for that.
    ///
    /// # Errors
    /// Only when it cannot be written as JSON.
    pub fn digest(&self) -> Result<[u8; 32], serde_json::Error> {
        let mut hash = Hashing(Sha256::new());
        serde_json::to_writer(&mut hash, self)?;
        Ok(hash.0.finalize().into())
    }

    /// Every host, sorted.
    #[must_use]
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.apps.iter().flat_map(|app| app.hosts.iter()).collect()
    }
}

/// Hashes what is written to it.
struct Hashing(Sha256);

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Registry {
    /// Counts what is there. A route that names no account belongs to `default_account`.
    ///
    /// # Errors
    /// `NotARegistry` without a table `routes` that has a column `host`; damage.
    pub fn census(&self, default_account: &str) -> Result<Census, RegistryError> {
        self.read(|connection| self.count(connection, &Table::all(connection)?, default_account, None))
    }

    /// The census and the fingerprint, in one reading: a large registry is read at the pace of the disk.
    ///
    /// # Errors
    /// As [`census`](Self::census) and [`fingerprint`](Self::fingerprint).
    pub fn census_and_fingerprint(&self, default_account: &str) -> Result<(Census, String), RegistryError> {
        self.read(|connection| {
            let tables = Table::all(connection)?;
            let mut content = Content::of(connection, &tables)?;
            let census = self.count(connection, &tables, default_account, Some(&mut content))?;
            Ok((census, content.fingerprint()))
        })
    }

    fn count(
        &self,
        connection: &Connection,
        tables: &[Table],
        default_account: &str,
        mut content: Option<&mut Content>,
    ) -> Result<Census, RegistryError> {
        let routes = Table::routes(tables)?;
        routes.host()?;
        let mut census = Census::default();
        for table in tables {
            self.still_wanted()?;
            let scan = Scan { connection, table, content: content.as_deref_mut() };
            let rows = if table.name == routes.name {
                scan_routes(scan, default_account, &mut census)?
            } else if KNOWN_TABLES.iter().any(|known| same_name(known, &table.name)) {
                scan.each(|row| note_unreadable(row, table, &mut census))?
            } else {
                census.unknown.push(table.name.clone());
                scan.count()?
            };
            census.tables.insert(table.name.clone(), rows);
        }
        for column in &routes.columns {
            if !KNOWN_COLUMNS.iter().any(|known| same_name(known, &column.name)) {
                census.unknown.push(format!("{}.{}", routes.name, column.name));
            }
        }
        census.unknown.sort();
        census.routes = census.tables.get(&routes.name).copied().unwrap_or_default();
        Ok(census)
    }
}

/// One reading of a table, for the census and, where it is wanted, for the fingerprint.
struct Scan<'a> {
    connection: &'a Connection,
    table: &'a Table,
    content: Option<&'a mut Content>,
}

impl Scan<'_> {
    /// Shows every row, and answers how many there are.
    fn each(self, mut look: impl FnMut(&Row<'_>) -> Result<(), RegistryError>) -> Result<u64, RegistryError> {
        if let Some(content) = self.content {
            return content.put_table(self.connection, self.table, look);
        }
        let mut statement = self.connection.prepare(&self.table.every_row())?;
        let mut rows = statement.query([])?;
        let mut number = 0;
        while let Some(row) = rows.next()? {
            number += 1;
            look(row)?;
        }
        Ok(number)
    }

    /// How many rows there are; they are only read where they have to be.
    fn count(self) -> Result<u64, RegistryError> {
        if self.content.is_some() {
            return self.each(|_| Ok(()));
        }
        let rows: i64 = self.connection.query_row(&self.table.select("count(*)"), [], |row| row.get(0))?;
        Ok(rows.unsigned_abs())
    }
}

/// Looks at every route: what in it is no text, whose it is, and which box-scoped columns are used.
fn scan_routes(scan: Scan<'_>, default_account: &str, census: &mut Census) -> Result<u64, RegistryError> {
    let routes = scan.table;
    let place = |name: &str| routes.columns.iter().position(|column| column.name == name);
    let host_at = place(routes.host()?);
    let (account_at, app_at) = (routes.column("account")?.and_then(place), routes.column("app")?.and_then(place));
    let mut scoped = Vec::new();
    for name in BOX_SCOPED {
        if let Some(at) = routes.column(name)?.and_then(place) {
            scoped.push((name, at, 0_u64));
        }
    }
    let mut apps = Apps::default();
    let number = scan.each(|row| {
        note_unreadable(row, routes, census)?;
        let text = |at: Option<usize>| at.map_or(Ok(Cow::Borrowed("")), |at| row.get_ref(at).map(name));
        let account = text(account_at)?;
        let account = if account.is_empty() { Cow::Borrowed(default_account) } else { account };
        apps.of(&account, &text(app_at)?).push(&text(host_at)?)?;
        for (_, at, used) in &mut scoped {
            *used += u64::from(is_set(row.get_ref(*at)?));
        }
        Ok(())
    })?;
    census.apps = apps.in_order();
    let used = scoped.into_iter().filter(|(.., used)| *used > 0);
    census.box_scoped = used.map(|(name, _, used)| (name.to_owned(), used)).collect();
    Ok(number)
}

/// Whether a column says something: not NULL, and neither empty nor zero, whichever way that is spelled.
fn is_set(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Null => false,
        ValueRef::Integer(number) => number != 0,
        ValueRef::Real(number) => number != 0.0,
        ValueRef::Text(text) => !text.is_empty() && text != b"0",
        ValueRef::Blob(_) => true,
    }
}

fn note_unreadable(row: &Row<'_>, table: &Table, census: &mut Census) -> Result<(), RegistryError> {
    for (at, column) in table.columns.iter().enumerate() {
        let value = row.get_ref(at)?;
        // Numbers have a place in some columns; what is judged here is text and what pretends to be.
        let (ValueRef::Text(_) | ValueRef::Blob(_)) = value else { continue };
        let Err(because) = text(value) else { continue };
        census.unreadable_text += 1;
        if census.unreadable.len() < UNREADABLE_SHOWN {
            census.unreadable.push(Unreadable {
                table: table.name.clone(),
                row: Value::from(row.get_ref(0)?).to_string(),
                column: column.name.clone(),
                because: because.to_owned(),
                value: Value::from(value).to_string(),
            });
        }
    }
    Ok(())
}

/// A name for people, whatever is stored.
fn name(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Null => Cow::Borrowed(""),
        ValueRef::Text(bytes) => shown(bytes),
        other => Value::from(other).to_string().into(),
    }
}

/// The hosts of every app, as they are found. A name is copied only where it is new.
#[derive(Default)]
struct Apps {
    /// By account and app, the place in `hosts`.
    places: BTreeMap<String, BTreeMap<String, usize>>,
    hosts: Vec<Hosts>,
}

impl Apps {
    fn of(&mut self, account: &str, app: &str) -> &mut Hosts {
        let known = self.places.get(account).and_then(|apps| apps.get(app)).copied();
        let at = known.unwrap_or_else(|| {
            self.hosts.push(Hosts::default());
            let at = self.hosts.len() - 1;
            self.places.entry(account.to_owned()).or_default().insert(app.to_owned(), at);
            at
        });
        &mut self.hosts[at]
    }

    fn in_order(mut self) -> Vec<AppHosts> {
        let mut apps = Vec::with_capacity(self.hosts.len());
        for (account, of_account) in self.places {
            for (app, at) in of_account {
                let mut hosts = std::mem::take(&mut self.hosts[at]);
                hosts.sort();
                apps.push(AppHosts { account: account.clone(), app, hosts });
            }
        }
        apps
    }
}
