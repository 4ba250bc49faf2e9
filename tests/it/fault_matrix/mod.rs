//! Every fault of a store, on every command that touches it: real processes, a real server, and a proxy in between.
//!
//! `expected.txt` says how each cell is to end; `docs/fault-matrix.md` is written from what was measured:
//!
//! ```sh
//! CARLOSCTL_REWRITE_GOLDEN=1 cargo test --test it fault_matrix
//! ```
//!
//! `CARLOSCTL_MATRIX=full` strikes the second and the last request of each kind as well, where a fault strikes one of each; any
//! other value is a part of the names of the faults to run.

mod cell;
mod columns;
mod faults;
mod judge;
mod page;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use self::cell::{Place, Ran};
use self::columns::{COLUMNS, Column};
use self::faults::{FAULTS, Fault, Which};
use self::judge::Outcome;

/// How many cells run at once. Most of them wait, for silence or for a pause between two attempts.
const AT_ONCE: usize = 8;

/// What came out of all cells.
#[derive(Default)]
struct Measured {
    outcomes: BTreeMap<(usize, usize), Outcome>,
    wrongs: Vec<String>,
    ran: usize,
    longest: Duration,
}

/// One cell to run: a fault, a command, and which request.
#[derive(Clone, Copy)]
struct Job {
    row: usize,
    column: usize,
    which: Which,
}

#[test]
fn every_fault_on_every_command_ends_as_it_should() {
    let begin = std::time::Instant::now();
    let asked = std::env::var("CARLOSCTL_MATRIX").unwrap_or_default();
    let full = asked == "full";
    let whole = undisturbed();
    let mut jobs = Vec::new();
    let is_wanted = |fault: &Fault| full || fault.name.contains(&asked);
    for (row, fault) in FAULTS.iter().enumerate().filter(|(_, fault)| is_wanted(fault)) {
        for column in 0..COLUMNS.len() {
            jobs.push(Job { row, column, which: Which::First });
            if full && fault.depends_on_which() {
                jobs.extend([Which::Second, Which::Last].map(|which| Job { row, column, which }));
            }
        }
    }
    // The ones that wait the longest first.
    let measured = in_parallel(&jobs, |place, job| cell(place, job, &whole));
    let only_first: Vec<&(Job, Cell)> = measured.iter().filter(|(job, _)| job.which == Which::First).collect();
    let mut table = Measured::default();
    for (job, cell) in &measured {
        table.ran += usize::from(cell.ran.is_some());
        table.longest = table.longest.max(cell.ran.as_ref().map_or(Duration::ZERO, |ran| ran.took));
        table.wrongs.extend(cell.wrongs.iter().map(|wrong| cell.told(*job, wrong)));
    }
    for (job, cell) in only_first {
        table.outcomes.insert((job.row, job.column), cell.outcome);
    }
    println!("{} cells, {} ran, the longest {:?}, in {:?}", measured.len(), table.ran, table.longest, begin.elapsed());
    let beside = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault-matrix-cells.txt");
    let all: Vec<String> = measured
        .iter()
        .filter(|(_, cell)| cell.ran.is_some())
        .map(|(job, cell)| cell.told(*job, &format!("{:?} {:?}", cell.outcome, cell.wrongs)))
        .collect();
    std::fs::write(&beside, all.concat()).expect("every cell is written");
    page::compare(&table.outcomes, |row, column| {
        let found = measured.iter().find(|(job, _)| (job.row, job.column, job.which) == (row, column, Which::First));
        found.map_or_else(String::new, |(job, cell)| cell.told(*job, "another outcome"))
    });
    assert!(table.wrongs.is_empty(), "{} wrongs:\n{}", table.wrongs.len(), table.wrongs.join("\n"));
}

/// A cell, judged.
struct Cell {
    outcome: Outcome,
    wrongs: Vec<String>,
    ran: Option<Ran>,
}

impl Cell {
    fn told(&self, job: Job, wrong: &str) -> String {
        let Job { row, column, which } = job;
        let said = self.ran.as_ref().map_or_else(String::new, |ran| {
            let changes = [ran.changes(), ran.files()].concat().join("\n");
            format!("{}---- stderr\n{}---- [{} after {:?}]\n{changes}\n", ran.stdout, ran.stderr, ran.code, ran.took)
        });
        format!("==== {} | {} | {which:?}: {wrong}\n{said}", FAULTS[row].name, COLUMNS[column].name)
    }
}

/// Every command without any fault: it ends well, twice the same.
fn undisturbed() -> Vec<Ran> {
    let jobs: Vec<Job> = (0..COLUMNS.len()).map(|column| Job { row: 0, column, which: Which::First }).collect();
    let ran = in_parallel(&jobs, |place, job| {
        let column = &COLUMNS[job.column];
        let ran = place.run(column, Vec::new(), false);
        assert_eq!(ran.code, 0, "{}: {}{}", column.name, ran.stdout, ran.stderr);
        let again = place.run(column, Vec::new(), false);
        assert_eq!(
            Outcome::of(&again, &ran, column, true),
            Outcome::NotAsked,
            "{}: {}{}",
            column.name,
            ran.stdout,
            again.stdout
        );
        for success in column.success {
            assert!(ran.stdout.contains(success), "{}: no {success:?} in {}", column.name, ran.stdout);
        }
        ran
    });
    ran.into_iter().map(|(_, ran)| ran).collect()
}

fn cell(place: &Place, job: Job, whole: &[Ran]) -> Cell {
    let (fault, column, whole): (&Fault, &Column, &Ran) = (&FAULTS[job.row], &COLUMNS[job.column], &whole[job.column]);
    let rules = fault.rules(job.which, whole);
    // What is never asked cannot be struck.
    if !whole.seen.iter().any(|seen| rules.iter().any(|rule| rule.could_want(seen.asked.kind))) {
        return Cell { outcome: Outcome::NotAsked, wrongs: Vec::new(), ran: None };
    }
    let ran = place.run(column, rules, fault.meddles());
    let outcome = Outcome::of(&ran, whole, column, fault.is_exact());
    Cell { outcome, wrongs: judge::wrongs(&ran, whole, column, fault, outcome), ran: Some(ran) }
}

/// Does the jobs, several at once, and answers in their order.
fn in_parallel<T: Send>(jobs: &[Job], work: impl Fn(&Place, Job) -> T + Sync) -> Vec<(Job, T)> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(jobs.len()) {
            scope.spawn(|| {
                let place = Place::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { return };
                    let result = work(&place, *job);
                    done.lock().expect("no cell panics").insert(number, (*job, result));
                }
            });
        }
    });
    done.into_inner().expect("no cell panics").into_values().collect()
}
