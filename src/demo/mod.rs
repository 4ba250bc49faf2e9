//! A throwaway deployment to learn on, and the fixtures of the tests: both are built by the same hands.
//!
//! | file | what it builds |
//! |---|---|
//! | `registry` | registries as the agent keeps them |
//! | `boxes` | three boxes' snapshots and reports |
//! | `apps` | apps, releases, signed pointers, records |
//! | `bucket` | the directory store that it all lies in |
//! | `walk` | Step 0 on it, by running the real commands |

mod apps;
mod boxes;
mod bucket;
pub mod registry;
mod walk;

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::demo::DemoArgs;
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::word;
use crate::host::private;
use crate::snapshot::{blocking, disk};
use crate::terminal::{self, Paper};

use self::bucket::Bucket;
use self::walk::Step;

/// The answer.
#[derive(Debug, Serialize)]
struct Demo {
    /// Where the deployment is, or was.
    dir: PathBuf,
    /// Whether it is still there.
    kept: bool,
    /// The commands that were run.
    steps: Vec<Step>,
}

/// Runs `carlosctl demo`. `dir` is where the deployment is built; it must not exist.
///
/// # Errors
/// The local disk's; or the exit of the first command that did not do what the demo shows.
pub async fn run(args: &DemoArgs, dir: Option<&Path>, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let now = context.now();
    let place = Place::create(dir, args.keep)?;
    let root = place.path().to_owned();
    let built = root.clone();
    blocking(move || build(&built, now)).await?.map_err(|error| disk(&root, &error))?;
    context.say(&format!("a throwaway deployment is in {}: three boxes, four apps, one standby", place.path().display()));
    // One that is kept is for the operator to walk through: its standby is not restored yet.
    let steps = if args.keep { Vec::new() } else { walk::walk(place.path(), context).await? };
    let failed = steps.iter().find(|step| step.exit != step.expected).map(|step| step.command.clone());
    let demo = Demo { dir: place.path().to_owned(), kept: args.keep, steps };
    if context.settings.json {
        context.answer(&demo, now)?;
    } else {
        context.print(&demo.ending())?;
    }
    match failed {
        Some(command) => Err(CommandError::new(Exit::Unexpected, format!("the demo did not go as it should: {command}"))),
        None => Ok(Exit::Done),
    }
}

/// Where the deployment is built; removed again unless it is to be kept.
enum Place {
    Temporary(tempfile::TempDir),
    Named { path: PathBuf, keep: bool },
}

impl Place {
    fn create(dir: Option<&Path>, keep: bool) -> Result<Self, CommandError> {
        let temporary = || private::directory("carlosctl-demo-");
        match dir {
            None if keep => {
                let path = temporary().map_err(|error| disk(&std::env::temp_dir(), &error))?.keep();
                Ok(Self::Named { path, keep })
            }
            None => Ok(Self::Temporary(temporary().map_err(|error| disk(&std::env::temp_dir(), &error))?)),
            Some(path) => {
                DirBuilder::new().mode(0o700).create(path).map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => CommandError::new(
                        Exit::Refused,
                        format!("{}: exists; the demo builds in a directory of its own", path.display()),
                    )
                    .hint("name one that does not exist yet"),
                    _ => disk(path, &error),
                })?;
                let path = path.canonicalize().map_err(|error| disk(path, &error))?;
                Ok(Self::Named { path, keep })
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Named { path, .. } => path,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Named { path, keep: false } = self {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Builds the deployment, the standby, and the file with its settings.
fn build(root: &Path, now: Timestamp) -> io::Result<()> {
    let bucket = Bucket::create(&root.join("bucket"))?;
    boxes::write(&bucket, now)?;
    let public_key = apps::write(&bucket, now)?;
    let standby = root.join("standby");
    bucket::directory(&standby)?;
    // A bootstrapped box has a registry before its agent was ever started.
    registry::build_live(&standby.join("registry.db"), &[]).map_err(io::Error::other)?;
    let bucket = root.join("bucket");
    private::create_file(&root.join("host.env"))?.write_all(
        format!(
            "# The settings of the demo's standby, as /etc/carlos/host.env has a real one's.\n\
             CARLOS_DEPLOYMENT_DIR=\"{0}\"\nCARLOS_STATUS_DIR=\"{0}\"\nCARLOS_DATA_DIR=\"{1}\"\nCARLOS_BOX_LABEL={2}\n\
             CARLOS_AGENT_UNITS=carlosctl-demo-agent.service\nCARLOS_RELEASE_PUBKEY={public_key}\n",
            bucket.display(),
            standby.display(),
            boxes::STANDBY,
        )
        .as_bytes(),
    )
}

impl Demo {
    fn ending(&self) -> String {
        let typed = |path: &Path| terminal::escape(&word(path.as_os_str()).to_string_lossy()).into_owned();
        if self.kept {
            format!(
                "look at it  carlosctl --host-env {env} snapshot list\nrestore     carlosctl --host-env {env} restore --from-box {dead}\nremove it   rm -r {dir}\n",
                env = typed(&self.dir.join("host.env")),
                dir = typed(&self.dir),
                dead = boxes::DEAD
            )
        } else {
            "\n# The deployment is gone again. To keep one and explore it: carlosctl demo --dir PATH --keep\n".to_owned()
        }
    }
}

impl Answer for Demo {
    const SCHEMA: &'static str = "carlosctl.demo/1";

    fn text(&self, _: Paper) -> String {
        self.ending()
    }
}
