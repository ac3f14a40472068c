//! Structures in files.

use crate::error::{Error, Result};
use crate::output::Output;
use core::fmt::Display;
use pds::bytes::{
    ByteOptions, Compressed, Envelope, FromEnvelope, KeyChoice, Kind, MappedFile, ToEnvelope,
};
use pds::hash::DefaultHashBuilder;
use pds::{DynFilter, DynFilterView, DynSketch, HeavyHitters};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file: mapped, so that only what is asked of it is read, or read if it is a pipe.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Read(Vec<u8>),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => file.as_ref(),
            Self::Read(bytes) => bytes,
        }
    }
}

impl Bytes {
    /// Opens a file, or reads standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::open_file(path).map_err(|error| Error::at(path.display(), error))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes)?;
            return Ok(Self::Read(bytes));
        }
        if fs::metadata(path)?.is_file() {
            MappedFile::open(path).map(Self::Mapped)
        } else {
            fs::read(path).map(Self::Read)
        }
    }
}

/// A mistake in the bytes of a file.
pub(crate) fn wrong(path: &Path, what: impl Display) -> Error {
    Error::at(path.display(), what)
}

/// Opens the filter in a file.
///
/// # Errors
/// If the file holds none.
pub(crate) fn filter(path: &Path) -> Result<DynFilterView<'static>> {
    let bytes = Bytes::open(path)?;
    if kind_of(path, &bytes)? == Kind::COMPRESSED {
        let filter: DynFilter = decoded(path, &bytes, true)?;
        return DynFilterView::open(Bytes::Read(filter.to_bytes()))
            .map_err(|error| wrong(path, error));
    }
    DynFilterView::open(bytes).map_err(|error| wrong(path, error))
}

/// Decodes a structure, compressed or not.
fn decoded<P>(path: &Path, bytes: &Bytes, is_compressed: bool) -> Result<P>
where
    P: FromEnvelope<Hasher = DefaultHashBuilder>,
{
    let options = ByteOptions::new().max_bytes(u64::MAX);
    let decoded = if is_compressed {
        Compressed::from_bytes(bytes.as_ref())
            .and_then(|compressed| options.decompress(&compressed))
    } else {
        options.from_bytes(bytes.as_ref())
    };
    decoded.map_err(|error| wrong(path, error))
}

/// The kind of the structure in a file.
///
/// # Errors
/// If the file holds none.
pub(crate) fn kind_of(path: &Path, bytes: &Bytes) -> Result<Kind> {
    let envelope = Envelope::open(bytes.as_ref()).map_err(|error| wrong(path, error))?;
    Ok(envelope.header().kind)
}

/// A structure of those that merge.
#[derive(Debug)]
pub(crate) enum Structure {
    Filter(DynFilter),
    Sketch(DynSketch),
    Hitters(HeavyHitters<Vec<u8>>),
}

impl Structure {
    /// Loads the structure in a file, compressed or not.
    ///
    /// # Errors
    /// If the file holds none of these.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let bytes = Bytes::open(path)?;
        let mut kind = kind_of(path, &bytes)?;
        let is_compressed = kind == Kind::COMPRESSED;
        if is_compressed {
            let compressed =
                Compressed::from_bytes(bytes.as_ref()).map_err(|error| wrong(path, error))?;
            kind = compressed.header().kind;
        }
        if [Kind::COUNT_MIN, Kind::COUNT_SKETCH, Kind::HYPER_LOG_LOG, Kind::ULTRA_LOG_LOG]
            .contains(&kind)
        {
            return decoded(path, &bytes, is_compressed).map(Self::Sketch);
        }
        if kind == Kind::HEAVY_HITTERS {
            return decoded(path, &bytes, is_compressed).map(Self::Hitters);
        }
        decoded(path, &bytes, is_compressed).map(Self::Filter)
    }

    /// The kind, in words.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Filter(filter) => filter.kind(),
            Self::Sketch(sketch) => sketch.kind(),
            Self::Hitters(_) => Kind::HEAVY_HITTERS,
        }
    }

    /// Writes the structure to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        match self {
            Self::Filter(filter) => save(filter, path),
            Self::Sketch(sketch) => save(sketch, path),
            Self::Hitters(hitters) => save(hitters, path),
        }
    }

    /// Compresses the structure.
    pub(crate) fn compressed(&self) -> Compressed {
        let options = ByteOptions::new();
        match self {
            Self::Filter(filter) => options.compress(filter),
            Self::Sketch(sketch) => options.compress(sketch),
            Self::Hitters(hitters) => options.compress(hitters),
        }
    }
}

/// Writes a structure to a file, which appears when it is complete.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn save<P: ToEnvelope>(structure: &P, path: &Path) -> Result<()>
where
    (): KeyChoice<P::Hasher>,
{
    let mut output = Output::new(Some(path))?;
    let written = ByteOptions::new().write_to(structure, &mut output);
    written.map_err(|error| output.failed(&error))?;
    output.finish()
}
