//! `pds serve-page`: the calculator and the live demo in the browser.

use crate::error::{Error, Result};
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
}

/// Runs the command.
///
/// # Errors
/// If the port cannot be listened at, or the files not written.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(folder) = &options.write {
        return write(folder);
    }
    let failed = |error| Error::Message(format!("port {}: {error}", options.port));
    let server = Server::bind(options.port).map_err(failed)?;
    eprintln!("pds: the page is at {}", server.address());
    if !options.no_open
        && let Err(error) = server.open()
    {
        eprintln!("pds: no browser could be opened ({error}); open the address yourself");
    }
    server.run().map_err(failed)
}

fn write(folder: &Path) -> Result<()> {
    let failed = |path: &Path, error| Error::Message(format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for file in FILES {
        let path = folder.join(file.path);
        fs::write(&path, file.contents).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
