//! Whether the database is whole: `integrity_check`, never `quick_check`, which does not compare indexes with their tables.

use rusqlite::Connection;

use super::{Registry, RegistryError};

/// How many lines of each check are kept: a damaged index of a large table would say thousands.
const LINES: usize = 5;

/// What the checks said. Both empty: whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Check {
    /// The first lines of `integrity_check` where they are not `ok`.
    pub damage: Vec<String>,
    /// Rows whose foreign key points nowhere: the content is odd, the file is not damaged.
    pub foreign_keys: Vec<String>,
}

impl Check {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damage.is_empty() && self.foreign_keys.is_empty()
    }
}

impl Registry {
    /// Runs `integrity_check` and `foreign_key_check`. Takes as long as reading the whole file; see
    /// [`interrupter`](Self::interrupter).
    ///
    /// # Errors
    /// When the checks could not run to their end. Damage is no error but the answer.
    pub fn check(&self) -> Result<Check, RegistryError> {
        let answer = self.read(|connection| {
            let damage = integrity(connection)?;
            // On a damaged file the second question would only repeat the first answer.
            let foreign_keys = if damage.is_empty() { foreign_keys(connection)? } else { Vec::new() };
            Ok(Check { damage, foreign_keys })
        });
        match answer {
            // Too damaged for the check itself.
            Err(RegistryError::Damaged(said)) => Ok(Check { damage: vec![said], foreign_keys: Vec::new() }),
            answer => answer,
        }
    }
}

fn integrity(connection: &Connection) -> Result<Vec<String>, RegistryError> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({})", LINES + 1))?;
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        let line = super::Value::from(row.get_ref(0)?).to_string();
        lines.extend(line.lines().filter(|line| *line != "ok").map(str::to_owned));
    }
    Ok(capped(lines))
}

fn foreign_keys(connection: &Connection) -> Result<Vec<String>, RegistryError> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            // A key that names no unique columns is a fault of the schema: an answer, not a failure to ask.
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) => {
                lines.push(error.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        if lines.len() > LINES {
            break;
        }
        let text = |at| row.get_ref(at).map(|value| super::Value::from(value).to_string());
        lines.push(format!("{}: row {} names a row of {} that is not there", text(0)?, text(1)?, text(2)?));
    }
    Ok(capped(lines))
}

/// The first few lines, and whether there were more.
fn capped(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("and more".to_owned());
    }
    lines
}
