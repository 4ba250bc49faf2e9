//! The register of the museum is honest: what it points to exists, and every row and incident is in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rows of the list of cases.
const ROWS: [&str; 35] = [
    "1", "3", "5", "6", "7", "9", "10", "11", "12", "14", "16", "17", "18", "20", "22", "23", "24", "26", "27", "28", "29",
    "30", "31", "33", "35", "36", "38", "39", "41", "42", "44", "45", "46", "49", "50",
];
/// The incidents, from the list of the 25 most instructive ones.
const INCIDENTS: std::ops::RangeInclusive<u32> = 1..=25;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// What stands between backticks in the tables: `module::function`, or `module::…::function` of a unit test below `src`.
fn pointers() -> Vec<String> {
    let register = text("tests/it/museum/mod.rs");
    let tables = register.lines().filter(|line| line.starts_with("//! |"));
    let quoted = tables.flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
    quoted.filter(|pointer| pointer.contains("::")).collect()
}

/// What the security page names in parentheses.
fn proofs() -> Vec<String> {
    let page = text("SECURITY.md");
    let quoted = page.split('`').skip(1).step_by(2).map(str::to_owned);
    quoted.filter(|quoted| quoted.contains("::") && *quoted != "museum::register").collect()
}

/// Whether a test of this name is in one of the files that the path may mean.
fn exists(pointer: &str) -> bool {
    let Some((module, function)) = pointer.rsplit_once("::") else { return false };
    let path = module.replace("::", "/");
    let files =
        [format!("tests/it/{path}.rs"), format!("src/{path}.rs"), format!("src/{path}/mod.rs"), format!("src/{path}/tests.rs")];
    files.iter().any(|file| {
        let text = text(file);
        let at = text.find(&format!("fn {function}("));
        at.is_some_and(|at| text[..at].lines().rev().take(3).any(|line| line.contains("test]")))
    })
}

#[test]
fn every_test_that_the_register_points_to_exists() {
    let pointers = pointers();
    assert!(pointers.len() > 60, "{pointers:?}");
    for pointer in pointers {
        assert!(exists(&pointer), "{pointer}");
    }
}

#[test]
fn every_proof_of_the_security_page_exists() {
    let proofs = proofs();
    assert!(proofs.len() > 30, "{proofs:?}");
    for proof in proofs {
        assert!(exists(&proof), "{proof}");
    }
}

#[test]
fn every_row_and_every_incident_is_in_the_museum() {
    let mut said = BTreeSet::new();
    let rooms = fs::read_dir(root().join("tests/it/museum")).expect("a directory");
    for room in rooms {
        let text = fs::read_to_string(room.expect("an entry").path()).expect("UTF-8");
        let comments = text.lines().filter_map(|line| line.trim().strip_prefix("//"));
        let mut words: Vec<&str> = Vec::new();
        for line in comments {
            match line.strip_prefix("! | ") {
                Some(row) => words.extend(row.split(" | ").next().into_iter().flat_map(str::split_whitespace)),
                None => words.extend(line.split_whitespace()),
            }
        }
        for pair in words.windows(2) {
            let kind = pair[0].trim_start_matches(['(', '/']).to_lowercase();
            let number = pair[1].trim_end_matches([',', ':', '.', ';', ')']);
            let kind = match kind.as_str() {
                "row" | "rows" => "row",
                "incident" | "incidents" => "incident",
                _ => continue,
            };
            said.insert((kind, number.to_owned()));
        }
    }
    for row in ROWS {
        assert!(said.contains(&("row", row.to_owned())), "row {row}");
    }
    for incident in INCIDENTS {
        assert!(said.contains(&("incident", incident.to_string())), "incident {incident}");
    }
}
