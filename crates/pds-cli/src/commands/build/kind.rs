//! The kinds that can be built.

use clap::ValueEnum;
use pds::bytes;

/// A kind of filter or sketch, named as its type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Filter: little memory, merges (the default)
    Bloom,
    /// Filter: one cache line per question
    BlockedBloom,
    /// Filter that forgets keys
    Cuckoo,
    /// Filter that forgets keys, grows and merges
    Quotient,
    /// Filter that counts
    CountingQuotient,
    /// Filter with small counters
    CountingBloom,
    /// Filter with small counters, one cache line per question
    BlockedCountingBloom,
    /// Filter for more lines than --items
    ScalableBloom,
    /// Filter of a complete list, with the fewest bits; as --static
    Ribbon,
    /// Filter of a complete list, with the fastest answers
    Fuse,
    /// Sketch: how many different lines
    HyperLogLog,
    /// Sketch: how many different lines, in less memory
    UltraLogLog,
    /// Sketch: how often a line came, never too few
    CountMin,
    /// Sketch: how often a line came, right in the mean
    CountSketch,
    /// Sketch: the most frequent lines
    HeavyHitters,
}

impl Kind {
    /// Whether it is built from all of its keys at once.
    pub(super) const fn is_static(self) -> bool {
        matches!(self, Self::Ribbon | Self::Fuse)
    }

    /// The name that it has as an option.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether a number of bytes fixes the shape of a filter.
    pub(super) const fn is_sized_by_memory(self) -> bool {
        let is_grown = matches!(self, Self::CountingQuotient | Self::ScalableBloom);
        !self.is_sketch() && !self.is_static() && !is_grown
    }

    pub(super) const fn is_sketch(self) -> bool {
        matches!(
            self,
            Self::HyperLogLog
                | Self::UltraLogLog
                | Self::CountMin
                | Self::CountSketch
                | Self::HeavyHitters
        )
    }
}

/// Whether a filter of this kind would store a second copy of a key, which no answer shows.
pub(super) fn stores_copies(kind: bytes::Kind) -> bool {
    [bytes::Kind::CUCKOO, bytes::Kind::QUOTIENT].contains(&kind)
}

/// Whether a filter of this kind counts the copies of a key.
pub(super) fn counts(kind: bytes::Kind) -> bool {
    [
        bytes::Kind::COUNTING_BLOOM,
        bytes::Kind::BLOCKED_COUNTING_BLOOM,
        bytes::Kind::COUNTING_QUOTIENT,
    ]
    .contains(&kind)
}
