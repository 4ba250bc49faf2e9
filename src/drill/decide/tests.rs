use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::super::boot::Boot;
use super::super::evidence::Copy;
use super::*;
use crate::registry::Census;
use crate::restore::{Neighbour, Request, TargetContent};
use crate::snapshot::{BoxEvidence, Chosen, Proof, SidecarRead, Source};
use crate::store::ObjectMeta;

fn census(routes: u64) -> Census {
    Census { routes, ..Census::default() }
}

fn rehearsed() -> Evidence {
    let as_of: Timestamp = "2026-11-30T12:00:00Z".parse().expect("an instant");
    let made = as_of - SignedDuration::from_hours(1);
    let label: crate::platform::Label = "edge-a1".parse().expect("a label");
    let key = "control/registry-snapshot/edge-a1.db".to_owned();
    let object = ObjectMeta { key, bytes: 9000, etag: "e".into(), last_modified: made, version_id: None };
    let mut seen = BoxEvidence::new(label.clone());
    seen.current = Some(object.clone());
    seen.sidecar = SidecarRead::Read(crate::platform::Sidecar {
        label: label.to_string(),
        fingerprint: "ab12".into(),
        created_at: Some(made),
        bytes: 9000,
    });
    let restore = restore::Evidence {
        as_of,
        request: Request { from_box: label, this_box: None, same_label: false, allowed: vec![], max_age: None },
        dead: seen.clone(),
        own: None,
        chosen: Chosen { at: "current".into(), source: Source::Object(object), because: String::new() },
        proof: Proof { sha256: "aa".into(), census: Some(census(200)), findings: vec![] },
        of: Some(made),
        neighbour: None,
        last: None,
        changed_while_read: false,
        clock_ahead_seconds: Some(0),
        host: vec![],
        target: TargetContent::Absent,
    };
    let copy = Copy { sha256: "aa".into(), census: census(200), fingerprint: "f".into(), damage: vec![] };
    let rehearsed = Rehearsed {
        restore,
        fingerprint: Ok("f".into()),
        copy: Ok(copy),
        recovery: Duration::from_secs(1),
        filesystem: "ext4".into(),
        boot: None,
        boot_wanted: false,
    };
    Evidence { as_of, seen, rehearsed: Ok(Box::new(rehearsed)) }
}

/// The verdict and the rungs after a change.
fn after(change: impl FnOnce(&mut Rehearsed)) -> (Verdict, Vec<Passed>, Vec<Code>) {
    let mut evidence = rehearsed();
    change(evidence.rehearsed.as_mut().expect("rehearsed"));
    let decision = decide(&evidence);
    let codes = decision.findings.iter().map(|found| found.code).collect();
    (decision.verdict, decision.ladder.iter().map(|step| step.passed).collect(), codes)
}

use Passed::{No, Unknown, Yes};

#[test]
fn a_whole_rehearsal_is_good() {
    assert_eq!(after(|_| {}), (Verdict::Good, vec![Yes, Yes, Yes, Yes], vec![]));
}

#[test]
fn a_copy_that_differs_anywhere_is_bad() {
    type Change = fn(&mut Copy);
    let changes: [Change; 4] = [
        |copy| copy.sha256 = "bb".into(),
        |copy| copy.census = census(199),
        |copy| copy.fingerprint = "g".into(),
        |copy| copy.damage = vec!["row 3 missing".into()],
    ];
    for change in changes {
        let found = after(|rehearsed| change(rehearsed.copy.as_mut().expect("a copy")));
        assert_eq!(found, (Verdict::Bad, vec![Yes, Yes, Yes, No], vec![Code::DrillFailed]));
    }
    let found = after(|rehearsed| rehearsed.fingerprint = Err("odd".into()));
    assert_eq!(found.0, Verdict::Bad);
}

#[test]
fn what_could_not_be_installed_is_not_known() {
    let found = after(|rehearsed| rehearsed.copy = Err("no space left".into()));
    assert_eq!(found, (Verdict::Unknown, vec![Yes, Yes, Yes, Unknown], vec![Code::DrillFailed]));
}

#[test]
fn what_is_no_registry_is_not_expected_to_be_installed() {
    let found = after(|rehearsed| {
        rehearsed.restore.proof.census = None;
        rehearsed.restore.proof.findings = vec![Finding::blocking(Code::NotSqlite, "k", "x")];
        rehearsed.copy = Err("not installed".into());
    });
    assert_eq!(found, (Verdict::Bad, vec![Yes, No, Unknown, Unknown], vec![Code::NotSqlite]));
}

#[test]
fn clocks_that_disagree_leave_the_content_unknown_and_not_bad() {
    let found = after(|rehearsed| rehearsed.restore.clock_ahead_seconds = Some(3600));
    assert_eq!(found, (Verdict::Unknown, vec![Yes, Yes, Unknown, Yes], vec![Code::ClockSkew]));
}

#[test]
fn a_living_box_is_no_finding_and_one_that_moves_under_the_read_is() {
    let found = after(|rehearsed| rehearsed.restore.dead.reported_at = Some(rehearsed.restore.as_of));
    assert_eq!((found.0, found.2), (Verdict::Good, vec![Code::DataAtRisk]));
    let found = after(|rehearsed| rehearsed.restore.changed_while_read = true);
    assert_eq!(found, (Verdict::Bad, vec![No, Yes, Yes, Yes], vec![Code::StillWriting]));
}

#[test]
fn a_collapse_against_the_neighbour_is_not_plausible() {
    let found = after(|rehearsed| {
        rehearsed.restore.neighbour = Some(Neighbour { at: "20261130T100000Z".into(), content: Ok(census(500)) });
    });
    assert_eq!(found, (Verdict::Bad, vec![Yes, Yes, No, Yes], vec![Code::RowsCollapsed]));
}

#[test]
fn a_boot_that_was_wanted_and_not_done_is_not_known() {
    let boot = |booted| Boot { booted, because: "the boot command ended with 1".into(), took: Duration::ZERO };
    let with = |outcome: Option<Boot>| {
        after(|rehearsed| {
            rehearsed.boot_wanted = true;
            rehearsed.boot = outcome;
        })
    };
    assert_eq!(with(Some(boot(true))).0, Verdict::Good);
    assert_eq!(with(Some(boot(false))), (Verdict::Bad, vec![Yes, Yes, Yes, Yes, No], vec![Code::DrillFailed]));
    assert_eq!(with(None).0, Verdict::Unknown);
}

#[test]
fn missing_is_bad_and_hindered_is_not_known() {
    let mut evidence = rehearsed();
    evidence.rehearsed = Err(Obstacle::Missing("no snapshot proves".into()));
    let decision = decide(&evidence);
    assert_eq!((decision.verdict, decision.findings[0].code), (Verdict::Bad, Code::CurrentMissing));
    evidence.rehearsed = Err(Obstacle::Hindered(vec![Finding::blocking(Code::NoSpace, "scratch", "x")]));
    let decision = decide(&evidence);
    assert_eq!((decision.verdict, decision.findings[0].code), (Verdict::Unknown, Code::NoSpace));
    assert!(decision.ladder.iter().all(|step| step.passed == Unknown));
}
