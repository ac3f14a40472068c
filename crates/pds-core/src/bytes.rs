//! Portable bytes of every structure: one envelope with head, payload and checksums, little endian.
//!
//! `docs/format.md` of the workspace specifies every byte. A structure implements
//! [`Portable`], which states its kind, its shape and its payload. [`ByteOptions`] write and read it. The methods of the
//! family's structures (`to_bytes`, `write_to`, `from_bytes`, `read_from`) are short forms of theirs.
//!
//! A decoder checks lengths before it allocates, recomputes what can be derived, and refuses what is unknown. The checksum
//! of the head is always verified. The checksum of the payload is verified when a structure is built; a view verifies it
//! on request. Every error names an offset, counted from the start of the outermost envelope.
//!
//! # A kind of your own
//!
//! Your structures can have portable bytes too. Give a number and a name for the kind, the numbers of the shape, and the
//! payload.
//!
//! ```
//! use core::ops::RangeInclusive;
//! use pds_core::bytes::{ByteOptions, Kind, NoHasher, Portable, Shape, Sink, Source};
//! use pds_core::error::DecodeError;
//!
//! /// Counts of values, in bins of one width.
//! #[derive(Debug, PartialEq)]
//! struct Histogram {
//!     width: u64,
//!     counts: Vec<u64>,
//! }
//!
//! /// Returns the number of bins in a shape.
//! fn bins(shape: &Shape) -> Result<u64, DecodeError> {
//!     let numbers = shape.numbers(["width", "bins"])?;
//!     match numbers.values() {
//!         [0, _] => Err(numbers.field(0, "at least 1")),
//!         [_, bins @ 0..=1_000] => Ok(bins),
//!         _ => Err(numbers.field(1, "at most 1000")),
//!     }
//! }
//!
//! impl Portable for Histogram {
//!     type Hasher = NoHasher;
//!     const KIND: Kind = Kind::new(0x8001, "histogram");
//!
//!     fn portable_hasher(&self) -> &NoHasher {
//!         &NoHasher
//!     }
//!
//!     fn shape(&self) -> Shape {
//!         Shape::new([self.width, self.counts.len() as u64])
//!     }
//!
//!     fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
//!         let bytes = 8 * bins(shape)?;
//!         Ok(bytes..=bytes)
//!     }
//!
//!     fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
//!         sink.put_words(self.counts.iter().copied())
//!     }
//!
//!     fn read_payload<R: Source>(shape: &Shape, _: NoHasher, source: &mut R) -> Result<Self, R::Error> {
//!         let [width, bins] = shape.numbers(["width", "bins"])?.values();
//!         let counts = (0..bins).map(|_| source.take_u64()).collect::<Result<_, _>>()?;
//!         Ok(Self { width, counts })
//!     }
//! }
//!
//! let ages = Histogram { width: 10, counts: vec![12, 9, 31] };
//! let options = ByteOptions::new();
//! let bytes = options.to_bytes(&ages);
//! assert_eq!(options.from_bytes::<Histogram>(&bytes)?, ages);
//!
//! let bytes = options.to_bytes(&Histogram { width: 0, counts: vec![] });
//! let error = options.from_bytes::<Histogram>(&bytes).unwrap_err();
//! assert_eq!(error.to_string(), "width at offset 32 is 0, but must be at least 1");
//! # Ok::<(), DecodeError>(())
//! ```
//!
//! A structure that contains others writes them as envelopes in its payload ([`Sink::put_envelope`],
//! [`Source::take_envelope`]). Each nested envelope keeps its checksums and its alignment, so a view reaches it without a
//! copy ([`Envelope::nested_at`]).

mod convert;
pub(crate) mod envelope;
#[cfg(feature = "std")]
pub(crate) mod file;
mod hasher;
mod header;
mod level;
mod options;
pub(crate) mod packed;
mod portable;
pub(crate) mod reader;
mod section;
#[cfg(feature = "serde")]
pub(crate) mod serde;
mod shape;
pub(crate) mod stored;
#[cfg(feature = "std")]
mod stream;
mod transfer;
mod view;
mod writer;

pub use crate::kind::Kind;
#[cfg(feature = "map")]
pub use crate::memory::MappedFile;
pub use convert::{FromEnvelope, OpenEnvelope, ToEnvelope};
pub use envelope::Envelope;
pub use hasher::{MaybeHasher, NoHasher, StoredHasher};
pub use header::Header;
pub use level::MAX_NESTING;
pub use options::{ByteOptions, HasherChoice, KeyChoice};
pub use portable::{Portable, SecretKey};
pub use reader::Source;
#[cfg(feature = "serde")]
pub use serde::WithKey;
pub use shape::{Numbers, Shape};
#[cfg(feature = "std")]
pub use stream::EnvelopeReader;
pub use transfer::{Compressed, Delta};
pub use view::OpenView;
pub use writer::Sink;
#[cfg(feature = "std")]
pub(crate) use {transfer::fingerprint_of, writer::to_vec};
