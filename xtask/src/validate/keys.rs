//! Key sets and hashers of the grid.

use super::corpus::{Corpus, Text};
use core::hash::{BuildHasher, Hash, Hasher};
use pds::hash::ahash::RandomState;
use pds::hash::{Avalanching, DefaultHashBuilder, KeyHasher, Mixed, SipHashBuilder};
use pds_testkit::hashers::{Crc64Builder, Fnv1aBuilder, FxBuilder, IdentityBuilder};
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

/// The type of key that a generic measurement works on.
pub(crate) trait Key: Hash + Sized {
    /// Opens the stream of a kind for a seed.
    ///
    /// # Panics
    /// If the kind has the other type of key. The caller chooses by [`KeyKind::is_text`].
    fn open(kind: KeyKind, seed: u64, corpus: &Corpus) -> Box<dyn Stream<Self>>;
}

impl Key for u64 {
    fn open(kind: KeyKind, seed: u64, _corpus: &Corpus) -> Box<dyn Stream<Self>> {
        // Streams start at a random number. Consecutive numbers do not wrap.
        let start = seed >> 1;
        match kind {
            KeyKind::Random => Box::new(keys::random(seed)),
            KeyKind::Consecutive => Box::new(keys::consecutive(start)),
            KeyKind::Strided => Box::new(keys::strided(start, 1 << 20)),
            KeyKind::ByteSwapped => Box::new(keys::byte_swapped(start)),
            texts => panic!("asked for numbers, and {} are strings", texts.name()),
        }
    }
}

impl Key for String {
    fn open(kind: KeyKind, seed: u64, corpus: &Corpus) -> Box<dyn Stream<Self>> {
        match kind {
            KeyKind::Prefixed => Box::new(keys::prefixed((seed >> 1) % 1_000_000)),
            KeyKind::Urls => Box::new(keys::urls(seed)),
            KeyKind::Real(text) => Box::new(corpus.shuffled(text, seed).into_iter()),
            numbers => panic!("asked for strings, and {} ones are numbers", numbers.name()),
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

    /// Returns the hasher of this kind and seed.
    pub(crate) fn seeded(self, seed: u64) -> CaseHasher {
        match self {
            Self::Default => CaseHasher::Default(DefaultHashBuilder::with_seed(seed)),
            Self::SipHash => {
                let key = u128::from(seed) << 64 | 1;
                CaseHasher::SipHash(SipHashBuilder::from_key(key.to_le_bytes()))
            }
            Self::Ahash => CaseHasher::Ahash(Avalanching(RandomState::with_seeds(seed, 1, 2, 3))),
            Self::Identity => CaseHasher::Identity(Mixed(Salted(seed, IdentityBuilder))),
            Self::Fx => CaseHasher::Fx(Mixed(Salted(seed, FxBuilder))),
            Self::Fnv1a => CaseHasher::Fnv1a(Mixed(Salted(seed, Fnv1aBuilder))),
            Self::Crc64 => CaseHasher::Crc64(Mixed(Salted(seed, Crc64Builder))),
        }
    }
}

/// Any hasher of a case, as one type.
#[derive(Debug, Clone)]
pub(crate) enum CaseHasher {
    Default(DefaultHashBuilder),
    SipHash(SipHashBuilder),
    Ahash(Avalanching<RandomState>),
    Identity(Mixed<Salted<IdentityBuilder>>),
    Fx(Mixed<Salted<FxBuilder>>),
    Fnv1a(Mixed<Salted<Fnv1aBuilder>>),
    Crc64(Mixed<Salted<Crc64Builder>>),
    /// Weak, and said to be uniform.
    Unmixed(Avalanching<Salted<IdentityBuilder>>),
}

/// Evaluates an expression with the hasher of a case, whatever its type.
macro_rules! with_hasher {
    ($of:expr, $hasher:ident => $body:expr) => {
        match $of {
            CaseHasher::Default($hasher) => $body,
            CaseHasher::SipHash($hasher) => $body,
            CaseHasher::Ahash($hasher) => $body,
            CaseHasher::Identity($hasher) => $body,
            CaseHasher::Fx($hasher) => $body,
            CaseHasher::Fnv1a($hasher) => $body,
            CaseHasher::Crc64($hasher) => $body,
            CaseHasher::Unmixed($hasher) => $body,
        }
    };
}

impl KeyHasher for CaseHasher {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        with_hasher!(self, hasher => hasher.hash_key_dyn(feed))
    }

    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        with_hasher!(self, hasher => hasher.hash_key(key))
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
