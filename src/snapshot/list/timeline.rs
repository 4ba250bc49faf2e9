//! One box's generations, newest first, with their sizes as bars: a collapse is to be seen before it is read.

use jiff::Timestamp;

use super::BoxRow;
use crate::terminal::{self, Bars, Paper, Table};

/// How many characters the longest bar has, by the width of the terminal. The narrowest one leaves room for the flags at 60
/// columns; where no width is known, the one for the usual 80 is taken.
fn cells(columns: Option<u16>) -> u8 {
    match columns {
        Some(40..72) => 4,
        Some(100..) => 20,
        _ => 10,
    }
}

/// The table of one box: current, and its generations. `age` says how old something is.
pub(super) fn push(text: &mut String, row: &BoxRow, paper: Paper, age: impl Fn(Timestamp) -> String) {
    let bars = bars(row, paper);
    let size = |bytes: u64| bars.cell(bytes, &terminal::bytes(bytes));
    let mut table = Table::new(&["  stamp", "age", "size", "flags"], paper.columns);
    if let Some(current) = &row.current {
        let of = row.current_at.map(&age).unwrap_or_default();
        table.row(["  current", &of, &size(current.bytes), &format!("sidecar {}", row.sidecar.status)]);
    }
    for generation in &row.generations {
        let same = generation.same_as_current.then_some("= current");
        let flags: Vec<&str> = same.into_iter().chain(generation.flags.iter().map(|code| code.as_str())).collect();
        table.row([
            &format!("  {}", generation.stamp),
            &age(generation.stamp.instant()),
            &size(generation.object.bytes),
            &flags.join(" "),
        ]);
    }
    text.push_str(&table.to_string());
}

/// The bars of one box are measured by its largest rung: what it lost is to be seen, not how small it is.
fn bars(row: &BoxRow, paper: Paper) -> Bars {
    let sizes = || row.current.iter().chain(row.generations.iter().map(|generation| &generation.object)).map(|o| o.bytes);
    Bars {
        whole: sizes().max().unwrap_or_default(),
        digits: sizes().map(|bytes| terminal::bytes(bytes).len()).max().unwrap_or_default(),
        cells: cells(paper.columns),
        unicode: paper.unicode,
    }
}
