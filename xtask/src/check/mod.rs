//! `cargo xtask check`: the conditions on every commit, all or one step at a time.

mod cases;
mod dependencies;
mod examples;
mod files;
mod links;
mod newcomer;
mod no_std;
mod workspace;

use crate::process::{self, Outcome, cargo};
use clap::{Args, ValueEnum};
use core::error::Error;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::thread;
use workspace::Package;

/// Warnings of clippy and of the compiler are errors here.
const DENY_WARNINGS: [&str; 3] = ["--", "-D", "warnings"];
/// The same, as `cargo clippy` passes it on.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

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
    /// Every link between documents leads to a file and a heading, and every dependency has its line in docs/dependencies.md
    Documents,
    /// Tests pass, and examples in documentation
    Test,
    /// Every example runs to its end, with little work
    Examples,
    /// The documentation builds without a warning; that of the facade with all features, with none, and with each alone
    Doc,
    /// The crates link without the standard library
    NoStd,
    /// The examples of the READMEs run in separate packages, outside the workspace
    Newcomer,
}

impl Step {
    /// Whether it runs what the workspace builds: tests and examples.
    const fn runs_programs(self) -> bool {
        matches!(self, Self::Cases | Self::Test | Self::Examples)
    }

    fn take(self, packages: &[Package]) -> Outcome {
        let libraries = || packages.iter().filter(|package| package.is_library);
        match self {
            Self::Fmt => process::run(&mut cargo(["fmt", "--all", "--check"])),
            Self::Clippy => clippy(packages),
            Self::Cases => cases::compare(),
            Self::Documents => links::compare().and_then(|()| dependencies::compare(packages)),
            Self::Test => test(),
            Self::Examples => examples::run_all(packages),
            Self::Doc => doc(packages),
            Self::NoStd => libraries().try_for_each(no_std::prove),
            Self::Newcomer => newcomer::try_out(packages),
        }
    }
}

/// Runs the steps that were named, or all: those that run programs beside the others, because each of both leaves
/// processors idle.
///
/// # Errors
/// If a step fails. The steps of its kind after it are not run.
pub(crate) fn run(options: &Options) -> Outcome {
    let steps =
        if options.steps.is_empty() { Step::value_variants() } else { options.steps.as_slice() };
    let packages = workspace::packages()?;
    let lane = |runs_programs| {
        let mut steps = steps.iter().filter(|step| step.runs_programs() == runs_programs);
        steps.try_for_each(|step| step.take(&packages)).map_err(|error| error.to_string())
    };
    let outcomes = thread::scope(|scope| {
        let programs = scope.spawn(|| lane(true));
        let others = lane(false);
        [programs.join().unwrap_or_else(|panic| resume_unwind(panic)), others]
    });
    let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

/// Returns a command of cargo that builds in a folder of its own, and waits for no lock of a build for tests. Both have only
/// the macros of dependencies in common.
fn cargo_beside<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<Command, Box<dyn Error>> {
    let mut command = cargo(arguments);
    command.env("CARGO_TARGET_DIR", workspace::target_folder()?.join("lint"));
    Ok(command)
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
    let whole = ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features"];
    process::run(cargo_beside(whole)?.args(DENY_WARNINGS))?;
    packages.iter().try_for_each(clippy_each_feature)
}

/// Lints a package without features and with each alone. Only this finds code of one feature that needs another.
// Tests state which features they need, so they are built without features, too. With one feature alone they may lack
// another, so only the package itself is built then.
fn clippy_each_feature(package: &Package) -> Outcome {
    for_each_feature(package, |features| {
        let targets: &[&str] = if features.is_empty() { &["--all-targets"] } else { &[] };
        let arguments = ["clippy", "--quiet", "--package", &package.name];
        let only = ["--no-default-features", "--features", features];
        process::run(cargo_beside(arguments)?.args(targets).args(only).args(DENY_WARNINGS))
    })
}

/// Calls `check` without features and with each feature of a package, if it has any.
fn for_each_feature(package: &Package, check: impl Fn(&str) -> Outcome) -> Outcome {
    if package.features.is_empty() {
        return Ok(());
    }
    check("")?;
    package.features.iter().try_for_each(|feature| check(feature))
}

/// Documents all packages with all features, and the facade with its default features, without features, and with each alone.
fn doc(packages: &[Package]) -> Outcome {
    document(&["--all-features"])?;
    document(&["--package", "pds"])?;
    packages.iter().filter(|package| package.name == "pds").try_for_each(|facade| {
        for_each_feature(facade, |features| {
            document(&["--package", "pds", "--no-default-features", "--features", features])
        })
    })
}

/// Documents packages. Their dependencies are checked by clippy as in its own step, so that none is checked twice.
fn document(options: &[&str]) -> Outcome {
    let sysroot = process::capture(Command::new("rustc").args(["--print", "sysroot"]))?;
    let clippy = Path::new(sysroot.trim()).join("bin").join("clippy-driver");
    let mut command = cargo_beside(["doc", "--quiet", "--no-deps"])?;
    command.env("RUSTC_WORKSPACE_WRAPPER", clippy).env("CLIPPY_ARGS", CLIPPY_ARGS);
    process::run(command.args(options).env("RUSTDOCFLAGS", "--deny warnings"))
}
