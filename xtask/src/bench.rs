//! `cargo xtask bench`. The benchmarks are in a separate package, because its peers take minutes to compile.

use crate::process::{self, Outcome, cargo};
use clap::Args;

/// Measures structures against peers. All options go to `pds-benches`; its `--help` lists them.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options of `pds-benches`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds and runs the benchmarks.
///
/// # Errors
/// If they cannot be built, or fail.
pub(crate) fn run(options: &Options) -> Outcome {
    let arguments = ["run", "--quiet", "--release", "--package", "pds-benches", "--"];
    process::run(cargo(arguments).args(&options.arguments))
}
