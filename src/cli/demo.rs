//! `carlosctl demo`

use clap::Args;

use super::examples;

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = examples::DEMO)]
pub struct DemoArgs {
    /// Only build the deployment, and keep it to explore; --dir names where
    #[arg(long)]
    pub keep: bool,
}
