//! `cargo xtask params`. The calculator is a command of the tool `pds`, which users install.

use crate::process::{self, Outcome, cargo};
use clap::Args;

/// Sizes, error rates and a choice of structure. All options go to `pds params`; its `--help` lists them.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options of `pds params`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds the tool and runs its calculator.
///
/// # Errors
/// If it cannot be built, or fails.
pub(crate) fn run(options: &Options) -> Outcome {
    let arguments = ["run", "--quiet", "--package", "pds-cli", "--", "params"];
    process::run(cargo(arguments).args(&options.arguments))
}
