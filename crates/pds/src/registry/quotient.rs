//! The quotient filters, and the quotient map.

use alloc::format;
use alloc::string::String;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{
    Abilities, Ability, CountAbilities, CountNeeds, Design, FrequencySizing, LinesRead,
    MembershipSizing, Promise, SketchSize, literal,
};
use crate::params::quotient::{SlotUse, rate_exact, size_in_bytes};
use crate::params::{ParamError, QuotientParams};

/// The quotient filter: sorted fingerprints. It supports removal, merges and grows, and can be full.
pub static QUOTIENT: Structure = Structure {
    name: "quotient filter",
    type_name: "QuotientFilter",
    crate_name: "quotient",
    feature: Some("quotient"),
    kind: Some(Kind::QUOTIENT),
    caution: "It refuses keys when it is full, and grows by itself only as far as it was built for; \
              filters are merged if both fit, and if their numbers of slots are doublings of one another; \
              never remove a key that was not inserted.",
    membership: Some(MembershipSizing::of::<QuotientParams>(Abilities {
        insert: Ability::Yes,
        remove: Ability::Yes,
        merge: Ability::Limited,
        // Copies take a slot each, so that the size of distinct keys says little.
        count: Ability::No,
        grow: Ability::Limited,
    })),
    ..Structure::NONE
};

/// The quotient filter with counts in its slots: exact counts of nearly all keys, which can be taken back.
// The comparison of filters knows no numbers of slots per key, so it has a sizing for frequencies only.
pub static COUNTING_QUOTIENT: Structure = Structure {
    name: "counting quotient filter",
    type_name: "CountingQuotientFilter",
    crate_name: "quotient",
    feature: Some("quotient"),
    kind: Some(Kind::COUNTING_QUOTIENT),
    caution: "Keys with one fingerprint have one count, the sum of theirs; a count takes slots, so that it can be \
              full.",
    frequency: Some(FrequencySizing {
        abilities: CountAbilities { remove: true, unbiased: false, list: false },
        size: counting,
    }),
    ..Structure::NONE
};

// No values are compared, so it has no sizing.
/// The quotient filter with a value beside each fingerprint.
pub static QUOTIENT_MAP: Structure = Structure {
    name: "quotient map",
    type_name: "QuotientMap",
    crate_name: "quotient",
    feature: Some("quotient"),
    kind: Some(Kind::QUOTIENT_MAP),
    caution: "Keys with one fingerprint have the values of all of them; a second insert adds a value.",
    ..Structure::NONE
};

/// Sizes a filter that counts all but a share of `delta` of the keys exactly, which is more than an error of `epsilon` asks for.
fn counting(needs: &CountNeeds) -> Result<SketchSize, ParamError> {
    let (keys, rate) = (needs.keys.max(1), needs.delta);
    let mut slots_per_item = 1.0;
    loop {
        let slot_use = SlotUse { slots_per_item, bits_beside: 1 };
        let params = QuotientParams::with_slot_use(keys, None, rate, slot_use)?;
        let bits = params.remainder_bits();
        let needed = most_slots_per_item(keys, needs.total, bits);
        // More slots take remainders of fewer bits, never of more, so this ends.
        if needed <= slots_per_item {
            let bytes = size_in_bytes(params.num_slots(), bits + slot_use.bits_beside);
            let items = literal(keys);
            let constructor = format!(
                "builder().expected_items({items}).false_positive_rate({rate:?}).slots_per_item({slots_per_item:?}).build()?"
            );
            return Ok(SketchSize { bytes, constructor });
        }
        slots_per_item = needed;
    }
}

/// Returns the most slots per key that counts with a sum of `total` take, with remainders of `bits` bits, rounded up to tenths.
// A count takes its j-th digit if it is above 2^(bits (j - 1)), so no more keys do than such counts fit into the sum.
fn most_slots_per_item(keys: u64, total: u64, bits: u32) -> f64 {
    let least = (0..u64::BITS).step_by(bits as usize).map(|shift| (1 << shift) + 1);
    let digits: u128 = least.map(|least: u64| u128::from(keys.min(total / least))).sum();
    (10 + (10 * digits).div_ceil(keys.into())) as f64 / 10.0
}

impl Design for QuotientParams {
    fn for_promise(Promise { items, rate }: Promise) -> Result<Self, ParamError> {
        Self::new(items, rate)
    }

    fn for_memory(bytes: u64, items: u64) -> Result<Self, ParamError> {
        Self::for_memory(bytes, items)
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn rate_at(&self, items: u64) -> Option<f64> {
        (items <= self.capacity()).then(|| self.rate_at(items))
    }

    fn lines_read(&self, items: u64) -> LinesRead {
        let has_run = rate_exact(self.num_slots(), items, 0);
        LinesRead::of_runs(self.remainder_bits(), has_run, self.size_in_bytes())
    }

    fn constructor(&self, _: u64) -> String {
        let (slots, bits) = (literal(self.num_slots()), self.remainder_bits());
        format!("builder().slots({slots}).remainder_bits({bits}).build()?")
    }
}

#[cfg(feature = "quotient")]
mod dynamic {
    use super::QuotientParams;
    use crate::dynamic::filter_kind;
    use crate::error::InsertError;
    use crate::traits::Insert;
    use crate::{CountingQuotientFilter, Estimate, QuotientFilter};

    filter_kind! {
        QuotientFilter of QuotientParams, QUOTIENT,
        {
        fn approx_len(&self) -> Option<Estimate> {
            Some(Estimate { value: self.len() as f64, standard_error: 0.0 })
        }
        }
        {
        const NAME: &str = super::QUOTIENT.name;

        fn try_remove(&mut self, hash: u64) -> Option<bool> {
            Some(self.remove_hash(hash))
        }
        }
    }
    filter_kind! {
        @any CountingQuotientFilter (), COUNTING_QUOTIENT,
        {
        fn expected_items(&self) -> Option<u64> {
            self.expected_items()
        }

        fn promised_rate(&self) -> Option<f64> {
            self.promised_rate()
        }

        // Distinct items, as the filter tells them apart.
        fn approx_len(&self) -> Option<Estimate> {
            Some(Estimate { value: self.len() as f64, standard_error: 0.0 })
        }
        }
        {
        const NAME: &str = super::COUNTING_QUOTIENT.name;

        crate::dynamic::changes!();

        fn try_insert(&mut self, hash: u64) -> Result<bool, InsertError> {
            Insert::insert_hash(self, hash)
        }

        fn try_remove(&mut self, hash: u64) -> Option<bool> {
            Some(self.remove_hash(hash))
        }
        }
    }
}
