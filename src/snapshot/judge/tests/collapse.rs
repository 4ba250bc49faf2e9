//! The history of sizes, how long its last good one is still there, and the tail as a whole.

use super::*;

/// The last good one, and which generations collapsed, oldest first.
fn walked(seen: &BoxEvidence) -> (String, Vec<String>) {
    let found = judged(seen);
    (last_good(&found), found.collapsed.iter().map(ToString::to_string).collect())
}

#[test]
fn a_fall_below_half_by_two_pages_is_a_collapse() {
    for (before, after, fallen) in [
        (100_000, 50_000, false),
        (100_000, 49_999, true),
        (100_001, 50_000, true),
        (10_000, 1_809, false),
        (10_000, 1_808, true),
        (8_192, 0, true),
        (8_191, 0, false),
        (0, 0, false),
        (0, 8_192, false),
        (90_000, 90_000, false),
        (u64::MAX, u64::MAX, false),
        (u64::MAX, 0, true),
        (90_000, u64::MAX, false),
    ] {
        assert_eq!(fell(before, after), fallen, "{before} to {after}");
    }
}

#[test]
fn a_collapsed_current_names_the_last_good_one_and_how_long_it_is_there() {
    let half = history(&[("10:00:00", 100 * KIB), ("09:00:00", 200 * KIB)], 100 * KIB);
    assert_eq!(told(&half), (State::Good, "current".into(), vec![]));
    let below = history(&[("10:00:00", 100 * KIB - 1), ("09:00:00", 200 * KIB)], 100 * KIB - 1);
    let said = "size-collapsed: current shrank from 200.0 KiB to 100.0 KiB, probably because a standby that was not restored \
                wrote over it; last good is 20261130T090000Z, which edge-a1 deletes when it has written 7 more snapshots, in \
                30 min at the soonest | stop the agent that writes as edge-a1, but first hold what there is: carlosctl \
                snapshot hold --box edge-a1";
    assert_eq!(told(&below), (State::Suspect, "20261130T090000Z".into(), vec![said.into()]));
    assert_eq!(walked(&below), ("20261130T090000Z".into(), vec!["20261130T100000Z".into()]));
    // A generation that collapsed is history; only current is restored by default.
    let recovered = history(&[("10:00:00", 200 * KIB), ("09:00:00", 50 * KIB), ("08:00:00", 200 * KIB)], 200 * KIB);
    assert_eq!(told(&recovered), (State::Good, "current".into(), vec![]));
    assert_eq!(walked(&recovered), ("current".into(), vec!["20261130T090000Z".into()]));
}

/// Each is compared with the last one that did not collapse, not with the one before it.
#[test]
fn the_history_is_walked_from_the_oldest() {
    let generations = [
        ("10:00:00", 59 * KIB),
        ("09:00:00", 50 * KIB),
        ("08:00:00", 120 * KIB),
        ("07:00:00", 45 * KIB),
        ("06:00:00", 40 * KIB),
        ("05:00:00", 100 * KIB),
    ];
    let clobbered = ["20261130T060000Z", "20261130T070000Z", "20261130T090000Z", "20261130T100000Z"].map(String::from);
    assert_eq!(walked(&history(&generations, 59 * KIB)), ("20261130T080000Z".into(), clobbered.to_vec()));
    assert_eq!(walked(&history(&generations, 60 * KIB)).0, "current", "more than half of what was lost is not told apart");
    // What grew to half is what the next one is compared with.
    let grown = [("09:00:00", 24 * KIB), ("08:00:00", 50 * KIB), ("07:00:00", 40 * KIB), ("06:00:00", 100 * KIB)];
    let fallen = ["20261130T070000Z", "20261130T090000Z"].map(String::from);
    assert_eq!(walked(&history(&grown, 24 * KIB)), ("20261130T080000Z".into(), fallen.to_vec()));
}

#[test]
fn a_stamp_that_is_ahead_is_placed_by_the_stores_clock() {
    let mut seen = history(&[("10:00:00", 40 * KIB), ("09:00:00", 40 * KIB)], 40 * KIB);
    let clobbered = vec!["20261130T090000Z".to_owned(), "20261130T100000Z".to_owned()];
    seen.generations.insert(0, lying("20:00:00", "08:30:00", 100 * KIB));
    assert_eq!(walked(&seen), ("20261130T200000Z".into(), clobbered.clone()));
    seen.generations[0] = lying("20:00:00", "09:30:00", 100 * KIB);
    assert_eq!(walked(&seen), ("20261130T200000Z".into(), clobbered[1..].to_vec()));
    // One that is not ahead is placed by its stamp: an upload may take long.
    seen.generations[0] = lying("08:30:00", "09:30:00", 100 * KIB);
    assert_eq!(walked(&seen), ("20261130T083000Z".into(), clobbered));
}

#[test]
fn what_has_no_bytes_is_no_part_of_the_history() {
    let seen = history(&[("10:00:00", 90_000), ("09:00:00", 0), ("08:00:00", 90_000)], 90_000);
    let said = "empty-object: generation 20261130T090000Z has no bytes | ";
    assert_eq!(told(&seen), (State::Good, "current".into(), vec![said.into()]));
    assert_eq!(judged(&seen).collapsed, []);
    let only = history(&[("10:00:00", 0)], 0);
    assert_eq!((judged(&only).state, last_good(&judged(&only))), (State::Bad, "none".into()));
    assert_eq!(found(&history(&[("10:00:00", 1)], 1)), "");
}

#[test]
fn a_last_good_one_that_is_held_is_not_counted_down() {
    let clobbered = || history(&[("10:00:00", 50 * KIB), ("09:00:00", 200 * KIB)], 50 * KIB);
    let held = |change: fn(&mut HoldEvidence)| {
        let mut seen = clobbered();
        let mut first = hold("11:30:00", &seen.generations[1..]);
        change(&mut first);
        seen.holds = vec![first, hold("11:00:00", &seen.generations)];
        text(&seen, Code::SizeCollapsed)
    };
    let safe = |hold: &str| {
        format!(
            "current shrank from 200.0 KiB to 50.0 KiB, probably because a standby that was not restored wrote over it; last \
             good is 20261130T090000Z, which is safe in hold {hold} | stop the agent that writes as edge-a1; to restore the \
             held one: carlosctl restore --from-box edge-a1 --at hold:{hold}/20261130T090000Z"
        )
    };
    assert_eq!(held(|_| ()), safe("20261130T113000Z"));
    assert_eq!(held(|hold| hold.sealed = false), safe("20261130T110000Z"));
    assert_eq!(held(|hold| hold.objects.clear()), safe("20261130T110000Z"));
    assert_eq!(held(|hold| hold.objects[0].bytes -= 1), safe("20261130T110000Z"));
    let mut of_another = clobbered();
    of_another.holds = vec![hold("11:00:00", &of_another.generations[..1])];
    assert!(text(&of_another, Code::SizeCollapsed).contains("which edge-a1 deletes when it has written 7 more snapshots"));
}

/// The agent deletes the smallest names until eight are left, whatever the names are.
#[test]
fn a_last_good_one_is_there_until_eight_larger_names_are() {
    // How many generations there are, how many are older than the last good one, and the names of strays.
    let countdown = |all: u32, older: u32, strays: &[&str]| {
        let mut seen = history(&[], 50 * KIB);
        let size = |at: u32| if at <= older { 200 * KIB } else { 50 * KIB };
        seen.generations = (0..all).rev().map(|at| generation(&format!("09:{at:02}:00"), size(at))).collect();
        seen.strays = strays.iter().map(|name| stray(name)).collect();
        assert_eq!(last_good(&judged(&seen)), format!("20261130T09{older:02}00Z"));
        text(&seen, Code::SizeCollapsed)
    };
    let next = "deletes when it writes its next snapshot, at any moment".to_owned();
    let more = |passes: u32, minutes: u32| {
        format!("deletes when it has written {passes} more snapshots, in {minutes} min at the soonest")
    };
    for (all, older, strays, said) in [
        (1, 0, [].as_slice(), more(8, 35)),
        (7, 0, &[], more(2, 5)),
        (7, 2, &[], more(4, 15)),
        (8, 0, &[], next.clone()),
        (8, 1, &[], more(2, 5)),
        (8, 2, &[], more(3, 10)),
        (10, 0, &[], next.clone()),
        (10, 2, &[], next.clone()),
        (10, 3, &[], more(2, 5)),
        (6, 0, &["0.db", "1.txt"], more(3, 10)),
        (6, 0, &["y.db", "z.txt"], next.clone()),
        (6, 0, &["0.db", "z.txt"], more(2, 5)),
        (5, 0, &["z.txt"], more(3, 10)),
        (8, 0, &["0.db"], next.clone()),
        (8, 1, &["0.db"], more(2, 5)),
    ] {
        let told = countdown(all, older, strays);
        assert!(told.contains(&format!(", which edge-a1 {said} | ")), "{all} {older} {strays:?}: {told}");
    }
}

#[test]
fn a_tail_may_have_eight_objects_all_of_which_are_generations() {
    let tail = |all: u32| {
        let mut seen = history(&[], 90_000);
        seen.generations = (0..all).rev().map(|at| generation(&format!("10:00:{at:02}"), 90_000)).collect();
        let newest = seen.generations[0].object.clone();
        seen.current = Some(ObjectMeta { key: keys::current(&label()), ..newest });
        sidecar_of(&mut seen).created_at = Some(seen.generations[0].stamp.instant());
        seen.sidecar_object = None;
        seen
    };
    let good = |said: Vec<&str>| (State::Good, "current".to_owned(), said.into_iter().map(String::from).collect::<Vec<_>>());
    let nine = "too-many-generations: 9 generations where 8 are kept: this box cannot delete, or its passes fail | ";
    let stray_one = "not-a-generation: control/registry-snapshots/edge-a1/notes.txt is not named by a stamp | ";
    assert_eq!(told(&tail(8)), good(vec![]));
    assert_eq!(told(&tail(9)), good(vec![nine]));
    let with_stray = |all: u32| {
        let mut seen = tail(all);
        seen.strays = vec![stray("notes.txt")];
        told(&seen)
    };
    assert_eq!(with_stray(7), good(vec![stray_one]));
    assert_eq!(with_stray(8), good(vec![stray_one, nine]));
}

#[test]
fn a_hold_without_its_seal_was_cut_short() {
    let seen = with(|seen| {
        let cut = HoldEvidence { sealed: false, ..hold("11:00:00", &seen.generations) };
        seen.holds = vec![hold("11:30:00", &[]), cut];
    });
    let said = "hold-incomplete: hold 20261130T110000Z has no hold.json: it was cut short | ";
    assert_eq!(told(&seen), (State::Good, "current".into(), vec![said.into()]));
}

#[test]
fn data_is_at_risk_from_the_second_after_the_last_good_one() {
    let risk = |seen: BoxEvidence, reported: &str| {
        let found = judged(&BoxEvidence { reported_at: Some(at(reported)), ..seen });
        lines(&found).into_iter().find(|line| line.contains("data-at-risk")).unwrap_or_default()
    };
    let said = |reported: &str, age: &str| {
        format!(
            "i data-at-risk: last report at 2026-11-30T{reported}Z, {age} after the last good snapshot: changes in between \
             are in no snapshot | "
        )
    };
    let whole = || with(|_| ());
    assert_eq!(risk(whole(), "10:00:01"), said("10:00:01", "1 s"));
    assert_eq!(risk(whole(), "11:30:00"), said("11:30:00", "1 h 30 min"));
    for before in ["10:00:00", "10:00:00.4", "09:59:59"] {
        assert_eq!(risk(whole(), before), "");
    }
    // Of the last good one, and not of current.
    let clobbered = || history(&[("10:00:00", 50 * KIB), ("09:00:00", 200 * KIB)], 50 * KIB);
    assert_eq!(risk(clobbered(), "09:30:00"), said("09:30:00", "30 min"));
    // Current is of its sidecar's time, and of the store's only where no sidecar tells it.
    assert_eq!(risk(with(|seen| sidecar_of(seen).created_at = Some(at("09:50:00"))), "10:00:00"), said("10:00:00", "10 min"));
    assert_eq!(risk(with(|seen| seen.sidecar = SidecarRead::Missing), "10:01:00"), said("10:01:00", "1 min"));
    assert_eq!(risk(with(|seen| sidecar_of(seen).created_at = None), "11:00:00"), "");
    assert_eq!(risk(BoxEvidence::new(label()), "11:00:00"), "");
    assert_eq!(judge(&BoxEvidence { reported_at: Some(at("11:00:00")), ..whole() }, at("12:00:00")).state, State::Good);
}

#[test]
fn a_rung_is_named_and_dated() {
    let seen = with(|seen| sidecar_of(seen).created_at = Some(at("09:59:58")));
    let generation = Rung::Generation(stamp("07:00:00"));
    assert_eq!((Rung::Current.selector().as_str(), generation.selector().as_str()), ("current", "20261130T070000Z"));
    assert_eq!((rung_at(&seen, Rung::Current), rung_at(&seen, generation)), (Some(at("09:59:58")), Some(at("07:00:00"))));
    assert_eq!(rung_at(&BoxEvidence::new(label()), Rung::Current), None);
}

#[test]
fn everything_that_is_wrong_is_found_the_weightiest_first() {
    let mut seen = history(&[("09:00:00", 200 * KIB), ("08:00:00", 200 * KIB)], 50 * KIB);
    (sidecar_of(&mut seen).label, sidecar_of(&mut seen).bytes) = ("edge-c3".into(), 1);
    (seen.strays, seen.reported_at) = (vec![stray("notes.txt")], Some(at("09:30:00")));
    seen.generations[1].object.last_modified = at("07:00:00");
    let found = judged(&seen);
    let codes: Vec<&str> = found.findings.iter().map(|finding| finding.code.as_str()).collect();
    let sorted = [
        "label-mismatch",
        "torn-pair",
        "generation-missing",
        "not-a-generation",
        "size-collapsed",
        "stamp-ahead",
        "data-at-risk",
    ];
    assert_eq!((found.state, codes.as_slice()), (State::Bad, sorted.as_slice()));
    assert_eq!((last_good(&found).as_str(), found.ahead.as_slice()), ("20261130T090000Z", [stamp("08:00:00")].as_slice()));
}
