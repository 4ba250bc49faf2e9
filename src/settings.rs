//! Flags, environment, `/etc/carlos/host.env` and defaults become one [`Settings`]: a pure function.
//!
//! Precedence: flag, environment, host file, default (contract section 1). Secrets are not settings: they stay in the
//! environment and are read where they are used.

mod host_env;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::cli::{Color, Global};
use crate::error::CommandError;
use crate::host::units::BOX_HALF;
use crate::platform::{Label, hex};
use crate::store::{Endpoint, without_password};

/// What opens the registry, as far as it has public names (formats.md section 8).
const AGENT_UNITS: &str = "carlos-edge.service,carlos-agent.service,carlos.service";

pub use host_env::parse_host_env;

/// Where the platform keeps a box's settings (formats.md section 8).
pub const HOST_ENV: &str = "/etc/carlos/host.env";
/// How many requests may be under way at once, where nothing else was said.
const CONCURRENCY: u16 = 32;
/// Not 10 seconds, within which a store that does not answer is to have been given up and said so.
const TIMEOUT: Duration = Duration::from_secs(9);

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// An S3 bucket.
    Bucket(String),
    /// A directory.
    Directory(PathBuf),
}

/// Everything that a command may be told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The deployment store, where one is named. A bucket wins over a directory.
    pub deployment: Option<StoreChoice>,
    /// The status store, where one of its own is named.
    pub status: Option<StoreChoice>,
    /// Rebases the platform's own reports in the status store; empty or ending in `/`.
    pub status_prefix: String,
    /// An S3 endpoint that is not AWS.
    pub endpoint_url: Option<Endpoint>,
    /// The S3 region.
    pub region: Option<String>,
    /// This box's own label, where it is known.
    pub this_box: Option<Label>,
    /// The live registry.
    pub registry: PathBuf,
    /// The units that must be stopped before a restore.
    pub agent_units: Vec<String>,
    /// The account of a route that names none.
    pub default_account: String,
    /// The deployment's public key, with which channel pointers are verified; not a secret.
    pub release_pubkey: Option<String>,
    /// Whether this is a fleet box, which leaves the platform box's jobs alone.
    pub fleet_box: bool,
    /// How many requests may be under way at once.
    pub concurrency: usize,
    /// How long one request may take before it is given up; for a large body, how long it may stand still.
    pub timeout: Duration,
    /// One JSON document instead of a table.
    pub json: bool,
    /// Never ask.
    pub no_input: bool,
    /// Say less.
    pub quiet: bool,
    /// Say where settings came from.
    pub verbose: bool,
    /// When colour is used.
    pub color: Color,
    /// Every setting with its value and origin, in a fixed order, for `-v` and `doctor`.
    pub origins: Vec<Origin>,
}

/// Where one setting came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The flag's name without dashes.
    pub name: &'static str,
    /// Its value, without the password of a URL; `-` when it is not set.
    pub value: String,
    /// `flag --x`, `environment X`, `host.env X`, another setting's name, `default` or `not set`.
    pub from: String,
}

/// Reads one setting after the other and remembers where each came from.
struct Lookup<'a> {
    env: &'a BTreeMap<String, String>,
    host_env: &'a BTreeMap<String, String>,
    origins: Vec<Origin>,
}

impl Lookup<'_> {
    /// The value by precedence. An empty value counts as not set, as the platform's own shell files leave it.
    fn text(
        &mut self,
        name: &'static str,
        flag: Option<String>,
        variable: Option<&str>,
        default: Option<&str>,
    ) -> Option<String> {
        let of = |map: &BTreeMap<String, String>| variable.and_then(|v| map.get(v)).filter(|text| !text.is_empty()).cloned();
        let variable_name = variable.unwrap_or_default();
        let (value, from) = if let Some(text) = flag {
            (Some(text), format!("flag --{name}"))
        } else if let Some(text) = of(self.env) {
            (Some(text), format!("environment {variable_name}"))
        } else if let Some(text) = of(self.host_env) {
            (Some(text), format!("host.env {variable_name}"))
        } else if let Some(text) = default {
            (Some(text.to_owned()), "default".to_owned())
        } else {
            (None, "not set".to_owned())
        };
        // A unit or a directory may have an @ in its name; only a URL has a password before it.
        let hide = |text: &str| {
            if name == "endpoint-url" || text.contains("://") { without_password(text) } else { text.to_owned() }
        };
        let shown = value.as_deref().filter(|text| !text.is_empty()).map_or_else(|| "-".to_owned(), hide);
        self.origins.push(Origin { name, value: shown, from });
        value
    }

    /// Of the setting that was looked up last, shows a digest and not the text: the private key may have been put there by
    /// mistake, and looks no different.
    fn show_digest(&mut self) {
        if let Some(origin) = self.origins.last_mut().filter(|origin| origin.value != "-") {
            let digest = hex(&Sha256::digest(origin.value.as_bytes()));
            origin.value = format!("sha256:{}", &digest[..16]);
        }
    }

    /// Notes what can only be typed.
    fn flags(&mut self, global: &Global) {
        let host_env = global.host_env.as_ref().map(|path| path.display().to_string());
        self.text("host-env", host_env, None, Some(HOST_ENV));
        let concurrency = global.concurrency.map(|number| number.to_string());
        self.text("concurrency", concurrency, None, Some(&CONCURRENCY.to_string()));
        self.text("timeout", global.timeout.map(length), None, Some(&length(TIMEOUT)));
        let color = global.color.and_then(|color| Some(color.to_possible_value()?.get_name().to_owned()));
        self.text("color", color, None, Some("auto"));
        for (name, is_typed) in [("json", global.json), ("no-input", global.no_input), ("quiet", global.quiet)] {
            self.text(name, is_typed.then(|| "yes".to_owned()), None, Some("no"));
        }
    }
}

impl Settings {
    /// Merges what was typed with the environment and the host file.
    ///
    /// # Errors
    /// A usage error that names the setting, its origin and what is wrong with it.
    pub fn resolve(
        global: &Global,
        env: &BTreeMap<String, String>,
        host_env: &BTreeMap<String, String>,
    ) -> Result<Self, CommandError> {
        let mut lookup = Lookup { env, host_env, origins: Vec::new() };

        let (deployment, status) = stores(&mut lookup, global);
        let status_prefix = lookup
            .text("status-prefix", global.status_prefix.clone(), Some("CARLOS_STATUS_PREFIX"), Some(""))
            .unwrap_or_default();
        let endpoint_url = lookup.text("endpoint-url", global.endpoint_url.clone(), Some("CARLOS_S3_ENDPOINT"), None);
        let region = lookup.text("region", global.region.clone(), Some("CARLOS_AWS_REGION"), None);
        let this_box = lookup.text("this-box", global.this_box.clone(), Some("CARLOS_BOX_LABEL"), None);
        let registry = registry(&mut lookup, global.registry.as_deref());
        let agent_units = agent_units(&mut lookup, &global.agent_unit);
        let default_account =
            lookup.text("default-account", None, Some("CARLOS_DEFAULT_ACCOUNT"), Some("ops")).unwrap_or_default();
        let release_pubkey = lookup.text("release-pubkey", None, Some("CARLOS_RELEASE_PUBKEY"), None);
        lookup.show_digest();
        let box_role = lookup.text("box-role", None, Some("CARLOS_BOX_ROLE"), None);
        lookup.flags(global);

        Ok(Self {
            deployment,
            status,
            status_prefix: if status_prefix.is_empty() || status_prefix.ends_with('/') {
                status_prefix
            } else {
                format!("{status_prefix}/")
            },
            endpoint_url: endpoint_url.map(Endpoint::from),
            region,
            this_box: this_box
                .map(|text| text.parse().map_err(|error| CommandError::usage(format!("this box's own label: {error}"))))
                .transpose()?,
            registry,
            agent_units,
            default_account,
            release_pubkey,
            fleet_box: box_role.as_deref() == Some("fleet"),
            concurrency: usize::from(global.concurrency.map_or(CONCURRENCY, NonZeroU16::get)),
            timeout: global.timeout.unwrap_or(TIMEOUT),
            json: global.json,
            no_input: global.no_input,
            quiet: global.quiet,
            verbose: global.verbose,
            color: global.color.unwrap_or(Color::Auto),
            origins: lookup.origins,
        })
    }
}

/// The units that must be stopped: those that are named, and our own box half, whoever is named.
fn agent_units(lookup: &mut Lookup<'_>, typed: &[String]) -> Vec<String> {
    let typed = if typed.is_empty() { None } else { Some(typed.join(",")) };
    let named = lookup.text("agent-unit", typed, Some("CARLOS_AGENT_UNITS"), Some(AGENT_UNITS)).unwrap_or_default();
    let mut units: Vec<String> =
        named.split([',', ' ']).map(str::trim).filter(|unit| !unit.is_empty()).map(str::to_owned).collect();
    let is_ours = |unit: &String| unit == BOX_HALF || BOX_HALF.strip_suffix(".service") == Some(unit);
    if !units.iter().any(is_ours) {
        units.push(BOX_HALF.to_owned());
        if let Some(origin) = lookup.origins.last_mut() {
            origin.value = units.join(",");
            origin.from.push_str(", and always carlosctl's own");
        }
    }
    units
}

/// The live registry: typed, else in the data directory.
fn registry(lookup: &mut Lookup<'_>, typed: Option<&Path>) -> PathBuf {
    let data_dir = lookup.text("data-dir", None, Some("CARLOS_DATA_DIR"), Some("/data")).unwrap_or_default();
    let default = format!("{}/registry.db", data_dir.trim_end_matches('/'));
    let registry = lookup.text("registry", typed.map(|path| path.display().to_string()), None, Some(&default));
    if typed.is_none()
        && let Some(origin) = lookup.origins.last_mut()
    {
        "data-dir".clone_into(&mut origin.from);
    }
    PathBuf::from(registry.unwrap_or(default))
}

/// A length of time as it could have been typed.
fn length(duration: Duration) -> String {
    format!("{duration:?}")
}

/// The deployment store and the status store.
fn stores(lookup: &mut Lookup<'_>, global: &Global) -> (Option<StoreChoice>, Option<StoreChoice>) {
    let deployment = store(
        lookup,
        ("bucket", "CARLOS_DEPLOYMENT_BUCKET"),
        ("dir", "CARLOS_DEPLOYMENT_DIR"),
        global.bucket.as_deref(),
        global.dir.as_deref(),
    );
    let status = store(
        lookup,
        ("status-bucket", "CARLOS_STATUS_BUCKET"),
        ("status-dir", "CARLOS_STATUS_DIR"),
        global.status_bucket.as_deref(),
        global.status_dir.as_deref(),
    );
    (deployment, status)
}

/// One of the two stores: of a bucket and a directory named at the same level the bucket wins (formats.md section 2), and
/// a flag wins over any environment.
fn store(
    lookup: &mut Lookup<'_>,
    (bucket_name, bucket_variable): (&'static str, &str),
    (dir_name, dir_variable): (&'static str, &str),
    bucket: Option<&str>,
    dir: Option<&Path>,
) -> Option<StoreChoice> {
    let bucket_is_typed = bucket.is_some();
    let dir_is_typed = dir.is_some();
    let bucket = lookup.text(bucket_name, bucket.map(str::to_owned), Some(bucket_variable), None);
    let dir = lookup.text(dir_name, dir.map(|dir| dir.display().to_string()), Some(dir_variable), None);
    match (bucket, dir) {
        (_, Some(dir)) if dir_is_typed && !bucket_is_typed => Some(StoreChoice::Directory(dir.into())),
        (Some(bucket), _) => Some(StoreChoice::Bucket(bucket)),
        (None, dir) => dir.map(|dir| StoreChoice::Directory(dir.into())),
    }
}

#[cfg(test)]
mod tests;
