//! The portable bytes of an index. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{AllocError, DecodeError};
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{StoredWord, check_padding, take_words};
use pds_core::storage::WordSource;
use pds_params::LshParams;

use super::LshIndex;
use super::changes::Changes;
use super::sorted::Sorted;
use crate::portable::saturated;

impl LshIndex {
    /// Reads portable bytes that hold one index and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(bands documents log documents). Allocates the index and 8 bytes per document.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one index from a stream. Leaves what follows it in the reader.
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

impl<S: PublicSeed> LshIndex<S> {
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
impl<S: PublicSeed> serde::Serialize for LshIndex<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for LshIndex<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for LshIndex<S> {
    type Hasher = S;
    const KIND: Kind = Kind::LSH_INDEX;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let numbers = [self.params.num_values(), self.params.bands(), self.params.rows()];
        let [values, bands, rows] = numbers.map(u64::from);
        Shape::new([values, bands, rows, self.len()])
    }

    fn payload_bytes(&self) -> u64 {
        self.params.size_in_bytes(self.len())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (params, documents) = params_of(shape)?;
        let bytes = params.size_in_bytes(documents);
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        for band in 0..self.params.bands() {
            sink.put_words(self.live(band).map(|(key, _)| key))?;
            let mut documents = self.live(band).map(|(_, document)| u64::from(document));
            let pairs = core::iter::from_fn(|| {
                let low = documents.next()?;
                Some(low | documents.next().unwrap_or(0) << 32)
            });
            sink.put_words(pairs)?;
        }
        Ok(())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, documents) = params_of(shape)?;
        let words = take_words(source, params.size_in_bytes(documents) / 8)?;
        let sorted = Sorted::new(words, documents);
        check_entries(&sorted, params, source.offset())?;
        Ok(Self { sorted, changes: Changes::default(), params, hasher })
    }
}

/// Returns the parameters that a shape stands for, and the number of documents.
///
/// # Errors
/// If no index has this shape.
pub(super) fn params_of(shape: &Shape) -> Result<(LshParams, u64), DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["num_values", "bands", "rows", "documents"])?;
    let [values, bands, rows, documents] = numbers.values();
    let params = LshParams::from_shape(saturated(values), saturated(bands), saturated(rows))
        .map_err(|error| numbers.error(error))?;
    // A greater number has no size in bytes.
    if params.size_in_bytes(documents) == u64::MAX {
        return Err(numbers.field(3, "below 2^64 bytes of entries"));
    }
    Ok((params, documents))
}

/// Checks the entries of a payload that ends at offset `end`: those of each band ascend, and all bands have the same documents.
///
/// # Errors
/// [`DecodeError`] at the first entry that is not above the one before it, at a half word that is not used, or at a band with
/// other documents than the first one. Also if the allocator refuses 8 bytes per document.
pub(super) fn check_entries<W: WordSource>(
    sorted: &Sorted<W>,
    params: LshParams,
    end: u64,
) -> Result<(), DecodeError> {
    let documents = sorted.documents();
    let band_bytes = params.size_in_bytes(documents) / u64::from(params.bands());
    let start = end - params.size_in_bytes(documents);
    let first = ascending_documents(sorted, 0)?;
    for band in 0..params.bands() {
        let start = start + u64::from(band) * band_bytes;
        let mut before = None;
        for (place, entry) in (0..).zip(sorted.band(band).entries()) {
            if before >= Some(entry) {
                let allowed = "above the key before it, or equal with a greater document";
                return Err(DecodeError::invalid("a key", start + 8 * place, entry.0, allowed));
            }
            before = Some(entry);
        }
        if let Some(last) = sorted.band_words(band).last()
            && documents % 2 == 1
        {
            check_padding(start + band_bytes - 8, 32, last.value())?;
        }
        // Whole lists: of a sum of hashes, others with the same sum can be found.
        let others = if band > 0 { ascending_documents(sorted, band)? } else { Vec::new() };
        if let Some((&found, _)) = others.iter().zip(&first).find(|(left, right)| left != right) {
            let (name, allowed) =
                ("a document of a band, in ascending order,", "that of the first band");
            return Err(DecodeError::invalid(name, start + 8 * documents, found.into(), allowed));
        }
    }
    Ok(())
}

/// Returns the documents of a band, in ascending order.
///
/// # Errors
/// [`AllocError`] if the allocator refuses the memory.
fn ascending_documents<W: WordSource>(
    sorted: &Sorted<W>,
    band: u32,
) -> Result<Vec<u32>, AllocError> {
    let entries = sorted.band(band).entries();
    let refused = |_| AllocError { bytes: 4 * sorted.documents() };
    let mut documents = Vec::new();
    documents.try_reserve_exact(entries.len()).map_err(refused)?;
    documents.extend(entries.map(|(_, document)| document));
    documents.sort_unstable();
    Ok(documents)
}
