//! The builder of quotient filters.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;
use pds_params::quotient::{MAX_SLOTS, SlotUse};

use crate::map::check_value_bits;
#[cfg(feature = "std")]
use crate::sharded::{ShardedQuotientFilter, check_shards, items_per_shard, slots_per_shard};
use crate::{CountingQuotientFilter, QuotientFilter, QuotientMap};

/// Builder for [`QuotientFilter`]; start with [`QuotientFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest bytes that hold the items and keep the rate |
/// | `grows_to` too | at first for the expected items; the filter grows up to that number and keeps the rate |
/// | `slots` and `remainder_bits` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use quotient::QuotientFilter;
///
/// let filter = QuotientFilter::builder().expected_items(10_000).false_positive_rate(0.001).seed(7).build()?;
/// assert_eq!((filter.num_slots(), filter.remainder_bits()), (10_527, 10));
/// assert!(QuotientFilter::builder().build().is_err(), "neither items nor slots");
/// # Ok::<(), quotient::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct QuotientFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// Builder for [`CountingQuotientFilter`]; start with [`CountingQuotientFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` and `slots_per_item` | the fewest bytes that hold the items and keep the rate |
/// | `grows_to` too | at first for the expected items; the filter grows up to that number and keeps the rate |
/// | `slots` and `remainder_bits` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use quotient::CountingQuotientFilter;
///
/// // Most keys come once.
/// let filter = CountingQuotientFilter::builder().expected_items(10_000).slots_per_item(1.2).build()?;
/// assert_eq!((filter.capacity(), filter.remainder_bits()), (12_000, 7));
/// # Ok::<(), quotient::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountingQuotientFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// Builder for [`QuotientMap`]; start with [`QuotientMap::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest bytes that hold the items and keep the rate |
/// | `grows_to` too | at first for the expected items; the map grows up to that number and keeps the rate |
/// | `slots` and `remainder_bits` | exactly these, without a promise |
///
/// # Examples
/// ```
/// use quotient::QuotientMap;
///
/// let map = QuotientMap::builder(16).expected_items(10_000).false_positive_rate(0.001).build()?;
/// assert_eq!((map.num_slots(), map.remainder_bits(), map.value_bits()), (10_527, 10, 16));
/// assert!(QuotientMap::builder(33).expected_items(10).build().is_err());
/// # Ok::<(), quotient::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct QuotientMapBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// The fewest slots that have room for a key.
const LEAST_SLOTS: u64 = 2;

/// Sizes that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    grows_to: Option<u64>,
    slots: Option<u64>,
    remainder_bits: Option<u32>,
    slots_per_item: Option<f64>,
    /// How the slots are used if nothing else is stated.
    slot_use: SlotUse,
}

/// Defines the methods of a builder. `widest` documents the widest remainder.
// A macro instead of a generic type, so that the documentation of each builder shows the methods.
macro_rules! builder_methods {
    ($builder:ident, $filter:ident, $slot_use:expr, $widest:literal $(, $beside:ident)?) => {
        impl $builder {
            pub(crate) const fn new() -> Self {
                Self {
                    given: Given::new($slot_use),
                    #[cfg(feature = "huge-pages")]
                    huge_pages: false,
                    hasher: DefaultHashBuilder::with_seed(0),
                }
            }

            /// Sets the seed of the default hasher, 0 unless it is set. Merging takes equal seeds.
            pub const fn seed(mut self, seed: u64) -> Self {
                self.hasher = DefaultHashBuilder::with_seed(seed);
                self
            }
        }

        impl<S> $builder<S> {
            /// Sets the number of distinct items before any growth.
            pub const fn expected_items(mut self, items: u64) -> Self {
                self.given.expected_items = Some(items);
                self
            }

            /// Sets the false-positive rate at the greatest number of items, above 0 and below 1. Without it the rate is 0.01.
            pub const fn false_positive_rate(mut self, rate: f64) -> Self {
                self.given.false_positive_rate = Some(rate);
                self
            }

            /// Sets the number of distinct items for whose growth there is a plan, and up to which the rate is kept.
            ///
            /// Remainders start with the bits for all doublings on the way. Whatever is built for one `grows_to` and one rate can
            /// be merged, with any `expected_items`.
            pub const fn grows_to(mut self, items: u64) -> Self {
                self.given.grows_to = Some(items);
                self
            }

            /// Sets the number of slots, from 2 to 2^48. 95 % of them can be used, rounded down.
            ///
            /// Set [`remainder_bits`](Self::remainder_bits) too.
            pub const fn slots(mut self, slots: u64) -> Self {
                self.given.slots = Some(slots);
                self
            }

            #[doc = concat!("Sets the width of a remainder in bits, from 1 to ", $widest, ".")]
            pub const fn remainder_bits(mut self, remainder_bits: u32) -> Self {
                self.given.remainder_bits = Some(remainder_bits);
                self
            }

            /// Sets whether to ask the system for huge pages, which pays for many megabytes.
            ///
            /// Few slots ignore it. Copies, slots after growth, and those read from bytes, do not ask.
            #[cfg(feature = "huge-pages")]
            pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
                self.huge_pages = huge_pages;
                self
            }

            /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
            pub fn hasher<T: KeyHasher>(self, hasher: T) -> $builder<T> {
                $builder {
                    given: self.given,
                    #[cfg(feature = "huge-pages")]
                    huge_pages: self.huge_pages,
                    hasher,
                }
            }

            /// Builds it, empty.
            ///
            /// # Errors
            /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
            /// [`BuildError::Alloc`] if the allocator refuses the memory.
            pub fn build(self) -> Result<$filter<S>, BuildError>
            where
                S: KeyHasher,
            {
                let params = self.given.params()?;
                let filter =
                    $filter::from_params(params, $(self.given.slot_use.$beside,)? self.hasher)?;
                #[cfg(feature = "huge-pages")]
                if self.huge_pages {
                    filter.advise_huge_pages();
                }
                Ok(filter)
            }
        }
    };
}

builder_methods!(QuotientFilterBuilder, QuotientFilter, SlotUse::PLAIN, "56");
builder_methods!(CountingQuotientFilterBuilder, CountingQuotientFilter, Self::SLOT_USE, "55");
builder_methods!(
    QuotientMapBuilder,
    QuotientMap,
    SlotUse::PLAIN,
    "56 less those of a value",
    bits_beside
);

impl QuotientMapBuilder {
    /// Sets the number of bits of a value.
    pub(crate) const fn value_bits(mut self, value_bits: u32) -> Self {
        self.given.slot_use.bits_beside = value_bits;
        self
    }
}

#[cfg(feature = "std")]
impl<S: KeyHasher> QuotientFilterBuilder<S> {
    /// Builds a filter that many threads read and change, of 1 to 65,536 shards. Huge pages are not asked for.
    ///
    /// Threads wait only for others at the same shard, so take several shards per thread. `slots` are those of all shards,
    /// which must divide them, and be at most half as many.
    ///
    /// # Errors
    /// As [`build`](Self::build). [`BuildError::Param`] also if a rate is so low, and the shards are so many, that all shards
    /// together would have more fingerprints than there are 64-bit hashes. It names the lowest rate.
    pub fn build_sharded(self, shards: u32) -> Result<ShardedQuotientFilter<S>, BuildError> {
        check_shards(shards)?;
        // Errors name the numbers of the caller, not those of a shard.
        self.given.params()?;
        let of_shard = |items| items_per_shard(items, shards);
        let slots = self.given.slots.map(|slots| slots_per_shard(slots, shards)).transpose()?;
        let params = Given {
            // None and 0 stay what they are, for the errors.
            expected_items: self.given.expected_items.map(|items| items.min(1) * of_shard(items)),
            grows_to: self.given.grows_to.map(of_shard),
            slots,
            ..self.given
        }
        .params()?;
        check_whole(&params, shards)?;
        let items = params.expected_items().and(self.given.grows_to.or(self.given.expected_items));
        let design = (items, params.promised_rate());
        ShardedQuotientFilter::with_shards(params, shards, design, self.hasher)
    }
}

/// Checks that all shards together are a plain filter, at every size.
// Few items per shard take many more slots than those of all items, and the remainders stay as long.
#[cfg(feature = "std")]
fn check_whole(shard: &QuotientParams, shards: u32) -> Result<(), ParamError> {
    let grown = shard.grown();
    let slots = grown.num_slots().saturating_mul(shards.into());
    let fits = |bits: &u32| QuotientParams::from_slots_and_remainder_bits(slots, *bits);
    let bits = grown.remainder_bits();
    let Err(error) = fits(&bits) else { return Ok(()) };
    let widest = (1..bits).rev().find(|bits| fits(bits).is_ok());
    let (Some(items), Some(value), Some(widest)) =
        (shard.expected_items(), shard.promised_rate(), widest)
    else {
        return Err(error);
    };
    let min =
        QuotientParams::from_slots_and_remainder_bits(grown.num_slots(), widest)?.rate_at(items);
    Err(ParamError(ParamFault::TooLow { parameter: "false_positive_rate", value, min }))
}

impl CountingQuotientFilterBuilder {
    /// Two slots per key: any number of keys may come more than once.
    const SLOT_USE: SlotUse = SlotUse { slots_per_item: 2.0, bits_beside: 1 };
}

impl<S> CountingQuotientFilterBuilder<S> {
    /// Sets the mean number of slots per distinct key, from 1 to 64, 2 unless it is set.
    ///
    /// A key that comes once takes one slot. One that comes up to 2^r times takes two, for remainders of r bits. So if a
    /// third of the keys come more than once, 1.4 is enough for most of them to come some hundred times.
    pub const fn slots_per_item(mut self, slots_per_item: f64) -> Self {
        self.given.slots_per_item = Some(slots_per_item);
        self
    }
}

impl Given {
    const fn new(slot_use: SlotUse) -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            grows_to: None,
            slots: None,
            remainder_bits: None,
            slots_per_item: None,
            slot_use,
        }
    }

    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<QuotientParams, ParamError> {
        let missing = |parameter| Err(ParamError(ParamFault::Missing { parameter }));
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        // A filter has no values, and the least value has one bit.
        check_value_bits(self.slot_use.bits_beside, self.slot_use.bits_beside.min(1))?;
        match (self.expected_items, self.slots, self.remainder_bits) {
            (Some(items), None, None) => {
                let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
                let slots_per_item = self.slots_per_item.unwrap_or(self.slot_use.slots_per_item);
                let slot_use = SlotUse { slots_per_item, ..self.slot_use };
                QuotientParams::with_slot_use(items, self.grows_to, rate, slot_use)
            }
            (None, Some(_), Some(_)) if self.false_positive_rate.is_some() => {
                conflict("false_positive_rate")
            }
            (None, Some(_), Some(_)) if self.grows_to.is_some() => conflict("grows_to"),
            (None, Some(_), Some(_)) if self.slots_per_item.is_some() => conflict("slots_per_item"),
            (None, Some(value), Some(_)) if !(LEAST_SLOTS..=MAX_SLOTS).contains(&value) => {
                let (parameter, min, max) = ("slots", LEAST_SLOTS, MAX_SLOTS);
                Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
            }
            (None, Some(slots), Some(bits)) => {
                QuotientParams::from_slots_and_remainder_bits(slots, bits)
            }
            (None, None, _) => missing("expected_items"),
            (None, Some(_), None) => missing("remainder_bits"),
            (Some(_), Some(_), _) => conflict("slots"),
            (Some(_), None, Some(_)) => conflict("remainder_bits"),
        }
    }
}
