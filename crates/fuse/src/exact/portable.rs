//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::Kind;
use pds_core::bytes::{ByteOptions, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::PortableHasher;
use pds_core::hash::PublicSeed;
use pds_core::internal::StoredWord;
#[cfg(feature = "serde")]
use pds_core::internal::serde;

use pds_params::internal::ParamFault;
use pds_params::ribbon::{Columns, MAX_KEYS, first_columns};

use super::{ExactFilter, Stages};
use crate::codec;
use crate::system::{RestForm, System, SystemParams};

// The readers exist for the default hasher only, like `new`: `ExactFilter::from_bytes(&bytes)` then needs no type.
impl ExactFilter {
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

impl<S: PublicSeed> ExactFilter<S> {
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
impl<S: PublicSeed> serde::Serialize for ExactFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for ExactFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for ExactFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::EXACT;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let Stages { first, split, second } = &self.stages;
        let [keys, preset, seed, layers, rest] = first.params().numbers();
        let [others, _, other_seed, other_layers, other_rest] = second.params().numbers();
        let columns = first.params().columns.every().into();
        let split = *split as u64;
        Shape::new([
            keys,
            preset,
            seed,
            layers,
            rest,
            columns,
            split,
            others,
            other_seed,
            other_layers,
            other_rest,
        ])
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let Params { first, split, second } = params_of(shape)?;
        let words = second.words();
        debug_assert!(first.words().contains(&split));
        Ok(8 * (split + words.start())..=8 * (split + words.end()))
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, at) = (params_of(shape)?, source.offset());
        let words = codec::take_all(source)?;
        let stages = open(params, &words, at)?;
        check(&stages, &words, at)?;
        Ok(Self { words, stages, hasher })
    }
}

/// Numbers that a head states.
pub(super) struct Params {
    first: SystemParams,
    /// Number of words of the first stage.
    split: u64,
    second: SystemParams,
}

const SPLIT: &str = "words of the first stage";
const SECOND: [&str; 5] = [
    "keys of the second stage",
    "preset",
    "seed of the second stage",
    "layers of the second stage",
    "keys of the second exact list",
];

/// Returns the numbers that a head states.
pub(super) fn params_of(shape: &Shape) -> Result<Params, DecodeError> {
    let [keys, preset, seed, layers, rest] = SystemParams::NAMES;
    let [others, _, other_seed, other_layers, other_rest] = SECOND;
    let numbers = shape.numbers([
        keys,
        preset,
        seed,
        layers,
        rest,
        "columns",
        SPLIT,
        others,
        other_seed,
        other_layers,
        other_rest,
    ])?;
    shape.expect_no_design()?;
    let [
        keys,
        preset,
        seed,
        layers,
        rest,
        columns,
        split,
        others,
        other_seed,
        other_layers,
        other_rest,
    ] = numbers.values();
    let first = [keys, preset, seed, layers, rest];
    let second = [others, preset, other_seed, other_layers, other_rest];
    let params = || {
        let columns = first_columns(u32::try_from(columns).unwrap_or(u32::MAX))?;
        let names = SystemParams::NAMES;
        let first = SystemParams::from_numbers(columns, RestForm::Hashes, names, first)?;
        let (columns, form) = (Columns::whole(1)?, RestForm::Bits);
        let second = SystemParams::from_numbers(columns, form, SECOND, second)?;
        let check = |parameter, value, min, max| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max })),
        };
        if first.columns.most() == 0 {
            // Every key passes a first stage without words.
            let [_, _, solved @ ..] = names;
            for (name, value) in solved.into_iter().zip([seed, layers, rest]) {
                check(name, value, 0, 0)?;
            }
        }
        check(SECOND[0], others, keys, MAX_KEYS)?;
        let (min, max) = first.words().into_inner();
        check(SPLIT, split, min, max)?;
        Ok(Params { first, split, second })
    };
    params().map_err(|error| numbers.error(error))
}

/// Finds the stages in their words, which begin at offset `at`.
pub(super) fn open<V: StoredWord>(
    params: Params,
    words: &[V],
    at: u64,
) -> Result<Stages, DecodeError> {
    let Params { first, split, second } = params;
    // The length of the payload was checked: it has so many words.
    let split = usize::try_from(split).unwrap_or(usize::MAX).min(words.len());
    let (of_first, of_second) = words.split_at(split);
    let first = System::open(of_first, first).map_err(|misfit| misfit.at(at))?;
    let second_at = at + 8 * split as u64;
    let second = System::open(of_second, second).map_err(|misfit| misfit.at(second_at))?;
    Ok(Stages { first, split, second })
}

/// Checks the stages in their words, which begin at offset `at`.
pub(super) fn check<V: StoredWord>(
    stages: &Stages,
    words: &[V],
    at: u64,
) -> Result<(), DecodeError> {
    let (of_first, of_second) = words.split_at(stages.split);
    codec::check(&stages.first, of_first, at)?;
    codec::check(&stages.second, of_second, at + 8 * stages.split as u64)
}
