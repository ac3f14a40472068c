//! `pds completions` and `pds man`: what shells and `man` know of the tool.

use crate::error::Result;
use crate::output::Output;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

/// Prints the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  pds completions bash > ~/.local/share/bash-completion/completions/pds")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the manual page, or writes one for each command into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  pds man | man -l -")]
pub(crate) struct Manual {
    /// Write pds.1, pds-dedup.1 and so on into this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Prints the completions for `tool`.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn completions(options: &Completions, mut tool: Command) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut tool, "pds", &mut text);
    let mut output = Output::new(None)?;
    output.put(&text)?;
    output.finish()
}

/// Prints the manual of `tool`.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn manual(options: &Manual, tool: Command) -> Result<()> {
    let Some(folder) = &options.output else {
        let mut output = Output::new(None)?;
        output.put(&page(tool))?;
        return output.finish();
    };
    let commands = tool.get_subcommands().filter(|command| !command.is_hide_set());
    let named =
        commands.map(|command| command.clone().display_name(format!("pds-{}", command.get_name())));
    let pages: Vec<_> = core::iter::once(tool.clone()).chain(named).collect();
    for command in pages {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut output = Output::new(Some(&folder.join(format!("{name}.1"))))?;
        output.put(&page(command))?;
        output.finish()?;
    }
    Ok(())
}

fn page(command: Command) -> Vec<u8> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text).expect("a write to memory");
    text
}
