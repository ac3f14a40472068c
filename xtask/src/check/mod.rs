//! `cargo xtask check`: the conditions on every commit, all or one step at a time.

mod cases;
mod examples;
mod newcomer;
mod no_std;
mod workspace;

use crate::process::{self, Outcome, cargo};
use clap::{Args, ValueEnum};
use core::error::Error;
use workspace::Package;

/// Warnings of clippy and of the compiler are errors here.
const DENY_WARNINGS: [&str; 3] = ["--", "-D", "warnings"];

/// Checks formatting, lints, tests, examples, documentation, `no_std` builds and the READMEs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Runs these steps only
    #[arg(value_enum)]
    steps: Vec<Step>,
}

/// A step of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Sources are formatted
    Fmt,
    /// No lint warns, with all features of any crate, with none, and with each alone
    Clippy,
    /// Every case of docs/cases.md has a test, and every such test a case
    Cases,
    /// Tests pass, and examples in documentation
    Test,
    /// Every example runs to its end, with little work
    Examples,
    /// The documentation builds without a warning
    Doc,
    /// The crates link without the standard library
    NoStd,
    /// The examples of the READMEs run in separate packages, outside the workspace
    Newcomer,
}

/// Runs the steps that were named, or all.
///
/// # Errors
/// If a step fails. The steps after it are not run.
pub(crate) fn run(options: &Options) -> Outcome {
    let steps =
        if options.steps.is_empty() { Step::value_variants() } else { options.steps.as_slice() };
    let packages = workspace::packages()?;
    steps.iter().try_for_each(|step| match step {
        Step::Fmt => process::run(&mut cargo(["fmt", "--all", "--check"])),
        Step::Clippy => clippy(&packages),
        Step::Cases => cases::compare(),
        Step::Test => test(),
        Step::Examples => examples::run_all(&packages),
        Step::Doc => doc(),
        Step::NoStd => {
            packages.iter().filter(|package| package.is_library).try_for_each(no_std::prove)
        }
        Step::Newcomer => newcomer::try_out(&packages),
    })
}

/// Runs all tests, those of this tool in the optimised build that it has already. Runs those of inline assembly again in a
/// build without debug assertions, as users build it: calls of debug assertions hide the effect of such instructions on
/// registers.
fn test() -> Outcome {
    process::run(&mut cargo(["test", "--quiet", "--all-features"]))?;
    process::run(&mut cargo(["test", "--quiet", "--release", "--package", "xtask"]))?;
    let blocked = ["--package", "bloom-blocked", "--lib", "--test", "it", "backends"];
    process::run(cargo(["test", "--quiet", "--release"]).args(blocked))
}

fn clippy(packages: &[Package]) -> Outcome {
    let whole = |features: &str| {
        let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", features];
        process::run(cargo(arguments).args(DENY_WARNINGS))
    };
    whole("--all-features")?;
    packages.iter().try_for_each(clippy_each_feature)
}

/// Lints a package without features and with each alone. Only this finds code of one feature that needs another.
// Tests state which features they need, so they are built without features, too. With one feature alone they may lack
// another, so only the package itself is built then.
fn clippy_each_feature(package: &Package) -> Outcome {
    if package.features.is_empty() {
        return Ok(());
    }
    let lint = |targets: &[&str], features: &str| {
        let arguments = ["clippy", "--quiet", "--package", &package.name];
        let only = ["--no-default-features", "--features", features];
        process::run(cargo(arguments).args(targets).args(only).args(DENY_WARNINGS))
    };
    lint(&["--all-targets"], "")?;
    package.features.iter().try_for_each(|feature| lint(&[], feature))
}

fn doc() -> Result<(), Box<dyn Error>> {
    let mut command = cargo(["doc", "--quiet", "--no-deps", "--all-features"]);
    process::run(command.env("RUSTDOCFLAGS", "--deny warnings"))
}
