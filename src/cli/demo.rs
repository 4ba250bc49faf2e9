//! `carlosctl demo`

use clap::Args;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Only build the deployment, and keep it to explore; --dir names where
    #[arg(long)]
    pub keep: bool,
}
