//! Running of other programs. Each command is shown before it runs.

use core::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of a step, which succeeds or ends the task with a message.
pub(crate) type Outcome = Result<(), Box<dyn Error>>;

/// Returns a command of the `cargo` that runs this task, in the root of the workspace.
pub(crate) fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Shows a command, runs it and waits for its end.
///
/// # Errors
/// If it cannot be started, or fails.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = show(command);
    eprintln!("$ {shown}");
    if command.status()?.success() { Ok(()) } else { Err(format!("failed: {shown}").into()) }
}

/// Runs a command and returns its output.
///
/// # Errors
/// If it cannot be started, fails, or prints anything other than UTF-8.
pub(crate) fn capture(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        let reason = String::from_utf8_lossy(&output.stderr);
        Err(format!("failed: {}\n{reason}", show(command)).into())
    }
}

/// Returns a command as a user would type it, with the name of its program but without the path.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = core::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
