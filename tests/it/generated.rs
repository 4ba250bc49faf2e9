//! Everything that is generated from the program is checked in as the program would write it now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carlosctl::cli::Cli;
use clap::{CommandFactory, Parser};

use crate::common::carlosctl;
use crate::common::hints::words;

#[path = "../../examples/generate/picture.rs"]
mod picture;

const AGAIN: &str = "cargo run --example generate";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_is_checked_in_is_what_would_be_written_now() {
    let files = carlosctl::generate::files().expect("every page renders");
    for (path, wanted) in &files {
        let found = fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(found == *wanted, "{} is not what the program says now; write it again: {AGAIN}", path.display());
    }
    let written: BTreeSet<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
    for directory in ["completions", "man"] {
        for entry in fs::read_dir(root().join(directory)).expect("a directory") {
            let path = Path::new(directory).join(entry.expect("an entry").file_name());
            assert!(written.contains(&path), "{} is of nothing any more; remove it: {AGAIN}", path.display());
        }
    }
}

#[test]
fn a_table_of_exit_codes_in_the_readme_is_the_generated_one() {
    let Ok(readme) = fs::read_to_string(root().join("README.md")) else { return };
    let page = carlosctl::generate::exit_codes_page();
    let is_row = |line: &&str| {
        line.strip_prefix("| ").is_some_and(|rest| rest.split_once(" |").is_some_and(|(code, _)| code.parse::<u8>().is_ok()))
    };
    for row in readme.lines().filter(is_row) {
        assert!(page.lines().any(|line| line == row), "README.md: {row:?} is not a row of runbooks/exit-codes.md");
    }
}

#[test]
fn completions_do_not_need_settings_that_make_sense() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let outcome = carlosctl(["--host-env", "/nonexistent/host.env", "completions", shell])
            .env("CARLOS_BOX_LABEL", "../no label")
            .run();
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
        assert!(outcome.stdout.contains("snapshot") && outcome.stdout.contains("doctor"), "{shell}");
    }
    assert_eq!(carlosctl(["completions", "csh"]).run().code, 2);
    let bash = carlosctl(["completions", "bash"]).run().stdout;
    assert_eq!(bash, fs::read_to_string(root().join("completions/carlosctl.bash")).expect("a file"));
}

#[test]
fn help_does_not_need_settings_that_make_sense() {
    let directory = tempfile::tempdir().expect("a directory");
    let broken = directory.path().join("host.env");
    fs::write(&broken, "no assignment\n").expect("a file");
    for topic in [&["help"][..], &["help", "findings"], &["help", "exit-codes"], &["help", "restore", "undo"]] {
        for host_env in [&*broken, Path::new("/nonexistent/host.env")] {
            let outcome =
                carlosctl(topic.iter().copied()).arg("--host-env").arg(host_env).env("CARLOS_BOX_LABEL", "../no label").run();
            assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
            assert!(outcome.stdout.len() > 100, "{outcome}");
        }
    }
    let outcome = carlosctl(["snapshot", "list", "--host-env"]).arg(&broken).run();
    assert_eq!(outcome.code, 2, "the same file is read where settings are: {outcome}");
}

/// The picture in the README is of what the program prints now.
#[test]
fn the_picture_of_the_list_is_the_list() {
    let wanted = picture::picture().expect("it is drawn");
    let found = fs::read_to_string(root().join(picture::PATH)).unwrap_or_default();
    assert!(found == wanted, "{} is not what snapshot list shows now; draw it again: {AGAIN}", picture::PATH);
    // It is of the real list, bars and colours and all.
    for part in ["snapshot list", "edge-a1", "size-collapsed", "████", "fg-yellow"] {
        assert!(wanted.contains(part), "{part} in {wanted}");
    }
    let readme = fs::read_to_string(root().join("README.md")).expect("a file");
    assert!(readme.contains(&format!("]({})", picture::PATH)));
}

/// What bash offers after these words, the last of them being typed.
fn offered(words: &str) -> Vec<String> {
    let script = format!(
        "source '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         _carlosctl carlosctl \"${{COMP_WORDS[COMP_CWORD]}}\" \"\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        root().join("completions/carlosctl.bash").display()
    );
    let output = std::process::Command::new("bash").args(["--norc", "-c", &script]).output().expect("bash");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_and_flags() {
    assert_eq!(offered("carlosctl sna"), ["snapshot"]);
    assert_eq!(offered("carlosctl snapshot ver"), ["verify"]);
    assert!(offered("carlosctl drill --boot").contains(&"--boot-cmd".to_owned()));
    assert_eq!(offered("carlosctl completions z"), ["zsh"]);
}

#[test]
fn manual_pages_are_printed_and_written_without_settings() {
    let page = carlosctl(["man", "--host-env", "/nonexistent/host.env"]).run();
    assert_eq!(page.code, 0, "{page}");
    assert_eq!(page.stdout, fs::read_to_string(root().join("man/carlosctl.1")).expect("a file"));
    let directory = tempfile::tempdir().expect("a directory");
    let written = carlosctl(["man", "--out"]).arg(directory.path()).run();
    assert_eq!(written.code, 0, "{written}");
    let names = |directory: &Path| -> BTreeSet<_> {
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").file_name()).collect()
    };
    assert_eq!(names(directory.path()), names(&root().join("man")));
    let missing = carlosctl(["man", "--out"]).arg(directory.path().join("missing")).run();
    assert_eq!(missing.code, 10, "{missing}");
}

#[test]
fn every_example_of_a_help_page_is_a_command_that_exists() {
    fn walk(command: &clap::Command, checked: &mut usize) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().map(str::trim).filter(|line| line.starts_with("carlosctl ")) {
            // What stands behind many blanks is a remark, and what a shell would take is the shell's.
            let typed = line.split("   ").next().unwrap_or_default();
            let typed = typed.split(" > ").next().and_then(|typed| typed.split(" | ").next()).unwrap_or_default();
            if let Err(error) = Cli::try_parse_from(words(typed)) {
                panic!("{line}: {error}");
            }
            *checked += 1;
        }
        command.get_subcommands().for_each(|command| walk(command, checked));
    }
    let mut checked = 0;
    walk(&Cli::command(), &mut checked);
    assert!(checked >= 20, "{checked}");
}

#[test]
fn a_mistyped_command_suggests_the_near_one() {
    let outcome = carlosctl(["snapsho", "list"]).run();
    assert_eq!(outcome.code, 2, "{outcome}");
    assert!(outcome.stderr.contains("'snapshot'"), "{outcome}");
    let outcome = carlosctl(["snapshot", "verfy"]).run();
    assert!(outcome.stderr.contains("'verify'"), "{outcome}");
    let outcome = carlosctl(["help", "docter"]).run();
    assert_eq!(outcome.code, 2, "{outcome}");
    assert!(outcome.stderr.contains("did you mean doctor?"), "{outcome}");
}

#[test]
fn the_topics_are_the_pages() {
    let codes = carlosctl(["help", "exit-codes"]).run();
    let page = carlosctl::generate::exit_codes_page();
    for line in codes.stdout.lines().skip(1).filter(|line| line.starts_with(' ')) {
        let (code, meaning) = line.trim().split_once("  ").expect("two columns");
        assert!(
            page.lines().any(|row| row.starts_with(&format!("| {code} |")) && row.ends_with(&format!("| {meaning} |"))),
            "{line}"
        );
    }
    let findings = carlosctl(["help", "findings"]).run();
    for heading in carlosctl::generate::findings_page().lines().filter_map(|line| line.strip_prefix("## ")) {
        assert!(findings.stdout.lines().any(|line| line.split(' ').next() == Some(heading)), "{heading}");
    }
}
