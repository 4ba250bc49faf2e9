//! Runs the program and measures it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Failure;

/// What a run cost.
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    peak_mib: f64,
    code: i32,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} s, {:.0} MiB, exit {}", self.seconds, self.peak_mib, self.code)
    }
}

/// The program on a deployment.
pub(crate) struct Program {
    path: PathBuf,
    bucket: PathBuf,
    key: String,
}

impl Program {
    /// The program that was built beside this one.
    pub(crate) fn on(bucket: &Path, key: &str) -> Result<Self, Failure> {
        let here = std::env::current_exe()?;
        let built = here.parent().and_then(Path::parent).ok_or("this program lies nowhere")?.join("carlosctl");
        if !built.is_file() {
            return Err(format!("{} is not there: cargo build it first", built.display()).into());
        }
        Ok(Self { path: built, bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// Runs a command; findings are no failure, a refusal is.
    pub(crate) fn run<'a>(&self, args: impl Iterator<Item = &'a str>, env: &[(&str, String)]) -> Result<Cost, Failure> {
        let mut command = Command::new(&self.path);
        command.args(args).env_clear().stdout(Stdio::null());
        command.env("CARLOS_DEPLOYMENT_DIR", &self.bucket).env("CARLOS_STATUS_DIR", &self.bucket);
        command.env("CARLOS_DATA_DIR", "/nonexistent");
        if !self.key.is_empty() {
            command.env("CARLOS_RELEASE_PUBKEY", &self.key);
        }
        command.envs(env.iter().map(|(name, value)| (name, value)));
        let started = Instant::now();
        let mut child = command.spawn()?;
        let mut peak_kib = 0;
        let status = loop {
            peak_kib = peak_kib.max(high_water_kib(child.id()));
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let seconds = started.elapsed().as_secs_f64();
        let code = status.code().ok_or("killed")?;
        if !matches!(code, 0 | 3 | 4) {
            return Err(format!("exit {code}").into());
        }
        Ok(Cost { seconds, peak_mib: f64::from(peak_kib) / 1024.0, code })
    }
}

/// The peak of a process that still runs, in KiB; it only grows, so the last reading is the peak to within some milliseconds.
fn high_water_kib(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
