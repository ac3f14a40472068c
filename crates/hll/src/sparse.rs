//! The sparse form: coupons of distinct registers.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use pds_params::HllParams;
use pds_params::hll::sparse::{BUCKET, MAX_LIST, room};

use crate::coupon::{Coupon, RANK_BITS};

/// A free slot. No coupon is 0.
const FREE: u32 = 0;

/// A set of coupons, one per register: a short list, or a hash table of buckets.
///
/// A coupon consists of the first bits of a uniform hash, so its fraction of 2^32 selects its bucket. All slots of a
/// bucket are compared at once, and a new coupon goes after them. Neither needs a branch that depends on the key. The
/// usual search, slot by slot, mispredicts once per insert. The coupons are sorted when bytes or comparisons need that.
// Invariants: in a list, the first `len` slots are taken. In a bucket, taken slots come before free ones. A coupon is
// in its own bucket, or after it with only full buckets in between. Some slot is free.
#[derive(Clone, Debug)]
pub(crate) struct SparseTable {
    slots: Box<[u32]>,
    len: u32,
    /// The parameters of the sketch. They determine when the table is too full.
    params: HllParams,
}

impl SparseTable {
    /// Creates an empty table. Allocates nothing.
    pub(crate) fn new(params: HllParams) -> Self {
        Self { slots: Box::default(), len: 0, params }
    }

    /// Creates an empty table with room for this number of coupons.
    pub(crate) fn with_capacity(params: HllParams, entries: usize) -> Self {
        Self { slots: free_slots(params.sparse_slots(entries)), ..Self::new(params) }
    }

    /// Creates the table of coupons of ascending registers, in one pass for any coupons.
    // If they were inserted one by one, coupons chosen to share a bucket would each be compared with all before it.
    pub(crate) fn of_ascending(
        params: HllParams,
        coupons: impl ExactSizeIterator<Item = Coupon>,
    ) -> Self {
        let mut table = Self::with_capacity(params, coupons.len());
        // Counted beyond the last slot. The first slot follows it.
        let mut at = 0;
        for coupon in coupons {
            at = table.own_slot(coupon).max(at);
            while table.slots[at % table.slots.len()] != FREE {
                at += 1;
            }
            let slot = at % table.slots.len();
            table.slots[slot] = coupon.word();
            table.len += 1;
        }
        table
    }

    /// Returns the first slot that a coupon may have.
    fn own_slot(&self, coupon: Coupon) -> usize {
        if self.slots.len() <= MAX_LIST {
            return 0;
        }
        BUCKET * own_bucket(coupon.word(), self.slots.len() / BUCKET)
    }

    /// Returns the number of registers in the table.
    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) const fn params(&self) -> HllParams {
        self.params
    }

    pub(crate) const fn set_params(&mut self, params: HllParams) {
        self.params = params;
    }

    /// Returns whether the sketch must become dense.
    pub(crate) const fn is_over_full(&self) -> bool {
        self.len as u64 > self.params.max_sparse_entries()
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Returns the coupons in ascending order.
    pub(crate) fn sorted(&self) -> Vec<Coupon> {
        let taken = self.slots.iter().filter(|&&word| word != FREE);
        let mut coupons: Vec<_> = taken.map(|&word| Coupon::from_word(word)).collect();
        coupons.sort_unstable();
        coupons
    }

    /// Lists the coupons in several passes over the slots, each with a stride.
    // In ascending order they would fill another table from its start, each at the end of a long row of full buckets.
    pub(crate) fn scattered(&self) -> impl Iterator<Item = Coupon> {
        const PASSES: usize = 64;
        let pass = |start| self.slots.iter().skip(start).step_by(PASSES);
        let taken = (0..PASSES).flat_map(pass).filter(|&&word| word != FREE);
        taken.map(|&word| Coupon::from_word(word))
    }

    /// Returns the number of buckets, 0 for a list.
    pub(crate) const fn num_buckets(&self) -> usize {
        if self.slots.len() <= MAX_LIST { 0 } else { self.slots.len() / BUCKET }
    }

    /// Returns how many full buckets a coupon would pass on the way to its place. By chance there are hardly any.
    pub(crate) fn passed(&self, coupon: Coupon) -> usize {
        let buckets = &self.slots.as_chunks::<BUCKET>().0[..self.num_buckets()];
        let (before, behind) = buckets.split_at(self.own_slot(coupon) / BUCKET);
        let is_full = |bucket: &&[u32; BUCKET]| bucket[BUCKET - 1] != FREE;
        behind.iter().chain(before).take_while(is_full).count()
    }

    /// Returns the coupons of both in ascending order, one per register.
    pub(crate) fn union(&self, other: &Self) -> Vec<Coupon> {
        let mut coupons = self.sorted();
        coupons.extend(other.sorted());
        coupons.sort_unstable();
        coupons.dedup_by(|later, kept| {
            let is_same = later.index() == kept.index();
            // The later one has the greater rank.
            if is_same {
                *kept = *later;
            }
            is_same
        });
        coupons
    }

    /// Records a coupon. The greatest rank of a register stays. Returns whether the table changed.
    #[inline]
    pub(crate) fn insert(&mut self, coupon: Coupon) -> bool {
        if self.slots.len() <= MAX_LIST {
            return self.insert_in_list(coupon);
        }
        let is_full = self.len() == room(self.slots.len());
        let (buckets, _) = self.slots.as_chunks_mut::<BUCKET>();
        let mut at = own_bucket(coupon.word(), buckets.len());
        loop {
            let bucket = &mut buckets[at];
            if may_have(bucket, coupon)
                && let Some(is_lower) = raise_in(bucket, coupon)
            {
                return is_lower;
            }
            if bucket[BUCKET - 1] == FREE {
                if is_full {
                    return self.insert_in_larger(coupon);
                }
                bucket[count_taken(bucket)] = coupon.word();
                self.len += 1;
                return true;
            }
            at = next_bucket(at, buckets.len());
        }
    }

    #[cold]
    fn insert_in_larger(&mut self, coupon: Coupon) -> bool {
        self.grow();
        self.insert(coupon)
    }

    #[inline(never)]
    fn insert_in_list(&mut self, coupon: Coupon) -> bool {
        if may_have(&self.slots, coupon)
            && let Some(is_lower) = raise_in(&mut self.slots, coupon)
        {
            return is_lower;
        }
        if self.len() == self.slots.len() {
            return self.insert_in_larger(coupon);
        }
        self.slots[self.len as usize] = coupon.word();
        self.len += 1;
        true
    }

    #[cold]
    fn grow(&mut self) {
        let slots = free_slots(self.params.sparse_slots(self.len() + 1));
        let old = core::mem::replace(&mut self.slots, slots);
        if self.slots.len() <= MAX_LIST {
            self.slots[..old.len()].copy_from_slice(&old);
        } else {
            fill(self.slots.as_chunks_mut().0, &old);
        }
    }
}

impl PartialEq for SparseTable {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.sorted() == other.sorted()
    }
}

fn free_slots(slots: usize) -> Box<[u32]> {
    vec![FREE; slots].into_boxed_slice()
}

/// Returns the bucket of a coupon, which depends on its register only.
#[inline]
const fn own_bucket(word: u32, buckets: usize) -> usize {
    ((Coupon::from_word(word).register_bits() as u64 * buckets as u64) >> 32) as usize
}

#[inline]
const fn next_bucket(bucket: usize, buckets: usize) -> usize {
    if bucket + 1 < buckets { bucket + 1 } else { 0 }
}

/// Returns whether some slot has the register of a coupon. May be wrong for the first register, because a free slot
/// looks like it.
// By sums: compilers would turn comparisons into branches.
#[inline(always)]
fn may_have(slots: &[u32], coupon: Coupon) -> bool {
    // If none of the 26 bits of the register differs, the difference less one has its top bit set. Otherwise it is
    // clear.
    let differences = slots.iter().map(|&word| (word ^ coupon.word()) >> RANK_BITS);
    let borrows = differences.fold(0, |any, bits| any | bits.wrapping_sub(1));
    borrows >> 31 == 1
}

/// Records the greater one of two coupons of a register. Returns whether it is the new one. `None` if it is the only
/// one.
#[inline(never)]
fn raise_in(slots: &mut [u32], coupon: Coupon) -> Option<bool> {
    let is_register = |word: u32| Coupon::from_word(word).index() == coupon.index();
    let present = slots.iter_mut().find(|word| **word != FREE && is_register(**word))?;
    let is_lower = *present < coupon.word();
    *present = coupon.word().max(*present);
    Some(is_lower)
}

/// Returns how many slots of a bucket are taken, if it is not full. Taken slots come first.
#[inline]
fn count_taken(bucket: &[u32; BUCKET]) -> usize {
    let is_taken = |slot: usize| usize::from(bucket[slot] != FREE);
    let fours = 4 * is_taken(3);
    let twos = fours + 2 * is_taken(fours + 1);
    twos + is_taken(twos)
}

/// Moves coupons of different registers into empty buckets.
fn fill(buckets: &mut [[u32; BUCKET]], words: &[u32]) {
    let mut taken = vec![0u8; buckets.len()];
    for words in words.chunks(BUCKET) {
        for &word in words.iter().take_while(|&&word| word != FREE) {
            let mut at = own_bucket(word, buckets.len());
            while usize::from(taken[at]) == BUCKET {
                at = next_bucket(at, buckets.len());
            }
            buckets[at][usize::from(taken[at])] = word;
            taken[at] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use pds_testkit::keys;

    fn params() -> HllParams {
        HllParams::new(18).unwrap()
    }

    fn check(words: impl Iterator<Item = u32>) {
        let mut table = SparseTable::new(params());
        let mut model = BTreeMap::new();
        for word in words {
            let coupon = Coupon::from_word(word);
            let rank = model.entry(coupon.index()).or_insert(0u8);
            assert_eq!(table.insert(coupon), *rank < coupon.rank());
            *rank = coupon.rank().max(*rank);
        }
        assert_eq!(table.len(), model.len());
        let coupons = table.sorted();
        assert!(coupons.iter().map(|c| (c.index(), c.rank())).eq(model));
        let mut scattered: Vec<_> = table.scattered().collect();
        scattered.sort_unstable();
        assert_eq!(scattered, coupons);
        let mut read = SparseTable::of_ascending(params(), coupons.iter().copied());
        assert_eq!(read, table);
        assert!(coupons.into_iter().all(|coupon| !read.insert(coupon)), "all are found again");
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
    fn coupons_that_share_a_bucket_are_kept_apart() {
        check((1..2_000).rev().map(|index| (((1 << 26) - index) << 6) | 1));
        check((0..2_000).map(|index| (index << 6) | 1));
    }

    #[test]
    fn slots_are_used_well() {
        const MIN_LIST: usize = 5;

        let mut table = SparseTable::new(params());
        for key in keys::random(3).take(10_000) {
            table.insert(Coupon::of_hash(key));
            let (bytes, entries) = (table.size_in_bytes(), table.len());
            assert!(bytes <= (8 * entries).max(4 * MIN_LIST), "{bytes} at {entries}");
            let reserved = SparseTable::with_capacity(params(), entries);
            assert_eq!(reserved.size_in_bytes(), bytes);
        }
    }

    /// A table filled from the start would have all its coupons in one row of full buckets.
    #[test]
    fn another_tables_coupons_do_not_come_in_order() {
        let mut table = SparseTable::new(params());
        keys::random(4).take(30_000).for_each(|key| {
            table.insert(Coupon::of_hash(key));
        });
        let mut copy = SparseTable::new(params());
        for (count, coupon) in (1..).zip(table.scattered()) {
            copy.insert(coupon);
            let full =
                copy.slots.as_chunks::<BUCKET>().0.chunk_by(|a, b| a[7] != FREE && b[7] != FREE);
            let longest = full.map(<[_]>::len).max().unwrap_or(0);
            assert!(count % 1_000 != 0 || longest < 100, "{longest} of {count}");
        }
        assert_eq!(copy, table);
    }
}
