//! The kinds of structures that bytes can hold.

use core::fmt;

/// What kind of structure an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// A standard Bloom filter.
    Bloom = 1,
    /// A blocked Bloom filter.
    BlockedBloom = 2,
    /// A counting Bloom filter.
    CountingBloom = 4,
    /// A blocked counting Bloom filter.
    BlockedCountingBloom = 5,
    /// A cuckoo filter.
    Cuckoo = 6,
    /// A count-min sketch.
    CountMin = 8,
    /// A count sketch.
    CountSketch = 9,
    /// A summary of heavy hitters.
    HeavyHitters = 10,
    /// A list of the most frequent keys.
    TopK = 11,
    /// A sketch with candidates for heavy hitters.
    SketchedHeavyHitters = 12,
    /// A HyperLogLog sketch.
    HyperLogLog = 16,
    /// An UltraLogLog sketch.
    UltraLogLog = 17,
}

impl Kind {
    #[cfg(feature = "alloc")]
    const ALL: &[Self] = &[
        Self::Bloom,
        Self::BlockedBloom,
        Self::CountingBloom,
        Self::BlockedCountingBloom,
        Self::Cuckoo,
        Self::CountMin,
        Self::CountSketch,
        Self::HeavyHitters,
        Self::TopK,
        Self::SketchedHeavyHitters,
        Self::HyperLogLog,
        Self::UltraLogLog,
    ];

    /// Returns the number that stands for the kind in bytes.
    #[must_use]
    pub const fn id(self) -> u16 {
        self as u16
    }

    /// Returns the kind with its article, as a sentence needs it.
    pub(crate) const fn with_article(self) -> (&'static str, Self) {
        (if matches!(self, Self::UltraLogLog) { "an" } else { "a" }, self)
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn from_id(id: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.id() == id)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bloom => "Bloom filter",
            Self::BlockedBloom => "blocked Bloom filter",
            Self::CountingBloom => "counting Bloom filter",
            Self::BlockedCountingBloom => "blocked counting Bloom filter",
            Self::Cuckoo => "cuckoo filter",
            Self::CountMin => "count-min sketch",
            Self::CountSketch => "count sketch",
            Self::HeavyHitters => "summary of heavy hitters",
            Self::TopK => "list of the most frequent keys",
            Self::SketchedHeavyHitters => "sketch with heavy hitters",
            Self::HyperLogLog => "HyperLogLog sketch",
            Self::UltraLogLog => "UltraLogLog sketch",
        })
    }
}
