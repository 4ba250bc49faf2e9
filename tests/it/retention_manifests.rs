//! Manifests that are kept from one look to the next: what saves requests must never change an answer, and never a deletion.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::common::apps::{Bench, route, sha256};
use crate::common::bucket::Bucket;
use crate::common::{Invocation, Outcome};

/// `ops/shop` keeps 2 of 5, in a bucket, and a home directory.
struct World {
    bench: Bench,
    bucket: Bucket,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let bench = Bench::live();
        bench.shop();
        bench.boxed("edge-a1", &[route("shop-1.example", "shop", "v5", "v4", "")]);
        Self { bucket: Bucket::of(&bench), bench, home: tempfile::tempdir().expect("a directory") }
    }

    fn run(&self, args: &[&str]) -> Invocation {
        self.bucket.run(args.iter().copied()).env("HOME", self.home.path())
    }

    /// What is explained, and how many manifests were read for it.
    fn explain(&self) -> (Outcome, usize) {
        let before = self.read();
        let outcome = self.run(&["retention", "explain", "--json"]).arg("--as-of").arg(self.bench.now.to_string()).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        (outcome, self.read() - before)
    }

    /// How many manifests were read so far.
    fn read(&self) -> usize {
        self.bucket.asked().iter().filter(|asked| asked.starts_with("GET ") && asked.ends_with("/manifest.json")).count()
    }

    /// The only file that is kept.
    fn kept(&self) -> PathBuf {
        let directory = self.home.path().join(".cache/carlosctl/manifests");
        let mut files: Vec<PathBuf> =
            fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("a file").path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// Rewrites what is kept, as somebody with this user's rights could.
    fn forge(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.kept()).expect("text");
        let (_, document) = text.split_once('\n').expect("a digest and a document");
        assert!(document.contains(from), "{from} in {document}");
        let document = document.replace(from, to);
        fs::write(self.kept(), format!("{}\n{document}", sha256(&document))).expect("written");
    }
}

#[test]
fn a_second_look_reads_only_the_manifests_that_changed() {
    let world = World::new();
    let (first, read) = world.explain();
    assert_eq!(read, 5, "{first}");
    assert_eq!(fs::metadata(world.kept()).expect("facts").permissions().mode() & 0o777, 0o600);
    let directory = world.kept().parent().expect("a parent").to_owned();
    assert_eq!(fs::metadata(directory).expect("facts").permissions().mode() & 0o777, 0o700);
    let (second, read) = world.explain();
    assert_eq!((read, &second.stdout), (0, &first.stdout));

    let key = "apps/ops/shop/releases/v3/manifest.json";
    let manifest = String::from_utf8(fs::read(world.bench.deployment.file(key)).expect("an object")).expect("text");
    world.bucket.put(key, manifest.replace("\"kind\":\"binary\"", "\"kind\":\"static\""));
    assert_eq!(world.explain().1, 1);
    assert_eq!(world.explain().1, 0);
}

#[test]
fn what_is_kept_is_believed_only_whole_and_our_own() {
    let world = World::new();
    let (first, _) = world.explain();
    let spoil: [(&str, &dyn Fn()); 5] = [
        ("a byte", &|| {
            let mut text = fs::read(world.kept()).expect("a file");
            let at = text.len() / 2;
            text[at] ^= 1;
            fs::write(world.kept(), text).expect("written");
        }),
        ("others may write", &|| {
            fs::set_permissions(world.kept(), fs::Permissions::from_mode(0o622)).expect("a mode");
        }),
        ("a link", &|| {
            let (kept, elsewhere) = (world.kept(), world.home.path().join("elsewhere"));
            fs::rename(&kept, &elsewhere).expect("moved");
            std::os::unix::fs::symlink(&elsewhere, &kept).expect("a link");
        }),
        ("another app's", &|| world.forge("\"app\":\"shop\"", "\"app\":\"blog\"")),
        ("another store's", &|| world.forge("s3://dep", "s3://other")),
    ];
    for (how, spoil) in spoil {
        spoil();
        let (again, read) = world.explain();
        assert_eq!((read, &again.stdout), (5, &first.stdout), "{how}");
        assert_eq!(world.explain().1, 0, "{how}: it is kept anew");
    }
}

/// Whoever may write where manifests are kept could make a plan of his own; what goes is decided on what a run reads itself.
#[test]
fn a_forged_manifest_deletes_nothing() {
    let world = World::new();
    let (first, _) = world.explain();
    assert_eq!(first.code, 0);
    // v5 becomes the oldest, in what is kept alone.
    let shipped = world.bench.ago(7 * 24);
    world.forge(&shipped, &world.bench.ago(900 * 24));
    let plan = world.bench.deployment.beside("plan");
    let planned = world.run(&["retention", "plan", "--json"]).arg("--out").arg(&plan).run();
    assert_eq!(planned.code, 0, "{planned}");
    let before = world.bucket.keys();
    let ran = world.run(&["retention", "run", "--confirm", "dep", "--json"]).arg("--plan").arg(&plan).run();
    assert_eq!(ran.code, 7, "{ran}");
    assert_eq!(world.bucket.keys(), before);

    let read = world.read();
    let ran = world.run(&["retention", "run", "--confirm", "dep", "--json"]).run();
    assert_eq!((ran.code, world.read() - read), (0, 5), "a run reads every manifest itself: {ran}");
    assert!(world.bucket.keys().contains("apps/ops/shop/releases/v5/manifest.json"));
}

#[test]
fn without_a_place_to_keep_them_everything_is_read_again() {
    let world = World::new();
    let explain = |place: &str| {
        let before = world.read();
        let outcome = world.bucket.run(["retention", "explain"]).env("HOME", place).run();
        assert_eq!(outcome.code, 0, "{outcome}");
        world.read() - before
    };
    for place in ["", "relative", "/proc/nowhere"] {
        assert_eq!((explain(place), explain(place)), (5, 5), "{place:?}");
    }
}
