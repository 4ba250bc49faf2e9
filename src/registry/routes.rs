//! The rows of `routes`, as retention and the box report need them.

use rusqlite::Row as SqlRow;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::schema::quoted;
use super::value::{Value, shown, text};
use super::{Registry, RegistryError, Table};

/// The columns that are read, in the order of the query. Where one does not exist, NULL is read.
const COLUMNS: [&str; 13] = [
    "host",
    "account",
    "app",
    "version",
    "prev_version",
    "good_version",
    "kind",
    "unit",
    "addr",
    "socket",
    "build_state",
    "hibernate",
    "tunnel",
];

/// One route. What is not set is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Route {
    /// Its identity.
    pub host: String,
    /// Its account, the default one where the row names none.
    pub account: String,
    /// Its app; a route without one takes no part in retention.
    pub app: String,
    /// The adopted version.
    pub version: String,
    /// The version before it.
    pub prev_version: String,
    /// The fallback of a planned wake.
    pub good_version: String,
    /// `instance` (or empty), `service`, `static`, …
    pub kind: String,
    /// The unit that owns its process.
    pub unit: String,
    /// A fixed upstream.
    pub addr: String,
    /// Its socket.
    pub socket: String,
    /// The JSON copy of its build state.
    pub build_state: String,
    /// Whether the activator puts it to sleep.
    pub hibernate: bool,
    /// Whether it is reached through a tunnel.
    pub tunnel: bool,
}

/// A row that could not be read: its app must not be judged as if the row were not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRoute {
    /// Account and app, where those could be read; otherwise the row may belong to any app.
    pub app: Option<(String, String)>,
    /// The host as it can be shown.
    pub host: String,
    /// The first column that could not be read.
    pub column: String,
    /// Why.
    pub because: String,
    /// The whole value, as it can be shown.
    pub value: String,
}

/// Every row of `routes`, readable and not, sorted by host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Routes {
    /// The rows that could be read.
    pub rows: Vec<Route>,
    /// The rows that could not.
    pub unreadable: Vec<UnreadableRoute>,
}

impl Routes {
    /// Why `app` of `account` cannot be judged by these rows: the first row that could not be read and is the app's, or may be.
    #[must_use]
    pub fn unreadable_for(&self, account: &str, app: &str) -> Option<&UnreadableRoute> {
        let may_be = |row: &&UnreadableRoute| row.app.as_ref().is_none_or(|(of, named)| of == account && named == app);
        self.unreadable.iter().find(may_be)
    }
}

impl Registry {
    /// Reads the routes for retention. A route that names no account belongs to `default_account`.
    ///
    /// # Errors
    /// `Lacking` without one of the three columns that pin versions: a pin that cannot be seen is not an absent one.
    pub fn routes(&self, default_account: &str) -> Result<Routes, RegistryError> {
        self.routes_with(default_account, &["version", "prev_version", "good_version"], "which versions it pins is not known")
    }

    /// Reads the routes, and refuses where a column is missing without which the answer would not be known.
    pub(super) fn routes_with(&self, default_account: &str, needed: &[&str], otherwise: &str) -> Result<Routes, RegistryError> {
        self.read(|connection| {
            let tables = Table::all(connection)?;
            let table = Table::routes(&tables)?;
            table.host()?;
            for name in needed {
                if table.column(name)?.is_none() {
                    return Err(RegistryError::Lacking(format!("its table routes has no column {name}, so {otherwise}")));
                }
            }
            let mut columns = Vec::new();
            for name in COLUMNS {
                columns.push(table.column(name)?.map_or_else(|| "NULL".to_owned(), quoted));
            }
            let mut statement = connection.prepare(&table.select(&columns.join(",")))?;
            let mut rows = statement.query([])?;
            let mut routes = Routes::default();
            while let Some(row) = rows.next()? {
                match route(row, default_account)? {
                    Ok(route) => routes.rows.push(route),
                    Err(unreadable) => routes.unreadable.push(unreadable),
                }
            }
            routes.rows.sort_by(|one, other| one.host.cmp(&other.host));
            routes.unreadable.sort_by(|one, other| (&one.host, &one.column).cmp(&(&other.host, &other.column)));
            Ok(routes)
        })
    }
}

/// One row, or what could not be read of it.
fn route(row: &SqlRow<'_>, default_account: &str) -> Result<Result<Route, UnreadableRoute>, RegistryError> {
    let app = app_of(row, default_account)?;
    let mut first_fault = None;
    let mut of = |at: usize| -> Result<String, RegistryError> {
        let value = row.get_ref(at)?;
        Ok(text(value).map_or_else(
            |because| {
                first_fault.get_or_insert((at, because));
                String::new()
            },
            Cow::into_owned,
        ))
    };
    let mut route = Route {
        host: of(0)?,
        account: String::new(),
        app: of(2)?,
        version: of(3)?,
        prev_version: of(4)?,
        good_version: of(5)?,
        kind: of(6)?,
        unit: of(7)?,
        addr: of(8)?,
        socket: of(9)?,
        build_state: of(10)?,
        hibernate: false,
        tunnel: false,
    };
    match flag(row.get_ref(11)?) {
        Ok(hibernate) => route.hibernate = hibernate,
        Err(because) => first_fault = first_fault.or(Some((11, because))),
    }
    route.tunnel = is_set(row.get_ref(12)?);
    if route.host.is_empty() {
        first_fault = first_fault.or(Some((0, "a route without a host")));
    }
    Ok(match (first_fault, app) {
        (None, Some((account, _))) => {
            route.account = account;
            Ok(route)
        }
        (fault, app) => {
            let (at, because) = fault.unwrap_or((1, "an account that cannot be read"));
            Err(UnreadableRoute {
                app,
                host: name(row.get_ref(0)?),
                column: COLUMNS[at].to_owned(),
                because: because.to_owned(),
                value: Value::from(row.get_ref(at)?).to_string(),
            })
        }
    })
}

/// Account and app of a row, where both can be read.
fn app_of(row: &SqlRow<'_>, default_account: &str) -> Result<Option<(String, String)>, RegistryError> {
    let (Ok(account), Ok(app)) = (text(row.get_ref(1)?), text(row.get_ref(2)?)) else { return Ok(None) };
    let account = if account.is_empty() { default_account.to_owned() } else { account.into_owned() };
    Ok(Some((account, app.into_owned())))
}

fn name(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) => shown(bytes).into_owned(),
        other => Value::from(other).to_string(),
    }
}

/// A flag read as Go reads a bool, with NULL as false.
///
/// # Errors
/// Why it is neither yes nor no.
fn flag(value: ValueRef<'_>) -> Result<bool, &'static str> {
    match value {
        ValueRef::Null | ValueRef::Integer(0) => Ok(false),
        ValueRef::Integer(1) => Ok(true),
        ValueRef::Text(bytes) => match bytes {
            b"" | b"0" | b"f" | b"F" | b"false" | b"FALSE" | b"False" => Ok(false),
            b"1" | b"t" | b"T" | b"true" | b"TRUE" | b"True" => Ok(true),
            _ => Err("neither yes nor no"),
        },
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => Err("neither yes nor no"),
    }
}

/// Whether a column that may be a flag or a name says anything.
fn is_set(value: ValueRef<'_>) -> bool {
    !matches!(value, ValueRef::Null | ValueRef::Integer(0) | ValueRef::Text(b"" | b"0" | b"false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::registry::{RouteSpec, build};

    fn routes_after(sql: &str) -> Result<Routes, RegistryError> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let shop = RouteSpec::new("h1").app("acme", "shop").versions("v3", "v2", "v1");
        build(&path, &[shop, RouteSpec::new("h2").app("", "blog").versions("v9", "", "")]).expect("a registry");
        rusqlite::Connection::open(&path).expect("it opens").execute_batch(sql).expect("it runs");
        Registry::open_snapshot(&path).expect("it opens").routes("ops")
    }

    #[test]
    fn rows_are_read_by_the_name_of_their_columns() {
        let routes = routes_after("ALTER TABLE routes RENAME COLUMN good_version TO GoodVersion").expect("it reads");
        assert_eq!(routes.unreadable, []);
        let row = &routes.rows[0];
        assert_eq!((row.version.as_str(), row.prev_version.as_str(), row.good_version.as_str()), ("v3", "v2", "v1"));
        assert!(row.hibernate && !row.tunnel);
        assert_eq!((routes.rows[1].account.as_str(), routes.rows[1].app.as_str()), ("ops", "blog"));
    }

    #[test]
    fn without_a_pin_column_nothing_is_known() {
        for column in ["version", "prev_version", "good_version"] {
            let error = routes_after(&format!("ALTER TABLE routes DROP COLUMN {column}")).expect_err("refused");
            assert!(matches!(&error, RegistryError::Lacking(said) if said.contains(column)), "{error:?}");
        }
        // Any other column may be missing: the schema differs between releases.
        let routes = routes_after("ALTER TABLE routes DROP COLUMN hibernate; ALTER TABLE routes DROP COLUMN unit");
        assert_eq!(routes.expect("it reads").rows.len(), 2);
    }

    #[test]
    fn a_row_that_cannot_be_read_blocks_its_app_and_no_other() {
        for bad in ["CAST(X'76FF31' AS TEXT)", "CAST(X'76310078' AS TEXT)", "X'7631'"] {
            let routes = routes_after(&format!("UPDATE routes SET prev_version = {bad} WHERE host = 'h1'")).expect("it reads");
            assert_eq!(routes.rows.len(), 1, "{bad}");
            let row = routes.unreadable_for("acme", "shop").expect("blocked");
            assert_eq!((row.host.as_str(), row.column.as_str()), ("h1", "prev_version"), "{bad}");
            assert_eq!(routes.unreadable_for("ops", "blog"), None, "{bad}");
        }
    }

    #[test]
    fn a_row_whose_app_cannot_be_read_may_be_any_apps() {
        for column in ["app", "account"] {
            let routes = routes_after(&format!("UPDATE routes SET {column} = X'00' WHERE host = 'h1'")).expect("it reads");
            assert!(routes.unreadable_for("ops", "blog").is_some(), "{column}");
        }
    }

    #[test]
    fn a_row_without_a_host_or_with_a_doubtful_flag_is_not_read() {
        for sql in ["UPDATE routes SET host = '' WHERE host = 'h1'", "UPDATE routes SET hibernate = 'maybe' WHERE host = 'h1'"]
        {
            let routes = routes_after(sql).expect("it reads");
            assert!(routes.unreadable_for("acme", "shop").is_some(), "{sql}");
        }
    }
}
