//! Every command that is proposed stands alone at the end of its line. What the program says is looked at wherever a test runs
//! it (`common::hints`); here is everything that it could say.

use std::fs;
use std::path::{Path, PathBuf};

use carlosctl::finding::Code;

use crate::common::carlosctl;
use crate::common::deployment::{Deployment, registry};
use crate::common::hints::fault;

#[test]
fn prose_behind_a_command_is_noticed() {
    for (text, expected) in [
        ("prove it: carlosctl restore watch", None),
        ("carlosctl snapshot list --box edge-a1", None),
        ("mask it: systemctl mask --now a.service || systemctl disable --now a.service", None),
        ("an object below control/carlosctl is not read, and that is all", None),
        ("carlosctl snapshot hold --box a, and then stop the agent", Some("prose behind the command")),
        ("carlosctl snapshot hold --box a, then: carlosctl restore --from-box a", Some("two commands")),
        ("did you mean a? carlosctl snapshot list", Some("prose before the command that does not end with a colon")),
        ("look: systemctl status; then watch again", Some("prose behind the command")),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
}

/// The texts of a source file, its tests left out, each line of each by itself.
fn texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (skipped, from) = (&rest[at..], &rest[at + 1..]);
        if skipped.starts_with("//") {
            rest = from.split_once('\n').map_or("", |(_, after)| after);
        } else if skipped.starts_with("'\"'") {
            rest = &rest[at + 3..];
        } else if skipped.starts_with('"') {
            let mut text = String::new();
            let mut characters = from.char_indices();
            let mut end = from.len();
            while let Some((at, character)) = characters.next() {
                match character {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => match characters.next() {
                        Some((_, 'n')) => text.push('\n'),
                        // A line that goes on below.
                        Some((at, '\n')) => {
                            let blanks = from[at + 1..].chars().take_while(|blank| *blank == ' ').count();
                            characters.by_ref().take(blanks).for_each(drop);
                        }
                        Some((_, other)) => text.push(other),
                        None => break,
                    },
                    other => text.push(other),
                }
            }
            texts.extend(text.lines().map(str::to_owned));
            rest = &from[end.min(from.len())..];
        } else {
            rest = from;
        }
    }
    texts
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

#[test]
fn no_text_of_the_program_has_prose_behind_a_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut proposals = 0;
    for path in files {
        // The help has examples with a word behind each, and a document in the bucket begins with the program's name.
        let name = path.strip_prefix(&root).expect("below").display().to_string();
        if name.starts_with("cli/") || name.ends_with("tests.rs") {
            continue;
        }
        for text in texts(&fs::read_to_string(&path).expect("UTF-8")) {
            if text.contains("carlosctl ") && !text.contains("not found") {
                assert_eq!(fault(&text), None, "{name}: {text}");
                proposals += usize::from(fault(&format!("{text}, and then")).is_some());
            }
        }
    }
    assert!(proposals > 40, "only {proposals} proposals were found");
    for code in Code::ALL {
        let action = code.page().action;
        if action.contains("carlosctl ") {
            assert_eq!(fault(action), None, "{code}: {action}");
        }
    }
}

#[test]
fn a_documents_hints_have_the_flags_that_were_typed_as_the_text_has() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(0, ""));
    let dir = deployment.dir().display().to_string();
    let command = format!("carlosctl --dir={dir} snapshot hold --box edge-a1");
    let text = carlosctl(["snapshot", "list", "--box", "edge-a1", "--dir", &dir]).run();
    assert!(text.stdout.lines().any(|line| line.ends_with(&command)), "{command} in {text}");
    let document = carlosctl(["snapshot", "list", "--box", "edge-a1", "--dir", &dir, "--json"]).run();
    let findings = document.json()["boxes"][0]["findings"].clone();
    let hint =
        findings.as_array().expect("findings").iter().find(|found| found["code"] == "size-collapsed").expect("one")["hint"]
            .clone();
    assert!(hint.as_str().expect("a hint").ends_with(&command), "{hint}");
    // Where it ends in an error, too.
    let error = carlosctl(["snapshot", "show", "--box", "edge-a1", "--at", "20200101T000000Z", "--dir", &dir, "--json"]).run();
    let line: serde_json::Value = serde_json::from_str(error.stderr.trim()).expect("one line");
    assert_eq!(line["hints"][0], format!("what there is: carlosctl --dir={dir} snapshot list --box edge-a1"));
}
