//! Each rule alone, and its edges: what is seen is written down, and what is found is compared word for word.

mod collapse;

use super::super::bench::{at, generation, label, object, sidecar, sidecar_of, stamp};
use super::super::evidence::HoldEvidence;
use super::*;
use crate::finding::Severity;
use crate::platform::Sidecar;
use crate::store::ObjectMeta;

const KIB: u64 = 1024;

/// A generation whose stamp is not when it was written.
fn lying(time: &str, written: &str, bytes: u64) -> Generation {
    let mut lying = generation(time, bytes);
    lying.object.last_modified = at(written);
    lying
}

fn stray(name: &str) -> ObjectMeta {
    object(format!("{}{name}", keys::generations(&label())), "08:00:00", 5)
}

/// A sealed hold with a copy of each of these generations.
fn hold(time: &str, of: &[Generation]) -> HoldEvidence {
    let key = |copy: &Generation| format!("{}{}.db", keys::hold(&label(), stamp(time)), copy.stamp);
    let objects = of.iter().map(|copy| ObjectMeta { key: key(copy), ..copy.object.clone() }).collect();
    HoldEvidence { stamp: stamp(time), objects, sealed: true }
}

/// A box whose current and sidecar are of ten o'clock, and which has these generations, newest first.
fn history(generations: &[(&str, u64)], current: u64) -> BoxEvidence {
    let mut seen = BoxEvidence::new(label());
    seen.generations = generations.iter().map(|(time, bytes)| generation(time, *bytes)).collect();
    seen.current = Some(object(keys::current(&label()), "10:00:00", current));
    seen.sidecar_object = Some(object(keys::sidecar(&label()), "10:00:00", 120));
    seen.sidecar = sidecar("10:00:00", current);
    seen
}

/// A whole box, with a change.
fn with(change: impl FnOnce(&mut BoxEvidence)) -> BoxEvidence {
    let mut seen = history(&[("10:00:00", 90_000), ("09:00:00", 90_000)], 90_000);
    change(&mut seen);
    seen
}

fn current_of(seen: &mut BoxEvidence) -> &mut ObjectMeta {
    seen.current.as_mut().expect("current")
}

fn judged(seen: &BoxEvidence) -> Judgement {
    judge(seen, at("12:00:00"))
}

/// What is found, a line each: `!` before one that blocks, nothing before a warning, `i` before a note.
fn lines(found: &Judgement) -> Vec<String> {
    let line = |finding: &Finding| {
        assert_eq!(finding.subject, "edge-a1");
        let weight = match finding.severity {
            Severity::Blocking => "!",
            Severity::Warning => "",
            Severity::Note => "i ",
        };
        format!("{weight}{}: {} | {}", finding.code, finding.because, finding.hint.as_deref().unwrap_or_default())
    };
    found.findings.iter().map(line).collect()
}

fn last_good(found: &Judgement) -> String {
    found.last_good.map_or_else(|| "none".into(), Rung::selector)
}

/// The word, the last good one, and what is found.
fn told(seen: &BoxEvidence) -> (State, String, Vec<String>) {
    let found = judged(seen);
    (found.state, last_good(&found), lines(&found))
}

fn found(seen: &BoxEvidence) -> String {
    lines(&judged(seen)).join("\n")
}

fn text(seen: &BoxEvidence, code: Code) -> String {
    let found = judged(seen).findings.into_iter().find(|finding| finding.code == code).expect("it is found");
    format!("{} | {}", found.because, found.hint.unwrap_or_default())
}

#[test]
fn a_whole_box_is_good_and_nothing_is_found() {
    let good =
        Judgement { state: State::Good, last_good: Some(Rung::Current), findings: vec![], collapsed: vec![], ahead: vec![] };
    assert_eq!(judged(&with(|_| ())), good);
    assert_eq!(judged(&with(|seen| sidecar_of(seen).created_at = Some(at("10:00:00.4")))), good);
}

const CURRENT_MISSING: &str = "!current-missing: control/registry-snapshot/edge-a1.db is not there | choose a generation by \
                               its stamp, or look for older versions: carlosctl snapshot list --box edge-a1 --all-versions";

#[test]
fn a_box_without_current_is_bad_and_its_newest_generation_is_the_last_good_one() {
    let newest = "20261130T100000Z".to_owned();
    assert_eq!(told(&with(|seen| seen.current = None)), (State::Bad, newest.clone(), vec![CURRENT_MISSING.into()]));
    let nothing =
        vec![CURRENT_MISSING.into(), "!sidecar-missing: control/registry-snapshot/edge-a1.json is not there | ".into()];
    assert_eq!(told(&BoxEvidence::new(label())), (State::Bad, "none".into(), nothing));
    let empty = with(|seen| (current_of(seen).bytes, sidecar_of(seen).bytes) = (0, 0));
    let said = "!empty-object: control/registry-snapshot/edge-a1.db has no bytes | ".to_owned();
    assert_eq!(told(&empty), (State::Bad, newest, vec![said]));
    assert_eq!(told(&history(&[], 1)), (State::Good, "current".into(), vec![]));
}

#[test]
fn a_sidecar_that_does_not_tell_whose_current_is_leaves_the_newest_generation() {
    let changed = |change: fn(&mut Sidecar)| {
        let mut seen = with(|_| ());
        change(sidecar_of(&mut seen));
        seen.sidecar
    };
    let because = || "it is odd".to_owned();
    let key = "control/registry-snapshot/edge-a1.json";
    for (sidecar, state, good, said) in [
        (SidecarRead::Missing, State::Suspect, "current", format!("!sidecar-missing: {key} is not there | ")),
        (
            SidecarRead::Deleted,
            State::Suspect,
            "current",
            format!(
                "!sidecar-missing: {key} was deleted; an older version may exist | carlosctl snapshot list --box edge-a1 \
                 --all-versions"
            ),
        ),
        (
            SidecarRead::Unreadable { because: because() },
            State::Bad,
            "20261130T100000Z",
            "!sidecar-unreadable: it is odd | ".into(),
        ),
        (SidecarRead::Version { because: because() }, State::Bad, "20261130T100000Z", "!sidecar-version: it is odd | ".into()),
        (
            SidecarRead::NotRead { because: because() },
            State::Bad,
            "20261130T100000Z",
            format!("!sidecar-unreadable: {key} could not be read: it is odd | "),
        ),
        (
            changed(|sidecar| sidecar.label = "edge-c3".into()),
            State::Bad,
            "20261130T100000Z",
            format!("!label-mismatch: {key} names box \"edge-c3\", not \"edge-a1\" | "),
        ),
        (
            changed(|sidecar| sidecar.created_at = None),
            State::Suspect,
            "current",
            format!("!sidecar-time-unknown: {key}: created_at is not known | "),
        ),
    ] {
        assert_eq!(told(&with(|seen| seen.sidecar = sidecar)), (state, good.into(), vec![said]));
    }
}

#[test]
fn the_last_good_one_beside_a_foreign_sidecar_is_the_newest_that_did_not_collapse() {
    let foreign = |mut seen: BoxEvidence| {
        sidecar_of(&mut seen).label = "edge-c3".into();
        last_good(&judged(&seen))
    };
    assert_eq!(foreign(history(&[], 90_000)), "none");
    let between = [("10:00:00", 40 * KIB), ("09:00:00", 100 * KIB), ("08:00:00", 100 * KIB)];
    assert_eq!(foreign(history(&between, 100 * KIB)), "20261130T090000Z");
    assert_eq!(foreign(history(&between, 40 * KIB)), "20261130T090000Z");
    let mut poisoned = history(&[("09:00:00", 90_000)], 90_000);
    poisoned.generations.insert(0, lying("20:00:00", "08:30:00", 90_000));
    assert_eq!(foreign(poisoned), "20261130T090000Z");
}

const TORN_HINT: &str = "restore a stamp that proves, or --allow torn-pair; which prove: carlosctl snapshot verify --box \
                         edge-a1 --all-generations";

#[test]
fn a_sidecar_of_another_size_is_torn() {
    let said = |sidecar: u64, current: u64, matching: &str| {
        let because = format!("the sidecar describes {sidecar} bytes and current has {current}");
        let line = format!("!torn-pair: {because}: a pass was cut between current and sidecar{matching} | {TORN_HINT}");
        (State::Suspect, "current".to_owned(), vec![line])
    };
    let matching = "; current equals generation 20261130T100000Z";
    assert_eq!(told(&with(|seen| sidecar_of(seen).bytes = 89_999)), said(89_999, 90_000, matching));
    assert_eq!(told(&with(|seen| current_of(seen).bytes = 90_001)), said(90_000, 90_001, ""));
    let other = with(|seen| (sidecar_of(seen).bytes, current_of(seen).etag) = (89_999, "other".into()));
    assert_eq!(told(&other), said(89_999, 90_000, ""));
    let untagged = with(|seen| {
        (sidecar_of(seen).bytes, current_of(seen).etag) = (89_999, String::new());
        seen.generations[0].object.etag = String::new();
    });
    assert_eq!(told(&untagged), said(89_999, 90_000, ""), "two contents without a tag are not known to be one");
    // Sizes need no time.
    let timeless = with(|seen| (sidecar_of(seen).bytes, sidecar_of(seen).created_at) = (89_999, None));
    assert!(found(&timeless).contains("!torn-pair: the sidecar describes 89999 bytes"));
}

#[test]
fn a_generation_of_a_pass_that_was_cut_is_newer_by_name_and_by_the_stores_clock() {
    let newer = |time: &str, written: &str| with(|seen| seen.generations.insert(0, lying(time, written, 90_000)));
    let said = |stamp: &str| {
        format!(
            "!torn-pair: generation {stamp} is newer than the sidecar (20261130T100000Z): a pass was cut after its \
             generation; current equals generation 20261130T100000Z | {TORN_HINT}"
        )
    };
    for (time, written, stamp) in [
        ("10:05:00", "10:05:00", "20261130T100500Z"),
        ("10:00:01", "10:00:00", "20261130T100001Z"),
        ("10:10:00", "10:05:00", "20261130T101000Z"),
    ] {
        assert_eq!(told(&newer(time, written)), (State::Suspect, "current".into(), vec![said(stamp)]));
    }
    let mut two = newer("10:05:00", "10:05:00");
    two.generations.insert(0, generation("10:10:00", 90_000));
    assert_eq!(found(&two), said("20261130T101000Z"));
    assert_eq!(found(&newer("10:00:01", "09:59:59")), "", "it was there before current was written");
    let lying = found(&newer("10:10:01", "10:05:00"));
    assert!(lying.starts_with("stamp-ahead: ") && !lying.contains("torn-pair"), "{lying}");
    let mut timeless = newer("10:05:00", "10:05:00");
    sidecar_of(&mut timeless).created_at = None;
    assert!(!found(&timeless).contains("torn-pair"));
}

#[test]
fn a_current_that_is_younger_than_its_sidecar_is_torn_unless_its_own_generation_equals_it() {
    let written = |time: &str, etag: &str| {
        with(|seen| {
            seen.sidecar_object.as_mut().expect("a sidecar").last_modified = at(time);
            seen.generations[0].object.etag = etag.into();
        })
    };
    let torn = "!torn-pair: current was written after its sidecar: a pass was cut between them";
    assert_eq!(found(&written("09:59:59", "10:00:00")), "");
    assert_eq!(found(&written("10:00:00", "other")), "");
    assert_eq!(found(&written("10:00:01", "other")), "");
    let other = written("09:59:59", "other");
    assert_eq!(told(&other), (State::Suspect, "current".into(), vec![format!("{torn} | {TORN_HINT}")]));
    let mut of_an_older = other.clone();
    of_an_older.generations[1].object.etag = "10:00:00".into();
    assert_eq!(found(&of_an_older), format!("{torn}; current equals generation 20261130T090000Z | {TORN_HINT}"));
    let mut not_listed = other;
    not_listed.sidecar_object = None;
    assert_eq!(found(&not_listed), "");
}

#[test]
fn current_was_written_with_a_generation_that_must_be_listed() {
    let short = |change: fn(&mut BoxEvidence)| {
        with(|seen| {
            seen.generations.remove(0);
            change(seen);
        })
    };
    let said = "generation-missing: current was written with generation 20261130T100000Z, which is not listed; \
                20261130T090000Z is the newest | ";
    assert_eq!(told(&short(|_| ())), (State::Good, "current".into(), vec![said.into()]));
    for change in [
        (|seen| seen.generations.clear()) as fn(&mut BoxEvidence),
        |seen| seen.current = None,
        |seen| seen.sidecar = SidecarRead::Missing,
        |seen| sidecar_of(seen).created_at = None,
    ] {
        assert!(!found(&short(change)).contains("generation-missing"));
    }
}

/// The generation of nine o'clock says five minutes and a second more than the store's clock said.
fn poisoned() -> BoxEvidence {
    with(|seen| seen.generations[1].object.last_modified = at("08:54:59"))
}

const AHEAD: &str = "stamp-ahead: generation 20261130T090000Z was written at 2026-11-30T08:54:59Z: its box's clock was ahead";
const AHEAD_HINT: &str = "hold before the next pass: carlosctl snapshot hold --box edge-a1";

#[test]
fn a_stamp_may_be_five_minutes_ahead_of_the_stores_clock_and_of_now() {
    assert_eq!(found(&with(|seen| seen.generations[1].object.last_modified = at("08:55:00"))), "");
    assert_eq!(judged(&poisoned()).ahead, [stamp("09:00:00")]);
    assert_eq!(told(&poisoned()), (State::Suspect, "current".into(), vec![format!("{AHEAD} | {AHEAD_HINT}")]));
    let seen_at = |as_of: &str| judge(&with(|_| ()), at(as_of));
    assert_eq!(seen_at("09:55:00").ahead, []);
    let early = seen_at("09:54:59");
    assert_eq!((early.state, early.ahead.as_slice()), (State::Suspect, [stamp("10:00:00")].as_slice()));
    let said = "stamp-ahead: generation 20261130T100000Z was written at 2026-11-30T10:00:00Z: its box's clock was ahead";
    assert_eq!(lines(&early), [format!("{said} | {AHEAD_HINT}")]);
    // Newest first, as they are listed.
    assert_eq!(seen_at("08:00:00").ahead, [stamp("10:00:00"), stamp("09:00:00")]);
}

#[test]
fn stamps_ahead_are_safe_only_in_a_sealed_hold_with_every_generation() {
    let all = poisoned().generations;
    let held = |change: fn(&mut HoldEvidence)| {
        let mut seen = poisoned();
        let mut hold = hold("11:00:00", &all);
        change(&mut hold);
        seen.holds = vec![hold];
        found(&seen)
    };
    let safe = "set the clock of edge-a1; what it could prune is safe in hold 20261130T110000Z";
    assert_eq!(held(|_| ()), format!("{AHEAD} | {safe}"));
    assert_eq!(held(|hold| hold.objects.truncate(1)), format!("{AHEAD} | {AHEAD_HINT}"));
    assert_eq!(held(|hold| hold.objects[1].bytes += 1), format!("{AHEAD} | {AHEAD_HINT}"));
    let cut = "hold-incomplete: hold 20261130T110000Z has no hold.json: it was cut short | ";
    assert_eq!(held(|hold| hold.sealed = false), format!("{cut}\n{AHEAD} | {AHEAD_HINT}"));
    let mut several = poisoned();
    several.holds = vec![hold("11:30:00", &all[..1]), hold("11:00:00", &all), hold("10:30:00", &all)];
    assert_eq!(found(&several), format!("{AHEAD} | {safe}"), "the newest that has all");
}
