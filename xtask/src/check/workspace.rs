//! The packages of the workspace and their features, as cargo reports them.

use crate::process::{capture, cargo};
use alloc::collections::BTreeMap;
use core::error::Error;
use serde::Deserialize;
use std::path::PathBuf;

/// A package that the steps run on.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder of its manifest.
    pub(crate) folder: PathBuf,
    /// Its features, except `default`.
    pub(crate) features: Vec<String>,
    /// Those of its features that need the standard library.
    pub(crate) std_features: Vec<String>,
    /// The packages outside the workspace that it depends on.
    pub(crate) dependencies: Vec<String>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
    /// Whether it is a library for others, which must work without the standard library.
    pub(crate) is_library: bool,
}

impl Package {
    /// Returns whether it has a feature of this name.
    pub(crate) fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|name| name == feature)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Raw>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Raw {
    name: String,
    manifest_path: PathBuf,
    features: BTreeMap<String, Vec<String>>,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// The folder of a package of the workspace.
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|one| one == kind)
    }
}

/// Returns the packages of the workspace, by name.
///
/// # Errors
/// If cargo fails to report it.
pub(crate) fn packages() -> Result<Vec<Package>, Box<dyn Error>> {
    let mut packages: Vec<Package> = metadata()?.packages.into_iter().map(package).collect();
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

/// Returns the folder that cargo builds into.
///
/// # Errors
/// If cargo fails to report it.
pub(crate) fn target_folder() -> Result<PathBuf, Box<dyn Error>> {
    Ok(metadata()?.target_directory)
}

fn metadata() -> Result<Metadata, Box<dyn Error>> {
    let text = capture(&mut cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
    Ok(serde_json::from_str(&text)?)
}

fn package(raw: Raw) -> Package {
    let folder = raw.manifest_path.parent().map(PathBuf::from).unwrap_or_default();
    let has_library = raw.targets.iter().any(|target| target.is("lib"));
    let others = raw.dependencies.into_iter().filter(|one| one.path.is_none());
    let examples = raw.targets.iter().filter(|target| target.is("example"));
    // The helpers of tests, the benchmarks and the page are not for others.
    let is_for_others = folder.parent().is_some_and(|parent| parent.ends_with("crates"))
        && !["-testkit", "-page"].iter().any(|end| raw.name.ends_with(end));
    let needs_std = |(name, implied): (&String, &Vec<String>)| {
        let is_it = name == "std" || implied.iter().any(|one| one == "std");
        is_it.then(|| name.clone())
    };
    Package {
        std_features: raw.features.iter().filter_map(needs_std).collect(),
        name: raw.name,
        folder,
        features: raw.features.into_keys().filter(|name| name != "default").collect(),
        dependencies: others.map(|one| one.name).collect(),
        examples: examples.map(|example| example.name.clone()).collect(),
        is_library: has_library && is_for_others,
    }
}
