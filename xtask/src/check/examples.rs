//! Runs of every example, with little work if the full work takes minutes.
//!
//! Tests build the examples, but do not run them. Each example asserts what it shows. Each runs a second time with a
//! reader that has left, as in `cargo run --example mapped | head -1`. It must then end without a panic.

use super::workspace::{Package, target_folder};
use crate::process::{self, Outcome, cargo, root};
use std::process::Command;

/// Arguments that reduce the work of an example. The other examples take seconds.
const SMALL: [(&str, &str); 4] = [
    ("breached_passwords", "100000"),
    ("double_hashing", "--quick"),
    ("mapped", "8"),
    ("threads", "--quick"),
];

/// Builds the examples of all packages, as tests do, and runs each. Shows the output of an example that fails.
///
/// # Errors
/// If one does not compile, or fails.
pub(crate) fn run_all(packages: &[Package]) -> Outcome {
    process::run(&mut cargo([
        "build",
        "--quiet",
        "--all-features",
        "--profile",
        "test",
        "--examples",
    ]))?;
    // The profile of tests builds into the folder of the profile that it inherits from.
    let folder = target_folder()?.join("debug").join("examples");
    for name in packages.iter().flat_map(|package| &package.examples) {
        eprintln!("running the example {name}");
        let small = SMALL.iter().filter(|(example, _)| example == name);
        let mut command = Command::new(folder.join(name));
        command.current_dir(root()).args(small.map(|(_, argument)| argument));
        process::capture(&mut command)?;
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        if !command.stdout(writer).status()?.success() {
            return Err(format!("the example {name} fails when nobody reads what it prints").into());
        }
    }
    Ok(())
}
