//! Each selector and its edges: what is chosen is compared word for word, and so is what there is instead.

mod neighbours;

use super::super::bench::{at, generation as of, label, object, sidecar, sidecar_of, stamp};
use super::super::evidence::{HoldEvidence, SidecarRead};
use super::*;
use crate::store::ObjectVersion;

fn version_of(key: String, id: Option<&str>, is_delete_marker: bool) -> ObjectVersion {
    let object = ObjectMeta { version_id: id.map(String::from), ..object(key, "07:00:00", 80_000) };
    ObjectVersion { object, is_latest: false, is_delete_marker }
}

/// A whole box: current equals the newest of its three generations, one of which is held beside current.
fn whole() -> BoxEvidence {
    let mut seen = BoxEvidence::new(label());
    seen.generations = vec![of("10:00:00", 90_000), of("09:00:00", 90_000), of("08:00:00", 90_000)];
    let current = object(keys::current(&label()), "10:00:00", 90_000);
    seen.sidecar = sidecar("10:00:00", 90_000);
    let copy = |name: &str, time: &str| object(format!("{}{name}", keys::hold(&label(), stamp("11:00:00"))), time, 90_000);
    let objects = vec![copy("20261130T090000Z.db", "09:00:00"), copy("current.db", "10:00:00")];
    seen.holds = vec![
        HoldEvidence { stamp: stamp("11:30:00"), objects: vec![], sealed: true },
        HoldEvidence { stamp: stamp("11:00:00"), objects, sealed: true },
    ];
    seen.versions = vec![
        version_of(keys::sidecar(&label()), Some("s1"), false),
        version_of(keys::current(&label()), None, false),
        version_of(keys::current(&label()), Some("v2"), true),
        version_of(keys::current(&label()), Some("v1"), false),
    ];
    seen.current = Some(current);
    seen
}

/// What is otherwise than in a whole box.
type Change = fn(&mut BoxEvidence);

fn with(change: impl FnOnce(&mut BoxEvidence)) -> BoxEvidence {
    let mut seen = whole();
    change(&mut seen);
    seen
}

fn selector(text: &str) -> Selector {
    text.parse().expect("a selector")
}

fn selected(seen: &BoxEvidence, text: &str) -> Result<Vec<Chosen>, CommandError> {
    select(seen, &selector(text), at("12:00:00"))
}

fn one(seen: &BoxEvidence, text: &str) -> Chosen {
    let [one] = <[Chosen; 1]>::try_from(selected(seen, text).expect("it is there")).expect("one");
    one
}

/// The selector, key and reason of the one that is chosen, or why none is.
fn told(seen: &BoxEvidence, text: &str) -> String {
    match selected(seen, text) {
        Ok(_) => {
            let chosen = one(seen, text);
            format!("{} | {} | {}", chosen.at, chosen.source.name(), chosen.because)
        }
        Err(error) => error.message,
    }
}

/// The selectors of all that are chosen, or why none is.
fn candidates(seen: &BoxEvidence) -> String {
    match selected(seen, "good") {
        Ok(chosen) => chosen.into_iter().map(|chosen| chosen.at).collect::<Vec<_>>().join(" "),
        Err(error) => error.message,
    }
}

#[test]
fn every_selector_is_one_object() {
    let hold = "control/carlosctl/holds/edge-a1/20261130T110000Z";
    for (text, said) in [
        ("current", "current | control/registry-snapshot/edge-a1.db | the current snapshot".to_owned()),
        (
            "20261130T090000Z",
            "20261130T090000Z | control/registry-snapshots/edge-a1/20261130T090000Z.db | generation 20261130T090000Z was \
             asked for"
                .into(),
        ),
        (
            "version:v1",
            "version:v1 | control/registry-snapshot/edge-a1.db | version v1, written 2026-11-30T07:00:00Z, was asked for"
                .into(),
        ),
        ("hold:20261130T110000Z", format!("hold:20261130T110000Z | {hold}/current.db | hold:20261130T110000Z was asked for")),
        (
            "hold:20261130T110000Z/20261130T090000Z",
            format!(
                "hold:20261130T110000Z/20261130T090000Z | {hold}/20261130T090000Z.db | \
                 hold:20261130T110000Z/20261130T090000Z was asked for"
            ),
        ),
        ("file:/data/x.db", "file:/data/x.db | /data/x.db | a local file was asked for".into()),
    ] {
        assert_eq!(told(&whole(), text), said);
    }
    let version = |text: &str| one(&whole(), text).source.object().expect("an object").version_id.clone();
    assert_eq!((version("version:v1"), version("current")), (Some("v1".into()), None));
    assert_eq!(told(&BoxEvidence::new(label()), "file:/data/x.db"), told(&whole(), "file:/data/x.db"));
}

#[test]
fn what_is_not_there_is_told_with_what_there_is() {
    let have = "20261130T100000Z, 20261130T090000Z, 20261130T080000Z, hold:20261130T113000Z, hold:20261130T110000Z";
    let current = "control/registry-snapshot/edge-a1.db";
    for (text, what) in [
        ("20261130T070000Z", "no generation 20261130T070000Z".to_owned()),
        ("2026-11-30T07:59:59.6Z", "nothing at or before 2026-11-30T08:00:00Z".into()),
        ("2026-11-30T07:59:59Z", "nothing at or before 2026-11-30T07:59:59Z".into()),
        ("5h", "nothing at or before 2026-11-30T07:00:00Z".into()),
        ("version:v3", format!("no version v3 of {current}")),
        ("version:s1", format!("no version s1 of {current}")),
        ("version:v2", format!("version v2 of {current} is a delete marker")),
        ("hold:20261130T120000Z", "no hold 20261130T120000Z".into()),
        (
            "hold:20261130T110000Z/20261130T080000Z",
            "hold 20261130T110000Z has no 20261130T080000Z.db (it has 20261130T090000Z.db, current.db)".into(),
        ),
    ] {
        assert_eq!(told(&whole(), text), format!("box edge-a1: {what}; there is: current, {have}"));
    }
    let without = with(|seen| seen.current = None);
    let missing = CommandError::new(Exit::NotFound, format!("box edge-a1: no current snapshot ({current}); there is: {have}"))
        .hint("what there is: carlosctl snapshot list --box edge-a1");
    assert_eq!(selected(&without, "current"), Err(missing));
    let nothing = BoxEvidence::new(label());
    assert_eq!(told(&nothing, "current"), format!("box edge-a1: no current snapshot ({current}); there is: nothing"));
    assert_eq!(candidates(&nothing), "box edge-a1: no snapshot that did not collapse; there is: nothing");
}

#[test]
fn a_time_is_the_newest_at_or_before_it() {
    let generation = |time: &str, at: &str| {
        let stamp = stamp(time);
        format!("{stamp} | control/registry-snapshots/edge-a1/{stamp}.db | the newest at or before 2026-11-30T{at}Z")
    };
    let current = |at: &str, of: &str| {
        let because = format!("the newest at or before 2026-11-30T{at}Z: current is of 2026-11-30T{of}Z");
        format!("current | control/registry-snapshot/edge-a1.db | {because}")
    };
    let on = |seen: &BoxEvidence, time: &str| told(seen, &format!("2026-11-30T{time}Z"));
    assert_eq!(on(&whole(), "12:00:00"), current("12:00:00", "10:00:00"));
    assert_eq!(on(&whole(), "10:00:00"), current("10:00:00", "10:00:00"), "its own generation is not newer");
    assert_eq!(on(&whole(), "09:59:59"), generation("09:00:00", "09:59:59"));
    assert_eq!(on(&whole(), "09:00:00"), generation("09:00:00", "09:00:00"));
    assert_eq!(on(&whole(), "08:59:59"), generation("08:00:00", "08:59:59"));
    assert_eq!(on(&whole(), "08:00:00"), generation("08:00:00", "08:00:00"));
    // Stamps have whole seconds, and current's time has not.
    let fraction = with(|seen| sidecar_of(seen).created_at = Some(at("10:00:00.4")));
    assert_eq!(on(&fraction, "10:00:01"), current("10:00:01", "10:00:00"));
    assert_eq!(on(&fraction, "10:00:00"), generation("10:00:00", "10:00:00"));
    let newer = with(|seen| seen.generations.insert(0, of("10:00:01", 90_000)));
    assert_eq!(on(&newer, "10:00:01"), generation("10:00:01", "10:00:01"));
    assert_eq!(on(&newer, "10:00:00"), current("10:00:00", "10:00:00"));
    let older = with(|seen| drop(seen.generations.remove(0)));
    assert_eq!(on(&older, "10:00:00"), current("10:00:00", "10:00:00"));
    let alone = with(|seen| seen.generations.clear());
    assert_eq!(on(&alone, "10:00:00"), current("10:00:00", "10:00:00"));
    assert!(on(&alone, "09:59:59").starts_with("box edge-a1: nothing at or before 2026-11-30T09:59:59Z; there is: current, "));
    for timeless in [with(|seen| seen.current = None), with(|seen| sidecar_of(seen).created_at = None)] {
        assert_eq!(on(&timeless, "12:00:00"), generation("10:00:00", "12:00:00"));
    }
    let by_the_store = with(|seen| {
        seen.sidecar = SidecarRead::Missing;
        seen.current.as_mut().expect("current").last_modified = at("10:30:00");
    });
    assert_eq!(on(&by_the_store, "10:30:00"), current("10:30:00", "10:30:00"));
    assert_eq!(told(&whole(), "2h"), current("10:00:00", "10:00:00"));
    assert_eq!(told(&whole(), "2h 1s"), generation("09:00:00", "09:59:59"));
    let never = CommandError::usage("170000000h ago is before all time");
    assert_eq!(selected(&whole(), "170000000h"), Err(never));
}

#[test]
fn good_is_current_and_then_the_generations() {
    let reasons: Vec<String> =
        selected(&whole(), "good").expect("candidates").into_iter().map(|chosen| chosen.because).collect();
    assert_eq!(
        reasons,
        [
            "current did not collapse and is the newest that proves",
            "generation 20261130T090000Z is the newest that proves and did not collapse",
            "generation 20261130T080000Z is the newest that proves and did not collapse",
        ]
    );
    let all = "20261130T100000Z 20261130T090000Z 20261130T080000Z";
    for (change, said) in [
        ((|_| ()) as Change, "current 20261130T090000Z 20261130T080000Z".to_owned()),
        (|seen| seen.generations[0].object.etag = "other".into(), format!("current {all}")),
        (|seen| seen.generations[0].object.bytes += 1, format!("current {all}")),
        (|seen| seen.generations[2].object.etag = "10:00:00".into(), "current 20261130T090000Z".into()),
        (|seen| seen.generations.clear(), "current".into()),
        (|seen| seen.current = None, all.into()),
        (|seen| seen.sidecar = SidecarRead::Missing, "current 20261130T090000Z 20261130T080000Z".into()),
        (|seen| sidecar_of(seen).label = "edge-c3".into(), all.into()),
        // The newest generation is of the pass that was cut, or equals current.
        (|seen| sidecar_of(seen).bytes += 1, all.into()),
        (|seen| (sidecar_of(seen).bytes, seen.generations) = (1, vec![]), "current".into()),
        // What listings show to be collapsed, ahead or empty.
        (|seen| seen.generations[1].object.bytes = 40_000, "current 20261130T080000Z".into()),
        (|seen| seen.generations[1].object.last_modified = at("08:54:59"), "current 20261130T080000Z".into()),
        (|seen| seen.generations[1].object.last_modified = at("08:55:00"), "current 20261130T090000Z 20261130T080000Z".into()),
        (|seen| seen.generations[1].object.bytes = 0, "current 20261130T080000Z".into()),
        (
            |seen| {
                (seen.current.as_mut().expect("current").bytes, sidecar_of(seen).bytes) = (40_000, 40_000);
                seen.generations[0].object.bytes = 40_000;
            },
            "20261130T090000Z 20261130T080000Z".into(),
        ),
    ] {
        assert_eq!(candidates(&with(change)), said);
    }
    // The clock is the one that is told.
    let ahead = with(|seen| seen.generations[0].object.etag = "other".into());
    let early = select(&ahead, &Selector::Good, at("09:54:59")).expect("candidates");
    assert_eq!(early.iter().map(|chosen| chosen.at.as_str()).collect::<Vec<_>>()[..2], ["current", "20261130T090000Z"]);
    let nothing = with(|seen| {
        seen.current = None;
        seen.generations.iter_mut().for_each(|found| found.object.bytes = 0);
    });
    let none = selected(&nothing, "good").expect_err("none");
    assert_eq!(none.exit, Exit::NotFound);
    assert!(none.message.starts_with("box edge-a1: no snapshot that did not collapse; there is: 20261130T100000Z, "));
}

#[test]
fn every_form_is_read_and_written_back() {
    let hold = stamp("11:00:00");
    for (text, meant, written) in [
        ("current", Selector::Current, "current"),
        ("good", Selector::Good, "good"),
        ("20261130T100000Z", Selector::Stamp(stamp("10:00:00")), "20261130T100000Z"),
        ("2026-11-30T10:00:00Z", Selector::Time(at("10:00:00")), "2026-11-30T10:00:00Z"),
        ("2026-11-30T11:00:00.25+01:00", Selector::Time(at("10:00:00.25")), "2026-11-30T10:00:00.25Z"),
        ("2h", Selector::Ago(SignedDuration::from_hours(2)), "2h"),
        ("90m", Selector::Ago(SignedDuration::from_mins(90)), "1h 30m"),
        ("1d", Selector::Ago(SignedDuration::from_hours(24)), "24h"),
        ("version:v1", Selector::Version("v1".into()), "version:v1"),
        ("version:file:a/b", Selector::Version("file:a/b".into()), "version:file:a/b"),
        ("hold:20261130T110000Z", Selector::Hold(hold, None), "hold:20261130T110000Z"),
        (
            "hold:20261130T110000Z/20261130T090000Z",
            Selector::Hold(hold, Some(stamp("09:00:00"))),
            "hold:20261130T110000Z/20261130T090000Z",
        ),
        ("file:/data/x.db", Selector::File("/data/x.db".into()), "file:/data/x.db"),
        ("file:current", Selector::File("current".into()), "file:current"),
    ] {
        assert_eq!((selector(text), meant.to_string().as_str()), (meant.clone(), written));
        assert_eq!(selector(written), meant);
    }
}

#[test]
fn what_is_no_selector_is_refused_with_every_form() {
    let refused = |text: &str| text.parse::<Selector>().expect_err(text);
    let forms = "not current, good, a stamp (20261130T100000Z), a time (2026-11-30T10:00:00Z, 2h), version:ID, \
                 hold:STAMP[/STAMP] or file:PATH";
    for text in ["", "Current", "current ", "latest", "20260230T000000Z", "0s", "-2h", "2h ago", "1mo", "Version:v1", "hold"] {
        assert_eq!(refused(text), forms, "{text}");
    }
    assert_eq!(refused("version:"), "version: wants a version id");
    assert_eq!(refused("file:"), "file: wants a path");
    for (text, wrong) in [
        ("hold:", ""),
        ("hold:current", "current"),
        ("hold:/20261130T090000Z", ""),
        ("hold:20261130T110000Z/", ""),
        ("hold:20261130T110000Z/current", "current"),
        ("hold:20261130T110000Z/20261130T090000Z/x", "20261130T090000Z/x"),
    ] {
        assert_eq!(refused(text), format!("{wrong:?} is not a stamp of the form YYYYMMDDTHHMMSSZ"), "{text}");
    }
}

#[test]
fn a_chosen_one_tells_its_size_and_when_it_was_held() {
    let line = |text: &str| one(&whole(), text).line();
    let current = "chose current (control/registry-snapshot/edge-a1.db, 87.9 KiB): the current snapshot";
    assert_eq!(line("current"), current);
    let absent = "file:/nowhere/registry.db";
    assert_eq!(line(absent), "chose file:/nowhere/registry.db (/nowhere/registry.db): a local file was asked for");
    let bytes = |text: &str| one(&whole(), text).bytes();
    let here = concat!("file:", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let size = include_bytes!("../../../Cargo.toml").len() as u64;
    assert_eq!((bytes("version:v1"), bytes(absent), bytes(here)), (80_000, 0, size));
    let held = |text: &str| one(&whole(), text).held_at();
    assert_eq!(held("hold:20261130T110000Z"), Some(at("11:00:00")));
    assert_eq!(held("hold:20261130T110000Z/20261130T090000Z"), Some(at("11:00:00")));
    assert_eq!((held("current"), held("20261130T090000Z"), held("version:v1"), held(absent)), (None, None, None, None));
    assert_eq!(one(&whole(), absent).source.object(), None);
}
