//! Growth, shrinking and merging of counting filters: passes over the counts, in order.

use core::iter::{self, Peekable};

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError};
use pds_core::hash::KeyHasher;
use pds_core::storage::WordSource;
use pds_core::traits::Merge;
use pds_params::QuotientParams;

use super::code::{Code, Counts, MAX_COUNT, len_of};
use super::{CountingQuotientFilter, MAX_BITS};
use crate::fingerprint::{Fingerprint, doubled, halved};
use crate::resize::{Ordered, doublings, merged_params, next_of_plan};
use crate::sequence::Writer;
use crate::table::Table;

impl<S: KeyHasher> CountingQuotientFilter<S> {
    /// Doubles the number of slots. The false-positive rate stays, and so do all counts.
    ///
    /// One bit of each remainder goes to its quotient. The result is that of inserting all keys into a filter of that size,
    /// byte for byte. A filter that [grows](crate::CountingQuotientFilterBuilder::grows_to) by itself calls this when it is
    /// full.
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
    pub fn grow(&mut self) -> Result<(), BuildError> {
        let (slots, bits) = (self.num_slots(), self.remainder_bits());
        // This checks the size; the plan and the design are those of the filter.
        let shape = QuotientParams::from_slots_and_remainder_bits(2 * slots, bits - 1)?;
        self.double(self.params.doubled().unwrap_or(shape))?;
        Ok(())
    }

    /// Halves the number of slots as often as possible: while it is even, the remainders have fewer than 55 bits, and all
    /// counts fit, or one if there is none.
    ///
    /// A filter with expected items that has shrunk grows again by itself up to the size that it had, even if this was beyond
    /// its stated maximum: see [`grow`](Self::grow). One of stated [`slots`](crate::CountingQuotientFilterBuilder::slots) does
    /// not. The false-positive rate stays, and so do all counts.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory. The filter is unchanged then.
    ///
    /// # Complexity
    /// O(slots) for each halving.
    pub fn shrink_to_fit(&mut self) -> Result<(), AllocError> {
        let fits = |params: &QuotientParams| {
            let bits = params.remainder_bits();
            let entries = self.counts_of().map(|(_, count)| len_of(count, bits) as u64);
            bits <= MAX_BITS && params.capacity() >= entries.sum::<u64>().max(1)
        };
        let halve = |params: &QuotientParams| {
            let half = params.halved()?;
            // The growth of a filter beyond its plan is unknown: its design counts items, not slots.
            let half = match params.expected_items() {
                Some(_) => half.with_doublings(params.doublings() + 1).ok()?,
                None => half,
            };
            fits(&half).then_some(half)
        };
        let smaller = iter::successors(halve(&self.params), halve);
        let Some((times, params)) = (1..).zip(smaller).last() else { return Ok(()) };
        let bits = self.remainder_bits();
        let to_size = |(print, count)| (halved(print, bits, times), count);
        let (table, len) = write(&params, self.counts_of().map(to_size))?;
        self.replace(table, len, params);
        Ok(())
    }

    /// Adds the counts of `other`.
    ///
    /// The numbers of slots must be equal, or one a power of two times the other. Filters that are built for one
    /// [`grows_to`](crate::CountingQuotientFilterBuilder::grows_to), one rate and one `slots_per_item` always are, whatever
    /// their present sizes. The result has the greater number of slots. If not everything fits, it grows as far as `self`
    /// may. An empty `other` changes nothing.
    ///
    /// Of two filters with fingerprints of different lengths, the result keeps the bits that both have. Keys whose
    /// fingerprints become equal then have one count, the sum of theirs.
    ///
    /// # Errors
    /// [`MergeError::Incompatible`] if the hashers or the numbers of slots do not allow it, or if no bit of the
    /// remainders would be left. [`MergeError::Insert`] if not everything fits, if a sum is above 2^63, or if the allocator
    /// refuses the memory. Both filters are unchanged then.
    ///
    /// # Complexity
    /// O(slots of both): two sequential passes. Allocates the result.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    ///
    /// let mut monday = CountingQuotientFilter::new(1_000, 0.001)?;
    /// let mut tuesday = monday.clone();
    /// monday.insert_many("/index", 3)?;
    /// tuesday.insert_many("/index", 4)?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.count("/index"), 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let incompatible = MergeError::Incompatible;
        Incompatible::check_hasher(&self.hasher, &other.hasher).map_err(incompatible)?;
        let params = merged_params(&self.params, &other.params).map_err(incompatible)?;
        if other.is_empty() {
            return Ok(());
        }
        self.add(other, params).map_err(MergeError::Insert)
    }

    fn add(&mut self, other: &Self, mut params: QuotientParams) -> Result<(), InsertError> {
        loop {
            let len = entries_of(self.sums(other, &params), params.remainder_bits())?;
            let capacity = params.capacity();
            if len <= capacity {
                break;
            }
            params = next_of_plan(&params).ok_or(InsertError::Full { len, capacity })?;
        }
        let written = write(&params, self.sums(other, &params)).map_err(InsertError::Alloc)?;
        let (table, len) = written;
        self.replace(table, len, params);
        Ok(())
    }

    /// Makes room for more entries in a filter that is full.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self) -> Result<(), InsertError> {
        match next_of_plan(&self.params) {
            Some(params) => self.double(params).map_err(InsertError::Alloc),
            None => Err(InsertError::Full { len: self.used_slots(), capacity: self.capacity() }),
        }
    }

    fn double(&mut self, params: QuotientParams) -> Result<(), AllocError> {
        let (table, len) = write(&params, self.at_size(&params))?;
        self.replace(table, len, params);
        Ok(())
    }

    fn replace(&mut self, table: Table, len: u64, params: QuotientParams) {
        (self.table, self.len, self.params) = (table, len, params);
    }

    /// Lists the sums of the counts of two filters at this size.
    fn sums<'a>(
        &'a self,
        other: &'a Self,
        params: &'a QuotientParams,
    ) -> impl Iterator<Item = Count> + 'a {
        let (left, right) = (self.at_size(params), other.at_size(params));
        Sums { counts: Ordered::new(left, right).peekable() }
    }

    /// Lists the counts of a filter that has grown to this size, which has no more bits.
    fn at_size(&self, params: &QuotientParams) -> impl Iterator<Item = Count> {
        let (bits, times) = (self.remainder_bits(), doublings(&self.params, params.num_slots()));
        let dropped = bits - times - params.remainder_bits();
        self.counts_of().map(move |(print, count)| {
            let (quotient, remainder) = doubled(print, bits, times);
            ((quotient, remainder >> dropped), count)
        })
    }
}

impl<S: KeyHasher, W: WordSource> CountingQuotientFilter<S, W> {
    pub(super) fn counts_of(&self) -> Counts<'_, W> {
        Counts::new(&self.table, self.remainder_bits())
    }
}

/// A fingerprint and its count.
type Count = (Fingerprint, u64);

/// Returns the number of slots for these counts.
///
/// # Errors
/// [`InsertError::Count`] if one is too great.
fn entries_of(mut counts: impl Iterator<Item = Count>, bits: u32) -> Result<u64, InsertError> {
    counts.try_fold(0, |sum, (_, count)| match count {
        ..=MAX_COUNT => Ok(sum + len_of(count, bits) as u64),
        _ => Err(InsertError::Count { max: MAX_COUNT }),
    })
}

/// Writes a table of these counts. Returns how many there are, too.
fn write(
    params: &QuotientParams,
    counts: impl Iterator<Item = Count>,
) -> Result<(Table, u64), AllocError> {
    let bits = params.remainder_bits();
    let mut writer = Writer::new(params.num_slots(), bits + 1)?;
    let mut len = 0;
    for ((quotient, remainder), count) in counts {
        let code = Code::new(remainder, count, bits);
        code.as_slice().iter().try_for_each(|&entry| writer.push(quotient, entry))?;
        len += 1;
    }
    Ok((writer.finish(), len))
}

/// Sorted counts, those of one fingerprint added up. A sum beyond a word is its greatest value.
struct Sums<I: Iterator> {
    counts: Peekable<I>,
}

impl<I: Iterator<Item = Count>> Iterator for Sums<I> {
    type Item = Count;

    fn next(&mut self) -> Option<Count> {
        let (print, mut sum) = self.counts.next()?;
        while let Some((_, count)) = self.counts.next_if(|&(other, _)| other == print) {
            sum = u64::saturating_add(sum, count);
        }
        Some((print, sum))
    }
}

impl<S: KeyHasher> Merge for CountingQuotientFilter<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}
