//! The deployment that every cell of the matrix begins with: a dead box, a standby, two apps, a hold, and a restore to prove.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use aws_sdk_s3::Client;
use carlosctl::demo::registry::{RouteSpec, build_live, busy_box};
use carlosctl::store::{ReadStore, WriteStore, create};
use jiff::{SignedDuration, Timestamp};

use crate::common::apps::{Bench, release_key, route};
use crate::common::deployment::registry_of;
use crate::common::servers::{Server, seaweedfs};
use crate::common::{Invocation, carlosctl};

/// Everything that a cell begins with.
pub(crate) struct World {
    pub(crate) server: &'static Server,
    /// Key and content of every object.
    pub(crate) objects: BTreeMap<String, Vec<u8>>,
    /// A bucket with all of it, for commands that change nothing.
    pub(crate) shared: String,
    /// Files beside the store: `standby`, `watched`, `live` and `bin`.
    files: tempfile::TempDir,
    hold: String,
    oldest: String,
    now: String,
}

/// Uploads are of this moment, so both are true of every bucket here.
const ALLOW: [&str; 4] = ["--allow", "still-writing", "--allow", "dead-box-reporting"];

/// The world of this process.
pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| World::build(seaweedfs()));

/// What an object had in it at the beginning.
pub(crate) fn content(key: &str) -> Option<Vec<u8>> {
    WORLD.objects.get(key).cloned()
}

fn routes(tag: &str) -> Vec<RouteSpec> {
    let mut routes = busy_box(8, tag);
    routes.push(route("shop-1.example", "shop", "v5", "v4", ""));
    routes.push(route("zoo-1.example", "zoo", "w3", "", ""));
    routes
}

/// A registry as good as any in the world, and equal to none.
pub(crate) fn another_registry() -> Vec<u8> {
    registry_of(&routes("changed"))
}

impl World {
    fn build(server: &'static Server) -> Self {
        let bench = Bench::live();
        let deployment = &bench.deployment;
        for back in (0..8).rev() {
            let when = bench.now - SignedDuration::from_mins(40 + back * 60);
            deployment.pass("edge-a1", &when.to_string(), &registry_of(&routes(&format!("v{back}"))));
        }
        let oldest = (bench.now - SignedDuration::from_mins(40 + 7 * 60)).strftime("%Y%m%dT%H%M%SZ").to_string();
        let shop = bench.app("shop").keep(2);
        for (version, days) in [("v1", 11), ("v2", 10), ("v3", 9), ("v4", 8), ("v5", 7)] {
            shop.release(version, days * 24);
        }
        shop.pointer("stable", "v5", &["v4"]).tag("eleventh", "v1").record("shop-1.example", "");
        bench.app("zoo").keep(1).release("w1", 300).release("w2", 200).release("w3", 150);
        let hosts = [("shop-1.example", "shop", vec!["v5"], true), ("zoo-1.example", "zoo", vec!["w3"], true)];
        bench.report("edge-a1", 0, hosts);
        let mut world = Self {
            server,
            objects: deployment.everything().into_iter().collect(),
            shared: server.bucket(),
            files: tempfile::tempdir().expect("a directory"),
            hold: String::new(),
            oldest,
            now: String::new(),
        };
        world.make_files();
        world.live_through();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn make_files(&self) {
        for (directory, routes) in [
            ("standby", Vec::new()),
            ("watched", Vec::new()),
            ("live", routes("live")),
            ("tmp", Vec::new()),
            ("bin", Vec::new()),
        ] {
            fs::create_dir(self.path(directory)).expect("a directory");
            if !["tmp", "bin"].contains(&directory) {
                build_live(&self.path(directory).join("registry.db"), &routes).expect("a registry");
            }
        }
        let systemctl = self.path("bin/systemctl");
        let says = "LoadState=loaded ActiveState=inactive SubState=dead UnitFileState=disabled";
        fs::write(&systemctl, format!("#!/bin/sh\nprintf '%s\\n' {says}\n")).expect("a script");
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// A hold is taken, a standby restored, and its agent started: all for real, in the shared bucket.
    fn live_through(&mut self) {
        let server = self.server;
        self.seed(&self.shared);
        let run = |world: &Self, args: &[&str]| {
            let outcome = world.command(&server.endpoint, &world.shared, world.files.path(), args).run();
            assert_eq!(outcome.code, 0, "{outcome}");
            outcome.json()
        };
        let held = run(self, &["snapshot", "hold", "--box", "edge-a1", "--json"]);
        held["hold"].as_str().expect("a stamp").clone_into(&mut self.hold);
        let registry = self.path("watched/registry.db").display().to_string();
        let restore = ["restore", "--from-box", "edge-a1", "--this-box", "edge-b2", "--confirm", "edge-a1", "--registry"];
        drop(run(self, &[&restore[..], &[&registry], &ALLOW, &["--json"]].concat()));
        // Stamps are of whole seconds, and what was published in the second of the restore proves nothing.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        for pass in ["snapshot", "report"] {
            drop(run(self, &["box", pass, "--this-box", "edge-b2", "--registry", &registry, "--json"]));
        }
        let shared = self.shared.clone();
        self.objects = runtime().block_on(async {
            let store = server.store(&shared).await;
            let mut objects = BTreeMap::new();
            for object in store.list("").await.expect("a listing") {
                let body = store.get(&object.key, 1 << 24).await.expect("an object").body;
                objects.insert(object.key, body.to_vec());
            }
            objects
        });
        self.now = Timestamp::from_second(Timestamp::now().as_second() + 1).expect("an instant").to_string();
    }

    /// Fills an empty bucket.
    pub(crate) fn seed(&self, bucket: &str) {
        runtime().block_on(async {
            let store = self.server.store(bucket).await;
            for (key, body) in &self.objects {
                create(&store as &dyn WriteStore, key, &body.clone().into()).await.expect("an object");
            }
        });
    }

    /// A copy of the files, for one cell.
    pub(crate) fn files(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let copied = Command::new("cp").arg("-a").arg(self.files.path().join(".")).arg(directory.path()).status();
        assert!(copied.expect("cp").success());
        directory
    }

    /// The command in a bucket behind an endpoint, with these files beside it.
    pub(crate) fn command(&self, endpoint: &str, bucket: &str, files: &Path, args: &[&str]) -> Invocation {
        let directory = files.display().to_string();
        let filled = args.iter().flat_map(|arg| match *arg {
            "@ALLOW@" => ALLOW.map(str::to_owned).to_vec(),
            other => vec![
                other
                    .replace("@DIR@", &directory)
                    .replace("@NOW@", &self.now)
                    .replace("@HOLD@", &self.hold)
                    .replace("@OLDEST@", &self.oldest)
                    .replace("@BUCKET@", bucket),
            ],
        });
        let filled: Vec<String> = filled.collect();
        let mut invocation = carlosctl(filled.iter().map(String::as_str)).arg("--bucket").arg(bucket);
        for (name, value) in self.server.env() {
            invocation = invocation.env(name, if name == "CARLOS_S3_ENDPOINT" { endpoint } else { &value });
        }
        invocation
            .env("PATH", format!("{directory}/bin:/usr/bin:/bin"))
            .env("TMPDIR", format!("{directory}/tmp"))
            .env("CARLOS_DATA_DIR", format!("{directory}/none"))
            .env("CARLOS_RELEASE_PUBKEY", release_key().public_text())
    }
}

/// Key and etag of every object in a bucket.
pub(crate) fn etags(client: &Client, bucket: &str) -> BTreeMap<String, String> {
    runtime().block_on(async {
        let page = client.list_objects_v2().bucket(bucket).send().await.expect("a listing");
        assert_eq!(page.is_truncated(), Some(false));
        let entry = |object: &aws_sdk_s3::types::Object| Some((object.key()?.to_owned(), object.e_tag()?.to_owned()));
        page.contents().iter().filter_map(entry).collect()
    })
}

/// Makes a bucket again what it was.
pub(crate) fn reset(client: &Client, bucket: &str, was: &BTreeMap<String, String>) {
    let is = etags(client, bucket);
    runtime().block_on(async {
        for key in is.keys().filter(|key| !was.contains_key(*key)) {
            client.delete_object().bucket(bucket).key(key).send().await.expect("it is removed");
        }
        // A sidecar goes with its snapshot, and after it, as an agent writes them.
        let stem = |key: &str| key.rsplit_once('.').map_or(key, |(stem, _)| stem).to_owned();
        let others: BTreeSet<String> = was.keys().filter(|key| is.get(*key) != was.get(*key)).map(|key| stem(key)).collect();
        for key in was.keys().filter(|key| others.contains(&stem(key))) {
            let body = WORLD.objects[key].clone();
            client.put_object().bucket(bucket).key(key).body(body.into()).send().await.expect("it is put back");
        }
    });
}

/// A runtime for a request of the test itself.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}
