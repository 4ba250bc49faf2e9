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
//! indexes matter, and `VACUUM INTO` does not change a fingerprint; and one scan of flat memory is enough. Generated columns
//! follow from the others and are left out.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

use super::schema::quoted;
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
            let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
            let mut hash = Sha256::new();
            put_bytes(&mut hash, b"carlosctl-v1");
            hash.update(pragma("user_version")?.to_le_bytes());
            hash.update(pragma("application_id")?.to_le_bytes());
            let tables = Table::all(connection)?;
            put_length(&mut hash, tables.len());
            for mut table in tables {
                self.still_wanted()?;
                table.columns.sort_by(|one, other| one.name.cmp(&other.name));
                put_table(&mut hash, connection, &table)?;
            }
            Ok(format!("{FINGERPRINT_PREFIX}{}", hex(&hash.finalize())))
        })
    }
}

fn put_table(hash: &mut Sha256, connection: &Connection, table: &Table) -> Result<(), RegistryError> {
    put_bytes(hash, table.name.as_bytes());
    put_length(hash, table.columns.len());
    for column in &table.columns {
        put_bytes(hash, column.name.as_bytes());
    }
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    let sql = format!("SELECT {} FROM {} NOT INDEXED", columns.join(","), quoted(&table.name));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut count: u64 = 0;
    let mut sum = [0_u8; 32];
    while let Some(row) = rows.next()? {
        let mut digest = Sha256::new();
        for at in 0..table.columns.len() {
            put_value(&mut digest, row.get_ref(at)?);
        }
        add(&mut sum, &digest.finalize());
        count += 1;
    }
    hash.update(count.to_le_bytes());
    hash.update(sum);
    Ok(())
}

/// A type, and a value that cannot be mistaken for the next one's beginning.
fn put_value(hash: &mut Sha256, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => hash.update([0]),
        ValueRef::Integer(number) => {
            hash.update([1]);
            hash.update(number.to_le_bytes());
        }
        ValueRef::Real(number) => {
            hash.update([2]);
            hash.update(number.to_bits().to_le_bytes());
        }
        ValueRef::Text(bytes) => {
            hash.update([3]);
            put_bytes(hash, bytes);
        }
        ValueRef::Blob(bytes) => {
            hash.update([4]);
            put_bytes(hash, bytes);
        }
    }
}

fn put_bytes(hash: &mut Sha256, bytes: &[u8]) {
    put_length(hash, bytes.len());
    hash.update(bytes);
}

fn put_length(hash: &mut Sha256, length: usize) {
    hash.update((length as u64).to_le_bytes());
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
    fn a_fingerprint_stays_what_it_was_for_buckets_written_before() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        edit(&path, "CREATE TABLE t (b, a); INSERT INTO t VALUES (1, 'x'), (NULL, X'00')");
        assert_eq!(of(&path), "carlosctl-v1:sha256:ec190e3b8c83483a823edb292b2a6c4c88740e3423a251793ce83ab929a584c7");
    }
}
