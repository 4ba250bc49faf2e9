//! Our own fingerprint of a registry's content: every stored column of every table.
//!
//! `carlosctl-v1:sha256:<hex>` is the SHA-256 of, in this order, each text with its length before it and each number as
//! eight bytes, little end first:
//!
//! 1. the text `carlosctl-v1`, the database's `user_version` and `application_id`, and the number of tables;
//! 2. for each table by name (as bytes): its name, the number and the names of its stored columns by name, the number of
//!    its rows, and the sum of its rows' digests.
//!
//! A row's digest is the SHA-256 of its values in the order of the columns' names, each with its type before it. Digests are
//! added as 256-bit numbers, little end first, without carry out. A sum has no order, so neither row numbers nor pages nor
//! indexes matter, and `VACUUM INTO` does not change a fingerprint; and one scan of flat memory is enough, in which the rows
//! are hashed beside the reading. Generated columns
//! follow from the others and are left out.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};

use super::row_sum::add_up;
use super::{Registry, RegistryError, Table};
use crate::platform::hex;

/// What every fingerprint of ours starts with. Others are the platform's, and opaque.
pub const FINGERPRINT_PREFIX: &str = "carlosctl-v1:sha256:";

impl Registry {
    /// The fingerprint of what is there now.
    ///
    /// # Errors
    /// Damage, or a name in the schema that is not UTF-8.
    pub fn fingerprint(&self) -> Result<String, RegistryError> {
        self.read(|connection| {
            let tables = Table::all(connection)?;
            let mut content = Content::of(connection, &tables)?;
            for table in tables {
                self.still_wanted()?;
                content.put_table(connection, &table, |_| Ok(()))?;
            }
            Ok(content.fingerprint())
        })
    }
}

/// What is hashed, as far as it is known. Every table is put in, by name.
pub(super) struct Content(Vec<u8>);

impl Content {
    pub(super) fn of(connection: &Connection, tables: &[Table]) -> Result<Self, RegistryError> {
        let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        let mut content = Vec::new();
        put_bytes(&mut content, b"carlosctl-v1");
        content.extend(pragma("user_version")?.to_le_bytes());
        content.extend(pragma("application_id")?.to_le_bytes());
        put_length(&mut content, tables.len());
        Ok(Self(content))
    }

    /// Reads a table once, shows every row to `look` too, and answers how many there are.
    pub(super) fn put_table(
        &mut self,
        connection: &Connection,
        table: &Table,
        mut look: impl FnMut(&Row<'_>) -> Result<(), RegistryError>,
    ) -> Result<u64, RegistryError> {
        let mut by_name: Vec<(usize, &str)> = table.columns.iter().map(|column| column.name.as_str()).enumerate().collect();
        by_name.sort_by_key(|(_, name)| *name);
        put_bytes(&mut self.0, table.name.as_bytes());
        put_length(&mut self.0, by_name.len());
        for (_, name) in &by_name {
            put_bytes(&mut self.0, name.as_bytes());
        }
        let mut statement = connection.prepare(&table.every_row())?;
        let mut rows = statement.query([])?;
        let (count, sum) = add_up(|bytes| {
            let Some(row) = rows.next()? else { return Ok(false) };
            for (at, _) in &by_name {
                put_value(bytes, row.get_ref(*at)?);
            }
            look(row).map(|()| true)
        })?;
        self.0.extend(count.to_le_bytes());
        self.0.extend(sum);
        Ok(count)
    }

    pub(super) fn fingerprint(&self) -> String {
        format!("{FINGERPRINT_PREFIX}{}", hex(&Sha256::digest(&self.0)))
    }
}

/// A type, and a value that cannot be mistaken for the next one's beginning.
fn put_value(content: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => content.push(0),
        ValueRef::Integer(number) => {
            content.push(1);
            content.extend(number.to_le_bytes());
        }
        ValueRef::Real(number) => {
            content.push(2);
            content.extend(number.to_bits().to_le_bytes());
        }
        ValueRef::Text(bytes) => {
            content.push(3);
            put_bytes(content, bytes);
        }
        ValueRef::Blob(bytes) => {
            content.push(4);
            put_bytes(content, bytes);
        }
    }
}

fn put_bytes(content: &mut Vec<u8>, bytes: &[u8]) {
    put_length(content, bytes.len());
    content.extend_from_slice(bytes);
}

fn put_length(content: &mut Vec<u8>, length: usize) {
    content.extend((length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::demo::registry::{build, build_live, busy_box};

    fn of(path: &Path) -> String {
        Registry::open_live(path).expect("it opens").fingerprint().expect("a fingerprint")
    }

    fn edit(path: &Path, sql: &str) {
        Connection::open(path).expect("it opens").execute_batch(sql).expect("it runs");
    }

    #[test]
    fn every_column_of_every_table_counts() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build(&path, &busy_box(20, "v1")).expect("a registry");
        let columns: Vec<String> = Registry::open_snapshot(&path)
            .and_then(|registry| registry.read(|connection| Ok(Table::routes(&Table::all(connection)?)?.clone())))
            .expect("it reads")
            .columns
            .into_iter()
            .map(|column| column.name)
            .collect();
        assert!(columns.len() > 20);
        let mut seen = vec![of(&path)];
        let mut changes: Vec<String> =
            columns.iter().map(|column| format!("UPDATE routes SET {column} = 'changed' WHERE rowid = 3")).collect();
        changes.extend(
            [
                "UPDATE route_aliases SET host = 'x' WHERE rowid = 1",
                "UPDATE route_paths SET target = 'x' WHERE rowid = 1",
                "CREATE TABLE fleets (name TEXT)",
                "INSERT INTO fleets VALUES ('a')",
                "INSERT INTO fleets VALUES ('a')",
                "ALTER TABLE routes ADD COLUMN later TEXT",
                "PRAGMA user_version = 7",
            ]
            .map(str::to_owned),
        );
        for change in changes {
            edit(&path, &change);
            let now = of(&path);
            assert!(!seen.contains(&now), "{change} was not seen");
            seen.push(now);
        }
    }

    #[test]
    fn types_and_borders_of_values_count() {
        let mut seen = Vec::new();
        for values in [
            "'ab', 'c'",
            "'a', 'bc'",
            "1, ''",
            "'1', ''",
            "1.0, ''",
            "X'31', ''",
            "NULL, ''",
            "'', NULL",
            "'a' || char(0), 'bc'",
        ] {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("registry.db");
            edit(&path, &format!("CREATE TABLE t (a BLOB, b BLOB); INSERT INTO t VALUES ({values})"));
            let now = of(&path);
            assert!(!seen.contains(&now), "{values}");
            seen.push(now);
        }
    }

    #[test]
    fn where_rows_lie_does_not_count() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let mut routes = busy_box(200, "v1");
        build_live(&path, &routes).expect("a registry");
        let first = of(&path);
        edit(&path, "DELETE FROM routes WHERE rowid % 3 = 0; DELETE FROM routes WHERE host LIKE '%7%'");
        let fewer = of(&path);
        assert_ne!(first, fewer);
        edit(&path, "VACUUM; CREATE INDEX another ON routes(version); PRAGMA journal_mode = DELETE; ANALYZE");
        assert_eq!(of(&path), fewer);

        let backwards = directory.path().join("backwards.db");
        routes.reverse();
        build(&backwards, &routes).expect("a registry");
        assert_eq!(of(&backwards), first);
        assert!(first.starts_with(FINGERPRINT_PREFIX) && first.len() == FINGERPRINT_PREFIX.len() + 64, "{first}");
    }

    #[test]
    fn read_together_with_the_census_both_are_what_they_are_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        build_live(&path, &busy_box(300, "v1")).expect("a registry");
        edit(
            &path,
            "CREATE TABLE later (z, a); INSERT INTO later VALUES (1, 'x'), (NULL, X'00'); UPDATE routes SET caps = X'ff'",
        );
        let registry = Registry::open_live(&path).expect("it opens");
        let together = registry.census_and_fingerprint("ops").expect("both");
        assert_eq!(together, (registry.census("ops").expect("a census"), registry.fingerprint().expect("a fingerprint")));
        assert!(together.0.unreadable_text > 0 && together.0.tables["later"] == 2, "{:?}", together.0);
    }

    #[test]
    fn a_fingerprint_stays_what_it_was_for_buckets_written_before() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        edit(&path, "CREATE TABLE t (b, a); INSERT INTO t VALUES (1, 'x'), (NULL, X'00')");
        assert_eq!(of(&path), "carlosctl-v1:sha256:ec190e3b8c83483a823edb292b2a6c4c88740e3423a251793ce83ab929a584c7");
    }
}
