//! Ctrl-C leaves no half file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit status of a process that Ctrl-C ends: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Removes a file if the process is interrupted, terminated or hung up on.
pub(super) fn remove_on_interrupt(path: &Path) {
    let Ok(mut files) = TEMPORARY.lock() else { return };
    files.push(path.to_owned());
    if files.len() > 1 {
        return;
    }
    // Without a handler an interrupt leaves the file, which is hidden and named as temporary.
    let _ = ctrlc::try_set_handler(|| {
        if let Ok(files) = TEMPORARY.lock() {
            files.iter().for_each(|file| _ = fs::remove_file(file));
        }
        std::process::exit(INTERRUPTED);
    });
}
