//! Proof that a crate works without the standard library.
//!
//! `#![no_std]` in a crate does not show what it links. A static library with its own panic handler does. If any
//! dependency linked the standard library, there would be two handlers, which the compiler refuses (E0152). It refuses an
//! allocation without an allocator, too. It does both before it generates code, so the library is only checked.

use super::workspace::{self, Package};
use crate::process::{self, Outcome, cargo, root};
use core::error::Error;
use std::fs;
use std::path::PathBuf;

const MANIFEST: &str = include_str!("../../templates/no_std/manifest.toml");
const SOURCE: &str = include_str!("../../templates/no_std/lib.rs");
/// Only if the crate has owned storage.
const ALLOCATOR: &str = include_str!("../../templates/no_std/allocator.rs");

/// Proves that a crate links without the standard library: without features, and with each feature that promises it.
///
/// # Errors
/// If it does not link, or the proof cannot be written.
pub(crate) fn prove(package: &Package) -> Outcome {
    link(package, &[])?;
    if package.has("alloc") { link(package, &with_alloc(package)) } else { Ok(()) }
}

/// Returns `alloc` and all other features, except `std` and features that imply it.
fn with_alloc(package: &Package) -> Vec<&str> {
    let names = package.features.iter().map(String::as_str);
    names.filter(|&name| !package.std_features.iter().any(|one| one == name)).collect()
}

/// Writes a static library around the crate into the target folder, and checks it.
fn link(package: &Package, features: &[&str]) -> Outcome {
    let folder = write(package, features)?;
    let manifest = folder.join("Cargo.toml");
    let mut command = cargo(["check", "--quiet", "--manifest-path"]);
    eprintln!("linking {} without the standard library, features {features:?}", package.name);
    let target = workspace::target_folder()?.join("no-std").join("target");
    process::run(command.arg(manifest).arg("--target-dir").arg(target))
}

fn write(package: &Package, features: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let allocates = !features.is_empty();
    let variant = if allocates { "alloc" } else { "bare" };
    let folder =
        workspace::target_folder()?.join("no-std").join(format!("{}-{variant}", package.name));
    let source = SOURCE.replace("CRATE", &package.name.replace('-', "_"));
    let allocator = if allocates { ALLOCATOR } else { "" };
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("Cargo.toml"), manifest(package, features))?;
    fs::write(folder.join("lib.rs"), source + allocator)?;
    // The same versions of all dependencies as in the workspace.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder)
}

fn manifest(package: &Package, features: &[&str]) -> String {
    MANIFEST
        .replace("CRATE", &package.name)
        .replace("FOLDER", &package.folder.display().to_string())
        .replace("FEATURES", &format!("{features:?}"))
}
