//! Every example runs to its end, with little to do where much would take minutes.
//!
//! Tests build the examples, but nothing else runs them; each of them asserts what it shows. Each runs a second time with
//! a reader that has left, as in `cargo run --example mapped | head -1`, and has to end without a panic.

use super::workspace::{Package, target_folder};
use crate::process::{self, Outcome, cargo, root};
use std::process::Command;

/// What makes the work of an example small; the others take seconds.
const SMALL: [(&str, &str); 3] =
    [("double_hashing", "--quick"), ("mapped", "8"), ("threads", "--quick")];

/// Builds the examples of all packages, as tests do, and runs each; what they print is shown of one that fails.
///
/// # Errors
/// When one does not compile, or fails.
pub(crate) fn run_all(packages: &[Package]) -> Outcome {
    process::run(&mut cargo([
        "build",
        "--quiet",
        "--all-features",
        "--profile",
        "test",
        "--examples",
    ]))?;
    // The profile of tests builds into the folder of the one that it is made from.
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
