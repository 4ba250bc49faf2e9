//! `carlosctl demo`

use clap::Args;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the deployment; --dir names where it is built
    #[arg(long)]
    pub keep: bool,
}
