//! Key sets and hashers of the grid.

use super::corpus::{Corpus, Text};
use core::hash::{BuildHasher, Hash, Hasher};
use pds_testkit::keys;

/// The keys that a case stores and queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Random integers.
    Random,
    /// Consecutive integers.
    Consecutive,
    /// Integers a mebibyte apart, as addresses of large pages.
    Strided,
    /// Consecutive numbers in the high bytes.
    ByteSwapped,
    /// Strings that differ only in their last twelve bytes.
    Prefixed,
    /// Addresses of web pages, about 80 bytes.
    Urls,
    /// Real keys.
    Real(Text),
}

impl KeyKind {
    /// All generated kinds: integers, then strings.
    pub(crate) const MADE_UP: [Self; 6] = [
        Self::Random,
        Self::Consecutive,
        Self::Strided,
        Self::ByteSwapped,
        Self::Prefixed,
        Self::Urls,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Consecutive => "consecutive",
            Self::Strided => "strided",
            Self::ByteSwapped => "byte-swapped",
            Self::Prefixed => "prefixed",
            Self::Urls => "urls",
            Self::Real(text) => text.name(),
        }
    }

    /// Returns whether the keys are strings. One takes about a tenth of a microsecond to make.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Prefixed | Self::Urls | Self::Real(_))
    }

    /// Opens the stream of this kind for a seed.
    pub(crate) fn open(self, seed: u64, corpus: &Corpus) -> Keys {
        // Streams of numbers start at a random number. Consecutive numbers do not wrap.
        let start = seed >> 1;
        match self {
            Self::Random => Keys::Numbers(Box::new(keys::random(seed))),
            Self::Consecutive => Keys::Numbers(Box::new(keys::consecutive(start))),
            Self::Strided => Keys::Numbers(Box::new(keys::strided(start, 1 << 20))),
            Self::ByteSwapped => Keys::Numbers(Box::new(keys::byte_swapped(start))),
            Self::Prefixed => Keys::Texts(Box::new(keys::prefixed(start % 1_000_000))),
            Self::Urls => Keys::Texts(Box::new(keys::urls(seed))),
            Self::Real(text) => Keys::Texts(Box::new(corpus.shuffled(text, seed).into_iter())),
        }
    }
}

/// A stream that is read in chunks, so that a dynamic call is made per chunk and not per key.
pub(crate) trait Stream<K> {
    /// Replaces `chunk` by the next `count` keys, or by fewer if the stream ends.
    fn fill(&mut self, count: usize, chunk: &mut Vec<K>);
}

impl<K, I: Iterator<Item = K>> Stream<K> for I {
    fn fill(&mut self, count: usize, chunk: &mut Vec<K>) {
        chunk.clear();
        chunk.extend(self.take(count));
    }
}

/// A stream of either type of key.
pub(crate) enum Keys {
    Numbers(Box<dyn Stream<u64>>),
    Texts(Box<dyn Stream<String>>),
}

/// The type of key that a generic measurement works on.
pub(crate) trait Key: Hash + Sized {
    /// The stream of this type.
    ///
    /// # Panics
    /// If the kind has the other type of key. The caller chooses by [`KeyKind::is_text`].
    fn stream(keys: Keys) -> Box<dyn Stream<Self>>;
}

impl Key for u64 {
    fn stream(keys: Keys) -> Box<dyn Stream<Self>> {
        match keys {
            Keys::Numbers(stream) => stream,
            Keys::Texts(_) => panic!("asked for numbers in a stream of strings"),
        }
    }
}

impl Key for String {
    fn stream(keys: Keys) -> Box<dyn Stream<Self>> {
        match keys {
            Keys::Texts(stream) => stream,
            Keys::Numbers(_) => panic!("asked for strings in a stream of numbers"),
        }
    }
}

/// The hasher of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HasherKind {
    Default,
    SipHash,
    Ahash,
    Identity,
    Fx,
    Fnv1a,
    Crc64,
}

impl HasherKind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Default,
        Self::SipHash,
        Self::Ahash,
        Self::Identity,
        Self::Fx,
        Self::Fnv1a,
        Self::Crc64,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::SipHash => "siphash",
            Self::Ahash => "ahash",
            Self::Identity => "identity",
            Self::Fx => "fx",
            Self::Fnv1a => "fnv1a",
            Self::Crc64 => "crc64",
        }
    }
}

/// A hasher without a seed that hashes a number before each key, so that instances differ.
///
/// This does not make it stronger. With the identity, consecutive keys still have consecutive hashes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Salted<S>(pub(crate) u64, pub(crate) S);

impl<S: BuildHasher> BuildHasher for Salted<S> {
    type Hasher = S::Hasher;

    fn build_hasher(&self) -> S::Hasher {
        let mut hasher = self.1.build_hasher();
        hasher.write_u64(self.0);
        hasher
    }
}

/// Evaluates an expression with a hasher of a kind and seed, of any type.
macro_rules! with_hasher {
    ($kind:expr, $seed:expr, |$hasher:ident| $body:expr) => {
        match $kind {
            $crate::validate::keys::HasherKind::Default => {
                let $hasher = pds::hash::DefaultHashBuilder::with_seed($seed);
                $body
            }
            $crate::validate::keys::HasherKind::SipHash => {
                let $hasher = pds::hash::SipHashBuilder::from_key(
                    (u128::from($seed) << 64 | 1).to_le_bytes(),
                );
                $body
            }
            $crate::validate::keys::HasherKind::Ahash => {
                let $hasher = pds::hash::Avalanching(pds::hash::ahash::RandomState::with_seeds(
                    $seed, 1, 2, 3,
                ));
                $body
            }
            $crate::validate::keys::HasherKind::Identity => {
                let $hasher = pds::hash::Mixed($crate::validate::keys::Salted(
                    $seed,
                    pds_testkit::hashers::IdentityBuilder,
                ));
                $body
            }
            $crate::validate::keys::HasherKind::Fx => {
                let $hasher = pds::hash::Mixed($crate::validate::keys::Salted(
                    $seed,
                    pds_testkit::hashers::FxBuilder,
                ));
                $body
            }
            $crate::validate::keys::HasherKind::Fnv1a => {
                let $hasher = pds::hash::Mixed($crate::validate::keys::Salted(
                    $seed,
                    pds_testkit::hashers::Fnv1aBuilder,
                ));
                $body
            }
            $crate::validate::keys::HasherKind::Crc64 => {
                let $hasher = pds::hash::Mixed($crate::validate::keys::Salted(
                    $seed,
                    pds_testkit::hashers::Crc64Builder,
                ));
                $body
            }
        }
    };
}
pub(crate) use with_hasher;
