//! Signatures: the values of a sketch, cut to a few bits.

mod portable;
mod view;

use core::fmt;

use pds_core::error::{BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher, finalize};
use pds_core::internal::StoredWord;
use pds_core::storage::{WordSource, Words};
use pds_core::traits::Similarity;
use pds_params::{Estimate, SignatureParams};

use crate::{Comparison, MinHash};

pub use view::SignatureView;

/// A sketch in 1 to 32 bits per value, to keep many. [`MinHash::signature`] makes it.
///
/// Values of different keys agree by chance with probability 2^-bits. The estimates are without this bias. Few bits are a
/// good trade if the sets are similar: at J = 0.8, signatures of 1 bit need 2.25 times the values for the same error, and take
/// 1/28 of the memory.
///
/// A signature cannot be merged or continued. It knows the hasher, so that signatures of other hashers are refused.
///
/// # Guarantees
/// - Error of [`jaccard`](Self::jaccard): unbiased. The standard error is at most
///   [`SignatureParams::standard_error`], for sets of any size.
/// - Memory: K / 8 bytes per bit, at least 8.
/// - An empty set is similar to none, as for sketches.
///
/// # Examples
/// ```
/// use minhash::MinHash;
///
/// let (mut left, mut right) = (MinHash::new(1_024)?, MinHash::new(1_024)?);
/// left.extend(0..1_000_u32);
/// right.extend(100..1_100_u32);
///
/// let (left, right) = (left.signature(2)?, right.signature(2)?);
/// assert_eq!(left.size_in_bytes(), 256);
/// let jaccard = left.jaccard(&right)?;
/// assert!((jaccard.value - 900.0 / 1_100.0).abs() < 4.0 * jaccard.standard_error);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Ping Li and Arnd Christian König, "b-Bit Minwise Hashing", WWW 2010.
#[derive(Clone)]
pub struct Signature<S = DefaultHashBuilder, W = Words> {
    /// The values, each in so many bits, the first one lowest. Zero for an empty set.
    words: W,
    params: SignatureParams,
    is_empty: bool,
    hasher: S,
}

impl<S: KeyHasher + Clone, W: WordSource> MinHash<S, W> {
    /// Returns the signature of this sketch with 1, 2, 4, 8, 16 or 32 bits per value.
    ///
    /// # Errors
    /// [`BuildError::Param`] if this number of bits is not allowed. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// O(K).
    pub fn signature(&self, bits: u32) -> Result<Signature<S>, BuildError> {
        let params = SignatureParams::new(self.num_values(), bits)?;
        let mut words = Words::zeroed(params.size_in_bytes() / 8)?;
        let is_empty = self.is_empty();
        if !is_empty {
            let (bits, mask) = (bits as usize, (1 << bits) - 1);
            for (start, minimum) in (0..).step_by(bits).zip(self.minima.values()) {
                // The low bits of minima are uniform for small sets only: for large ones they are near 0.
                words[start / 64] |= (finalize(minimum) & mask) << (start % 64);
            }
        }
        Ok(Signature { words, params, is_empty, hasher: self.hasher.clone() })
    }
}

impl<S: KeyHasher, W: WordSource> Signature<S, W> {
    /// Returns the hasher of the sketch.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> SignatureParams {
        self.params
    }

    /// Returns the number of values K.
    #[must_use]
    pub const fn num_values(&self) -> u32 {
        self.params.num_values()
    }

    /// Returns the number of bits per value.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.params.bits()
    }

    /// Returns the size of the values in bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Returns whether the set was empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Compares two signatures, in the same storage or in two. The result gives estimates and intervals.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values, the bits per value or the hashers differ.
    ///
    /// # Complexity
    /// O(size), without allocation.
    pub fn compare<V: WordSource>(
        &self,
        other: &Signature<S, V>,
    ) -> Result<Comparison, Incompatible> {
        self.check_compatible(other)?;
        let words = self.words.values().zip(other.words.values());
        let differ: u32 = words.map(|(left, right)| self.differing_values(left ^ right)).sum();
        Ok(Comparison {
            // Bits that no value uses are zero in both, or damaged.
            matches: self.num_values().saturating_sub(differ),
            num_values: self.num_values(),
            chance: self.params.chance(),
            // How many keys there are cannot be told from a signature.
            units: 1.0,
            with_empty: self.is_empty || other.is_empty,
        })
    }

    /// Estimates the Jaccard index: the share of the union that is in both sets. 0 if one of them is empty, or both.
    ///
    /// The estimate may be below 0 by chance. [`compare`](Self::compare) gives an interval, too.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values, the bits per value or the hashers differ.
    pub fn jaccard<V: WordSource>(
        &self,
        other: &Signature<S, V>,
    ) -> Result<Estimate, Incompatible> {
        Ok(self.compare(other)?.jaccard())
    }

    fn check_compatible<V>(&self, other: &Signature<S, V>) -> Result<(), Incompatible> {
        let (ours, theirs) = (self.params, other.params);
        let values = [ours, theirs].map(|params| params.num_values().into());
        Incompatible::check_shape("number of values", values[0], values[1])?;
        Incompatible::check_shape("bits per value", ours.bits().into(), theirs.bits().into())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }

    /// Counts the values of a word with a bit that is set.
    const fn differing_values(&self, mut word: u64) -> u32 {
        let mut shift = self.params.bits() / 2;
        while shift > 0 {
            word |= word >> shift;
            shift /= 2;
        }
        let lowest_bits = u64::MAX / ((1 << self.params.bits()) - 1);
        (word & lowest_bits).count_ones()
    }
}

/// Signatures are equal if number of values, bits, hasher and values are equal.
impl<S: KeyHasher> PartialEq for Signature<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok()
            && self.is_empty == other.is_empty
            && self.words == other.words
    }
}

impl<S: KeyHasher> Eq for Signature<S> {}

/// Estimates may be below 0 by chance, as those of [`Signature::jaccard`].
impl<S: KeyHasher, W: WordSource> Similarity for Signature<S, W> {
    type Error = Incompatible;

    fn jaccard(&self, other: &Self) -> Result<f64, Incompatible> {
        Ok(self.jaccard(other)?.value)
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for Signature<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["Signature", "", "SignatureView"]))
            .field("num_values", &self.num_values())
            .field("bits", &self.bits())
            .field("is_empty", &self.is_empty)
            .finish_non_exhaustive()
    }
}

/// Checks words that end at offset `end`.
///
/// # Errors
/// [`DecodeError`](pds_core::error::DecodeError) at the first word with a bit that no value has: any bit if the set is empty.
fn check_words(
    words: &impl WordSource,
    params: SignatureParams,
    is_empty: bool,
    end: u64,
) -> Result<(), pds_core::error::DecodeError> {
    let start = end - params.size_in_bytes();
    let used = if is_empty { 0 } else { u64::from(params.num_values() * params.bits()) };
    let unused = if used < 64 { u64::MAX << used } else { 0 };
    for (offset, word) in (start..).step_by(8).zip(words.as_words()) {
        let found = word.value() & unused;
        if found != 0 {
            let fault = pds_core::internal::DecodeFault::Padding { offset, found };
            return Err(pds_core::error::DecodeError(fault));
        }
    }
    Ok(())
}
