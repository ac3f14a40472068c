//! The portable bytes of a bank. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{check_padding, take_words};
use pds_core::storage::WordSource;
use pds_params::BloomParams;

use super::rows::Rows;
use crate::FilterBank;
use crate::portable::filter_params;

// The readers exist for the default hasher only, like `new`: `FilterBank::from_bytes(&bytes)` then needs no type.
impl FilterBank {
    /// Reads portable bytes that hold one bank and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one bank from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed> FilterBank<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed> serde::Serialize for FilterBank<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for FilterBank<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for FilterBank<S> {
    type Hasher = S;
    const KIND: Kind = Kind::FILTER_BANK;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.params;
        let numbers = [params.num_bits(), params.num_hashes().into(), self.num_sets() as u64];
        Shape::new(numbers).with_design(params.expected_items(), params.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = 8 * num_words(shape)?;
        Ok(bytes..=bytes)
    }

    fn write_payload<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
        sink.put_words(self.rows.storage()[..self.rows.num_words()].iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let start = source.offset();
        let words = take_words(source, num_words(shape)?)?;
        let (params, num_sets) = params_of(shape)?;
        let rows = Rows::from_words(words, params.num_bits(), num_sets);
        check_rows(&rows, start)?;
        Ok(Self { rows, params, hasher })
    }
}

/// Returns the parameters of each set and the number of sets that a head states.
pub(super) fn params_of(shape: &Shape) -> Result<(BloomParams, usize), DecodeError> {
    let numbers = shape.numbers(["bits", "hashes", "sets"])?;
    let [bits, hashes, sets] = numbers.values();
    let params = filter_params(bits, hashes, shape).map_err(|error| numbers.error(error))?;
    let sets = usize::try_from(sets).map_err(|_| numbers.field(2, "what memory can address"))?;
    Ok((params, sets))
}

/// Returns the number of words of a payload.
fn num_words(shape: &Shape) -> Result<u64, DecodeError> {
    let (params, sets) = params_of(shape)?;
    let words = params.num_bits().checked_mul(sets.div_ceil(64) as u64);
    let words = words.filter(|&words| words <= u64::MAX / 8);
    let numbers = shape.numbers(["bits", "hashes", "sets"])?;
    words.ok_or_else(|| numbers.field(2, "at most 2^61 words of bits"))
}

/// Checks the bits beyond the last set, in a payload that starts at offset `start`.
///
/// # Errors
/// [`DecodeError`] if one of them is set.
pub(super) fn check_rows<W: WordSource>(rows: &Rows<W>, start: u64) -> Result<(), DecodeError> {
    rows.padding().map_or(Ok(()), |(index, word)| {
        check_padding(start + 8 * index as u64, rows.num_sets() as u64 % 64, word)
    })
}
