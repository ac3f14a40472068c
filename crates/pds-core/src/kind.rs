//! Kinds of structures in portable bytes.

use core::fmt;
use core::hash::{Hash, Hasher};

/// Kind of the structure in an envelope: a number, and a name for error messages.
///
/// Two kinds are equal if their numbers are. Numbers below 2^15 belong to this family. Numbers from 2^15 up are free for
/// [kinds of your own](Self::new).
///
/// # Examples
/// ```
/// use pds_core::bytes::Kind;
///
/// const RESERVOIR: Kind = Kind::new(0x8001, "reservoir sample");
/// assert_eq!(RESERVOIR.to_string(), "reservoir sample");
/// assert_ne!(RESERVOIR, Kind::BLOOM);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    id: u16,
    /// Empty if the kind was read from bytes and is not known.
    name: &'static str,
}

/// Defines a constant for each kind, and the list of all.
macro_rules! family {
    ($($constant:ident = $id:literal, $name:literal;)*) => {
        impl Kind {
            $(
                #[doc = concat!("Kind ", $id, ": ", $name, ".")]
                pub const $constant: Self = Self { id: $id, name: $name };
            )*

            #[cfg(feature = "alloc")]
            const FAMILY: &[Self] = &[$(Self::$constant),*];
        }
    };
}

// The only place that assigns numbers. They ascend, which the compiler checks, so no number is assigned twice.
family! {
    BLOOM = 1, "Bloom filter";
    BLOCKED_BLOOM = 2, "blocked Bloom filter";
    COUNTING_BLOOM = 4, "counting Bloom filter";
    BLOCKED_COUNTING_BLOOM = 5, "blocked counting Bloom filter";
    CUCKOO = 6, "cuckoo filter";
    COUNT_MIN = 8, "count-min sketch";
    COUNT_SKETCH = 9, "count sketch";
    HEAVY_HITTERS = 10, "summary of heavy hitters";
    TOP_K = 11, "list of the most frequent keys";
    SKETCHED_HEAVY_HITTERS = 12, "sketch with heavy hitters";
    HYPER_LOG_LOG = 16, "HyperLogLog sketch";
    ULTRA_LOG_LOG = 17, "UltraLogLog sketch";
    RIBBON = 20, "ribbon filter";
    FUSE = 21, "binary fuse filter";
    RETRIEVAL = 22, "retrieval map";
    UPDATABLE = 23, "updatable map";
    EXACT = 24, "exact filter";
    QUOTIENT = 25, "quotient filter";
    QUOTIENT_MAP = 26, "quotient map";
    COUNTING_QUOTIENT = 27, "counting quotient filter";
    WINDOW_BLOOM = 29, "window Bloom filter";
    TIMED_BLOOM = 30, "timed Bloom filter";
    SCALABLE_BLOOM = 31, "scalable Bloom filter";
    LAYERED_BLOOM = 32, "layered Bloom filter";
    FILTER_BANK = 33, "bank of Bloom filters";
    COMPRESSED = 34, "compressed structure";
    DELTA = 35, "delta between two structures";
    MIN_HASH = 37, "MinHash sketch";
    MIN_HASH_SIGNATURE = 38, "MinHash signature";
    LSH_INDEX = 39, "index of similar sets";
}

#[cfg(feature = "alloc")]
const _: () = {
    let mut i = 1;
    while i < Kind::FAMILY.len() {
        assert!(Kind::FAMILY[i - 1].id < Kind::FAMILY[i].id, "the numbers of kinds ascend");
        i += 1;
    }
    assert!(Kind::FAMILY[Kind::FAMILY.len() - 1].id < Kind::FIRST_OWN);
};

impl Kind {
    /// Least number of a kind that does not belong to this family.
    const FIRST_OWN: u16 = 1 << 15;

    /// Returns a kind of your own, for a structure that implements [`Portable`](crate::bytes::Portable).
    ///
    /// # Panics
    /// If `id` is below 2^15. In a constant this is a compile error.
    #[must_use]
    pub const fn new(id: u16, name: &'static str) -> Self {
        assert!(id >= Self::FIRST_OWN, "numbers of kinds below 2^15 are reserved");
        Self { id, name }
    }

    /// Returns the number of the kind in bytes.
    #[must_use]
    pub const fn id(self) -> u16 {
        self.id
    }

    /// Returns the number and, if the kind is known, the name.
    pub(crate) const fn numbered(self) -> Numbered {
        Numbered(self)
    }

    /// Returns the kind with this number. An unknown kind has no name.
    #[cfg(feature = "alloc")]
    pub(crate) fn from_id(id: u16) -> Self {
        let known = Self::FAMILY.iter().copied().find(|kind| kind.id == id);
        known.unwrap_or(Self { id, name: "" })
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Kind {}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Display of [`Kind::numbered`].
pub(crate) struct Numbered(Kind);

impl fmt::Display for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind { id, name: "" } => write!(f, "{id}"),
            Kind { id, name } => write!(f, "{id} ({name})"),
        }
    }
}

/// Writes the name or, if the kind is unknown, `kind` and the number.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "" => write!(f, "kind {}", self.id),
            name => f.write_str(name),
        }
    }
}
