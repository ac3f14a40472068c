//! From one 64-bit hash to as many positions as a filter needs.

use pds_core::hash::reduce;
use pds_core::internal::GOLDEN_RATIO;

/// Where the two differences start in the key's hash.
///
/// The obvious 32 fails: in `x + rotl(x, 32)` both halves are the same sum, so that the second probe of a
/// filter beyond 2^32 bits reaches half of the bits, or fewer. As a rotation multiplies by a power of two
/// modulo 2^64 - 1, probe i is about x (1 + i 2^33 + i (i - 1) / 2 · 2^19) modulo that; of all rotations near
/// a half and a quarter of the word, 33 and 19 have the least common factors of these multipliers, and
/// of their differences, with the modulus: at most 3 and 255 up to 40 probes.
const STEP_ROTATION: u32 = 33;
const STEP_OF_STEP_ROTATION: u32 = 19;

/// The positions of one key: enhanced double hashing, reduced by multiply-high.
///
/// The first position is the hash itself; three additions make each further position. Any
/// number of bits works, and none of it enters the sequence itself, so that filters whose sizes
/// divide each other have positions that divide each other.
///
/// The position is a cubic in the number of the probe: the first two differences depend on the key,
/// the third is a constant. Each part earns its place. Without the constant, a key whose first step
/// is near 0 (or near a simple fraction of 2^64) would meet the same bits again and again. It is as
/// large as the golden ratio's share of 2^64, because multiply-high uses the upper bits of the
/// position only, which a small constant never reaches. A second difference that is the same for
/// all keys leaves keys of one first step with the same pattern of distances, which costs 46 % more
/// false positives than independent positions at 64 bits and 13 hashes.
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
    /// All zeros, which memory can be filled with quickly.
    #[cfg(feature = "alloc")]
    pub(crate) const ZERO: Self = Self { position: 0, step: 0, step_of_step: 0 };

    /// Starts the sequence of the key with this hash: 64 uniform bits, as [`KeyHasher`](pds_core::KeyHasher) makes
    /// them. Pass any other hash through [`finalize`](pds_core::hash::finalize).
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

    /// Returns the next position as a fraction of 2^64 of any number of bits.
    #[inline]
    pub(crate) const fn next_unreduced(&mut self) -> u64 {
        let position = self.position;
        self.position = self.position.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.step_of_step);
        self.step_of_step = self.step_of_step.wrapping_add(GOLDEN_RATIO);
        position
    }
}
