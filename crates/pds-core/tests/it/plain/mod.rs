//! A structure as small as can be: words under a hasher.

use core::ops::RangeInclusive;

use pds_core::bytes::{Kind, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::internal::take_words;

/// Words under a hasher.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plain<S = DefaultHashBuilder> {
    pub(crate) words: Vec<u64>,
    pub(crate) hasher: S,
}

/// More words than these are an impossible shape.
pub(crate) const MOST_WORDS: u64 = 1 << 20;

/// The kind of [`Plain`]: a user's own.
pub(crate) const PLAIN: Kind = Kind::new(0x8001, "list of words");

impl<S: PortableHasher> Portable for Plain<S> {
    type Hasher = S;
    const KIND: Kind = PLAIN;

    fn portable_hasher(&self) -> &S {
        &self.hasher
    }

    fn shape(&self) -> Shape {
        Shape::new([self.words.len() as u64])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let numbers = shape.numbers(["words"])?;
        match numbers.values() {
            [words @ 0..=MOST_WORDS] => Ok(8 * words..=8 * words),
            _ => Err(numbers.field(0, "at most 2^20")),
        }
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let [words] = shape.numbers(["words"])?.values();
        Ok(Self { words: take_words(source, words)?.to_vec(), hasher })
    }
}

/// So many words, under a hasher with that seed.
pub(crate) fn plain(words: u64) -> Plain {
    let hasher = DefaultHashBuilder::with_seed(words);
    Plain { words: (0..words).map(|i| i.wrapping_mul(0x0123_4567_89ab_cdef)).collect(), hasher }
}
