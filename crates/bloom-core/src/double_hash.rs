//! The hashing scheme: all positions of a key from one 64-bit hash.

use pds_core::hash::reduce;
use pds_core::internal::GOLDEN_RATIO;

/// The rotations of the hash that give the two differences.
// The obvious 32 fails: in `x + rotl(x, 32)` both halves are the same sum, so the second probe of a filter beyond 2^32
// bits reaches at most half of the bits. A rotation multiplies by a power of two modulo 2^64 - 1. Therefore probe i is
// about x (1 + i 2^33 + i (i - 1) / 2 · 2^19) modulo that. Among all rotations near a half and a quarter of the word,
// 33 and 19 give these multipliers and their differences the least common factors with the modulus: at most 3 and 255
// up to 40 probes.
const STEP_ROTATION: u32 = 33;
const STEP_OF_STEP_ROTATION: u32 = 19;

/// The positions of one key: enhanced double hashing, reduced by multiply-high.
///
/// The first position is the hash itself. Each further position takes three additions. The sequence does not depend on
/// the number of bits, which can be any number. If the size of one filter divides that of another, their positions
/// divide each other, too.
///
/// The position is a cubic in the number of the probe. The first two differences depend on the key, the third is a
/// constant. Each part is necessary:
///
/// - Without the constant, a key whose first step is near 0 (or near a simple fraction of 2^64) would probe the same
///   bits again and again. The constant is the golden ratio's share of 2^64. Multiply-high uses the upper bits of the
///   position only, and a small constant would never reach them.
/// - If the second difference were the same for all keys, keys with equal first steps would have the same pattern of
///   distances. At 64 bits and 13 hashes that gives 46 % more false positives than independent positions.
///
/// # Examples
/// ```
/// use bloom_core::DoubleHash;
/// use pds_core::hash::finalize;
///
/// let mut probes = DoubleHash::new(finalize(1));
/// assert_eq!(probes.next_position(1_000), 566);
/// assert!((0..100).all(|_| probes.next_position(1_000) < 1_000));
/// ```
///
/// # References
/// Peter C. Dillinger and Panagiotis Manolios, "Bloom Filters in Probabilistic Verification", FMCAD
/// 2004, section 4 (enhanced double hashing); Adam Kirsch and Michael Mitzenmacher, "Less Hashing,
/// Same Performance: Building a Better Bloom Filter", ESA 2006 (why two hashes suffice in the limit).
#[derive(Clone, Copy, Debug)]
pub struct DoubleHash {
    position: u64,
    step: u64,
    step_of_step: u64,
}

impl DoubleHash {
    /// All zeros, because memory can be filled with zeros quickly.
    #[cfg(feature = "alloc")]
    pub(crate) const ZERO: Self = Self { position: 0, step: 0, step_of_step: 0 };

    /// Starts the sequence of the key with this hash: 64 uniform bits, such as those of a
    /// [`KeyHasher`](pds_core::hash::KeyHasher). Pass any other hash through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub const fn new(hash: u64) -> Self {
        Self {
            position: hash,
            step: hash.rotate_left(STEP_ROTATION) | 1,
            step_of_step: hash.rotate_left(STEP_OF_STEP_ROTATION).wrapping_add(GOLDEN_RATIO),
        }
    }

    /// Returns the next position, below `num_bits`.
    #[inline]
    pub const fn next_position(&mut self, num_bits: u64) -> u64 {
        reduce(self.next_unreduced(), num_bits)
    }

    /// Returns the next position for any number of bits, as a fraction of 2^64.
    #[doc(hidden)]
    #[inline]
    pub const fn next_unreduced(&mut self) -> u64 {
        let position = self.position;
        self.position = self.position.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.step_of_step);
        self.step_of_step = self.step_of_step.wrapping_add(GOLDEN_RATIO);
        position
    }
}
