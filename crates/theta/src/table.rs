//! The hash table of a sketch that takes keys.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use pds_core::internal::prefetch;
use pds_params::ThetaParams;

/// No hash is 0: the reference ignores a key with this hash.
const FREE: u64 = 0;

/// The first number of slots.
const MIN_SLOTS: usize = 64;

/// Slots per hash of the nominal size, in the greatest table. So less than half of the slots are taken.
const SLOTS_PER_NOMINAL: usize = 4;

/// A set of hashes below theta.
///
/// The fraction of theta that a hash is selects its slot, or the next free one. So the slots are nearly in the order of the
/// hashes, and sorting them is fast.
#[derive(Clone)]
pub(crate) struct Table {
    /// A power of two of slots, at most half of them taken.
    slots: Box<[u64]>,
    len: usize,
    /// The greatest number of hashes, before the table grows or theta is lowered.
    limit: usize,
    /// 2^64 slots / theta.
    scale: u64,
    theta: u64,
    params: ThetaParams,
}

impl Table {
    pub(crate) fn new(params: ThetaParams, theta: u64) -> Self {
        Self::with_slots(MIN_SLOTS, params, theta)
    }

    fn with_slots(slots: usize, params: ThetaParams, theta: u64) -> Self {
        let limit = (slots / 2).min(max_retained(params));
        let scale = scale(slots, theta);
        Self { slots: vec![FREE; slots].into(), len: 0, limit, scale, theta, params }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn theta(&self) -> u64 {
        self.theta
    }

    pub(crate) const fn params(&self) -> ThetaParams {
        self.params
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().copied().filter(|&hash| hash != FREE)
    }

    /// Returns the hashes in ascending order.
    pub(crate) fn sorted(&self) -> Vec<u64> {
        let mut hashes = Vec::with_capacity(self.len);
        hashes.extend(self.hashes());
        hashes.sort_unstable();
        hashes
    }

    /// Returns the first slot that a hash may have.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of slots")]
    fn own_slot(&self, hash: u64) -> usize {
        ((u128::from(hash) * u128::from(self.scale)) >> 64) as usize
    }

    /// Inserts a hash. Returns `true` if it was below theta and not yet there.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        if hash >= self.theta || hash == FREE {
            return false;
        }
        let at = self.find(hash, self.own_slot(hash));
        let slot = &mut self.slots[at];
        if *slot == hash {
            return false;
        }
        *slot = hash;
        self.len += 1;
        if self.len > self.limit {
            self.make_room();
        }
        true
    }

    /// Inserts hashes in this order.
    pub(crate) fn insert_all(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|&hash| prefetch(&self.slots, self.own_slot(hash)));
        hashes.iter().for_each(|&hash| _ = self.insert(hash));
    }

    /// Returns the slot of a hash, or the free one for it, from a slot on.
    #[inline]
    fn find(&self, hash: u64, mut at: usize) -> usize {
        let mask = self.slots.len() - 1;
        loop {
            let slot = self.slots[at & mask];
            if slot == hash || slot == FREE {
                return at & mask;
            }
            at += 1;
        }
    }

    /// Grows. In the greatest table, lowers theta.
    #[cold]
    fn make_room(&mut self) {
        if self.slots.len() == greatest(self.params) {
            return self.trim();
        }
        let slots = (4 * self.slots.len()).min(greatest(self.params));
        let mut larger = Self::with_slots(slots, self.params, self.theta);
        larger.fill(self.hashes());
        *self = larger;
    }

    /// Lowers theta until the nominal size is left, if there are more hashes.
    pub(crate) fn trim(&mut self) {
        let nominal = self.params.nominal_size() as usize;
        if self.len > nominal {
            let hashes: Vec<u64> = self.hashes().collect();
            let theta = *hashes.clone().select_nth_unstable(nominal).1;
            self.slots.fill(FREE);
            (self.len, self.theta, self.scale) = (0, theta, scale(self.slots.len(), theta));
            self.fill(hashes.into_iter().filter(|&hash| hash < theta));
        }
    }

    /// Replaces the contents by hashes in ascending order, all below `theta`. Trims them if they are more than allowed.
    pub(crate) fn replace(&mut self, mut hashes: &[u64], mut theta: u64) {
        if hashes.len() > max_retained(self.params) {
            let nominal = self.params.nominal_size() as usize;
            theta = hashes[nominal];
            hashes = &hashes[..nominal];
        }
        let mut slots = self.slots.len();
        while 2 * hashes.len() > slots {
            slots = (4 * slots).min(greatest(self.params));
        }
        *self = Self::with_slots(slots, self.params, theta);
        self.fill(hashes.iter().copied());
    }

    /// Puts hashes into a table that has none of them: in linear time if they ascend, also if they are chosen to share a slot.
    // The slots from the own one of a hash to its place are all taken. So a greater hash, whose own slot is no earlier, is not
    // before that place.
    fn fill(&mut self, hashes: impl Iterator<Item = u64>) {
        let (mut previous, mut last) = (0, 0);
        for hash in hashes {
            let own = self.own_slot(hash);
            let start = if hash > previous { own.max(last) } else { own };
            let at = self.find(hash, start);
            self.slots[at] = hash;
            self.len += 1;
            // Counted beyond the last slot if the first one follows.
            (previous, last) = (hash, if at < own { at + self.slots.len() } else { at });
        }
    }
}

/// Returns 2^64 slots / theta.
fn scale(slots: usize, theta: u64) -> u64 {
    let scale = ((slots as u128) << 64) / u128::from(theta);
    // The quotient is too large only for a theta of at most `slots`, where every hash is below `slots` too.
    u64::try_from(scale).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 2^27")]
const fn max_retained(params: ThetaParams) -> usize {
    params.max_retained() as usize
}

/// Returns the greatest number of slots.
const fn greatest(params: ThetaParams) -> usize {
    SLOTS_PER_NOMINAL * params.nominal_size() as usize
}
