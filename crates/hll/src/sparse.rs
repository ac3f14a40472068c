//! The sparse form: coupons of distinct registers, in order.

use alloc::vec;
use alloc::vec::Vec;

use crate::coupon::Coupon;

/// A free slot; no coupon is 0.
const FREE: u32 = 0;

/// At most this share of the slots is taken: 7 of 8.
const MAX_LOAD: (usize, usize) = (7, 8);

/// How many slots beyond the homes are made at a time; one is always needed.
const SPILL: usize = 2;

/// A hash table whose slots are in order, so that it is a sorted array with gaps at the same time.
///
/// A coupon is made of the first bits of a well-mixed hash, so that its share of 2^32 says where in the
/// order it belongs: interpolation finds the slot in constant time, and reading the slots from first to
/// last gives sorted coupons. A sorted array without gaps moves half of itself at every insert; an ordinary
/// hash table has to be sorted whenever bytes, unions or comparisons want the order.
// Invariants: taken slots ascend, one a register; each coupon is at its home or after it, with no
// free slot between; the last slot is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseTable {
    slots: Vec<u32>,
    /// How many homes there are; slots beyond them take what the last ones cannot.
    homes: usize,
    len: usize,
}

impl SparseTable {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), homes: 0, len: 0 }
    }

    /// How many registers are in the table.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    /// The coupons in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Coupon> + Clone {
        self.slots.iter().filter(|&&word| word != FREE).map(|&word| Coupon::from_word(word))
    }

    /// Records a coupon; the greatest rank of a register stays. Returns whether the table changed.
    pub(crate) fn insert(&mut self, coupon: Coupon) -> bool {
        if (self.len + 1) * MAX_LOAD.1 > self.homes * MAX_LOAD.0 {
            self.grow();
        }
        let at = self.find(coupon);
        let found = Coupon::from_word(self.slots[at]);
        if found.word() == FREE || found.index() != coupon.index() {
            self.insert_at(at, coupon);
            return true;
        }
        self.slots[at] = found.max(coupon).word();
        found < coupon
    }

    /// The first slot that is free or holds this register or a later one.
    fn find(&self, coupon: Coupon) -> usize {
        let home = home(coupon, self.homes);
        // No rank is 0, so that this is below all words of the register; and less one, a free slot is the greatest.
        let least = coupon.word() - u32::from(coupon.rank());
        let stops = |&word: &u32| word.wrapping_sub(1) >= least;
        let ahead = self.slots[home..].iter().position(stops);
        home + ahead.expect("the last slot is free")
    }

    /// Takes a slot, after moving the run of taken slots that starts there by one.
    fn insert_at(&mut self, mut at: usize, coupon: Coupon) {
        let mut word = coupon.word();
        // Runs are a few slots long: faster than to find the end first and to move all at once.
        while word != FREE {
            word = core::mem::replace(&mut self.slots[at], word);
            at += 1;
        }
        self.len += 1;
        if at == self.slots.len() {
            // Few at a time: the vector would double itself.
            self.slots.reserve_exact(SPILL);
            self.slots.push(FREE);
        }
    }

    /// Makes room for a quarter more, and for four at least.
    fn grow(&mut self) {
        let homes = self.homes + (self.homes / 4).max(4);
        let mut slots = vec![FREE; homes + SPILL];
        let mut next = 0;
        for &word in &self.slots {
            let taken = word != FREE;
            // What is free is written too, where nothing is yet: no branch to mispredict.
            let at = if taken { home(Coupon::from_word(word), homes).max(next) } else { next };
            if at + 1 >= slots.len() {
                slots.reserve_exact(SPILL);
                slots.resize(at + SPILL, FREE);
            }
            slots[at] = word;
            next = at + usize::from(taken);
        }
        *self = Self { slots, homes, len: self.len };
    }
}

impl PartialEq for SparseTable {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The slot at which the search for a coupon's register begins.
#[inline]
fn home(coupon: Coupon, homes: usize) -> usize {
    ((u64::from(coupon.index()) * homes as u64) >> 26) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use pds_testkit::keys;

    fn check(words: impl Iterator<Item = u32>) {
        let mut table = SparseTable::new();
        let mut model = BTreeMap::new();
        for word in words {
            let coupon = Coupon::from_word(word);
            let rank = model.entry(coupon.index()).or_insert(0u8);
            assert_eq!(table.insert(coupon), *rank < coupon.rank());
            *rank = coupon.rank().max(*rank);
            assert_eq!(table.slots.last(), Some(&FREE));
        }
        assert_eq!(table.len(), model.len());
        assert!(table.iter().map(|c| (c.index(), c.rank())).eq(model));
    }

    #[test]
    fn a_table_is_a_sorted_map() {
        check(keys::random(1).take(20_000).map(|key| Coupon::of_hash(key).word()));
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "14 bits and 18 bits")]
    fn repeated_registers_keep_the_greatest_rank() {
        check(keys::random(2).take(20_000).map(|key| ((key >> 50) << 18 | (key % 39 + 1)) as u32));
    }

    #[test]
    fn coupons_that_share_a_home_stay_in_order() {
        check((1..2_000).rev().map(|index| (((1 << 26) - index) << 6) | 1));
        check((0..2_000).map(|index| (index << 6) | 1));
    }

    #[test]
    fn slots_are_used_well() {
        let mut table = SparseTable::new();
        for key in keys::random(3).take(10_000) {
            table.insert(Coupon::of_hash(key));
            let entries = table.len().max(8);
            assert!(
                table.size_in_bytes() <= entries * 6 + 24,
                "{} at {}",
                table.size_in_bytes(),
                table.len()
            );
        }
    }
}
