//! `report list` and `report show`.

use insta::assert_snapshot;

use crate::common::apps::Bench;

#[test]
fn each_report_says_how_old_it_is_and_what_it_refuses() {
    let bench = Bench::fixed();
    bench.report("edge-a1", 1, [("h1", "shop", vec!["v5"], true), ("h2", "blog", vec![], false)]);
    bench.report("edge-b2", 7, [("h1", "shop", vec!["v4"], true), ("h3", "portal", vec!["w1"], true)]);
    bench.report_below("fleets/north east/", "f1", &bench.ago(-1), [("h4", "shop", vec!["v5"], true)]);
    bench.put("status/boxes/edge-c3.json", "{\"lab");
    bench.put(
        "status/boxes/edge-d4.json",
        "{\"label\":\"edge-d4\",\"generated_at\":\"2026-11-30T11:00:00Z\",\"metrics\":{\"build_states_err\":\"busy\\u001b[2J\"}}",
    );
    bench.put("status/boxes/x/y.json", "{");
    let list = ["report", "list", "--as-of", "2026-11-30T12:00:00Z"];
    assert_snapshot!(bench.run(list).run(), @r#"
    BOX      OF                REPORTED              AGE        HOSTS         REFUSES
    edge-a1  platform          2026-11-30T11:00:00Z  1 h        2 (1 unread)  report-incomplete: ops/blog
    edge-b2  platform          2026-11-30T05:00:00Z  7 h        2             report-stale: ops/portal
    edge-c3  platform          -                     -          0             reports-incomplete: every app
    edge-d4  platform          2026-11-30T11:00:00Z  1 h        0             box-cannot-collect: every app
    f1       fleet north east  2026-11-30T13:00:00Z  1 h ahead  1             report-from-future: ops/shop

    blocking report-incomplete: status/boxes/edge-a1.json: edge-a1 could not read the build state of h2
      hint: repair the build state of h2 on edge-a1; its next complete report unblocks
    blocking report-stale: status/boxes/edge-b2.json: edge-b2, which hosts h3, has not reported since 2026-11-30T05:00:00Z; that is 7 h ago
      hint: a report of h3's box at or after 2026-11-30T06:00:00Z unblocks
    blocking reports-incomplete: status/boxes/edge-c3.json: the box reports could not all be read: EOF while parsing a string at line 1 column 5
      hint: repair or remove it; what a box reported there is not known
    blocking box-cannot-collect: status/boxes/edge-d4.json: edge-d4 could not collect its build states: busy\u{1b}[2J
      hint: a report of edge-d4 without that error unblocks
    blocking report-from-future: fleets/north east/status/boxes/f1.json: the report of f1 is dated 1 h ahead
      hint: set the clock of f1; its next report unblocks
    ------- stderr -------
    [exit 0]
    "#);
    assert_snapshot!(bench.run(["report", "show", "--box", "edge-a1", "--as-of", "2026-11-30T12:00:00Z"]).run(), @r#"
    edge-a1 (platform), reported 2026-11-30T11:00:00Z (1 h ago)
    key status/boxes/edge-a1.json
    etag 573a808ddf54c0b7bfcebb36f9e957d0426aaf3d438d7b0040141631c8e879af
    HOST  ACCOUNT  APP   BUILDS  COMPLETE
    h1    ops      shop  v5      yes
    h2    ops      blog  -       no
    blocking report-incomplete: status/boxes/edge-a1.json: edge-a1 could not read the build state of h2
      hint: repair the build state of h2 on edge-a1; its next complete report unblocks

    ------- stderr -------
    [exit 0]
    "#);
    let unknown = bench.run(["report", "show", "--box", "edge-x9"]).run();
    assert_eq!((unknown.code, unknown.stdout.as_str()), (10, ""), "{unknown}");
    let document = bench.run(list).arg("--json").run().json();
    assert_eq!(document["schema"], "carlosctl.report-list/1");
    let row = &document["reports"][0];
    assert_eq!((&row["box"], &row["age_seconds"], &row["hosts"]), (&"edge-a1".into(), &3600.into(), &2.into()));
    assert_eq!(row["refuses"][0]["apps"][0], "ops/blog");
}

#[test]
fn without_a_place_to_read_reports_there_is_no_answer() {
    let bench = Bench::fixed();
    assert_snapshot!(bench.alone(["report", "list"]).run(), @r#"
    ------- stderr -------
    error: the box reports cannot be read: a directory without a status store has only this machine's registry to collect from, and there is none here
    hint: give --status-bucket or --status-dir, or repair the status store
    [exit 14]
    "#);
}
