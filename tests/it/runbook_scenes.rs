//! The worlds in which runbooks are executed.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use carlosctl::demo::registry::{build_live, busy_box};
use jiff::{SignedDuration, Timestamp};

use crate::common::scene::Scene;
use crate::common::scripted::{Reply, Scripted};
use crate::common::servers::Server;

/// Changes the demo's standby into the world of this name.
pub(crate) fn set(name: &str, scene: &mut Scene) {
    match name {
        "standby" => {}
        "wrong-label" => scene.value("DEAD", "edge-a2"),
        "alive" => scene.value("DEAD", "edge-b2"),
        "clobbered" => scene.value("DEAD", "edge-c3"),
        name if machine(name, scene) || settings(name, scene) || snapshot(name, scene) || story(name, scene) => {}
        code => retention(code, scene),
    }
}

/// What is the matter with the machine.
fn machine(name: &str, scene: &mut Scene) -> bool {
    match name {
        // Somebody started the agent, or bootstrap did.
        "agent-running" => scene.unit("carlos-edge.service", &["active"]),
        // A mask does not stop it: something else starts it, again and again.
        "agent-running-again" => {
            let systemctl = "#!/bin/sh\n[ \"$1\" = mask ] && exit 0\ncase \"$*\" in\n\
                *--property=Id,LoadState,ActiveState' '*)\n\
                echo Id=carlos-edge.service; echo LoadState=masked; echo ActiveState=inactive ;;\n\
                list-units*) ;;\n\
                *) echo LoadState=loaded; echo ActiveState=activating; echo SubState=auto-restart ;;\nesac\n";
            scene.script("systemctl", systemctl);
        }
        // Bootstrap wrote the unit files to /etc, where a mask cannot hide them.
        "units-in-etc" => {
            for unit in ["carlos-edge.service", "carlos-adopt.timer", "carlos-ops.timer"] {
                scene.unit(unit, &["etc"]);
            }
        }
        "no-systemd" => {
            let because = "System has not been booted with systemd as init system (PID 1). Can't operate.";
            let systemctl =
                format!("#!/bin/sh\necho \"{because}\" >&2\necho 'Failed to connect to bus: Host is down' >&2\nexit 1\n");
            scene.script("systemctl", &systemctl);
        }
        "no-secrets-key" => fs::write(scene.path("host.env"), "CARLOS_BOX_LABEL=edge-d4\n").expect("settings"),
        "another-operator" => {
            let lock = File::create(scene.path("standby/registry.db.carlosctl-lock")).expect("a lock file");
            lock.try_lock().expect("the lock");
            scene.kept.push(lock);
        }
        _ => return false,
    }
    true
}

/// What is the matter with the settings, or with the store that they name.
fn settings(name: &str, scene: &mut Scene) -> bool {
    let mut bucket_at = |endpoint: &str| {
        for (name, value) in [
            ("CARLOS_DEPLOYMENT_BUCKET", "deployment"),
            ("CARLOS_S3_ENDPOINT", endpoint),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ] {
            scene.env.insert(name.to_owned(), value.to_owned());
        }
    };
    match name {
        "store-down" => bucket_at("http://127.0.0.1:9"),
        "clock-ahead" => {
            let because = "The difference between the request time and the current time is too large.";
            let refusal = Reply::error(403, "RequestTimeTooSkewed", because);
            bucket_at(&Scripted::always(refusal.header("date", "Sun, 15 Nov 2026 00:00:00 GMT")).endpoint);
        }
        "no-credentials" => {
            bucket_at("http://127.0.0.1:9");
            scene.env.retain(|name, _| !matches!(name.as_str(), "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY"));
        }
        "no-settings" => scene.env.retain(|name, _| !name.starts_with("CARLOS_")),
        _ => return false,
    }
    true
}

/// What is the matter with the dead box's snapshot.
fn snapshot(name: &str, scene: &mut Scene) -> bool {
    match name {
        "sidecar-of-another" => {
            let sidecar = scene.object("control/registry-snapshot/edge-a1.json");
            let text = fs::read_to_string(&sidecar).expect("a sidecar").replace("edge-a1", "edge-b2");
            fs::write(&sidecar, text).expect("a sidecar");
        }
        "damaged-current" => {
            let current = scene.object("control/registry-snapshot/edge-a1.db");
            let body = fs::read(&current).expect("an object");
            let time = fs::metadata(&current).expect("facts").modified().expect("a time");
            fs::write(&current, &body[..body.len() / 2]).expect("an object");
            File::options().write(true).open(&current).expect("an object").set_modified(time).expect("a time");
        }
        _ => return false,
    }
    true
}

/// What happened before.
fn story(name: &str, scene: &mut Scene) -> bool {
    match name {
        "restored" => restore(scene),
        // The agent's data directory is not the one that was restored.
        "agent-elsewhere" => {
            restore(scene);
            elsewhere(scene);
        }
        // The dead box was built again, and has its label.
        "rebuilt" | "rebuilt-elsewhere" => {
            called(scene, "edge-a1");
            // The platform's agent finds its own fingerprint in the sidecar, and has nothing to publish.
            scene.agent("@BIN@ box report");
            if name == "rebuilt-elsewhere" {
                let (code, said) = scene.run(
                    "systemctl mask carlos-edge.service; carlosctl restore --from-box edge-a1 --same-label --confirm edge-a1",
                );
                assert_eq!(code, 0, "{said}");
                elsewhere(scene);
            }
        }
        // And its agent ran before anything was restored, as edge-c3's did in the demo.
        "rebuilt-clobbered" => called(scene, "edge-c3"),
        // The living box edge-b2 itself: what it has now is more than what it published.
        "old-box" => {
            scene.env.insert("CARLOS_BOX_LABEL".to_owned(), "edge-b2".to_owned());
            scene.env.insert("CARLOS_DATA_DIR".to_owned(), scene.path("old"));
            fs::create_dir(scene.path("old")).expect("a directory");
            build_live(scene.path("old/registry.db").as_ref(), &busy_box(182, "v6")).expect("a registry");
            scene.value("REGISTRY", &scene.path("old/registry.db"));
            scene.value("DEAD", "edge-b2");
            scene.unit("carlos-edge.service", &["active"]);
        }
        "+new-box" => {
            scene.env.insert("CARLOS_BOX_LABEL".to_owned(), "edge-d4".to_owned());
            scene.env.insert("CARLOS_DATA_DIR".to_owned(), scene.path("standby"));
            scene.value("REGISTRY", &scene.path("standby/registry.db"));
        }
        _ => return false,
    }
    true
}

/// This machine has the dead box's label.
fn called(scene: &mut Scene, label: &str) {
    scene.env.insert("CARLOS_BOX_LABEL".to_owned(), label.to_owned());
    scene.value("DEAD", label);
    scene.value("STANDBY", label);
}

/// The agent is given another data directory than the one that was restored.
fn elsewhere(scene: &Scene) {
    fs::create_dir(scene.path("elsewhere")).expect("a directory");
    build_live(scene.path("elsewhere/registry.db").as_ref(), &[]).expect("a registry");
    scene.agent(&format!("sleep 1.1; CARLOS_DATA_DIR={} @BIN@ box snapshot", scene.path("elsewhere")));
}

fn restore(scene: &Scene) {
    let (code, said) =
        scene.run("systemctl mask --now carlos-edge.service; carlosctl restore --from-box edge-a1 --confirm edge-a1");
    assert_eq!(code, 0, "{said}");
}

/// A bucket of `server` that keeps versions, with everything of the dead box gone but current and its sidecar, and those
/// overwritten by an empty registry: a clobber that had all the time it needed.
pub(crate) fn versioned(server: &Server) -> Scene {
    let mut scene = Scene::standby();
    for entry in fs::read_dir(scene.object("control/registry-snapshots/edge-a1")).expect("generations") {
        fs::remove_file(entry.expect("an entry").path()).expect("a generation");
    }
    fs::remove_file(scene.object("status/boxes/edge-a1.json")).expect("a report");
    let bucket = server.versioned_bucket();
    scene.move_to(server, &bucket);
    // The dead box is back under its label, and its agent makes a pass on an empty registry.
    fs::create_dir(scene.path("empty")).expect("a directory");
    build_live(scene.path("empty/registry.db").as_ref(), &[]).expect("a registry");
    let (code, said) = scene.run(&format!(
        "CARLOS_BOX_LABEL=edge-a1 CARLOS_DATA_DIR={} carlosctl box snapshot && carlosctl snapshot hold list --json",
        scene.path("empty")
    ));
    assert_eq!(code, 0, "{said}");
    scene
}

/// What makes retention refuse an app, by the code of the refusal; and what makes it refuse nothing.
fn retention(code: &str, scene: &mut Scene) {
    let app = "apps/acme/blog";
    scene.value("APP", "acme/blog");
    let hours = |hours: i64| serde_json::json!((Timestamp::now() + SignedDuration::from_hours(hours)).to_string());
    let broken = |key: &str, text: &str| fs::write(scene.object(&format!("{app}/{key}")), text).expect("an object");
    if code != "registry-unreadable" {
        // Without the clobbered box, whose pins are not known.
        for key in
            ["control/registry-snapshot/edge-c3.db", "control/registry-snapshot/edge-c3.json", "status/boxes/edge-c3.json"]
        {
            fs::remove_file(scene.object(key)).expect("an object");
        }
        fs::remove_dir_all(scene.object("control/registry-snapshots/edge-c3")).expect("generations");
    }
    match code {
        "healthy" | "registry-unreadable" => {}
        "reports-unavailable" => {
            scene.env.insert("CARLOS_STATUS_DIR".to_owned(), scene.path("nowhere"));
        }
        "reports-incomplete" => fs::write(scene.object("status/boxes/edge-b2.json"), "{").expect("an object"),
        "box-cannot-collect" => report(scene, "edge-b2", |report| report["metrics"]["build_states_err"] = "no space".into()),
        "host-unreported" => broken("instances/new.example.org.json", r#"{"host":"new.example.org"}"#),
        "report-stale" => report(scene, "edge-a1", |report| report["generated_at"] = hours(-7)),
        "report-incomplete" => report(scene, "edge-b2", |report| {
            report["metrics"]["build_states"]["blog-0001.example.org"]["complete"] = false.into();
        }),
        "report-from-future" => report(scene, "edge-b2", |report| report["generated_at"] = hours(1)),
        "record-unreadable" => broken("instances/new.example.org.json", r#"{"host":"another.example.org"}"#),
        "retention-record-invalid" => broken("retention.json", r#"{"keep":0}"#),
        "pointer-unreadable" => broken("channels/stable.json", "{}"),
        "pointer-unverified" => {
            // Another deployment's key: 32 bytes that are a point of the curve.
            let key = "6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
            let other = "1vlc8HGhQpRaBs0PZ9jLGDyrW+RIpLpWzMlBCbgAJjk=";
            let known = scene.env.insert("CARLOS_RELEASE_PUBKEY".to_owned(), other.to_owned());
            assert_eq!(known.as_deref(), Some(key), "the demo's key is always the same");
        }
        "manifest-unreadable" => broken("releases/v1/manifest.json", "{}"),
        "tag-unreadable" => broken("tags/v0.5.0.json", "{}"),
        "pipeline-unreadable" => broken("pipeline.json", r#"{"channels":[]}"#),
        "keeps-nothing" => {
            for release in fs::read_dir(scene.object(&format!("{app}/releases"))).expect("releases") {
                let release = release.expect("a release").path();
                fs::rename(release.join("manifest.json"), release.join("lost")).expect("an object");
                let old = SystemTime::now() - Duration::from_hours(72);
                File::options().write(true).open(release.join("lost")).expect("an object").set_modified(old).expect("a time");
            }
        }
        other => panic!("no scene {other}"),
    }
}

fn report(scene: &Scene, label: &str, change: impl FnOnce(&mut serde_json::Value)) {
    let path = scene.object(&format!("status/boxes/{label}.json"));
    let mut report = serde_json::from_slice(&fs::read(&path).expect("a report")).expect("JSON");
    change(&mut report);
    fs::write(&path, report.to_string()).expect("a report");
}
