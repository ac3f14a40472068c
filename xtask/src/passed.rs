//! Commands that other packages answer: `bench`, whose peers take minutes to compile, and `params`, a command of the tool `pds`.

use crate::process::{self, Outcome, cargo};
use clap::Args;

/// The options of a command, which all go to its package.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Options of the package; its `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Options {
    /// Builds a package, and runs it by these words of cargo.
    ///
    /// # Errors
    /// If it cannot be built, or fails.
    pub(crate) fn run(&self, words: &str) -> Outcome {
        let words = ["run", "--quiet"].into_iter().chain(words.split(' '));
        process::run(cargo(words).args(&self.arguments))
    }
}
