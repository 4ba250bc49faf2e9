//! Two registries compared row by row: what is lost when the older one is taken.
//!
//! Both are read in the order of the primary key and walked side by side, so only the differences are held in memory. A
//! table without a primary key is compared by whole rows: `VACUUM` renumbers such rows, so their numbers say nothing.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rusqlite::{Connection, Rows};
use serde::Serialize;

use super::order::sqlite_order;
use super::schema::quoted;
use super::{Registry, RegistryError, Table, Value};

/// A row, or its key: values by column.
pub type Row = BTreeMap<String, Value>;

/// The tables that differ, by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Diff {
    /// Only those that differ.
    pub tables: Vec<TableDiff>,
}

/// What differs in one table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TableDiff {
    /// The table.
    pub table: String,
    /// The columns that identify a row; every shared column where there is no primary key.
    pub key: Vec<String>,
    /// Rows that only `to` has, with everything that is set in them.
    pub added: Vec<Row>,
    /// Rows that only `from` has, with everything that is set in them.
    pub removed: Vec<Row>,
    /// Rows that both have, and not alike.
    pub changed: Vec<RowChange>,
    /// Columns that only `to` has. Where nothing is set in them, no row counts as changed.
    pub columns_added: Vec<String>,
    /// Columns that only `from` has.
    pub columns_removed: Vec<String>,
}

/// One row before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowChange {
    /// Which row.
    pub key: Row,
    /// What changed in it, by column.
    pub columns: BTreeMap<String, ValueChange>,
}

/// One value before and after. A column that does not exist counts as NULL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueChange {
    /// Before.
    pub from: Value,
    /// After.
    pub to: Value,
}

impl Diff {
    /// Whether there is no difference at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}

/// Compares every table of two registries.
///
/// # Errors
/// Damage (check both first), or a text encoding other than UTF-8, whose order is another.
pub fn diff(from: &Registry, to: &Registry) -> Result<Diff, RegistryError> {
    from.read(|from_connection| {
        to.read(|to_connection| {
            for connection in [from_connection, to_connection] {
                let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
                if encoding != "UTF-8" {
                    return Err(RegistryError::Lacking(format!("its text is kept as {encoding}; only UTF-8 is compared")));
                }
            }
            let mut pairs: BTreeMap<String, (Option<Table>, Option<Table>)> = BTreeMap::new();
            for table in Table::all(from_connection)? {
                let name = table.name.to_ascii_lowercase();
                pairs.entry(name).or_default().0 = Some(table);
            }
            for table in Table::all(to_connection)? {
                let name = table.name.to_ascii_lowercase();
                pairs.entry(name).or_default().1 = Some(table);
            }
            let mut tables = Vec::new();
            for (from_table, to_table) in pairs.values() {
                from.still_wanted()?;
                to.still_wanted()?;
                let sides = [(from_connection, from_table.as_ref()), (to_connection, to_table.as_ref())];
                tables.extend(diff_table(sides)?);
            }
            Ok(Diff { tables })
        })
    })
}

/// A column of either side. The same name in another case is the same column, as in SQLite.
struct Paired {
    name: String,
    /// Whether `from` and `to` have it.
    on: [bool; 2],
}

fn diff_table(sides: [(&Connection, Option<&Table>); 2]) -> Result<Option<TableDiff>, RegistryError> {
    let paired = paired_columns(sides.map(|(_, table)| table));
    let key = key_of(sides.map(|(_, table)| table), &paired);
    let only = |side: usize| -> Vec<String> {
        let of_both = sides.iter().all(|(_, table)| table.is_some());
        let alone = |column: &&Paired| of_both && column.on[side] && !column.on[1 - side];
        paired.iter().filter(alone).map(|column| column.name.clone()).collect()
    };
    let Some(table) = sides[0].1.or(sides[1].1) else { return Ok(None) };
    let mut found = TableDiff {
        table: table.name.clone(),
        key: key.iter().map(|at| paired[*at].name.clone()).collect(),
        columns_removed: only(0),
        columns_added: only(1),
        ..TableDiff::default()
    };
    let [from_sql, to_sql] = [0, 1].map(|side| ordered_query(sides[side].1, side, &paired, &key));
    let mut from_statement = sides[0].0.prepare(&from_sql)?;
    let mut to_statement = sides[1].0.prepare(&to_sql)?;
    walk(from_statement.query([])?, to_statement.query([])?, &paired, &key, &mut found)?;
    let differs = !(found.added.is_empty()
        && found.removed.is_empty()
        && found.changed.is_empty()
        && found.columns_added.is_empty()
        && found.columns_removed.is_empty()
        && sides.iter().all(|(_, table)| table.is_some()));
    Ok(differs.then_some(found))
}

fn paired_columns(tables: [Option<&Table>; 2]) -> Vec<Paired> {
    let mut paired: Vec<Paired> = Vec::new();
    for (side, table) in tables.into_iter().enumerate() {
        for column in table.map(|table| table.columns.as_slice()).unwrap_or_default() {
            if let Some(known) = paired.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&column.name)) {
                known.on[side] = true;
            } else {
                let mut on = [false; 2];
                on[side] = true;
                paired.push(Paired { name: column.name.clone(), on });
            }
        }
    }
    paired
}

/// Which of `paired` identify a row: the primary key where both sides have the same, otherwise every shared column.
fn key_of(tables: [Option<&Table>; 2], paired: &[Paired]) -> Vec<usize> {
    let keys: Vec<Vec<usize>> = tables
        .into_iter()
        .flatten()
        .map(|table| {
            let mut key: Vec<_> = table.columns.iter().filter(|column| column.primary_key > 0).collect();
            key.sort_by_key(|column| column.primary_key);
            key.iter()
                .filter_map(|column| paired.iter().position(|known| known.name.eq_ignore_ascii_case(&column.name)))
                .collect()
        })
        .collect();
    match keys.as_slice() {
        [key] if !key.is_empty() => key.clone(),
        [one, other] if one == other && !one.is_empty() => one.clone(),
        _ => {
            let missing_side = tables.iter().any(Option::is_none);
            (0..paired.len()).filter(|at| missing_side || paired[*at].on == [true, true]).collect()
        }
    }
}

/// All of `paired` in order, NULL for what this side does not have, in the order of the key.
fn ordered_query(table: Option<&Table>, side: usize, paired: &[Paired], key: &[usize]) -> String {
    let columns: Vec<String> =
        paired.iter().map(|column| if column.on[side] { quoted(&column.name) } else { "NULL".to_owned() }).collect();
    let Some(table) = table else {
        return format!("SELECT {} WHERE 0", if columns.is_empty() { "1".to_owned() } else { columns.join(",") });
    };
    let order: Vec<String> = key.iter().map(|at| format!("{} COLLATE BINARY", quoted(&paired[*at].name))).collect();
    let order = if order.is_empty() { String::new() } else { format!(" ORDER BY {}", order.join(",")) };
    let columns = if columns.is_empty() { "1".to_owned() } else { columns.join(",") };
    format!("SELECT {columns} FROM {}{order}", quoted(&table.name))
}

/// Walks both sides in the order of their keys.
fn walk(
    mut from_rows: Rows<'_>,
    mut to_rows: Rows<'_>,
    paired: &[Paired],
    key: &[usize],
    found: &mut TableDiff,
) -> Result<(), RegistryError> {
    let mut from = next(&mut from_rows, paired.len())?;
    let mut to = next(&mut to_rows, paired.len())?;
    loop {
        let order = match (&from, &to) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(from), Some(to)) => by_key(from, to, key),
        };
        match order {
            Ordering::Less => found.removed.extend(from.as_deref().map(|row| set_values(row, paired, key))),
            Ordering::Greater => found.added.extend(to.as_deref().map(|row| set_values(row, paired, key))),
            Ordering::Equal => {
                if let (Some(from), Some(to)) = (&from, &to) {
                    found.changed.extend(change(from, to, paired, key));
                }
            }
        }
        if order != Ordering::Greater {
            from = next(&mut from_rows, paired.len())?;
        }
        if order != Ordering::Less {
            to = next(&mut to_rows, paired.len())?;
        }
    }
}

fn next(rows: &mut Rows<'_>, columns: usize) -> Result<Option<Vec<Value>>, RegistryError> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let values = (0..columns).map(|at| row.get_ref(at).map(Value::from)).collect::<Result<_, _>>()?;
    Ok(Some(values))
}

fn change(from: &[Value], to: &[Value], paired: &[Paired], key: &[usize]) -> Option<RowChange> {
    let mut columns = BTreeMap::new();
    for (at, column) in paired.iter().enumerate() {
        let alone = column.on != [true, true];
        if from[at] == to[at] || (alone && from[at].is_unset() && to[at].is_unset()) {
            continue;
        }
        columns.insert(column.name.clone(), ValueChange { from: from[at].clone(), to: to[at].clone() });
    }
    let key = || key.iter().map(|at| (paired[*at].name.clone(), from[*at].clone())).collect();
    (!columns.is_empty()).then(|| RowChange { key: key(), columns })
}

/// The key and everything that is set.
fn set_values(row: &[Value], paired: &[Paired], key: &[usize]) -> Row {
    let worth = |at: usize| key.contains(&at) || !row[at].is_unset();
    (0..row.len()).filter(|at| worth(*at)).map(|at| (paired[at].name.clone(), row[at].clone())).collect()
}

fn by_key(one: &[Value], other: &[Value], key: &[usize]) -> Ordering {
    key.iter().map(|at| sqlite_order(&one[*at], &other[*at])).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::demo::registry::{build, busy_box};

    fn edit(path: &Path, sql: &str) {
        Connection::open(path).expect("it opens").execute_batch(sql).expect("it runs");
    }

    /// Two equal registries, the second changed by `sql`, compared.
    fn changed_by(sql: &str) -> Diff {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| -> PathBuf { directory.path().join(name) };
        for name in ["from.db", "to.db"] {
            build(&path(name), &busy_box(200, "v1")).expect("a registry");
        }
        edit(&path("to.db"), sql);
        of(&path("from.db"), &path("to.db"))
    }

    fn of(from: &Path, to: &Path) -> Diff {
        let open = |path| Registry::open_snapshot(path).expect("it opens");
        diff(&open(from), &open(to)).expect("compared")
    }

    #[test]
    fn equal_content_has_no_difference_wherever_its_rows_lie() {
        assert!(changed_by("").is_empty());
        assert!(changed_by("UPDATE routes SET rowid = rowid + 5000; VACUUM; DROP INDEX routes_app").is_empty());
    }

    #[test]
    fn rows_come_go_and_change() {
        let diff = changed_by(
            "DELETE FROM routes WHERE host = 'shop-0000.example.org';
             INSERT INTO routes (host, app) VALUES ('a-new.example.org', 'shop');
             UPDATE routes SET version = 'v2', canary = 'x' WHERE host = 'blog-0001.example.org';
             UPDATE route_paths SET target = 'y' WHERE host = 'blog-0001.example.org' OR host = 'shop-0020.example.org';",
        );
        let [paths, routes] = diff.tables.as_slice() else { panic!("{diff:?}") };
        assert_eq!((paths.table.as_str(), paths.changed.len()), ("route_paths", 1));
        assert_eq!(paths.key, ["host", "prefix"]);
        assert_eq!(routes.added[0]["host"], Value::Text("a-new.example.org".into()));
        assert_eq!(routes.removed[0]["caps"], Value::Text("dns,mail".into()), "everything that would be lost is there");
        let json = serde_json::to_value(&routes.changed).expect("it serializes");
        assert_eq!(
            json,
            serde_json::json!([{
                "key": {"host": "blog-0001.example.org"},
                "columns": {"version": {"from": "v1", "to": "v2"}, "canary": {"from": "", "to": "x"}}
            }])
        );
    }

    #[test]
    fn a_column_of_one_side_matters_where_it_is_set() {
        let diff = changed_by(
            "ALTER TABLE routes ADD COLUMN later TEXT NOT NULL DEFAULT '';
             UPDATE routes SET later = 'z' WHERE host = 'blog-0001.example.org';",
        );
        let [routes] = diff.tables.as_slice() else { panic!("{diff:?}") };
        assert_eq!(routes.columns_added, ["later"]);
        assert_eq!(routes.changed.len(), 1, "{routes:?}");
        assert_eq!(routes.changed[0].columns["later"], ValueChange { from: Value::Null, to: Value::Text("z".into()) });
    }

    #[test]
    fn a_table_of_one_side_is_added_or_removed_as_a_whole() {
        let diff = changed_by(
            "CREATE TABLE empty (a); DROP TABLE route_aliases; CREATE TABLE new (a INTEGER PRIMARY KEY); INSERT INTO new VALUES (7)",
        );
        let shape: Vec<_> =
            diff.tables.iter().map(|table| (table.table.as_str(), table.added.len(), table.removed.len())).collect();
        assert_eq!(shape, [("empty", 0, 0), ("new", 1, 0), ("route_aliases", 0, 20)]);
    }

    #[test]
    fn rows_without_a_key_are_compared_whole_and_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let (from, to) = (directory.path().join("from.db"), directory.path().join("to.db"));
        let schema = "CREATE TABLE t (a, b);";
        edit(&from, &format!("{schema} INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, 'y'), (NULL, 'n')"));
        edit(&to, &format!("{schema} INSERT INTO t VALUES (NULL, 'n'), (2, 'y'), (1, 'x'), (3, 'z')"));
        let diff = of(&from, &to);
        let [table] = diff.tables.as_slice() else { panic!("{diff:?}") };
        assert_eq!((table.added.len(), table.removed.len(), table.changed.len()), (1, 1, 0), "{table:?}");
        assert_eq!(table.removed[0]["a"], Value::Integer(1));
    }

    #[test]
    fn both_sides_are_walked_in_sqlites_own_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let values = [
            "NULL",
            "-1",
            "0",
            "2.5",
            "3",
            "9007199254740993",
            "9007199254740992.0",
            "9223372036854775807",
            "1e300",
            "-1e300",
            "''",
            "'a'",
            "'B'",
            "'é'",
            "CAST(X'FF' AS TEXT)",
            "X''",
            "X'61'",
            "X'FF'",
        ];
        let (from, to) = (directory.path().join("from.db"), directory.path().join("to.db"));
        for (path, skip) in [(&from, None), (&to, Some(5))] {
            edit(path, "CREATE TABLE t (k PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE n (k PRIMARY KEY)");
            for (at, value) in values.iter().enumerate().filter(|(at, _)| Some(*at) != skip) {
                edit(path, &format!("INSERT INTO n VALUES ({value})"));
                if *value != "NULL" {
                    edit(path, &format!("INSERT INTO t VALUES ({value}, {at})"));
                }
            }
        }
        let diff = of(&from, &to);
        for table in &diff.tables {
            assert_eq!((table.added.len(), table.removed.len(), table.changed.len()), (0, 1, 0), "{table:?}");
            assert_eq!(table.removed[0]["k"], Value::Integer(9_007_199_254_740_993));
        }
        assert_eq!(diff.tables.len(), 2);
    }

    #[test]
    fn another_encoding_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let (from, to) = (directory.path().join("from.db"), directory.path().join("to.db"));
        edit(&from, "CREATE TABLE t (a)");
        edit(&to, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a)");
        let open = |path| Registry::open_snapshot(path).expect("it opens");
        assert!(matches!(diff(&open(&from), &open(&to)), Err(RegistryError::Lacking(_))));
    }
}
