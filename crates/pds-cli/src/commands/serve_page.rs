//! `pds serve-page`: the calculator and the live demo in the browser.

use crate::error::{Error, Result};
use crate::output::{Output, tell};
use clap::Args;
use pds_page::{FILES, Server};
use std::fs;
use std::path::{Path, PathBuf};

/// Opens the calculator and the live demo in the browser, on this machine alone, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds serve-page                      at a free port
  pds serve-page --port 8080 --no-open
  pds serve-page --write public/pds   the files, for any web server")]
pub(crate) struct Options {
    /// Port to listen at [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
    /// Write the files of the page to this folder instead, and end
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["port", "no_open"])]
    write: Option<PathBuf>,
    /// Replace files of other contents in that folder
    #[arg(long, requires = "write")]
    force: bool,
}

/// Runs the command.
///
/// # Errors
/// If the port cannot be listened at, or the files not written.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(folder) = &options.write {
        return write(folder, options.force);
    }
    let failed = |error| Error::Message(format!("port {}: {error}", options.port));
    let server = Server::bind(options.port).map_err(failed)?;
    tell(format_args!("the page is at {}", server.address()));
    if !options.no_open
        && let Err(error) = server.open()
    {
        tell(format_args!("no browser could be opened ({error}); open the address yourself"));
    }
    server.run()
}

fn write(folder: &Path, force: bool) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::at(folder.display(), error))?;
    let paths = || FILES.iter().map(|file| (folder.join(file.path), file.contents));
    let is_other = |(path, contents): &(PathBuf, &[u8])| {
        path.exists() && !fs::read(path).is_ok_and(|found| found == *contents)
    };
    if let Some((path, _)) = paths().find(is_other).filter(|_| !force) {
        return Err(Error::at(path.display(), "is another file: --force replaces it"));
    }
    for (path, contents) in paths() {
        let mut output = Output::new(Some(&path))?;
        output.put(contents)?;
        output.finish()?;
    }
    Ok(())
}
