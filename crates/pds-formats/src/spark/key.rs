//! Keys as Spark hashes them.

use crate::hash::spark_murmur3_32;
use crate::keys::conversions;

/// A key as Spark hashes it.
///
/// | column | key |
/// |---|---|
/// | BIGINT, INT, SMALLINT, TINYINT | [`Long`](Self::Long): all are one kind, and 1 is the same key in each |
/// | STRING | [`Bytes`](Self::Bytes) of its UTF-8 |
/// | BINARY | [`Bytes`](Self::Bytes) |
///
/// Integers, strings and slices convert into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparkKey<'a> {
    /// An integer of any width.
    Long(i64),
    /// A string or a byte string.
    Bytes(&'a [u8]),
}

impl SparkKey<'_> {
    /// Returns the two hashes: the second has the first as its seed.
    pub(super) fn hash_pair(self, seed: i32) -> [i32; 2] {
        let pair = |bytes: &[u8]| {
            let first = spark_murmur3_32(bytes, seed.cast_unsigned());
            [first, spark_murmur3_32(bytes, first)].map(u32::cast_signed)
        };
        match self {
            Self::Long(number) => pair(&number.to_le_bytes()),
            Self::Bytes(bytes) => pair(bytes),
        }
    }
}

conversions! {
    SparkKey:
    number: i8 => Self::Long(number.into());
    number: i16 => Self::Long(number.into());
    number: i32 => Self::Long(number.into());
    number: i64 => Self::Long(number);
    text: &'a str => Self::Bytes(text.as_bytes());
}
