//! Structures in files.

use crate::error::{Error, Result};
use crate::output::Output;
use crate::parse;
use clap::Args;
use core::fmt::Display;
use pds::bytes::{
    ByteOptions, Compressed, Envelope, FromEnvelope, KeyChoice, Kind, MappedFile, ToEnvelope,
};
use pds::error::DecodeErrorKind;
use pds::hash::DefaultHashBuilder;
use pds::{DynFilter, DynFilterView, DynSketch, HeavyHitters};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Limit of the memory that a file may take.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Limit {
    /// The most memory that the contents of a compressed file may take: few compressed bytes can stand for many
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes, default_value = "1GiB")]
    max_memory: u64,
}

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

/// A file with a structure of this family.
#[derive(Debug)]
pub(crate) struct Stored {
    path: PathBuf,
    bytes: Bytes,
    limit: Limit,
    /// The kind of the structure, compressed or not.
    kind: Kind,
    is_compressed: bool,
}

impl Stored {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or holds no structure of this family.
    pub(crate) fn open(path: &Path, limit: Limit) -> Result<Self> {
        Self::of(path, Bytes::open(path)?, limit)
    }

    /// As [`open`](Self::open), of bytes that were read.
    ///
    /// # Errors
    /// If they hold no structure of this family.
    pub(crate) fn of(path: &Path, bytes: Bytes, limit: Limit) -> Result<Self> {
        let of = |error| wrong(path, error);
        let mut kind = Envelope::open(bytes.as_ref()).map_err(of)?.header().kind;
        let is_compressed = kind == Kind::COMPRESSED;
        if is_compressed {
            kind = Compressed::from_bytes(bytes.as_ref()).map_err(of)?.header().kind;
        }
        Ok(Self { path: path.to_owned(), bytes, limit, kind, is_compressed })
    }

    /// The kind of the structure, compressed or not.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) const fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Whether the structure is a sketch that merges.
    pub(crate) fn is_sketch(&self) -> bool {
        SKETCHES.contains(&self.kind) || self.kind == Kind::HEAVY_HITTERS
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// A mistake in this file.
    pub(crate) fn wrong(&self, what: impl Display) -> Error {
        wrong(&self.path, what)
    }

    /// Decodes the structure.
    ///
    /// # Errors
    /// If it is damaged, of another type, or would take more memory than it may.
    pub(crate) fn decode<P>(&self) -> Result<P>
    where
        P: FromEnvelope<Hasher = DefaultHashBuilder>,
    {
        let options = ByteOptions::new();
        let decoded = if self.is_compressed {
            let options = options.max_bytes(self.limit.max_memory);
            Compressed::from_bytes(self.bytes())
                .and_then(|compressed| options.decompress(&compressed))
        } else {
            options.from_bytes(self.bytes())
        };
        decoded.map_err(|error| self.wrong(error))
    }

    /// Decodes a structure of those that merge.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub(crate) fn structure(&self) -> Result<Structure> {
        if self.kind == Kind::HEAVY_HITTERS {
            self.decode().map(Structure::Hitters)
        } else if self.is_sketch() {
            self.decode().map(Structure::Sketch)
        } else {
            self.decode().map(Structure::Filter)
        }
    }

    /// Opens the filter in this file. Only what is asked of it is read.
    ///
    /// # Errors
    /// If it is no filter, or damaged.
    pub(crate) fn into_filter(self) -> Result<DynFilterView<'static>> {
        let bytes = if self.is_compressed {
            Bytes::Read(self.decode::<DynFilter>()?.to_bytes())
        } else {
            self.bytes
        };
        DynFilterView::open(bytes).map_err(|error| wrong(&self.path, error))
    }

    /// As [`into_filter`](Self::into_filter); `None` if it is no filter.
    ///
    /// # Errors
    /// If the filter is damaged.
    pub(crate) fn into_filter_if_any(self) -> Result<Option<DynFilterView<'static>>> {
        match DynFilterView::open(self.bytes) {
            Ok(filter) => Ok(Some(filter)),
            Err(error) if error.kind() == DecodeErrorKind::Kind => Ok(None),
            Err(error) => Err(wrong(&self.path, error)),
        }
    }
}

/// Kinds that [`DynSketch`] holds.
const SKETCHES: [Kind; 4] =
    [Kind::COUNT_MIN, Kind::COUNT_SKETCH, Kind::HYPER_LOG_LOG, Kind::ULTRA_LOG_LOG];

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
    pub(crate) fn load(path: &Path, limit: Limit) -> Result<Self> {
        Stored::open(path, limit)?.structure()
    }

    /// The kind, in words.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Filter(filter) => filter.kind(),
            Self::Sketch(sketch) => sketch.kind(),
            Self::Hitters(_) => Kind::HEAVY_HITTERS,
        }
    }

    /// Writes the structure.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self, output: Output) -> Result<()> {
        match self {
            Self::Filter(filter) => save(filter, output),
            Self::Sketch(sketch) => save(sketch, output),
            Self::Hitters(hitters) => save(hitters, output),
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

/// Writes a structure.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn save<P: ToEnvelope>(structure: &P, mut output: Output) -> Result<()>
where
    (): KeyChoice<P::Hasher>,
{
    let written = ByteOptions::new().write_to(structure, &mut output);
    written.map_err(|error| output.failed(&error))?;
    output.finish()
}
