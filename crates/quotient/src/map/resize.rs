//! Growth, shrinking and merging of maps: one pass over the pairs, in order.

use core::iter;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError};
use pds_core::hash::KeyHasher;
use pds_core::internal::Difference;
use pds_core::traits::Merge;
use pds_params::QuotientParams;

use super::{QuotientMap, check_bits};
use crate::fingerprint::{Fingerprint, doubled, halved};
use crate::resize::{Ordered, doublings, merged_params, next_of_plan, room_for, write};
use crate::sequence::Reader;

impl<S: KeyHasher> QuotientMap<S> {
    /// Doubles the number of slots. The false-positive rate stays, and so do all pairs.
    ///
    /// One bit of each remainder goes to its quotient. The result is that of inserting all pairs into a map of that size,
    /// byte for byte. A map that [grows](crate::QuotientMapBuilder::grows_to) by itself calls this when it is full.
    ///
    /// Growth beyond the stated maximum is allowed. The promised rate then ends at the expected items, and
    /// [`false_positive_rate`](Self::false_positive_rate) tells the rate.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the remainders have one bit only, or if there would be more than 2^48 slots.
    /// [`BuildError::Alloc`] if the allocator refuses the memory. The map is unchanged then.
    ///
    /// # Complexity
    /// O(slots).
    pub fn grow(&mut self) -> Result<(), BuildError> {
        let (slots, bits) = (self.num_slots(), self.remainder_bits());
        // This checks the size; the plan and the design are those of the map.
        let shape = QuotientParams::from_slots_and_remainder_bits(2 * slots, bits - 1)?;
        self.double(self.params.doubled().unwrap_or(shape))?;
        Ok(())
    }

    /// Halves the number of slots as often as possible: while it is even, remainder and value have fewer than 56 bits, and all
    /// pairs fit, or one if there is none.
    ///
    /// A map with expected items that has shrunk grows again by itself as far as they need. One of stated
    /// [`slots`](crate::QuotientMapBuilder::slots) does not: [`grow`](Self::grow) it. The false-positive rate stays, and so do
    /// all pairs.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory. The map is unchanged then.
    ///
    /// # Complexity
    /// O(slots).
    pub fn shrink_to_fit(&mut self) -> Result<(), AllocError> {
        let (len, value_bits) = (self.len().max(1), self.value_bits);
        let fits = |params: &QuotientParams| {
            params.capacity() >= len && check_bits(params, value_bits).is_ok()
        };
        let halve = |params: &QuotientParams| params.halved().filter(fits);
        let smaller = iter::successors(halve(&self.params), halve);
        let Some((times, params)) = (1..).zip(smaller).last() else { return Ok(()) };
        let bits = self.remainder_bits() + value_bits;
        let entries = Reader::new(&self.table).map(|entry| halved(entry, bits, times));
        self.table = write(&params, value_bits, entries)?;
        self.params = params;
        Ok(())
    }

    /// Inserts all that `other` holds.
    ///
    /// The numbers of slots must be equal, or one a power of two times the other, and the fingerprints equally long. Maps
    /// that are built for one [`grows_to`](crate::QuotientMapBuilder::grows_to), one rate and one number of value bits always
    /// are, whatever their present sizes. The result has the greater number of slots. If not everything fits, it grows as
    /// far as `self` may. An empty `other` changes nothing.
    ///
    /// # Errors
    /// [`MergeError::Incompatible`] if the hashers, the bits of values, the lengths of fingerprints or the numbers of slots
    /// do not allow it. [`MergeError::Insert`] if not everything fits, or if the allocator refuses the memory. Both maps are
    /// unchanged then.
    ///
    /// # Complexity
    /// O(slots of both): one sequential pass. Allocates the result.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let params = self.params_with(other).map_err(MergeError::Incompatible)?;
        if other.is_empty() {
            return Ok(());
        }
        let params = room_for(params, self.len() + other.len()).map_err(MergeError::Insert)?;
        let entries = Ordered::new(self.at_size(&params), other.at_size(&params));
        let table = write(&params, self.value_bits, entries);
        self.table = table.map_err(|error| MergeError::Insert(InsertError::Alloc(error)))?;
        self.params = params;
        Ok(())
    }

    fn params_with(&self, other: &Self) -> Result<QuotientParams, Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        let differs = |parameter, left: u32, right: u32| {
            let (left, right) = (left.into(), right.into());
            Incompatible(Difference::Shape { parameter, left, right })
        };
        if self.value_bits != other.value_bits {
            return Err(differs("value_bits", self.value_bits, other.value_bits));
        }
        let params = merged_params(&self.params, &other.params)?;
        let bits_at =
            |map: &Self| map.remainder_bits() - doublings(&map.params, params.num_slots());
        let (left, right) = (bits_at(self), bits_at(other));
        // Without the last bits of a remainder the values would be out of order.
        if left == right { Ok(params) } else { Err(differs("remainder_bits", left, right)) }
    }

    /// Makes room for another pair in a map that is full.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self) -> Result<(), InsertError> {
        match next_of_plan(&self.params) {
            Some(params) => self.double(params).map_err(InsertError::Alloc),
            None => Err(InsertError::Full { len: self.len(), capacity: self.capacity() }),
        }
    }

    fn double(&mut self, params: QuotientParams) -> Result<(), AllocError> {
        self.table = write(&params, self.value_bits, self.at_size(&params))?;
        self.params = params;
        Ok(())
    }

    /// Lists the entries of a map that has grown to this size.
    // A value lies below its remainder, whose first bits go to the quotient.
    fn at_size(&self, params: &QuotientParams) -> impl Iterator<Item = Fingerprint> {
        let bits = self.remainder_bits() + self.value_bits;
        let times = doublings(&self.params, params.num_slots());
        Reader::new(&self.table).map(move |entry| doubled(entry, bits, times))
    }
}

impl<S: KeyHasher> Merge for QuotientMap<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}
