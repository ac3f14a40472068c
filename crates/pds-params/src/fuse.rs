//! Binary fuse graphs: sizes, and rates of the filters that stand on them.
//!
//! A graph gives each key of a static set three of its *slots*. It is *peeled*: a slot that one key alone has is taken by
//! this key, and the key is removed. If all keys can be removed, then any content of the taken slots can be computed, in
//! reverse order. Peeling needs 23 % more slots than keys if the three slots lie in three thirds of the array. It needs
//! fewer from some 10^4 keys up if they lie in neighbouring windows, down to 10 % at 10^7 keys.
//!
//! Thomas Mueller Graf and Daniel Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", ACM Journal of
//! Experimental Algorithmics 27, 2022, sections 3 and 4. Stefan Walzer, "Peeling Close to the Orientability Threshold:
//! Spatial Coupling in Hashing-Based Data Structures", SODA 2021.

pub(crate) mod params;

use crate::ParamError;
use crate::check::{check_range, check_rate};
use crate::internal::ParamFault;

/// Greatest number of keys.
#[doc(hidden)]
pub const MAX_KEYS: u64 = 1 << 48;

/// Greatest number of bits of a fingerprint.
#[doc(hidden)]
pub const MAX_FINGERPRINT_BITS: u32 = 32;

/// Greatest number of steps by which a graph grows.
#[doc(hidden)]
pub const MAX_GROWTH: u32 = 32;

/// Number of keys from which on the slots of a key lie in neighbouring windows.
// Both kinds of graphs need equally many slots there.
const COUPLED_KEYS: u64 = 11_000;

/// Mean number of keys in a shard. A graph of fewer than twice as many keys is one shard.
const SHARD_KEYS: u64 = 1 << 22;

/// Number of standard deviations of the number of keys in a shard that it has room for.
const DEVIATIONS: u64 = 4;

/// A growth step is this part of the slots.
const STEPS: u64 = 64;

/// Shape of a graph.
///
/// The first slot of a key is below [`starts`](Self::starts). In a [coupled](Self::is_coupled) shape the second slot is one
/// of the `window` slots after the first one, and the third slot is one of the `window` slots from there on. In other shapes
/// the second and third slots lie in the second and third thirds of the array.
///
/// # Guarantees
/// - A random graph can be peeled with a probability of more than one half at every number of keys up to 5 million
///   (measured).
/// - Up to 10^4 keys it has fewer slots than the published sizes of binary fuse filters.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::fuse::FuseShape;
///
/// let shape = FuseShape::new(1_000_000, 0)?;
/// assert_eq!((shape.num_slots(), shape.shards()), (1_130_247, 1));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseShape {
    shards: u64,
    starts: u64,
    window: u64,
    slots_per_shard: u64,
    is_coupled: bool,
}

impl FuseShape {
    /// Computes the shape for this number of distinct keys, enlarged by `growth` steps of 1/64.
    ///
    /// # Errors
    /// If there are more than [`MAX_KEYS`] keys or [`MAX_GROWTH`] steps.
    pub fn new(keys: u64, growth: u32) -> Result<Self, ParamError> {
        check_range("keys", keys, 0, MAX_KEYS)?;
        check_range("growth", growth.into(), 0, MAX_GROWTH.into())?;
        let shards = match keys / SHARD_KEYS {
            0 => keys.min(1),
            shards => shards,
        };
        Ok(Self::of_shards(shards, keys_per_shard(keys, shards), STEPS + u64::from(growth)))
    }

    /// Returns the shape of shards for so many keys each, enlarged to `parts` of [`STEPS`].
    fn of_shards(shards: u64, keys: u64, parts: u64) -> Self {
        if shards == 0 {
            return Self { shards, starts: 0, window: 0, slots_per_shard: 0, is_coupled: false };
        }
        if keys < COUPLED_KEYS {
            let window = (apart(keys) * parts).div_ceil(3 * APART_UNIT * STEPS);
            return Self {
                shards,
                starts: window,
                window,
                slots_per_shard: 3 * window,
                is_coupled: false,
            };
        }
        let [slots, window] = coupled(keys);
        let slots = (slots * parts).div_ceil(STEPS);
        Self {
            shards,
            starts: slots - 2 * window,
            window,
            slots_per_shard: slots,
            is_coupled: true,
        }
    }

    /// Returns the number of shards: graphs of their own, each for an equal part of the range of hashes.
    #[must_use]
    pub const fn shards(&self) -> u64 {
        self.shards
    }

    /// Returns the number of slots that the first slot of a key can be.
    #[must_use]
    pub const fn starts(&self) -> u64 {
        self.starts
    }

    /// Returns the number of slots that the second slot of a key can be if the first one is known. Equal to that of the
    /// third slot.
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Returns whether the windows of the second and the third slot follow the first slot.
    #[must_use]
    pub const fn is_coupled(&self) -> bool {
        self.is_coupled
    }

    /// Returns the number of slots in a shard.
    #[must_use]
    pub const fn slots_per_shard(&self) -> u64 {
        self.slots_per_shard
    }

    /// Returns the number of slots.
    #[must_use]
    pub const fn num_slots(&self) -> u64 {
        self.slots_per_shard.saturating_mul(self.shards)
    }
}

/// Returns the number of keys that a shard has room for.
const fn keys_per_shard(keys: u64, shards: u64) -> u64 {
    if shards < 2 {
        return keys;
    }
    let mean = keys / shards;
    mean + DEVIATIONS * mean.isqrt()
}

// All numbers are whole, so that readers in other languages need no powers and no rounding. The constants were fitted to
// the least numbers of slots at which nine random graphs in ten could be peeled, from 1 key to 10^6 keys.

/// Unit of [`apart`], as part of a slot.
const APART_UNIT: u64 = 10_000;

/// Returns the slots for keys whose slots lie in three thirds: 1.2225 k + 1.3 sqrt(k) + 1.5, in ten-thousandths.
// The threshold of random graphs is 1.2218 slots per key. Below 10^4 keys the number of keys that an array takes varies.
const fn apart(keys: u64) -> u64 {
    12_225 * keys + (169_000_000 * keys).isqrt() + 15_000
}

/// Returns the slots for keys whose slots lie in neighbouring windows, and those of a window.
const fn coupled(keys: u64) -> [u64; 2] {
    let mut row = 0;
    while COUPLED[row + 1][0] < keys {
        row += 1;
    }
    let ([from, slots, window], [to, more_slots, more_window]) = (COUPLED[row], COUPLED[row + 1]);
    let (keys, step) = (keys - from, to - from);
    [
        slots + ((more_slots - slots) * keys).div_ceil(step),
        window + ((more_window - window) * keys).div_ceil(step),
    ]
}

/// Numbers of keys with the slots that they need, and the slots of a window. Between two rows both grow linearly.
// For k keys, slots of k (1.089 + 0.157 (k / 10^4)^-0.29) and windows of 324 (k / 10^4)^0.68. The threshold of infinitely
// many narrow windows is 1.0892 slots per key. Peeling starts at the ends of the array. It stops on the way if windows are
// too narrow. If they are too wide, the ends are too long.
const COUPLED: [[u64; 3]; 21] = [
    [8_192, 10_283, 282],
    [12_288, 15_198, 372],
    [16_384, 20_071, 453],
    [24_576, 29_736, 597],
    [32_768, 39_330, 726],
    [49_152, 58_389, 956],
    [65_536, 77_333, 1_163],
    [98_304, 115_007, 1_532],
    [131_072, 152_494, 1_864],
    [196_608, 227_118, 2_455],
    [262_144, 301_435, 2_986],
    [393_216, 449_497, 3_934],
    [524_288, 597_058, 4_784],
    [786_432, 891_243, 6_303],
    [1_048_576, 1_184_608, 7_665],
    [1_572_864, 1_769_806, 10_099],
    [2_097_152, 2_353_663, 12_281],
    [3_145_728, 3_518_868, 16_180],
    [4_194_304, 4_681_881, 19_676],
    [6_291_456, 7_003_805, 25_923],
    [8_388_608, 9_322_141, 31_524],
];

/// Returns the fewest bits of a fingerprint that keep a false-positive rate.
///
/// # Errors
/// If the rate is not above 0 and below 1. If it needs more than
/// [`MAX_FINGERPRINT_BITS`].
///
/// # Examples
/// ```
/// use pds_params::fuse::bits_for_rate;
///
/// assert_eq!(bits_for_rate(0.01)?, 7);
/// assert!(bits_for_rate(1e-10).is_err());
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn bits_for_rate(rate: f64) -> Result<u32, ParamError> {
    check_rate(rate)?;
    let bits = 1..=MAX_FINGERPRINT_BITS;
    bits.into_iter().find(|&bits| self::rate(bits) <= rate).ok_or_else(|| {
        ParamError(ParamFault::TooLarge {
            parameter: "fingerprint_bits",
            value: libm::ceil(-libm::log2(rate)),
            max: MAX_FINGERPRINT_BITS.into(),
        })
    })
}

/// Returns an error if a fingerprint cannot have so many bits.
///
/// # Errors
/// If there are none, or more than [`MAX_FINGERPRINT_BITS`].
#[doc(hidden)]
pub fn check_bits(bits: u32) -> Result<(), ParamError> {
    check_range("fingerprint_bits", bits.into(), 1, MAX_FINGERPRINT_BITS.into())
}

/// Returns the false-positive rate of fingerprints of this many bits: 2^-bits.
#[must_use]
pub fn rate(bits: u32) -> f64 {
    libm::exp2(-f64::from(bits))
}
