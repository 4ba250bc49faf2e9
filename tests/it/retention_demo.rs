//! Retention on the demo's deployment, whose third box was clobbered twice.

use crate::common::carlosctl;

#[test]
fn a_box_that_was_clobbered_twice_refuses_every_app_until_it_is_left_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path().join("demo");
    assert_eq!(carlosctl(["demo", "--keep", "--dir"]).arg(&dir).run().code, 0);
    let explain = |args: &[&str]| {
        let all = ["retention", "explain", "--json", "--host-env"];
        carlosctl(all).arg(dir.join("host.env")).args(args).run()
    };
    let refused = explain(&[]);
    assert_eq!(refused.code, 4, "{refused}");
    let document = refused.json();
    let apps = document["apps"].as_array().expect("apps");
    assert_eq!(apps.len(), 4, "{refused}");
    for app in apps {
        assert_eq!(app["status"], "refused", "{app}");
        assert_eq!(app["refusals"][0]["code"], "registry-unreadable", "{app}");
        assert!(app["refusals"][0]["because"].as_str().expect("a reason").contains("edge-c3"), "{app}");
    }
    let explained = explain(&["--without-box", "edge-c3"]);
    assert_eq!(explained.code, 0, "{explained}");
    assert_eq!(explained.json()["apps"][0]["status"], "evaluated", "{explained}");

    // Whoever needs the plan again is told how to make the same one.
    let plan = directory.path().join("plan.json");
    let planned = carlosctl(["retention", "plan", "acme/shop", "--without-box", "edge-c3", "--host-env"])
        .arg(dir.join("host.env"))
        .arg("--out")
        .arg(&plan)
        .run();
    assert_eq!(planned.code, 0, "{planned}");
    let ran = || {
        carlosctl(["retention", "run", "--confirm", "bucket", "--host-env"])
            .arg(dir.join("host.env"))
            .arg("--plan")
            .arg(&plan)
            .run()
    };
    assert_eq!(ran().code, 0);
    let twice = ran();
    assert_eq!(twice.code, 7, "{twice}");
    let again = "retention plan acme/shop --without-box edge-c3 --out FILE";
    assert!(twice.stderr.contains(again), "{twice}");
}
