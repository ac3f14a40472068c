//! The session, and the ways in which statements reach it.

use std::env;
use std::sync::Arc;

use datafusion::config::ConfigOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_cli::exec::{exec_from_commands, exec_from_repl};
use datafusion_cli::object_storage::instrumented::InstrumentedObjectStoreRegistry;
use datafusion_cli::print_format::PrintFormat;
use datafusion_cli::print_options::{MaxRows, PrintOptions};

use crate::failure::{Failure, Result};
use crate::tables::Tables;

/// DataFusion's shell over a session that has our functions.
pub(crate) struct Shell {
    session: SessionContext,
    print: PrintOptions,
}

impl Shell {
    pub(crate) fn new(format: PrintFormat, maxrows: MaxRows) -> Result<Self> {
        let print = PrintOptions {
            format,
            quiet: true,
            // The other formats are for programs, which need every row.
            maxrows: if format == PrintFormat::Table { maxrows } else { MaxRows::Unlimited },
            color: false,
            instrumented_registry: Arc::new(InstrumentedObjectStoreRegistry::new()),
        };
        let session = session().map_err(|error| Failure::query(&error))?;
        Ok(Self { session, print })
    }

    pub(crate) const fn session(&self) -> &SessionContext {
        &self.session
    }

    /// Runs statements up to the first one that fails.
    pub(crate) async fn run(&self, sql: String, tables: &Tables) -> Result<()> {
        let done = exec_from_commands(&self.session, vec![sql], &self.print).await;
        done.map_err(|error| tables.help(Failure::query(&error)))
    }

    /// Reads statements from the terminal until the user leaves.
    pub(crate) async fn interact(&mut self, tables: &Tables) -> Result<()> {
        if let Some(list) = tables.list() {
            println!("{list}");
        }
        self.print.quiet = false;
        let left = exec_from_repl(&self.session, &mut self.print).await;
        left.map_err(|error| Failure::usage(format!("the shell's history, `.history`: {error}")))
    }
}

fn session() -> datafusion::common::Result<SessionContext> {
    // A NULL is told from an empty string.
    let mut options = ConfigOptions::from_env()?;
    if env::var_os("DATAFUSION_FORMAT_NULL").is_none() {
        "NULL".clone_into(&mut options.format.null);
    }
    let config = SessionConfig::from(options).with_information_schema(true);
    let mut session = SessionContext::new_with_config(config).enable_url_table();
    pds_datafusion::register(&mut session)?;
    Ok(session)
}
