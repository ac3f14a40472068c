//! The files of the workspace, without those that a build makes.

use crate::process::root;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders without sources and documents of the workspace.
const SKIPPED: [&str; 3] = ["target", ".git", "data"];

/// Returns all files whose names have this extension, in the order of their paths.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn with_extension(extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(&root(), extension, &mut files)?;
    files.sort();
    Ok(files)
}

/// Returns a path as the workspace's documents write it.
pub(super) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !SKIPPED.contains(&&*name) {
            collect(&path, extension, files)?;
        } else if path.extension().is_some_and(|its| its == extension) {
            files.push(path);
        }
    }
    Ok(())
}
