//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

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
use pds_core::internal::{DecodeFault, take_words};
use pds_core::storage::WordSource;

use crate::columns::Columns;
use crate::{Age, AgingBloomFilter};

// The readers exist for the default hasher only, like `new`: `WindowBloomFilter::from_bytes(&bytes)` then needs no type.
impl<A: Age> AgingBloomFilter<A> {
    /// Reads portable bytes that hold one filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
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

impl<A: Age, S: PublicSeed> AgingBloomFilter<A, S> {
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
impl<A: Age, S: PublicSeed> serde::Serialize for AgingBloomFilter<A, S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, A: Age, S: PortableHasher> serde::Deserialize<'de> for AgingBloomFilter<A, S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<A: Age, S: PortableHasher> Portable for AgingBloomFilter<A, S> {
    type Hasher = S;
    const KIND: Kind = A::KIND;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        self.age.shape()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = 8 * A::of_shape(shape)?.grid().num_words();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.columns.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let age = A::of_shape(shape)?;
        let words = take_words(source, age.grid().num_words())?;
        let filter = Self::assembled(age, words, hasher);
        filter.check_payload(source.offset())?;
        Ok(filter)
    }
}

impl<A: Age, S, W: WordSource> AgingBloomFilter<A, S, W> {
    /// Puts a filter together from its parts.
    pub(crate) fn assembled(age: A, words: W, hasher: S) -> Self {
        let mut columns = Columns::new(words, age.grid());
        age.place(&mut columns);
        Self { columns, age, hasher }
    }

    /// Checks a payload that ends at offset `end`: bits beyond the last row of a word, and bits of the column that is being
    /// cleared, as far as it is clear.
    ///
    /// # Errors
    /// [`DecodeError`] at the first word with such a bit.
    pub(crate) fn check_payload(&self, end: u64) -> Result<(), DecodeError> {
        let grid = self.age.grid();
        let start = end - 8 * grid.num_words();
        let unused = self.columns.unused();
        let (spare, cleared) = self.age.clear_part().unwrap_or((0, 0));
        let in_cleared = unused | self.columns.in_word(spare);
        for (index, word) in (0..).zip(self.columns.words().values()) {
            let forbidden = if index < cleared { in_cleared } else { unused };
            if word & forbidden != 0 {
                let (offset, found) = (start + 8 * index, word & forbidden);
                return Err(DecodeError(DecodeFault::Padding { offset, found }));
            }
        }
        Ok(())
    }
}
