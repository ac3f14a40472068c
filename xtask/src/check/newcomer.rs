//! The first steps of a new user: an empty package outside the workspace, a dependency as in the README, and its
//! examples.
//!
//! Documentation tests run inside a crate and see all dependencies of its tests. A user has only one dependency.
//! Therefore this finds more: a wrong path in a README, an example that names a crate which its reader does not have, a
//! feature that does not work alone.

mod readme;

use super::workspace::{Package, target_folder};
use crate::process::{self, Outcome, cargo, root};
use core::error::Error;
use readme::Readme;
use std::fs;
use std::path::Path;

/// The facade, whose examples the README of the workspace has, too.
const FACADE: &str = "pds";
/// The feature that the README of the workspace begins with.
const FEATURE: &str = "bloom";

/// Runs the examples of the README of every library alone, of the facade with one feature, and of the facade with all.
///
/// # Errors
/// If one of them does not compile, or fails.
pub(crate) fn try_out(packages: &[Package]) -> Outcome {
    let libraries = || packages.iter().filter(|package| package.is_library);
    for package in libraries() {
        let readme = Readme::of(&package.folder)?;
        run(&package.name, &dependency(package, None), &readme.examples())?;
    }
    let facade = libraries().find(|package| package.name == FACADE).ok_or("there is no facade")?;
    let first = Readme::of(&root())?;
    let one = format!("{FACADE}-{FEATURE}");
    run(&one, &dependency(facade, Some(FEATURE)), &first.examples_of(FACADE))?;
    run("workspace", &first.dependencies(&root())?, &first.examples())
}

/// Returns a line of a manifest: the package by its path, with its default features, or with `std` and one other.
fn dependency(package: &Package, feature: Option<&str>) -> String {
    let features = feature.map_or(String::new(), |feature| {
        format!(", default-features = false, features = [\"std\", \"{feature}\"]")
    });
    format!("{} = {{ path = {:?}{features} }}\n", package.name, package.folder)
}

/// Writes a package with these dependencies and examples outside the workspace, and runs it.
fn run(name: &str, dependencies: &str, examples: &[String]) -> Outcome {
    if examples.is_empty() {
        return Err(format!("the README of {name} has no example that runs").into());
    }
    let folder = std::env::temp_dir().join(format!("pds-newcomer-{}", std::process::id()));
    eprintln!("running {} examples with nothing but\n{dependencies}", examples.len());
    let outcome = write(&folder, name, dependencies, examples).and_then(|()| {
        let mut command = cargo(["run", "--quiet", "--manifest-path"]);
        let target = target_folder()?.join("newcomer");
        process::run(command.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(target))
    });
    fs::remove_dir_all(&folder)?;
    outcome
}

fn write(
    folder: &Path,
    name: &str,
    dependencies: &str,
    examples: &[String],
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"newcomer-{name}\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/main.rs"), readme::program(examples))?;
    // The same versions of all dependencies as in the workspace.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(())
}
