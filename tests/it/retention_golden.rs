//! Evidence in, decision out: one file a case in `tests/golden/retention/`.
//!
//! A file holds what the case is `about`, what to `expect` of it in short (written by hand, and never rewritten), the
//! `evidence`, and the whole `decision`. After a change that is meant, `CARLOSCTL_REWRITE_GOLDEN=1 cargo test --test it
//! retention_golden` writes the decisions again; the expectations must hold all the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use carlosctl::retention::decision::{AppDecision, Status, Verdict, VersionDecision};
use carlosctl::retention::{Decision, Evidence, decide};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
struct Case {
    about: String,
    expect: Expected,
    evidence: Evidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
}

/// A decision in short. `apps` by `account/app`; `notes` are codes of findings that concern no app.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Expected {
    apps: BTreeMap<String, ExpectedApp>,
    notes: Vec<String>,
}

/// `versions` as `eligible`, `undetermined`, `kept` or `kept: <codes>`; `hazards` as `<box> <version>`.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct ExpectedApp {
    status: Status,
    versions: BTreeMap<String, String>,
    refusals: Vec<String>,
    hazards: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    newly: Vec<String>,
}

fn in_short(decision: &Decision) -> Expected {
    Expected {
        apps: decision.apps.iter().map(|app| (format!("{}/{}", app.account, app.app), app_in_short(app))).collect(),
        notes: decision.findings.iter().map(|finding| finding.code.to_string()).collect(),
    }
}

fn app_in_short(app: &AppDecision) -> ExpectedApp {
    let newly = app.versions.iter().filter(|version| version.newly);
    ExpectedApp {
        status: app.status,
        versions: app.versions.iter().map(|version| (version.version.clone(), version_in_short(version))).collect(),
        refusals: app.refusals.iter().map(|finding| finding.code.to_string()).collect(),
        hazards: app.hazards.iter().map(|hazard| format!("{} {}", hazard.r#box, hazard.version)).collect(),
        newly: newly.map(|version| version.version.clone()).collect(),
    }
}

fn version_in_short(version: &VersionDecision) -> String {
    let codes: Vec<&str> = version.reasons.iter().map(|reason| reason.code.as_str()).collect();
    match version.verdict {
        Verdict::Eligible => "eligible".to_owned(),
        Verdict::Undetermined => "undetermined".to_owned(),
        Verdict::Kept if codes.is_empty() => "kept".to_owned(),
        Verdict::Kept => format!("kept: {}", codes.join(" ")),
    }
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/retention");
    let mut cases: Vec<_> = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    cases.sort();
    cases
}

#[test]
fn every_case_is_decided_as_written_down() {
    let rewrite = std::env::var_os("CARLOSCTL_REWRITE_GOLDEN").is_some();
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for path in cases {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("the case");
        let mut case: Case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let decision = decide(&case.evidence);
        let short = in_short(&decision);
        if short != case.expect {
            wrong.push(format!("{name}: {}\nexpected {:#?}\nbut got {short:#?}", case.about, case.expect));
        }
        case.decision = Some(decision);
        let now = serde_json::to_string_pretty(&case).expect("json") + "\n";
        if rewrite {
            fs::write(&path, now).expect("the case is written");
        } else if now != text {
            wrong.push(format!("{name}: the decision is not the one in the file (see the top of this test)"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
