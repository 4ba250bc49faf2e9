//! `snapshot diff`: what is lost when the older one is taken.

use serde::Serialize;

use super::landing::{Landing, Private};
use super::look::look;
use super::proof::interruptible;
use super::show::resolve;
use crate::cli::snapshot::DiffArgs;
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::Label;
use crate::registry::{self, Registry, RegistryError, Row, RowChange, TableDiff};
use crate::terminal::{self, Paper};

#[derive(Debug, Serialize)]
struct Differs {
    #[serde(rename = "box")]
    label: Label,
    from: String,
    to: String,
    tables: Vec<TableDiff>,
}

/// Runs the command.
///
/// # Errors
/// Not found; refused when one of the two does not read; else the store's.
pub(super) async fn run(args: &DiffArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let look = look(context, &args.label, &[&args.from, &args.to]).await?;
    let (from, from_file, _) = resolve(context, &look, &args.from, as_of, Private::create).await?;
    let (to, to_file, _) = resolve(context, &look, &args.to, as_of, Private::create).await?;
    let unreadable = |name: String, error: &RegistryError| {
        CommandError::new(Exit::Refused, format!("{name}: {error}; nothing was compared"))
            .hint(format!("carlosctl snapshot verify --box {} --all-generations", args.label))
    };
    let (from_name, to_name) = (from.source.name(), to.source.name());
    let progress = context.progress_waiting("comparing");
    let compared = interruptible(move |interrupter| {
        let open = |landing: &Private, name: String| {
            Registry::open_snapshot(landing.path())
                .and_then(|registry| registry.interrupted_by(&interrupter))
                .map_err(|error| (name, error))
        };
        let from = open(&from_file.landing, from_name.clone())?;
        let to = open(&to_file.landing, to_name.clone())?;
        registry::diff(&from, &to).map_err(|error| (format!("{from_name} against {to_name}"), error))
    })
    .await?;
    drop(progress);
    let diff = compared.map_err(|(name, error)| unreadable(name, &error))?;
    context.answer(&Differs { label: args.label.clone(), from: from.at, to: to.at, tables: diff.tables }, as_of)?;
    Ok(Exit::Done)
}

impl Answer for Differs {
    const SCHEMA: &'static str = "carlosctl.snapshot-diff/1";

    fn text(&self, _: Paper) -> String {
        let (from, to) = (terminal::escape(&self.from), terminal::escape(&self.to));
        if self.tables.is_empty() {
            return format!("{from} and {to} of {} do not differ\n", self.label);
        }
        let mut text = format!("from {from} to {to} of {}\n", self.label);
        for table in &self.tables {
            push_table(&mut text, table);
        }
        text
    }
}

fn push_table(text: &mut String, table: &TableDiff) {
    text.push_str(&format!(
        "\n{}: {} added, {} removed, {} changed\n",
        terminal::escape(&table.table),
        table.added.len(),
        table.removed.len(),
        table.changed.len()
    ));
    for (sign, columns) in [('+', &table.columns_added), ('-', &table.columns_removed)] {
        if !columns.is_empty() {
            text.push_str(&format!("{sign} columns {}\n", terminal::escape(&columns.join(", "))));
        }
    }
    for row in &table.removed {
        text.push_str(&format!("- {}\n", named(row, &table.key)));
    }
    for row in &table.added {
        text.push_str(&format!("+ {}\n", named(row, &table.key)));
    }
    for change in &table.changed {
        text.push_str(&changed(change, &table.key));
    }
}

/// A row by its key, and whatever else is set in it.
fn named(row: &Row, key: &[String]) -> String {
    let mut words: Vec<String> = key.iter().filter_map(|column| Some(row.get(column)?.to_string())).collect();
    words.extend(
        row.iter()
            .filter(|(column, value)| !key.contains(column) && !value.is_unset())
            .map(|(column, value)| format!("{column}={value}")),
    );
    terminal::escape(&words.join("  ")).into_owned()
}

fn changed(change: &RowChange, key: &[String]) -> String {
    let mut text = format!("~ {}\n", named(&change.key, key));
    for (column, value) in &change.columns {
        text.push_str(&format!("    {}\n", terminal::escape(&format!("{column}: {} -> {}", value.from, value.to))));
    }
    text
}
