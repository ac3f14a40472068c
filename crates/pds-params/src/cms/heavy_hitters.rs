use super::{MAX_TRACKED, check_probability, check_range, floor_product};
use crate::ParamError;
use crate::internal::ParamFault;

/// Bytes per tracked key of 8 bytes: its slot and its places in the table.
const TRACKED_BYTES: u64 = 48;

/// Returns the number of tracked keys for this capacity: half as many again, rounded up.
const fn tracked(capacity: u64) -> u64 {
    capacity + capacity.div_ceil(2)
}

/// The capacity of a counter-based summary that misses no key above a share of the total.
///
/// A summary that keeps the c greatest counts on each eviction errs by less than N / c. Every key above N / c is
/// therefore in it.
///
/// # Examples
/// ```
/// use pds_params::HeavyHittersParams;
///
/// // Keys above 1 %, with counts that err by at most 0.1 % of the total.
/// let params = HeavyHittersParams::with_error(0.01, 0.001)?;
/// assert_eq!(params.capacity(), 1_000);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
///
/// # References
/// J. Misra and David Gries, "Finding Repeated Elements", Science of Computer Programming 2(2), 1982.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeavyHittersParams {
    phi: f64,
    capacity: u64,
}

impl HeavyHittersParams {
    /// Computes the capacity `ceil(1 / phi)`, the least that misses no key above `phi` times the total.
    ///
    /// # Errors
    /// If `phi` is not above 0 and below 1. If the capacity exceeds [`MAX_TRACKED`].
    pub fn new(phi: f64) -> Result<Self, ParamError> {
        Self::with_error(phi, phi)
    }

    /// Computes the capacity `ceil(1 / epsilon)`, so that counts err by at most `epsilon` times the total, or
    /// `ceil(1 / phi)` if that is greater.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), for `epsilon` too.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    pub fn with_error(phi: f64, epsilon: f64) -> Result<Self, ParamError> {
        check_probability("phi", phi)?;
        check_probability("epsilon", epsilon)?;
        let share = phi.min(epsilon);
        let capacity = libm::ceil(1.0 / share);
        let max = MAX_TRACKED as f64;
        if capacity > max {
            return Err(ParamError(ParamFault::TooLarge {
                parameter: "capacity",
                value: capacity,
                max,
            }));
        }
        let capacity = capacity as u64;
        // The quotient may have been rounded down. The shares must sum to the whole.
        let short = u64::from(floor_product(share, capacity) == 0);
        Ok(Self { phi, capacity: capacity + short })
    }

    /// Accepts the capacity as given.
    ///
    /// # Errors
    /// If `phi` is not above 0 and below 1. If the capacity is below `ceil(1 / phi)` or above [`MAX_TRACKED`].
    pub fn with_capacity(phi: f64, capacity: u64) -> Result<Self, ParamError> {
        let least = Self::new(phi)?.capacity;
        check_range("capacity", capacity, least, MAX_TRACKED)?;
        Ok(Self { phi, capacity })
    }

    /// Computes the greatest capacity for keys of 8 bytes in `bytes` bytes. Phi and epsilon follow from it.
    ///
    /// # Errors
    /// If `bytes` is too small for two keys, or large enough for more than [`MAX_TRACKED`].
    ///
    /// # Examples
    /// ```
    /// use pds_params::HeavyHittersParams;
    ///
    /// let params = HeavyHittersParams::for_memory(64 << 10)?;
    /// assert_eq!((params.capacity(), params.memory_bytes()), (910, 65_520));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_memory(bytes: u64) -> Result<Self, ParamError> {
        let bytes_of = |capacity| tracked(capacity) * TRACKED_BYTES;
        check_range("bytes", bytes, bytes_of(2), bytes_of(MAX_TRACKED + 1) - 1)?;
        // The inverse of `tracked`, rounded down.
        let capacity = bytes / TRACKED_BYTES * 2 / 3;
        let share = 1.0 / capacity as f64;
        // The quotient may have been rounded down. The shares must sum to the whole.
        let short = floor_product(share, capacity) == 0;
        Ok(Self { phi: if short { share.next_up() } else { share }, capacity })
    }

    /// Returns the size of a summary in bytes, for keys of 8 bytes. Memory that keys own elsewhere is not included.
    #[must_use]
    pub const fn memory_bytes(&self) -> u64 {
        tracked(self.capacity) * TRACKED_BYTES
    }

    /// Returns the share of the total above which no key is missed.
    #[must_use]
    pub const fn phi(&self) -> f64 {
        self.phi
    }

    /// Returns the number of keys that are kept. Half as many again are tracked until the next eviction.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the greatest error of a count, as a fraction of the total.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        1.0 / self.capacity as f64
    }
}
