//! Tables of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use datafusion::common::utils::quote_identifier;
use datafusion::common::{DataFusionError, TableReference};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};
use datafusion::sql::parser::DFParser;
use url::Url;

use crate::failure::{Failure, Result, message};

/// The contents of a file, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Parquet,
    Separated(u8),
    JsonLines,
}

const FORMATS: [(&str, Format); 6] = [
    ("parquet", Format::Parquet),
    ("csv", Format::Separated(b',')),
    ("tsv", Format::Separated(b'\t')),
    ("json", Format::JsonLines),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
];

const COMPRESSIONS: [(&str, FileCompressionType); 4] = [
    ("gz", FileCompressionType::GZIP),
    ("bz2", FileCompressionType::BZIP2),
    ("xz", FileCompressionType::XZ),
    ("zst", FileCompressionType::ZSTD),
];

#[derive(Debug)]
struct File {
    path: PathBuf,
    format: Format,
    compression: FileCompressionType,
}

/// Files by the names of their tables.
#[derive(Debug, Default)]
pub(crate) struct Tables(BTreeMap<String, File>);

impl Tables {
    pub(crate) fn of_files(paths: Vec<PathBuf>) -> Result<Self> {
        let mut tables = BTreeMap::new();
        for path in paths {
            let (name, file) = named(path)?;
            let text = file.path.display().to_string();
            if let Some(twin) = tables.insert(name.clone(), file) {
                return Err(Failure::usage(format!(
                    "{} and {text} would both be the table {}; give one of them another name, for example by a link",
                    twin.path.display(),
                    quoted(&name)
                )));
            }
        }
        Ok(Self(tables))
    }

    pub(crate) async fn register(&self, session: &SessionContext) -> Result<()> {
        for (name, file) in &self.0 {
            file.register(session, name).await.map_err(|error| file.refused(&message(&error)))?;
        }
        Ok(())
    }

    /// Returns the names of the tables, as SQL writes them. `None` if there are none.
    pub(crate) fn list(&self) -> Option<String> {
        let names: Vec<_> = self.0.keys().map(|name| quoted(name)).collect();
        (!names.is_empty()).then(|| format!("tables: {}", names.join(", ")))
    }

    /// Adds the names of the tables to the message of a query that asked for another.
    pub(crate) fn help(&self, failure: Failure) -> Failure {
        match (failure, self.list()) {
            (Failure::Message { status, text }, Some(list))
                if text.contains("table '") && text.contains("not found") =>
            {
                Failure::Message { status, text: format!("{text}\n{list}") }
            }
            (failure, _) => failure,
        }
    }
}

impl File {
    fn refused(&self, problem: &str) -> Failure {
        Failure::usage(format!("{}: {problem}", self.path.display()))
    }

    async fn register(
        &self,
        session: &SessionContext,
        name: &str,
    ) -> std::result::Result<(), DataFusionError> {
        let table = TableReference::bare(name);
        // As an address, because a path with `*` or `[` would be a pattern.
        let path = std::path::absolute(&self.path)?;
        let Ok(address) = Url::from_file_path(path) else {
            return Err(DataFusionError::Plan("the path has no address".to_owned()));
        };
        match self.format {
            Format::Parquet => {
                let options = ParquetReadOptions::default().file_extension("");
                session.register_parquet(table, address, options).await
            }
            Format::Separated(delimiter) => {
                let options = CsvReadOptions::new()
                    .delimiter(delimiter)
                    .file_compression_type(self.compression)
                    .file_extension("");
                session.register_csv(table, address, options).await
            }
            Format::JsonLines => {
                let options = JsonReadOptions::default()
                    .file_compression_type(self.compression)
                    .file_extension("");
                session.register_json(table, address, options).await
            }
        }
    }
}

/// Returns a file with the name of its table.
fn named(path: PathBuf) -> Result<(String, File)> {
    let refused = |problem: &str| Failure::usage(format!("{}: {problem}", path.display()));
    if !path.is_file() {
        let problem = match path.metadata() {
            Ok(_) => "this is no file".to_owned(),
            Err(error) => error.to_string(),
        };
        return Err(refused(&problem));
    }
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(refused("the name is not UTF-8, so no SQL can name its table"));
    };
    let Some((name, format, compression)) = parts(name) else {
        return Err(refused(
            "the name must end in .parquet, .csv, .tsv, .json, .jsonl or .ndjson; the last five may be followed by .gz, \
             .bz2, .xz or .zst",
        ));
    };
    Ok((name.to_owned(), File { format, compression, path }))
}

/// Returns the stem of a name, and what its ends say.
fn parts(name: &str) -> Option<(&str, Format, FileCompressionType)> {
    let (stem, compression) = match split(name, &COMPRESSIONS) {
        Some((stem, compression)) => (stem, compression),
        None => (name, FileCompressionType::UNCOMPRESSED),
    };
    let (stem, format) = split(stem, &FORMATS)?;
    // Parquet compresses its own pages.
    let is_known = format != Format::Parquet || compression == FileCompressionType::UNCOMPRESSED;
    is_known.then_some((stem, format, compression))
}

fn split<'a, T: Copy>(name: &'a str, ends: &[(&str, T)]) -> Option<(&'a str, T)> {
    let path = Path::new(name);
    let (stem, end) = (path.file_stem()?.to_str()?, path.extension()?.to_str()?);
    let known = ends.iter().find(|(known, _)| end.eq_ignore_ascii_case(known))?;
    Some((stem, known.1))
}

/// Returns the name of a table as SQL writes it.
fn quoted(name: &str) -> String {
    let plain = quote_identifier(name);
    // Some words are names only in quotes.
    if DFParser::parse_sql(&format!("SELECT * FROM {plain}")).is_ok() {
        return plain.into_owned();
    }
    format!("\"{name}\"")
}
