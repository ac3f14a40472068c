//! The hash table of a sketch that takes keys.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

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
        let scale = ((slots as u128) << 64) / u128::from(theta);
        // The quotient is too large only for a theta of at most `slots`, where every hash is below `slots` too.
        let scale = u64::try_from(scale).unwrap_or(u64::MAX);
        Self { slots: vec![FREE; slots].into(), len: 0, scale, theta, params }
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
        if hash >= self.theta || hash == FREE || !self.put(hash) {
            return false;
        }
        self.make_room();
        true
    }

    #[inline]
    fn put(&mut self, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = self.own_slot(hash);
        loop {
            let slot = &mut self.slots[at & mask];
            if *slot == hash {
                return false;
            }
            if *slot == FREE {
                *slot = hash;
                self.len += 1;
                return true;
            }
            at += 1;
        }
    }

    /// Grows if half of the slots are taken. In the greatest table, lowers theta if more hashes are in than are allowed.
    #[inline]
    fn make_room(&mut self) {
        if 2 * self.len > self.slots.len() {
            let slots = (4 * self.slots.len()).min(greatest(self.params));
            *self = Self::of_ascending(&self.sorted(), slots, self.params, self.theta);
        } else if self.len as u64 > self.params.max_retained() {
            self.trim();
        }
    }

    /// Lowers theta until the nominal size is left, if there are more hashes.
    pub(crate) fn trim(&mut self) {
        let nominal = self.params.nominal_size() as usize;
        if self.len > nominal {
            let mut hashes: Vec<u64> = self.hashes().collect();
            let (below, &mut theta, _) = hashes.select_nth_unstable(nominal);
            below.sort_unstable();
            *self = Self::of_ascending(below, self.slots.len(), self.params, theta);
        }
    }

    /// Replaces the contents by hashes in ascending order, all below `theta`. Trims them if they are more than allowed.
    pub(crate) fn replace(&mut self, mut hashes: &[u64], mut theta: u64) {
        if hashes.len() as u64 > self.params.max_retained() {
            let nominal = self.params.nominal_size() as usize;
            theta = hashes[nominal];
            hashes = &hashes[..nominal];
        }
        let mut slots = self.slots.len();
        while 2 * hashes.len() > slots {
            slots = (4 * slots).min(greatest(self.params));
        }
        *self = Self::of_ascending(hashes, slots, self.params, theta);
    }

    // If hashes were inserted one by one, those chosen to share a slot would each be compared with all before.
    fn of_ascending(hashes: &[u64], slots: usize, params: ThetaParams, theta: u64) -> Self {
        let mut table = Self::with_slots(slots, params, theta);
        // Counted beyond the last slot. The first slot follows it.
        let mut at = 0;
        for &hash in hashes {
            at = table.own_slot(hash).max(at);
            // A slot at the start may be taken once the count is beyond the end.
            while table.slots[at & (slots - 1)] != FREE {
                at += 1;
            }
            table.slots[at & (slots - 1)] = hash;
        }
        table.len = hashes.len();
        table
    }
}

/// Returns the greatest number of slots.
const fn greatest(params: ThetaParams) -> usize {
    SLOTS_PER_NOMINAL * params.nominal_size() as usize
}
