//! The coupons of a sketch of few keys: a list, then a hash table.

use alloc::vec::Vec;

/// Bits of a coupon that are an address. The value stands above them.
pub(super) const ADDRESS_BITS: u32 = 26;
pub(super) const ADDRESS_MASK: u32 = (1 << ADDRESS_BITS) - 1;

/// Coupons of a list.
pub(super) const LIST_SLOTS: usize = 8;
pub(super) const LG_LIST: u8 = 3;

/// Logarithm of the slots of the first table.
pub(super) const LG_FIRST_TABLE: u8 = 5;

/// The most slots that are tried for a coupon.
///
/// Tables are at most 3/4 full, so hashed keys need a few dozen. More than this is no accident: such tables are made to
/// take time that is quadratic in their size.
pub(super) const MAX_PROBES: usize = 1_000;

/// Coupons in open addressing, in the order of the library. 0 is an empty slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    slots: Vec<u32>,
    count: usize,
}

/// Why a coupon was not inserted.
pub(super) enum Refused {
    Present,
    Crowded,
}

impl Table {
    /// Makes the table that takes `lg_slots` bits as an index.
    pub(super) fn new(lg_slots: u8) -> Self {
        Self { slots: alloc::vec![0; 1 << lg_slots], count: 0 }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    pub(super) fn slots(&self) -> &[u32] {
        &self.slots
    }

    pub(super) fn lg_slots(&self) -> u8 {
        self.slots.len().trailing_zeros().to_le_bytes()[0]
    }

    /// Inserts an entry by its key, in the first free slot of up to `most` that are tried.
    pub(super) fn insert(&mut self, key: u32, entry: u32, most: usize) -> Result<(), Refused> {
        let slot = self.find(key, entry, most).ok_or(Refused::Crowded)?;
        if self.slots[slot] == entry {
            return Err(Refused::Present);
        }
        self.slots[slot] = entry;
        self.count += 1;
        Ok(())
    }

    /// Takes over slots as they are. `None` if one is not found in up to `most` that are tried, or is there twice.
    pub(super) fn of_slots(slots: Vec<u32>, most: usize) -> Option<Self> {
        let count = slots.iter().filter(|&&slot| slot != 0).count();
        let table = Self { slots, count };
        let mut entries = (0..).zip(&table.slots).filter(|&(_, &entry)| entry != 0);
        entries.all(|(at, &entry)| table.find(entry, entry, most) == Some(at)).then_some(table)
    }

    /// Returns the slot of an entry by its key, or the free slot that it belongs to, if it is among up to `most` that are tried.
    fn find(&self, key: u32, entry: u32, most: usize) -> Option<usize> {
        let mask = self.slots.len() - 1;
        // The step is odd, so a table that is not full takes every entry if `most` allows it.
        let step = (key as usize & ADDRESS_MASK as usize) >> self.lg_slots() | 1;
        // An overflow, which a `usize` of 32 bits can have, is masked away.
        let slot = |i: usize| (key as usize).wrapping_add(i.wrapping_mul(step)) & mask;
        let slots = (0..most.min(self.slots.len())).map(slot);
        { slots }.find(|&slot| self.slots[slot] == 0 || self.slots[slot] == entry)
    }

    /// Returns whether the library would grow the table: it is more than 3/4 full.
    pub(super) fn is_full(&self) -> bool {
        4 * self.count > 3 * self.slots.len()
    }

    /// Doubles the slots. Trying up to `most` for each entry.
    ///
    /// # Errors
    /// [`Refused`] if an entry finds none. Nothing is changed then.
    pub(super) fn grow(&mut self, key_of: impl Fn(u32) -> u32, most: usize) -> Result<(), Refused> {
        let mut larger = Self::new(self.lg_slots() + 1);
        for &entry in self.slots.iter().filter(|&&entry| entry != 0) {
            larger.insert(key_of(entry), entry, most)?;
        }
        *self = larger;
        Ok(())
    }
}

/// Estimates the number of keys from the number of their coupons: the number for which as many are expected.
///
/// Keys share a coupon if 26 bits and the number of leading zeros of other 62 bits agree.
pub(super) fn estimate(coupons: usize) -> f64 {
    let coupons = coupons as f64;
    if coupons <= 1.0 {
        return coupons;
    }
    let addresses = f64::from(1u32 << ADDRESS_BITS);
    // Values above 40 have shares below the rounding of the sum.
    let values = (1..=40).map(|value: i32| libm::ldexp(1.0, -value));
    let surplus = |keys: f64| {
        // The coupons of each value that are missing to one per key.
        let lost = |share: f64| {
            let load = keys * share / addresses;
            addresses * (load + libm::expm1(keys * libm::log1p(-share / addresses)))
        };
        values.clone().map(lost).sum::<f64>()
    };
    // Of up to 2^18 keys a few hundred are lost, so each round is some thousand times closer.
    (0..8).fold(coupons, |keys, _| coupons + surplus(keys))
}
