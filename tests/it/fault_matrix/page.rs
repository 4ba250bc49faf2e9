//! The table: what is expected, what was measured, and the page of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::columns::COLUMNS;
use super::faults::FAULTS;
use super::judge::Outcome;

type Outcomes = BTreeMap<(usize, usize), Outcome>;

/// The tables of the page: their headings, and the first words of their commands.
const TABLES: [(&str, &[&str]); 4] = [
    ("Snapshots", &["snapshot"]),
    ("Restore", &["restore", "drill", "doctor"]),
    ("Retention", &["retention", "report"]),
    ("The box half", &["box"]),
];

/// Compares what was measured with `expected.txt`, and the page of it with the one that is checked in; or writes that page.
pub(crate) fn compare(measured: &Outcomes, told: impl Fn(usize, usize) -> String) {
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault-matrix.txt");
    fs::write(&beside, table(measured)).expect("the measured table is written");
    let expected = expected();
    let mut others = String::new();
    for ((row, column), outcome) in measured {
        let (found, wanted) = (outcome.token(), expected.get(&(*row, *column)).map_or("nothing", String::as_str));
        if !wanted.split('/').any(|one| one == found) {
            let (fault, command) = (FAULTS[*row].name, COLUMNS[*column].name);
            others.push_str(&format!("{fault} | {command}: {found} instead of {wanted}\n{}\n", told(*row, *column)));
        }
    }
    assert!(others.is_empty(), "{others}\nmeasured: {}", beside.display());
    if measured.len() < FAULTS.len() * COLUMNS.len() {
        return;
    }
    let (path, page) = (root().join("docs/fault-matrix.md"), page(measured, &expected));
    if std::env::var_os("CARLOSCTL_REWRITE_GOLDEN").is_some() {
        fs::write(&path, &page).expect("the page is written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/fault-matrix.md is not what was measured; write it again: {AGAIN}");
}

const AGAIN: &str = "CARLOSCTL_REWRITE_GOLDEN=1 cargo test --test it fault_matrix";

/// How each cell is to end, from the table that people write.
pub(crate) fn expected() -> BTreeMap<(usize, usize), String> {
    let text = fs::read_to_string(root().join("tests/it/fault_matrix/expected.txt")).expect("a file");
    let rows: BTreeMap<&str, &str> =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('|')).collect();
    let mut expected = BTreeMap::new();
    for (row, fault) in FAULTS.iter().enumerate() {
        let cells = rows.iter().find(|(name, _)| name.trim() == fault.name).map(|(_, cells)| *cells).unwrap_or_default();
        expected.extend(cells.split_whitespace().enumerate().map(|(column, cell)| ((row, column), cell.to_owned())));
    }
    expected
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// As `expected.txt` has it.
fn table(measured: &Outcomes) -> String {
    let mut table = String::new();
    for (row, fault) in FAULTS.iter().enumerate().filter(|(row, _)| measured.contains_key(&(*row, 0))) {
        let cells: Vec<String> = (0..COLUMNS.len()).map(|column| format!(" {:>2}", measured[&(row, column)].token())).collect();
        table.push_str(&format!("{:<28}|{}\n", fault.name, cells.concat()));
    }
    table
}

/// `docs/fault-matrix.md`.
fn page(measured: &Outcomes, expected: &BTreeMap<(usize, usize), String>) -> String {
    let words = |cell: (usize, usize)| match expected.get(&cell).filter(|wanted| wanted.contains('/')) {
        Some(wanted) => wanted.split('/').filter_map(Outcome::of_token).map(Outcome::words).collect::<Vec<_>>().join(" or "),
        None => measured[&cell].words(),
    };
    let mut page = format!(
        "# Faults of the store\n\n\
         <!-- Measured and written by `{AGAIN}`. -->\n\n\
         Every command that touches the store, as a real process, in front of a real S3 server (SeaweedFS 4.48) behind a proxy\n\
         that hurts the requests named on the left: {} faults, {} commands, each with `--timeout 2s`. A cell is the exit code and\n\
         a word:\n\n\
         - `-`: the command asks nothing of this kind, or nothing that it asked was struck.\n\
         - `0 right`: struck, and answer and effect are those without the fault: asked again, or not misled.\n\
         - `0 finding`: done, and it differs from the answer without the fault as it should: it says what it did not see, or\n\
           what it saw was another object. `box run` ends with 0 when it is told to; its log says what failed.\n\
         - any other: the [exit code](../runbooks/exit-codes.md) and its name. `3 partly-done` of a restore or a drill: it is\n\
           done, and its receipt is not in the bucket.\n\n\
         Whatever the cell says, the test wants of it: a code that is made for it, never 1; no panic; no text of success unless\n\
         it succeeded; where it failed; an end within twice the timeout and a margin for slow machines (`restore watch` and\n\
         `box run` go on as long as they are told, `box retention` waits for one app after the other); every object of the bucket\n\
         and every file beside it as before, but for what the command declares: no half hold sealed, no release that loses its\n\
         manifest before its other objects, no deletion that a run without faults does not make, and no registry but the whole\n\
         old or the whole new one.\n\n\
         *once each*: one listing and one read (the first by key) and the first write, each once. *listing* also means listings of versions;\n\
         *reading* is GET and HEAD; *writing* is PUT, copy and DELETE. Objects are deleted one by one, so an error of one deletion\n\
         among many is the answer to that DELETE. No request carries a checksum header, so `501 for checksums` strikes nothing.\n\
         *If-Match ignored* and *If-None-Match ignored*: the server does it whatever is there, and answers success.\n\n\
         What no client can see: a store that leaves keys out of a listing and calls it whole, or calls a key missing that is\n\
         there. Nothing here claims otherwise.\n",
        FAULTS.len(),
        COLUMNS.len()
    );
    for (heading, groups) in TABLES {
        let columns: Vec<usize> = (0..COLUMNS.len())
            .filter(|column| groups.contains(&COLUMNS[*column].name.split(' ').next().unwrap_or_default()))
            .collect();
        page.push_str(&format!("\n## {heading}\n\n| fault |"));
        let row =
            |cells: Vec<String>| format!("{}\n", cells.iter().map(|cell| format!(" {cell} |")).collect::<Vec<_>>().concat());
        page.push_str(&row(columns.iter().map(|column| format!("`{}`", COLUMNS[*column].name)).collect()));
        page.push_str(&format!("|---|{}\n", "---|".repeat(columns.len())));
        for (number, fault) in FAULTS.iter().enumerate() {
            page.push_str(&format!("| {} |", fault.name));
            page.push_str(&row(columns.iter().map(|column| words((number, *column))).collect()));
        }
    }
    page
}
