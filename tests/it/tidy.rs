//! The rules of the house, as far as a machine can check them.

use std::fs;
use std::path::{Path, PathBuf};

use carlosctl::cli::Cli;
use clap::CommandFactory;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `directory`, by its path in the repository.
fn files_below(directory: &str) -> Vec<PathBuf> {
    fn walk(at: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(at) else { return };
        for entry in entries {
            let path = entry.expect("an entry").path();
            // What cargo and the fuzzers write.
            let written = ["target", "corpus", "artifacts"].iter().any(|name| path.ends_with(name));
            if path.is_file() {
                found.push(path);
            } else if !written {
                walk(&path, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(directory), &mut found);
    found.sort();
    found.iter().map(|path| path.strip_prefix(root()).expect("below").to_owned()).collect()
}

fn sources(directories: &[&str]) -> Vec<(PathBuf, String)> {
    directories
        .iter()
        .flat_map(|directory| files_below(directory))
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .map(|path| (path.clone(), fs::read_to_string(root().join(path)).expect("UTF-8")))
        .collect()
}

/// Every text file that is written by hand or generated, but not what cargo writes.
fn texts() -> Vec<(PathBuf, String)> {
    let directories = [
        ".ci",
        "benches",
        "completions",
        "docs",
        "examples",
        "fuzz",
        "man",
        "packaging",
        "runbooks",
        "scripts",
        "src",
        "tests",
    ];
    let top = fs::read_dir(root()).expect("a directory").filter_map(|entry| {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        (entry.path().is_file() && name != "Cargo.lock" && name != ".git").then(|| PathBuf::from(name))
    });
    let below = directories.iter().flat_map(|directory| files_below(directory));
    top.chain(below)
        .filter_map(|path| Some((path.clone(), String::from_utf8(fs::read(root().join(path)).ok()?).ok()?)))
        .collect()
}

#[test]
fn no_source_file_is_longer_than_a_sitting() {
    for (path, text) in sources(&["src", "examples", "benches"]) {
        let lines = text.lines().count();
        assert!(lines <= 400, "{}: {lines} lines; split it by idea", path.display());
    }
}

#[test]
fn only_two_places_ask_the_operator_anything() {
    // The one prompt for what can destroy, and the questions of a walk.
    let asks: Vec<PathBuf> = sources(&["src"])
        .into_iter()
        .filter(|(_, text)| text.contains("prompt.ask(") || text.contains("prompt\n") || text.contains("dialoguer::"))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(asks, ["src/runbook/ask.rs", "src/terminal/consent.rs"].map(PathBuf::from));
}

#[test]
fn every_module_says_what_it_is_for() {
    for (path, text) in sources(&["src", "tests", "examples", "benches"]) {
        // The unit tests of a module stand beside it, and the list of codes is a part of its module.
        let part = path.ends_with("tests.rs") || path.ends_with("finding_codes.rs");
        assert!(part || text.starts_with("//! "), "{}: does not begin with //!", path.display());
    }
}

#[test]
fn nothing_is_left_for_later() {
    // In pieces, so that this file does not find itself.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["dbg", "!("], ["todo", "!("], ["unimple", "mented!("]]
        .map(|mark| mark.concat());
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            // Names of temporary files end in many X.
            let line = line.replace(&"X".repeat(6), "");
            for mark in &marks {
                assert!(!line.contains(mark), "{}:{}: {mark}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn nothing_tells_of_one_machine_or_of_how_it_was_made() {
    let words = [
        ["/ro", "ot/"],
        ["/wo", "rk/"],
        ["/ho", "me/"],
        ["/Us", "ers/"],
        ["assis", "tant"],
        ["language ", "model"],
        ["chat", "bot"],
        ["this ", "session"],
    ]
    .map(|word| word.concat());
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for word in &words {
                assert!(!line.contains(&word.to_lowercase()), "{}:{}: {word}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn every_file_of_tests_is_run() {
    let main = fs::read_to_string(root().join("tests/it/main.rs")).expect("a file");
    for path in files_below("tests/it") {
        let (Some(name), Some("rs")) =
            (path.file_stem().and_then(|name| name.to_str()), path.extension().and_then(|end| end.to_str()))
        else {
            continue;
        };
        if path.parent() == Some(Path::new("tests/it")) && name != "main" {
            assert!(main.contains(&format!("\nmod {name};\n")), "{}: no mod of main.rs", path.display());
        }
    }
}

/// Every command's words, without the program's name.
fn commands() -> Vec<(Vec<String>, bool)> {
    fn walk(command: &clap::Command, words: &[String], found: &mut Vec<(Vec<String>, bool)>) {
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let words: Vec<String> = words.iter().cloned().chain([command.get_name().to_owned()]).collect();
            found.push((words.clone(), command.is_subcommand_required_set()));
            walk(command, &words, found);
        }
    }
    let mut found = Vec::new();
    walk(&Cli::command(), &[], &mut found);
    found
}

#[test]
fn every_command_has_a_manual_page() {
    for (words, _) in commands() {
        let page = root().join("man").join(format!("carlosctl-{}.1", words.join("-")));
        assert!(page.is_file(), "{}: no {}", words.join(" "), page.display());
    }
}

#[test]
fn every_command_is_in_the_readmes_table() {
    let Ok(readme) = fs::read_to_string(root().join("README.md")) else { return };
    let rows: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    // A group is named by its commands, and what is below a command is told by its help.
    for (words, _) in commands().into_iter().filter(|(words, is_group)| !is_group && words.len() <= 2) {
        let whole = format!("`{}`", words.join(" "));
        let leaf = format!("`{}`", words[words.len() - 1]);
        let group = format!("`{} ", words[0]);
        let named = |row: &&str| row.contains(&whole) || (row.starts_with(&group) && row.contains(&leaf));
        assert!(rows.iter().any(named), "{}: no row of the table of commands in README.md names it", words.join(" "));
    }
}

#[test]
fn everything_that_a_package_takes_is_there() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a file");
    let assets = manifest.lines().filter_map(|line| line.trim().strip_prefix("[\"")?.split('"').next());
    let wanted: Vec<&str> = assets.filter(|source| !source.starts_with("target/")).collect();
    assert!(wanted.len() >= 8, "{wanted:?}");
    for source in wanted {
        let path = root().join(source);
        let found = match source.split_once("/*") {
            None => path.is_file(),
            Some((directory, end)) => files_below(directory).iter().any(|path| path.to_string_lossy().ends_with(end)),
        };
        assert!(found, "{source}: Cargo.toml packs it, and it is not there");
    }
}

#[test]
fn every_finding_code_is_used() {
    let list = fs::read_to_string(root().join("src/finding_codes.rs")).expect("a file");
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.split_once(" \""))
        .map(|(name, _)| name)
        .filter(|name| {
            name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        .collect();
    assert_eq!(names.len(), carlosctl::finding::Code::ALL.len(), "the list is read whole");
    let sources: Vec<String> =
        sources(&["src"]).into_iter().filter(|(path, _)| !path.ends_with("tests.rs")).map(|(_, text)| text).collect();
    let is_used = |name: &&str| {
        let whole = format!("Code::{name}");
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
        sources.iter().any(|text| text.match_indices(&whole).any(|(at, _)| ends(&text[at + whole.len()..])))
    };
    let unused: Vec<&str> = names.into_iter().filter(|name| !is_used(name)).collect();
    assert!(unused.is_empty(), "nothing finds {unused:?}; remove them from src/finding_codes.rs");
}
