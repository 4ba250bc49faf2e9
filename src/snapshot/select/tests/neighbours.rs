//! What a chosen one is compared with.

use super::*;

const LARGE: u64 = SMALL_BYTES + 1;

fn compared(seen: &BoxEvidence, chosen: &Chosen) -> Vec<String> {
    neighbours(seen, chosen, at("12:00:00")).into_iter().map(|found| found.at).collect()
}

/// The selectors of what `text` is compared with.
fn with_what(seen: &BoxEvidence, text: &str) -> String {
    compared(seen, &one(seen, text)).join(" ")
}

/// The whole box with generations of these sizes from nine o'clock back; current is as large as the newest.
fn sizes(of_each: &[u64]) -> BoxEvidence {
    with(|seen| {
        seen.generations = of_each.iter().zip(["09", "08", "07"]).map(|(size, at)| of(&format!("{at}:00:00"), *size)).collect();
        (seen.current.as_mut().expect("current").bytes, sidecar_of(seen).bytes) = (of_each[0], of_each[0]);
    })
}

#[test]
fn the_newest_other_one_is_compared_and_every_small_one_up_to_a_large_one() {
    let (nine, eight, seven) = ("20261130T090000Z", "20261130T080000Z", "20261130T070000Z");
    for (of_each, said) in [
        ([SMALL_BYTES; 3], format!("{nine} {eight} {seven}")),
        ([LARGE; 3], nine.into()),
        ([LARGE, SMALL_BYTES, SMALL_BYTES], nine.into()),
        ([SMALL_BYTES, LARGE, SMALL_BYTES], nine.into()),
        ([SMALL_BYTES, SMALL_BYTES, LARGE], format!("{nine} {eight}")),
    ] {
        assert_eq!(with_what(&sizes(&of_each), "current"), said, "{of_each:?}");
    }
    let chosen = neighbours(&whole(), &one(&whole(), "current"), at("12:00:00"));
    let [nine, _] = chosen.as_slice() else { panic!("two") };
    assert_eq!(nine.source, Source::Object(whole().generations[1].object.clone()));
    assert_eq!(nine.because, "what current is compared with");
}

#[test]
fn what_tells_nothing_is_no_neighbour() {
    let two = "20261130T090000Z 20261130T080000Z";
    let all = format!("20261130T100000Z {two}");
    for (change, said) in [
        ((|_| ()) as Change, two.to_owned()),
        // What was written in one pass is one content, whatever the store calls it. Else that is one tag and one size.
        (|seen| seen.generations[0].object.etag = "other".into(), two.to_owned()),
        (|seen| seen.sidecar = SidecarRead::Missing, two.to_owned()),
        (|seen| (seen.sidecar, seen.generations[0].object.etag) = (SidecarRead::Missing, "b".into()), all.clone()),
        (|seen| (seen.sidecar, seen.generations[0].object.bytes) = (SidecarRead::Missing, 90_001), all),
        (|seen| seen.generations[1].object.etag = "10:00:00".into(), "20261130T080000Z".into()),
        (|seen| seen.generations[1].object.bytes = 40_000, "20261130T080000Z".into()),
        (|seen| seen.generations[1].object.bytes = 0, "20261130T080000Z".into()),
        (|seen| seen.generations[1].object.last_modified = at("08:54:59"), "20261130T080000Z".into()),
        (|seen| seen.generations.truncate(1), String::new()),
        (|seen| seen.generations.clear(), String::new()),
    ] {
        assert_eq!(with_what(&with(change), "current"), said);
    }
    // The clock is the one that is told.
    let early = neighbours(&whole(), &one(&whole(), "current"), at("08:54:59"));
    assert_eq!(early.into_iter().map(|found| found.at).collect::<Vec<_>>(), ["20261130T080000Z"]);
}

#[test]
fn a_generation_is_compared_with_older_ones_only() {
    let two = "20261130T090000Z 20261130T080000Z";
    for (text, said) in [("20261130T100000Z", two), ("20261130T090000Z", "20261130T080000Z"), ("20261130T080000Z", "")] {
        assert_eq!(with_what(&whole(), text), said, "{text}");
    }
    let older = neighbours(&whole(), &one(&whole(), "20261130T090000Z"), at("12:00:00"));
    assert_eq!(older[0].because, "what 20261130T090000Z is compared with");
    // Whatever is listed as current is no generation's own.
    let without = with(|seen| seen.current = None);
    assert_eq!(with_what(&without, "20261130T090000Z"), "20261130T080000Z");
}

#[test]
fn a_held_copy_is_compared_as_what_it_is_a_copy_of() {
    let held = "hold:20261130T110000Z";
    assert_eq!(with_what(&whole(), held), "20261130T090000Z 20261130T080000Z");
    assert_eq!(with_what(&whole(), &format!("{held}/20261130T090000Z")), "20261130T080000Z");
    let changed = with(|seen| seen.holds[1].objects[1].etag = "other".into());
    assert_eq!(with_what(&changed, held), "20261130T100000Z 20261130T090000Z 20261130T080000Z");
    // Never with its own original, also where a copy has an etag of its own.
    let copied = with(|seen| seen.generations[1].object.etag = "other".into());
    assert_eq!(with_what(&copied, &format!("{held}/20261130T090000Z")), "20261130T080000Z");
    // What came after the hold is not what it grew from.
    let later = with(|seen| {
        let mut after = seen.generations[0].clone();
        (after.stamp, after.object.etag) = ("20261130T113000Z".parse().expect("a stamp"), "after".to_owned());
        seen.generations.insert(0, after);
    });
    assert_eq!(with_what(&later, held), with_what(&whole(), held));
    // Its generation may be pruned by now.
    let pruned = with(|seen| drop(seen.generations.remove(1)));
    assert_eq!(with_what(&pruned, &format!("{held}/20261130T090000Z")), "20261130T080000Z");
}

#[test]
fn versions_files_and_what_is_not_listed_have_no_neighbours() {
    for text in ["version:v1", "file:/data/x.db"] {
        assert_eq!(with_what(&whole(), text), "", "{text}");
    }
    let nine = one(&whole(), "20261130T090000Z");
    assert_eq!(compared(&with(|seen| drop(seen.generations.remove(1))), &nine), [] as [&str; 0]);
    let current = one(&whole(), "current");
    assert_eq!(compared(&with(|seen| seen.current = None), &current), [] as [&str; 0]);
}
