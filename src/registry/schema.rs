//! Which tables and columns there are. Names match case-insensitively and ignoring underscores (formats.md section 1).

use rusqlite::Connection;

use super::RegistryError;

/// One ordinary table; views, indexes, virtual tables and SQLite's own tables are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name, as declared.
    pub name: String,
    /// Its stored columns, as declared. Generated columns are left out: they follow from the others.
    pub columns: Vec<Column>,
}

/// One stored column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, as declared.
    pub name: String,
    /// Its place in the primary key, from 1; 0 when it is not part of it.
    pub primary_key: u32,
}

impl Table {
    /// Every table of the database, by name.
    ///
    /// # Errors
    /// A table or column name that is not UTF-8, or damage.
    pub(super) fn all(connection: &Connection) -> Result<Vec<Self>, RegistryError> {
        // A virtual table has no root page; what it holds is in ordinary tables of its own.
        let mut statement = connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        )?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        let mut columns = connection.prepare("SELECT name, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            let stored = columns
                .query_map([&name], |row| {
                    let column = Column { name: row.get(0)?, primary_key: row.get(1)? };
                    Ok((column, row.get::<_, i64>(2)?))
                })?
                .collect::<Result<Vec<_>, _>>()?;
            let columns = stored.into_iter().filter(|(_, hidden)| *hidden == 0).map(|(column, _)| column).collect();
            tables.push(Self { name, columns });
        }
        Ok(tables)
    }

    /// The table `routes` among `tables`.
    ///
    /// # Errors
    /// `NotARegistry` where there is none, or more than one could be meant.
    pub(super) fn routes(tables: &[Self]) -> Result<&Self, RegistryError> {
        let mut found = tables.iter().filter(|table| same_name(&table.name, "routes"));
        match (found.next(), found.next()) {
            (Some(table), None) => Ok(table),
            (None, _) => Err(RegistryError::NotARegistry("it has no table routes".to_owned())),
            (Some(one), Some(other)) => {
                Err(RegistryError::NotARegistry(format!("both {:?} and {:?} could be its table routes", one.name, other.name)))
            }
        }
    }

    /// The question for every stored column of every row, in the order of `columns`.
    pub(super) fn every_row(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        self.select(&columns.join(","))
    }

    /// A question about all rows. Not by an index: a damaged one has another number of entries than the table has rows.
    pub(super) fn select(&self, what: &str) -> String {
        format!("SELECT {what} FROM {} NOT INDEXED", quoted(&self.name))
    }

    /// The column that goes by `name` here, as it is declared; `None` when there is none.
    ///
    /// # Errors
    /// `NotARegistry` when two columns could be meant.
    pub(super) fn column(&self, name: &str) -> Result<Option<&str>, RegistryError> {
        let mut found = self.columns.iter().filter(|column| same_name(&column.name, name));
        match (found.next(), found.next()) {
            (Some(one), Some(other)) => Err(RegistryError::NotARegistry(format!(
                "both {:?} and {:?} could be the column {name} of its table {}",
                one.name, other.name, self.name
            ))),
            (found, _) => Ok(found.map(|column| column.name.as_str())),
        }
    }

    /// The column `host`, without which a table of routes is none.
    ///
    /// # Errors
    /// `NotARegistry` where there is none.
    pub(super) fn host(&self) -> Result<&str, RegistryError> {
        self.column("host")?.ok_or_else(|| RegistryError::NotARegistry("its table routes has no column host".to_owned()))
    }
}

/// Whether two names are one (formats.md section 1).
pub(super) fn same_name(one: &str, other: &str) -> bool {
    let fold = |name: &str| name.replace('_', "").to_lowercase();
    fold(one) == fold(other)
}

/// A name as SQL text.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
