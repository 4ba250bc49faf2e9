//! The main job on a real S3 server, and what a store may say instead of an answer.

use std::fs;

use carlosctl::store::{ReadStore, WriteStore, create};

use crate::common::servers::{Server, ministack, seaweedfs};
use crate::common::{Invocation, carlosctl};
use crate::restore::Standby;

/// A standby whose deployment is in a fresh bucket of `server`.
struct OnS3 {
    standby: Standby,
    server: &'static Server,
    bucket: String,
}

impl OnS3 {
    fn in_bucket(server: &'static Server, bucket: String) -> Self {
        let standby = Standby::new();
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = server.store(&bucket).await;
            for (key, body) in standby.deployment.everything() {
                create(&store as &dyn WriteStore, &key, &body.into()).await.expect("an object");
            }
            assert_eq!(store.list("control/").await.expect("a listing").len(), standby.deployment.everything().len());
        });
        Self { standby, server, bucket }
    }

    fn run(&self, args: &[&str]) -> Invocation {
        let mut invocation = carlosctl(args.iter().copied()).arg("--bucket").arg(&self.bucket);
        for (name, value) in self.server.env() {
            invocation = invocation.env(name, value);
        }
        invocation.arg("--registry").arg(self.standby.registry()).env("PATH", "/usr/bin:/bin")
    }
}

#[test]
fn the_main_job_works_on_seaweedfs() {
    main_job(seaweedfs(), seaweedfs().bucket(), "delete");
}

#[test]
fn the_main_job_works_on_ministack() {
    main_job(ministack(), ministack().bucket(), "delete");
}

/// Object Lock with a default retention: what is overwritten or deleted is kept below, and nothing is in the way.
#[test]
fn the_main_job_works_where_every_version_is_locked() {
    main_job(seaweedfs(), seaweedfs().locked_bucket(), "delete, delete older versions");
}

/// `deletes` is what of deletion the identity may do there, in `doctor`'s words.
fn main_job(server: &'static Server, bucket: String, deletes: &str) {
    let deployment = OnS3::in_bucket(server, bucket);
    let list = deployment.run(&["snapshot", "list", "--json"]).run();
    assert_eq!(list.code, 0, "{list}");
    let row = &list.json()["boxes"][0];
    // Everything was just uploaded, so the stamps are older than the objects, and nothing is wrong with that.
    assert_eq!(
        (&row["box"], &row["last_good"], &row["state"]),
        (&"edge-a1".into(), &"current".into(), &"good".into()),
        "{list}"
    );
    assert_eq!(row["generations"][0]["same_as_current"], true);

    let verify = deployment.run(&["snapshot", "verify", "--box", "edge-a1", "--all-generations"]).run();
    assert_eq!(verify.code, 0, "{verify}");
    let hold = deployment.run(&["snapshot", "hold", "--box", "edge-a1", "--json"]).run();
    assert_eq!(hold.code, 0, "{hold}");
    assert_eq!(hold.json()["objects"].as_array().expect("objects").len(), 10);

    let doctor = deployment.run(&["doctor", "--this-box", "edge-b2", "--json"]).run();
    assert_eq!((doctor.code, &doctor.json()["verdict"]), (0, &"ready".into()), "{doctor}");
    let told = doctor.json()["checks"].as_array().expect("checks").clone();
    let of = |subject: &str| told.iter().find(|check| check["subject"] == subject).expect("a check").clone();
    assert_eq!(of("lifecycle")["code"], "ready", "{doctor}");
    let beyond = of("permissions beyond need");
    assert_eq!(beyond["code"], "more-than-needed", "who may do everything is told so: {doctor}");
    let generations = format!("{deletes} below control/registry-snapshots/");
    assert!(beyond["because"].as_str().expect("a text").contains(&generations), "{doctor}");
    let drill = deployment.run(&["drill", "--box", "edge-a1", "--json"]).run();
    assert_eq!((drill.code, &drill.json()["boxes"][0]["verdict"]), (0, &"good".into()), "{drill}");
    let last = deployment.run(&["snapshot", "list", "--json"]).run().json()["boxes"][0]["last_drill"].clone();
    assert_eq!(last["verdict"], "good");

    // The upload itself is what a living box does.
    let before = deployment.standby.files();
    let restore = ["restore", "--from-box", "edge-a1", "--this-box", "edge-b2", "--confirm", "edge-a1"];
    let refused = deployment.run(&restore).run();
    deployment.standby.refused(&refused, 5, &before, &["still-writing"]);
    let restored = deployment.run(&restore).arg("--allow").arg("still-writing").arg("--json").run();
    assert_eq!(restored.code, 0, "{restored}");
    assert_eq!(deployment.standby.versions(), ["v0"]);
    let current = fs::read(deployment.standby.deployment.file("control/registry-snapshot/edge-a1.db")).expect("an object");
    assert!(fs::read(deployment.standby.registry()).expect("a file") == current);
    assert!(restored.json()["receipt"].is_string(), "{restored}");
}

#[test]
fn an_overwritten_current_is_found_among_the_versions_held_and_restored() {
    let server = seaweedfs();
    let standby = Standby::new();
    let bucket = server.versioned_bucket();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let key = "control/registry-snapshot/edge-a1.db";
    runtime.block_on(async {
        let store = server.store(&bucket).await;
        // Only current and sidecar, as when a clobber had time to prune everything else.
        let good = fs::read(standby.deployment.file(key)).expect("an object");
        let first = create(&store as &dyn WriteStore, key, &good.into()).await.expect("an object");
        let empty = crate::common::deployment::registry(0, "");
        let sidecar = format!(
            r#"{{"v":1,"box":"edge-a1","fingerprint":"ab12","created_at":"2026-11-30T10:00:00Z","bytes":{}}}"#,
            empty.len()
        );
        carlosctl::store::replace(&store as &dyn WriteStore, key, &empty.into(), &first.etag).await.expect("replaced");
        create(&store as &dyn WriteStore, "control/registry-snapshot/edge-a1.json", &sidecar.into_bytes().into())
            .await
            .expect("a sidecar");
    });
    let deployment = OnS3 { standby, server, bucket };
    let list = deployment.run(&["snapshot", "list", "--box", "edge-a1", "--all-versions", "--json"]).run();
    let document = list.json();
    let row = &document["boxes"][0];
    let codes: Vec<&str> =
        row["findings"].as_array().expect("findings").iter().map(|f| f["code"].as_str().expect("a code")).collect();
    assert!(codes.contains(&"noncurrent-good"), "{list}");
    let versions = row["versions"].as_array().expect("versions");
    let good = versions.iter().find(|version| version["last_good"] == true).expect("a good version");
    let at = format!("version:{}", good["version_id"].as_str().expect("an id"));

    let hold = deployment.run(&["snapshot", "hold", "--box", "edge-a1", "--all-versions", "--json"]).run();
    assert_eq!(hold.code, 0, "{hold}");
    assert_eq!(hold.json()["objects"].as_array().expect("objects").len(), 3, "{hold}");

    let restored = deployment
        .run(&[
            "restore",
            "--from-box",
            "edge-a1",
            "--this-box",
            "edge-b2",
            "--confirm",
            "edge-a1",
            "--at",
            &at,
            "--allow",
            "still-writing",
        ])
        .run();
    assert_eq!(restored.code, 0, "{restored}");
    assert_eq!(deployment.standby.versions(), ["v0"]);
}

#[test]
fn a_store_that_does_not_answer_right_ends_with_its_own_code_and_names_no_secret() {
    let server = seaweedfs();
    let bucket = server.bucket();
    let list = |endpoint: &str, bucket: &str, key: &str, secret: &str| {
        let started = std::time::Instant::now();
        let outcome = carlosctl(["snapshot", "list", "--endpoint-url", endpoint, "--bucket", bucket, "--timeout", "3s"])
            .env("AWS_ACCESS_KEY_ID", key)
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_SESSION_TOKEN", "")
            .run();
        assert!(started.elapsed().as_secs() < 20, "{outcome}");
        assert!(!secret.is_empty() && !format!("{outcome}").contains(secret), "{outcome}");
        assert_eq!(outcome.stdout, "", "{outcome}");
        outcome
    };
    let missing = list(&server.endpoint, "no-such-bucket-here", server.access_key, server.secret_key);
    assert_eq!(missing.code, 10, "{missing}");
    let wrong = list(&server.endpoint, &bucket, server.access_key, "canary-secret-0123456789");
    assert_eq!(wrong.code, 12, "{wrong}");
    let dead = list("http://127.0.0.1:9", &bucket, server.access_key, server.secret_key);
    assert_eq!(dead.code, 14, "{dead}");
    let nobody =
        carlosctl(["snapshot", "list", "--bucket", "dep", "--timeout", "3s"]).env("AWS_EC2_METADATA_DISABLED", "true").run();
    assert_eq!(nobody.code, 12, "{nobody}");
    assert!(nobody.stderr.contains("credentials"), "{nobody}");
}
