//! The worlds in which runbooks are executed.

use std::fs::{self, File};

use carlosctl::demo::registry::{build_live, busy_box};

use crate::common::scene::Scene;

/// Changes the demo's standby into the world of this name.
pub(crate) fn set(name: &str, scene: &mut Scene) {
    match name {
        "standby" => {}
        // Somebody started the agent, or bootstrap did.
        "agent-running" => scene.unit("carlos-edge.service", &["active"]),
        // Bootstrap wrote the unit files to /etc, where a mask cannot hide them.
        "units-in-etc" => {
            for unit in ["carlos-edge.service", "carlos-adopt.timer", "carlos-ops.timer"] {
                scene.unit(unit, &["etc"]);
            }
        }
        "wrong-label" => scene.value("DEAD", "edge-a2"),
        "alive" => scene.value("DEAD", "edge-b2"),
        "clobbered" => scene.value("DEAD", "edge-c3"),
        "store-down" => {
            for (name, value) in [
                ("CARLOS_DEPLOYMENT_BUCKET", "deployment"),
                ("CARLOS_S3_ENDPOINT", "http://127.0.0.1:9"),
                ("AWS_ACCESS_KEY_ID", "key"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
                ("AWS_EC2_METADATA_DISABLED", "true"),
            ] {
                scene.env.insert(name.to_owned(), value.to_owned());
            }
        }
        "no-credentials" => {
            scene.env.insert("CARLOS_DEPLOYMENT_BUCKET".to_owned(), "deployment".to_owned());
            scene.env.insert("AWS_EC2_METADATA_DISABLED".to_owned(), "true".to_owned());
        }
        "no-settings" => {
            scene.env.retain(|name, _| !name.starts_with("CARLOS_"));
        }
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
        "no-secrets-key" => fs::write(scene.path("host.env"), "CARLOS_BOX_LABEL=edge-d4\n").expect("settings"),
        "another-operator" => {
            let lock = File::create(scene.path("standby/registry.db.carlosctl-lock")).expect("a lock file");
            lock.try_lock().expect("the lock");
            scene.kept.push(lock);
        }
        "restored" => restore(scene),
        // The agent's data directory is not the one that was restored.
        "agent-elsewhere" => {
            restore(scene);
            elsewhere(scene);
        }
        // The dead box was built again, and has its label.
        "rebuilt" | "rebuilt-elsewhere" => {
            scene.env.insert("CARLOS_BOX_LABEL".to_owned(), "edge-a1".to_owned());
            scene.value("STANDBY", "edge-a1");
            if name == "rebuilt-elsewhere" {
                let (code, said) = scene.run(
                    "systemctl mask carlos-edge.service; carlosctl restore --from-box edge-a1 --same-label --confirm edge-a1",
                );
                assert_eq!(code, 0, "{said}");
                elsewhere(scene);
            }
        }
        // And its agent ran before anything was restored: long ago in the bucket of the demo, as edge-c3.
        "rebuilt-clobbered" => {
            scene.env.insert("CARLOS_BOX_LABEL".to_owned(), "edge-c3".to_owned());
            scene.value("DEAD", "edge-c3");
            scene.value("STANDBY", "edge-c3");
        }
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
        other => panic!("no scene {other}"),
    }
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
