//! Building blocks of the crates of this family. Users never name them.
//!
//! *Exempt from every promise of stability*: any release of the family may change it, since its crates are released
//! together.

#[cfg(target_arch = "x86_64")]
pub use crate::arch::{Avx2, Avx512};
pub use crate::arch::{Backend, Work};
pub use crate::batch::{
    AHEAD, Visitor, answer_keys, check_lengths, hash_chunk, insert_keys, visit_ahead, visit_chunks,
};
#[cfg(feature = "alloc")]
pub use crate::bytes::{
    envelope::check_padding,
    packed::{pack_bits, unpack_bits},
    reader::{fill_words, take_words},
};
pub use crate::error::decode::{DecodeFault, SectionFault};
pub use crate::error::incompatible::Difference;
#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
pub use crate::memory::{AtomicU64, set_bits};
#[cfg(feature = "alloc")]
pub use crate::memory::{
    BitWords, Bits, BitsMut, LINE_BYTES, Lane, StoredWord, WordSource, Words, prefetch,
    prefetch_reduced, reduced, reduced_in_row, reduced_in_row_mut, reduced_mut, reorder_lanes,
};

/// Default false-positive rate of filters: one absent key in a hundred.
pub const DEFAULT_RATE: f64 = 0.01;

/// 2^64 divided by the golden ratio, made odd: the additive constant of the family's hashing.
pub const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// The step from one draw of a key to its next one, modulo 2^64. The first draw is its hash.
///
/// It is a full-period multiplier with good spectra in two to eight dimensions (Guy L. Steele and Sebastiano Vigna,
/// "Computationally Easy, Spectrally Good Multipliers for Congruential Pseudorandom Number Generators", Software: Practice and
/// Experience 52(2), 2022).
pub const MULTIPLIER: u64 = 0xD134_2543_DE82_EF95;

/// Serde for portable bytes.
#[cfg(feature = "serde")]
pub mod serde {
    pub use crate::bytes::serde::{
        Deserialize, Deserializer, Error, Serialize, Serializer, deserialize, deserialize_bytes,
        serialize, serialize_bytes,
    };
}
