//! Validated shapes of quotient filters, and plans of growth.

use super::{
    MAX_REMAINDER_BITS, MAX_SLOTS, SlotUse, capacity, least_slots, mean_overflow, most_slots,
    rate_exact, size_in_bytes,
};
use crate::ParamError;
use crate::bloom::MAX_BITS;
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::design::{Design, design_methods};
use crate::internal::ParamFault;
use crate::search::first;

/// The most slots of a plan's smallest filter. It has more than half of them if the plan has that many.
// The slots at the end of a plan are rounded up by less than one in 256.
const MAX_BASE: u64 = 512;

/// Validated parameters of a quotient filter.
///
/// # Guarantees
/// - The mean false-positive rate at the designed number of items is at most the promised one. If the filter grows, so it
///   is at every smaller number on the way.
/// - That many distinct keys fit.
/// - No other width of remainders and number of slots keep both promises in fewer bytes. A filter that grows has up to
///   one part in 256 more slots at its greatest size.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::QuotientParams;
///
/// let params = QuotientParams::new(1_000_000, 0.01)?;
/// assert_eq!((params.num_slots(), params.remainder_bits()), (1_052_632, 7));
/// assert!(params.rate_at(1_000_000) <= 0.01);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuotientParams {
    /// Number of slots, from 1 to [`MAX_SLOTS`].
    num_slots: u64,
    /// Width of a remainder in bits, from 1 to [`MAX_REMAINDER_BITS`]. Slots times 2^width are below 2^64.
    remainder_bits: u32,
    /// Number of doublings that the plan provides for, below `remainder_bits`.
    doublings: u32,
    /// The design of the shape at the end of the plan, if any.
    design: Design,
}

impl QuotientParams {
    /// Computes the filter of the fewest bytes for `expected_items` distinct keys and a mean rate of at most `rate`.
    ///
    /// # Errors
    /// If there are no items, or more than 2^48 slots are needed. If the rate is not between 0 and 1. If whole hashes
    /// collide more often.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        Self::fewest_bytes(expected_items, rate, SlotUse::PLAIN)
    }

    /// Computes a filter for `items` distinct keys with growth up to `grows_to` of them, at a mean rate of at most `rate`.
    ///
    /// Each doubling takes one bit from the remainders. The filter starts with enough bits for all of them. It has at
    /// least 257 slots, or at once all that `grows_to` need.
    ///
    /// All filters of one `grows_to` and one `rate` can be merged, whatever their `items`.
    ///
    /// # Errors
    /// If there are no items, or if `grows_to` are fewer. If a filter of `grows_to` cannot be built, or if there are too
    /// many doublings on the way to it.
    ///
    /// # Examples
    /// ```
    /// use pds_params::QuotientParams;
    ///
    /// let params = QuotientParams::growing(1_000, 1_000_000, 0.01)?;
    /// assert_eq!((params.num_slots(), params.remainder_bits(), params.doublings()), (2_056, 16, 9));
    /// let grown = params.grown();
    /// assert_eq!((grown.num_slots(), grown.remainder_bits(), grown.doublings()), (1_052_672, 7, 0));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn growing(items: u64, grows_to: u64, rate: f64) -> Result<Self, ParamError> {
        Self::growing_with(items, grows_to, rate, SlotUse::PLAIN)
    }

    /// Computes a filter as [`new`](Self::new) does, or as [`growing`](Self::growing) if there is a `grows_to`, whose slots
    /// are used in this way.
    ///
    /// The sizes of the parameters are without the bits beside the remainders.
    ///
    /// # Errors
    /// As those, and if there is less than one slot per item, or more than 64.
    ///
    /// # Examples
    /// ```
    /// use pds_params::QuotientParams;
    /// use pds_params::quotient::SlotUse;
    ///
    /// let slot_use = SlotUse { slots_per_item: 2.0, bits_beside: 1 };
    /// let params = QuotientParams::with_slot_use(1_000, None, 0.01, slot_use)?;
    /// assert_eq!((params.capacity(), params.remainder_bits()), (2_000, 6));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn with_slot_use(
        items: u64,
        grows_to: Option<u64>,
        rate: f64,
        slot_use: SlotUse,
    ) -> Result<Self, ParamError> {
        match grows_to {
            Some(grows_to) => Self::growing_with(items, grows_to, rate, slot_use),
            None => Self::fewest_bytes(items, rate, slot_use),
        }
    }

    fn fewest_bytes(expected_items: u64, rate: f64, slot_use: SlotUse) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        check_collisions(expected_items, rate)?;
        let slots = least_slots(slot_use.slots_of(expected_items)?);
        if slots > MAX_SLOTS {
            return Err(too_large("slots", slots as f64, MAX_SLOTS as f64));
        }
        let keeps = |slots, bits| rate_exact(slots, expected_items, bits) <= rate;
        let widest = MAX_REMAINDER_BITS.saturating_sub(slot_use.bits_beside);
        let narrowest = (1..=widest).find(|&bits| keeps(slots, bits));
        let narrowest = narrowest.ok_or_else(|| {
            let needed = libm::ceil(-libm::log2(rate));
            too_large("remainder_bits", needed, widest.into())
        })?;
        // A bit less needs more slots, about twice as many unless full slots are just short of the rate. Some bits less can
        // be best for a few keys, because slots come in groups of eight. Five bits less need 16 times the slots.
        let of_width = |bits| {
            let slots = first(slots, |slots| keeps(slots, bits));
            Self::from_slots_and_remainder_bits(slots, bits)
        };
        let narrower = (1..narrowest).rev().take(4).filter_map(|bits| of_width(bits).ok());
        let best = narrower.chain(of_width(narrowest)).min_by_key(|params| {
            size_in_bytes(params.num_slots, params.remainder_bits + slot_use.bits_beside)
        });
        let best = best.map_or_else(|| of_width(narrowest), Ok)?;
        best.with_design(Some(expected_items), Some(rate))
    }

    fn growing_with(
        items: u64,
        grows_to: u64,
        rate: f64,
        slot_use: SlotUse,
    ) -> Result<Self, ParamError> {
        check_items(items)?;
        check_range("grows_to", grows_to, items, capacity(MAX_SLOTS))?;
        let last = Self::fewest_bytes(grows_to, rate, slot_use)?;
        let base_after = |doublings: u32| last.num_slots.div_ceil(1 << doublings);
        let halvings = (0..u64::BITS).find(|&halvings| base_after(halvings) <= MAX_BASE);
        let halvings = halvings.unwrap_or(u64::BITS - 1);
        let base = base_after(halvings);
        let used = slot_use.slots_of(items)?;
        let doubled = (0..halvings).find(|&times| capacity(base << times) >= used);
        let doubled = doubled.unwrap_or(halvings);
        let doublings = halvings - doubled;
        let bits = last.remainder_bits + doublings;
        let widest = MAX_REMAINDER_BITS.saturating_sub(slot_use.bits_beside);
        check_range("remainder_bits", bits.into(), 1, widest.into())?;
        Self::from_slots_and_remainder_bits(base << doubled, bits)?
            .with_doublings(doublings)?
            .with_design(Some(grows_to), Some(rate))
    }

    /// Accepts the shape as given, without a design and without growth.
    ///
    /// # Errors
    /// If there are no slots, or more than 2^48. If the width is not from 1 to 56, or if there are more fingerprints
    /// than hashes.
    pub fn from_slots_and_remainder_bits(
        num_slots: u64,
        remainder_bits: u32,
    ) -> Result<Self, ParamError> {
        check_range("slots", num_slots, 1, MAX_SLOTS)?;
        let widest = MAX_REMAINDER_BITS.min((u64::MAX / num_slots).ilog2());
        check_range("remainder_bits", remainder_bits.into(), 1, widest.into())?;
        Ok(Self { num_slots, remainder_bits, doublings: 0, design: Design::NONE })
    }

    /// Computes the filter of the widest remainders for `items` distinct keys in at most `bytes` bytes, and of the most slots for
    /// this width.
    ///
    /// It has the lowest mean rate. Only where remainders cannot be wider, because hashes have 64 bits, fewer slots may have a
    /// rate that is some per cent lower.
    ///
    /// The filter has no design. `bytes` is for the slots; runs of keys that overflow the last one take more, as
    /// [`size_in_bytes`](Self::size_in_bytes) says.
    ///
    /// # Errors
    /// If there are no items, or if `bytes` is too small for them.
    ///
    /// # Examples
    /// ```
    /// use pds_params::QuotientParams;
    ///
    /// let params = QuotientParams::for_memory(1 << 20, 500_000)?;
    /// assert!(params.size_in_bytes() <= 1 << 20);
    /// assert_eq!(params.remainder_bits(), 13);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        check_items(items)?;
        let least = size_in_bytes(least_slots(items).min(MAX_SLOTS), 1);
        check_range("bytes", bytes, least, MAX_BITS / 8)?;
        let of_width = |width| {
            let slots = most_slots(bytes, width).min(MAX_SLOTS);
            let params = Self::from_slots_and_remainder_bits(slots, width).ok()?;
            (params.capacity() >= items).then_some(params)
        };
        let too_many = || too_large("slots", least_slots(items) as f64, MAX_SLOTS as f64);
        // Wider remainders have the lower rate, because the slots become fewer by less than half.
        (1..=MAX_REMAINDER_BITS).rev().find_map(of_width).ok_or_else(too_many)
    }

    /// Replaces the number of doublings that the plan provides for. The shape and the design are kept.
    ///
    /// # Errors
    /// If no bit of the remainders would be left, or if there would be more than 2^48 slots.
    pub fn with_doublings(self, doublings: u32) -> Result<Self, ParamError> {
        let room = (MAX_SLOTS / self.num_slots).ilog2();
        check_range("doublings", doublings.into(), 0, room.min(self.remainder_bits - 1).into())?;
        Ok(Self { doublings, ..self })
    }

    /// Returns the parameters after one doubling. `None` if no bit of the remainders would be left, or if there would be
    /// more than 2^48 slots.
    ///
    /// Past the end of the plan, the number of doublings stays 0.
    #[must_use]
    pub const fn doubled(self) -> Option<Self> {
        if self.remainder_bits == 1 || self.num_slots > MAX_SLOTS / 2 {
            return None;
        }
        Some(Self {
            num_slots: 2 * self.num_slots,
            remainder_bits: self.remainder_bits - 1,
            doublings: self.doublings.saturating_sub(1),
            design: self.design,
        })
    }

    /// Returns the parameters after one halving, the inverse of a doubling. `None` if the number of slots is odd, or if the
    /// remainders are as wide as possible.
    ///
    /// The plan provides for the doubling again, unless it was past the end of the plan: if no doublings are left, and half
    /// of the slots hold the expected items, or no such number is stated.
    #[must_use]
    pub const fn halved(self) -> Option<Self> {
        if self.num_slots % 2 == 1 || self.remainder_bits == MAX_REMAINDER_BITS {
            return None;
        }
        let num_slots = self.num_slots / 2;
        let is_past = match self.design.expected_items {
            Some(items) => capacity(num_slots) >= items,
            None => true,
        };
        let doublings = if self.doublings == 0 && is_past { 0 } else { self.doublings + 1 };
        let (remainder_bits, design) = (self.remainder_bits + 1, self.design);
        Some(Self { num_slots, remainder_bits, doublings, design })
    }

    /// Returns the parameters at the end of the plan.
    #[must_use]
    pub const fn grown(self) -> Self {
        Self {
            num_slots: self.num_slots << self.doublings,
            remainder_bits: self.remainder_bits - self.doublings,
            doublings: 0,
            design: self.design,
        }
    }

    /// Returns the number of slots, which is also the number of quotients. Any number works, not only powers of two.
    #[must_use]
    pub const fn num_slots(&self) -> u64 {
        self.num_slots
    }

    /// Returns the width of a remainder in bits.
    #[must_use]
    pub const fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }

    /// Returns the number of doublings that the plan provides for.
    #[must_use]
    pub const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Returns the number of keys that fit before the filter grows, copies included: 95 % of the slots.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        capacity(self.num_slots)
    }

    design_methods!();

    /// Returns the size of the slots in bytes: one byte per 64 slots, and the remainder and two bits per slot.
    ///
    /// Runs of keys that overflow the last slot take more: nine slots on average at capacity. In memory the last 64 slots have the room of all of them.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        size_in_bytes(self.num_slots, self.remainder_bits)
    }

    /// Returns the number of bits per expected item at the end of the plan, if the filter is designed for a number of items.
    /// The slots that overflow on average are included.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        let grown = self.grown();
        self.expected_items().map(|items| {
            // A design that was not computed can have more items than fit.
            let overflow = mean_overflow(grown.num_slots, items.min(grown.capacity()));
            let slots = grown.num_slots + overflow;
            8.0 * size_in_bytes(slots, grown.remainder_bits) as f64 / items as f64
        })
    }

    /// Predicts the mean false-positive rate at `items` items, by [`rate_exact`]. Growth does not change it.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        rate_exact(self.num_slots, items, self.remainder_bits)
    }
}

fn too_large(parameter: &'static str, value: f64, max: f64) -> ParamError {
    ParamError(ParamFault::TooLarge { parameter, value, max })
}
