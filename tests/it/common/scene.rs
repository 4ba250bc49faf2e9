//! A world in which a runbook is executed: the demo's deployment, a standby with units and settings, and every program that a
//! command may name on a PATH of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use carlosctl::runbook::expect::Values;
use rexpect::session::{Options, spawn_with_options};

use super::carlosctl;
use super::servers::Server;

/// What a command said, both streams in order, and how it ended.
pub(crate) type Ended = (i32, String);

/// Everything around a command.
pub(crate) struct Scene {
    directory: tempfile::TempDir,
    pub(crate) env: BTreeMap<String, String>,
    /// What is filled in at the beginning.
    pub(crate) values: Values,
    /// Kept open as long as the scene lasts, such as another operator's lock.
    pub(crate) kept: Vec<File>,
    /// Whether everything that a command could change is in files here.
    pub(crate) local: bool,
}

/// The demo as `demo --keep` leaves it, built once a process. Scenes are copies.
static DEMO: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let built = carlosctl(["demo", "--keep", "--dir"]).arg(directory.path().join("demo")).run();
    assert_eq!(built.code, 0, "{built}");
    directory
});

/// `systemctl`, with a directory a unit below `@UNITS@`: `active`, `enabled`, `masked`, and `etc` for one whose file a mask
/// cannot hide. Starting a service runs the `start` in its directory.
const SYSTEMCTL: &str = r#"#!/bin/sh
U=@UNITS@
verb=$1; shift
now= props= names=
for word; do
  case $word in
    --now) now=1 ;;
    --property=*) props=${word#--property=} ;;
    -*|carlos\*) ;;
    *) names="$names $word" ;;
  esac
done
halt() { rm -f "$U/$1/active"; }
failed() { echo "$1" >&2; exit "${2:-1}"; }
case $verb in
list-units)
  for unit in $(ls "$U"); do
    state='inactive dead'; [ -e "$U/$unit/active" ] && state='active running'
    echo "$unit loaded $state of CARLOS"
  done ;;
show)
  for unit in $names; do
    load=not-found active=inactive sub=dead file=
    [ -d "$U/$unit" ] && load=loaded file=disabled
    [ -e "$U/$unit/enabled" ] && file=enabled
    [ -e "$U/$unit/masked" ] && load=masked file=masked
    [ -e "$U/$unit/active" ] && active=active sub=running
    for line in "Id=$unit" LoadState=$load ActiveState=$active SubState=$sub UnitFileState=$file; do
      case ",$props," in *",${line%%=*},"*) echo "$line" ;; esac
    done
  done ;;
mask)
  for unit in $names; do
    [ -e "$U/$unit/etc" ] && failed "Failed to mask unit, file \"/etc/systemd/system/$unit\" already exists."
  done
  for unit in $names; do
    mkdir -p "$U/$unit"; : > "$U/$unit/masked"
    echo "Created symlink /etc/systemd/system/$unit → /dev/null." >&2
    [ -n "$now" ] && halt "$unit"
  done ;;
unmask) for unit in $names; do rm -f "$U/$unit/masked"; echo "Removed \"/etc/systemd/system/$unit\"." >&2; done ;;
disable) for unit in $names; do
    [ -d "$U/$unit" ] || failed "Failed to disable unit: Unit file $unit does not exist."
    rm -f "$U/$unit/enabled"; [ -n "$now" ] && halt "$unit"
  done ;;
stop) for unit in $names; do
    [ -d "$U/$unit" ] || failed "Failed to stop $unit: Unit $unit not loaded." 5
    halt "$unit"
  done ;;
start|enable) for unit in $names; do
    [ -d "$U/$unit" ] || failed "Failed to start $unit: Unit $unit not found." 5
    [ -e "$U/$unit/masked" ] && failed "Failed to start $unit: Unit $unit is masked."
    [ "$verb" = enable ] && { : > "$U/$unit/enabled"; [ -z "$now" ] && continue; }
    : > "$U/$unit/active"
    if [ -x "$U/$unit/start" ]; then "$U/$unit/start" >/dev/null 2>&1 || failed "Job for $unit failed."; fi
  done ;;
*) failed "unknown verb $verb" ;;
esac
exit 0
"#;

impl Scene {
    /// The demo's standby `edge-d4`: an empty registry, the agent's unit stopped and enabled, two timers running.
    pub(crate) fn standby() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let demo = DEMO.path().join("demo");
        for part in ["bucket", "standby"] {
            let copied = Command::new("cp").arg("-a").arg(demo.join(part)).arg(directory.path()).status().expect("cp");
            assert!(copied.success());
        }
        let mut scene = Self { directory, env: BTreeMap::new(), values: Values::new(), kept: Vec::new(), local: true };
        scene.settings(&demo);
        scene.script("systemctl", &SYSTEMCTL.replace("@UNITS@", &scene.path("units")));
        // Runbooks say what an operator types. A watch is only made shorter; it ends early when there is a verdict.
        scene.script(
            "carlosctl",
            "#!/bin/sh\ncase \"$*\" in\n*'restore watch'*) set -- \"$@\" --for 2s --interval 100ms ;;\nesac\nexec @BIN@ \"$@\"\n",
        );
        scene.script("cargo", "#!/bin/sh\n[ \"$1 $2\" = 'run --' ] || exit 101\nshift 2\nexec @BIN@ \"$@\"\n");
        scene.unit("carlos-edge.service", &["enabled"]);
        scene.agent("sleep 0.1; @BIN@ box snapshot && @BIN@ box report");
        scene.unit("carlos-adopt.timer", &["enabled", "active"]);
        scene.unit("carlos-ops.timer", &["enabled", "active"]);
        scene.value("DEAD", "edge-a1");
        scene.value("STANDBY", "edge-d4");
        scene.value("AGENT", "carlos-edge.service");
        scene.value("TIMERS", "carlos-adopt.timer carlos-ops.timer");
        scene
    }

    /// Settings as on a box, in the environment and in its host.env.
    fn settings(&mut self, demo: &Path) {
        let key = fs::read_to_string(demo.join("host.env")).expect("the demo's settings");
        let key = key.lines().find_map(|line| line.strip_prefix("CARLOS_RELEASE_PUBKEY=")).expect("a key").to_owned();
        let path = format!("{}:/usr/bin:/bin", self.path("bin"));
        for (name, value) in [
            ("PATH", path),
            ("TERM", "dumb".to_owned()),
            ("CARLOS_DEPLOYMENT_DIR", self.path("bucket")),
            ("CARLOS_STATUS_DIR", self.path("bucket")),
            ("CARLOS_DATA_DIR", self.path("standby")),
            ("CARLOS_BOX_LABEL", "edge-d4".to_owned()),
            ("CARLOS_RELEASE_PUBKEY", key),
        ] {
            self.env.insert(name.to_owned(), value);
        }
        fs::write(self.path("host.env"), "CARLOS_BOX_LABEL=edge-d4\nCARLOS_SECRETS_KEY=not-a-real-one\n").expect("settings");
        self.value("HOST_ENV", &self.path("host.env"));
        self.value("REGISTRY", &self.path("standby/registry.db"));
        self.value("DATA", &self.path("standby"));
        self.value("STORE", "bucket");
    }

    /// A path in the scene.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// An object of the store.
    pub(crate) fn object(&self, key: &str) -> PathBuf {
        self.directory.path().join("bucket").join(key)
    }

    /// Fills in a value.
    pub(crate) fn value(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// A unit with these marks.
    pub(crate) fn unit(&self, name: &str, marks: &[&str]) {
        let directory = self.directory.path().join("units").join(name);
        fs::create_dir_all(&directory).expect("a directory");
        for mark in marks {
            File::create(directory.join(mark)).expect("a mark");
        }
    }

    /// What the agent does when it is started.
    pub(crate) fn agent(&self, line: &str) {
        Self::executable(&self.directory.path().join("units/carlos-edge.service/start"), &format!("#!/bin/sh\n{line}\n"));
    }

    /// A program on the PATH; `@BIN@` in it is the real carlosctl.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let bin = self.directory.path().join("bin");
        fs::create_dir_all(&bin).expect("a directory");
        Self::executable(&bin.join(name), text);
    }

    fn executable(path: &Path, text: &str) {
        fs::write(path, text.replace("@BIN@", env!("CARGO_BIN_EXE_carlosctl"))).expect("a script");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Moves the deployment into a new bucket of `server`. There everything was written just now, as by a living box, and
    /// that finding alone is allowed.
    pub(crate) fn move_to(&mut self, server: &Server, bucket: &str) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let root = self.directory.path().join("bucket");
        let found = Command::new("find").arg(&root).args(["-type", "f", "-printf", "%P\\n"]).output().expect("find");
        runtime.block_on(async {
            let store = server.store(bucket).await;
            for key in String::from_utf8(found.stdout).expect("keys").lines().filter(|key| !key.starts_with(".carlosctl")) {
                let body = fs::read(root.join(key)).expect("an object");
                carlosctl::store::create(&store, key, &body.into()).await.expect("an object");
            }
        });
        self.use_bucket(server, bucket);
        self.value("STORE", bucket);
        self.script(
            "carlosctl",
            "#!/bin/sh\ncase \"$*\" in\n*'restore watch'*) set -- \"$@\" --for 5s --interval 200ms ;;\n*'restore undo'*) ;;\n\
             restore*) set -- \"$@\" --allow still-writing --allow dead-box-reporting ;;\nesac\nexec @BIN@ \"$@\"\n",
        );
        // Its times are whole seconds, and a real agent waits a minute.
        self.agent("sleep 1.1; @BIN@ box snapshot && @BIN@ box report");
        self.local = false;
    }

    /// Settings for a bucket of `server`.
    pub(crate) fn use_bucket(&mut self, server: &Server, bucket: &str) {
        self.env.remove("CARLOS_DEPLOYMENT_DIR");
        self.env.remove("CARLOS_STATUS_DIR");
        self.env.insert("CARLOS_DEPLOYMENT_BUCKET".to_owned(), bucket.to_owned());
        self.env.extend(server.env().into_iter().map(|(name, value)| (name.to_owned(), value)));
    }

    /// A shell with this command, in the scene.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line).env_clear().envs(&self.env).current_dir(self.directory.path());
        command
    }

    /// Runs one command as a pipe would.
    pub(crate) fn run(&self, line: &str) -> Ended {
        let output = self.shell(&format!("{{ {line}\n}} 2>&1")).stdin(Stdio::null()).output().expect("sh starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        super::hints::all(&said);
        (output.status.code().unwrap_or(-1), said)
    }

    /// Runs one command at a terminal, and types `name` when it asks for it.
    pub(crate) fn run_and_type(&self, line: &str, name: &str) -> Ended {
        let options = Options::new().timeout_ms(Some(60_000));
        let mut session = spawn_with_options(self.shell(line), options).expect("a terminal");
        let question = format!("type {name} to go on");
        let before = match session.exp_string(&question) {
            Ok(before) => before,
            Err(error) => return (-1, format!("it did not ask: {error}")),
        };
        session.send_line(name).expect("typed");
        let after = session.exp_eof().expect("it ends");
        let status = format!("{:?}", session.process().wait().expect("it ends"));
        let code = status.strip_prefix("Exited(").and_then(|rest| rest.trim_end_matches(')').rsplit(' ').next()?.parse().ok());
        (code.unwrap_or(-1), plain(&format!("{before}{question}{after}")))
    }

    /// Everything that a command could have changed: bucket, standby and units.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(at: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(at).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                // Locks, and the store's own scratch.
                if name.ends_with("carlosctl-lock") || name.starts_with(".carlosctl") {
                    continue;
                }
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.insert(path.clone(), fs::read(&path).expect("a file"));
                }
            }
        }
        let mut found = BTreeMap::new();
        for part in ["bucket", "standby", "units"] {
            walk(&self.directory.path().join(part), &mut found);
        }
        found
    }
}

/// What stands on a terminal that was sent this, as lines.
pub(crate) fn plain(sent: &str) -> String {
    let mut text = String::new();
    let mut rest = sent;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        text.push_str(before);
        let end = escape.find(|c: char| c.is_ascii_alphabetic()).map_or(escape.len(), |at| at + 1);
        if &escape[..end] == "[2K" {
            text.truncate(text.rfind('\n').map_or(0, |line| line + 1));
        }
        rest = &escape[end..];
    }
    text.push_str(rest);
    text.replace('\r', "")
}
