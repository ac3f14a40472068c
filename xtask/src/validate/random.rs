//! Random numbers: the hashes that fill structures, and the choices of histories.

use core::hash::BuildHasher;
use pds_testkit::hashers::Fnv1aBuilder;

/// Random hashes without an end.
pub(crate) type Random<'a> = &'a mut dyn Iterator<Item = u64>;

pub(crate) fn next(random: Random<'_>) -> u64 {
    random.next().expect("the stream is endless")
}

/// The first ones of a stream, so many.
pub(crate) fn first<T>(count: u64, stream: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    (0..count).zip(stream).map(|(_, one)| one)
}

/// A number up to 2^bits, small ones as often as large ones.
pub(crate) fn some(random: Random<'_>, bits: u64) -> u64 {
    let bits = next(random) % (bits + 1);
    next(random) >> (64 - bits.max(1))
}

/// A number for each name, which tells the random streams of two cases apart.
pub(crate) fn label(name: &str) -> u64 {
    Fnv1aBuilder.hash_one(name)
}
