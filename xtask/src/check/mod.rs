//! `cargo xtask check`: what must hold of every commit, all of it or one step at a time.

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

/// Checks formatting, lints, tests, examples, documentation, freedom from the standard library and the READMEs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Runs these steps only
    #[arg(value_enum)]
    steps: Vec<Step>,
}

/// One thing that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Sources are formatted
    Fmt,
    /// No lint, with any feature of any crate: all, none, and each alone
    Clippy,
    /// Every case of docs/cases.md has a test, and every such test a case
    Cases,
    /// Tests pass, and examples in documentation
    Test,
    /// Every example runs to its end, with little to do
    Examples,
    /// The documentation builds without a warning
    Doc,
    /// The crates link without the standard library
    NoStd,
    /// The examples of the READMEs run in packages of their own, outside the workspace
    Newcomer,
}

/// Runs the steps that were named, or all.
///
/// # Errors
/// When a step fails; the ones after it are not run.
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

/// All tests, and those of instructions that the compiler does not see as users build them: calls of debug assertions
/// hide what such instructions do to registers.
fn test() -> Outcome {
    process::run(&mut cargo(["test", "--quiet", "--all-features"]))?;
    let blocked = ["--package", "bloom-blocked", "--lib", "--test", "backends"];
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

/// Lints a package without features and with each alone: code that one feature needs of another shows here only.
///
/// Its tests say which features they need, so that they are built, too, where there is none. With one alone they may
/// want for another, so that there only the package itself is.
fn clippy_each_feature(package: &Package) -> Outcome {
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
