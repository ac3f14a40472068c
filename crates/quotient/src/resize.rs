//! Growth, shrinking and merging: one pass over the fingerprints, in order.

use core::iter;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError};
use pds_core::hash::KeyHasher;
use pds_core::internal::Difference;
use pds_core::traits::Merge;
use pds_params::QuotientParams;

use crate::QuotientFilter;
use crate::fingerprint::{Fingerprint, doubled, halved};
use crate::sequence::{Reader, Writer};
use crate::table::Table;

impl<S: KeyHasher> QuotientFilter<S> {
    /// Doubles the number of slots. The false-positive rate stays, and so do all keys.
    ///
    /// One bit of each remainder goes to its quotient. The result is that of inserting all keys into a filter of that size,
    /// byte for byte. A filter that [grows](crate::QuotientFilterBuilder::grows_to) by itself calls this when it is full.
    ///
    /// Growth beyond the stated maximum is allowed. The promised rate then ends at the expected items, and
    /// [`false_positive_rate`](Self::false_positive_rate) tells the rate.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the remainders have one bit only, or if there would be more than 2^48 slots.
    /// [`BuildError::Alloc`] if the allocator refuses the memory. The filter is unchanged then.
    ///
    /// # Complexity
    /// O(slots).
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let mut filter = QuotientFilter::new(1_000, 0.001)?;
    /// filter.insert("key")?;
    /// filter.grow()?;
    /// assert!(filter.contains("key") && filter.capacity() >= 2_000);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn grow(&mut self) -> Result<(), BuildError> {
        let (slots, bits) = (self.num_slots(), self.remainder_bits());
        // This checks the size; the plan and the design are those of the filter.
        let shape = QuotientParams::from_slots_and_remainder_bits(2 * slots, bits - 1)?;
        self.resize(self.params.doubled().unwrap_or(shape), |fingerprint| {
            doubled(fingerprint, bits, 1)
        })?;
        Ok(())
    }

    /// Halves the number of slots as often as possible: while it is even, the remainders have fewer than 56 bits, and all
    /// keys fit, or one if there is none.
    ///
    /// A filter with expected items that has shrunk grows again by itself as far as they need. One of stated
    /// [`slots`](crate::QuotientFilterBuilder::slots) does not: [`grow`](Self::grow) it. The false-positive rate stays, and so
    /// do all keys.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory. The filter is unchanged then.
    ///
    /// # Complexity
    /// O(slots).
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let mut filter = QuotientFilter::builder().expected_items(100).grows_to(100_000).build()?;
    /// (0..50_000).try_for_each(|key| filter.insert(&key))?;
    /// assert!((100..50_000).all(|key| filter.remove(&key)));
    /// let before = filter.size_in_bytes();
    /// filter.shrink_to_fit()?;
    /// assert!(filter.size_in_bytes() < before / 50);
    /// assert!((0..100).all(|key| filter.contains(&key)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn shrink_to_fit(&mut self) -> Result<(), AllocError> {
        let len = self.len().max(1);
        let halve =
            |params: &QuotientParams| params.halved().filter(|params| params.capacity() >= len);
        let smaller = iter::successors(halve(&self.params), halve);
        let Some((index, params)) = (1..).zip(smaller).last() else { return Ok(()) };
        let bits = self.remainder_bits();
        self.resize(params, |fingerprint| halved(fingerprint, bits, index))
    }

    /// Inserts all that `other` holds, copies included.
    ///
    /// The numbers of slots must be equal, or one a power of two times the other. Filters that are built for one
    /// [`grows_to`](crate::QuotientFilterBuilder::grows_to) and one rate always are, whatever their present sizes. The
    /// result has the greater number of slots. If not everything fits, it grows as far as `self` may. An empty `other`
    /// changes nothing.
    ///
    /// Of two filters with fingerprints of different lengths, the result keeps the bits that both have. Its rate is that of
    /// the shorter ones then, and `self` loses its promised rate if it was built for a lower one.
    ///
    /// # Errors
    /// [`MergeError::Incompatible`] if the hashers or the numbers of slots do not allow it, or if no bit of the
    /// remainders would be left. [`MergeError::Insert`] if not everything fits, or if the allocator refuses the memory.
    /// Both filters are unchanged then.
    ///
    /// # Complexity
    /// O(slots of both): one sequential pass. Allocates the result.
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let builder = QuotientFilter::builder().expected_items(100).grows_to(1_000_000);
    /// let mut left = builder.build()?;
    /// let mut right = builder.build()?;
    /// left.insert("in left")?;
    /// (0..10_000).try_for_each(|key| right.insert(&key))?;
    /// left.merge(&right)?;
    /// assert!(left.contains("in left") && (0..10_000).all(|key| left.contains(&key)));
    /// assert!(left.remove("in left"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let incompatible = MergeError::Incompatible;
        Incompatible::check_hasher(&self.hasher, &other.hasher).map_err(incompatible)?;
        let params = merged_params(&self.params, &other.params).map_err(incompatible)?;
        if other.is_empty() {
            return Ok(());
        }
        let params = room_for(params, self.len() + other.len()).map_err(MergeError::Insert)?;
        let (left, right) = (self.at_size(&params), other.at_size(&params));
        let table = write(&params, 0, Ordered::new(left, right));
        self.table = table.map_err(|error| MergeError::Insert(InsertError::Alloc(error)))?;
        self.params = params;
        Ok(())
    }

    /// Makes room for another key in a filter that is full.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self) -> Result<(), InsertError> {
        let bits = self.remainder_bits();
        match next_of_plan(&self.params) {
            Some(params) => self
                .resize(params, |fingerprint| doubled(fingerprint, bits, 1))
                .map_err(InsertError::Alloc),
            None => Err(InsertError::Full { len: self.len(), capacity: self.capacity() }),
        }
    }

    fn resize(
        &mut self,
        params: QuotientParams,
        to_size: impl Fn(Fingerprint) -> Fingerprint,
    ) -> Result<(), AllocError> {
        self.table = write(&params, 0, Reader::new(&self.table).map(to_size))?;
        self.params = params;
        Ok(())
    }

    /// Lists the fingerprints of a filter that has grown to this size, which has no more bits.
    fn at_size(&self, params: &QuotientParams) -> impl Iterator<Item = Fingerprint> {
        let (bits, times) = (self.remainder_bits(), doublings(&self.params, params.num_slots()));
        let dropped = bits - times - params.remainder_bits();
        Reader::new(&self.table).map(move |fingerprint| {
            let (quotient, remainder) = doubled(fingerprint, bits, times);
            (quotient, remainder >> dropped)
        })
    }
}

/// Returns the parameters with the slots of the larger of two filters, and the fingerprint bits that both have.
pub(crate) fn merged_params(
    own: &QuotientParams,
    other: &QuotientParams,
) -> Result<QuotientParams, Incompatible> {
    let (left, right) = (own.num_slots(), other.num_slots());
    let slots = left.max(right);
    let ratio = slots / left.min(right);
    if slots % left.min(right) != 0 || !ratio.is_power_of_two() {
        let parameter = "number of slots";
        return Err(Incompatible(Difference::Ratio { parameter, left, right }));
    }
    let bits_at =
        |params: &QuotientParams| params.remainder_bits().saturating_sub(doublings(params, slots));
    let bits = bits_at(own).min(bits_at(other));
    let doublings = own.doublings().saturating_sub(doublings(own, slots));
    QuotientParams::from_slots_and_remainder_bits(slots, bits)
        .and_then(|params| params.with_doublings(doublings.min(bits - 1)))
        .map(|params| if bits == bits_at(own) { with_design_of(params, own) } else { params })
        .map_err(|_| {
            let smaller = if left < right { own } else { other };
            Incompatible(Difference::TooLow {
                parameter: "number of remainder bits",
                smaller: smaller.remainder_bits().into(),
                needed: u64::from(crate::resize::doublings(smaller, slots)) + 1,
            })
        })
}

/// Returns the parameters after the next doubling, if the plan provides for it.
pub(crate) fn next_of_plan(params: &QuotientParams) -> Option<QuotientParams> {
    params.doubled().filter(|_| params.doublings() > 0)
}

/// Returns the first parameters of the plan whose capacity is at least `len`.
///
/// # Errors
/// [`InsertError::Full`] with `len` and the last capacity.
pub(crate) fn room_for(params: QuotientParams, len: u64) -> Result<QuotientParams, InsertError> {
    let mut larger = iter::successors(Some(params), next_of_plan);
    larger.find(|params| params.capacity() >= len).ok_or_else(|| {
        let capacity = params.grown().capacity();
        InsertError::Full { len, capacity }
    })
}

/// Returns the number of doublings to this many slots.
pub(crate) fn doublings(params: &QuotientParams, slots: u64) -> u32 {
    (slots / params.num_slots()).ilog2()
}

fn with_design_of(params: QuotientParams, other: &QuotientParams) -> QuotientParams {
    params.with_design(other.expected_items(), other.promised_rate()).unwrap_or(params)
}

/// Writes a table of these entries, with `bits_beside` bits beside the remainders.
pub(crate) fn write(
    params: &QuotientParams,
    bits_beside: u32,
    mut entries: impl Iterator<Item = Fingerprint>,
) -> Result<Table, AllocError> {
    let mut writer = Writer::new(params.num_slots(), params.remainder_bits() + bits_beside)?;
    entries.try_for_each(|(quotient, entry)| writer.push(quotient, entry))?;
    Ok(writer.finish())
}

/// The items of two sorted iterators in order.
// Which one is next cannot be predicted, so it is an index and no branch.
pub(crate) struct Ordered<I: Iterator> {
    sources: [I; 2],
    heads: [Option<I::Item>; 2],
}

impl<I: Iterator> Ordered<I> {
    pub(crate) fn new(mut left: I, mut right: I) -> Self {
        let heads = [left.next(), right.next()];
        Self { sources: [left, right], heads }
    }
}

impl<I: Iterator<Item: Ord>> Iterator for Ordered<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        let from = match &self.heads {
            [Some(left), Some(right)] => usize::from(right < left),
            [left, _] => usize::from(left.is_none()),
        };
        let item = self.heads[from].take()?;
        self.heads[from] = self.sources[from].next();
        Some(item)
    }
}

impl<S: KeyHasher> Merge for QuotientFilter<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}
