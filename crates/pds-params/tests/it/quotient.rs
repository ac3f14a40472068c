//! Rates, sizes and plans of growth of quotient filters: compared with independent tables, and laws.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of bits and slots")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of bits and slots")]
#![expect(clippy::cast_precision_loss, reason = "numbers of slots are far below 2^53")]

use crate::tables::table;
use pds_params::internal::ParamFault;
use pds_params::quotient::{
    MAX_REMAINDER_BITS, MAX_SLOTS, SlotUse, capacity, least_slots, rate_by_load, rate_exact,
    size_in_bytes,
};
use pds_params::{ParamError, QuotientParams};
use quickcheck::quickcheck;

#[test]
fn rates_and_sizes_by_load_are_the_tables() {
    for [bits, load, rate, bits_per_key] in table(include_str!("../data/quotient.json"), 38) {
        let ours = rate_by_load(load, bits as u32);
        assert!((ours / rate - 1.0).abs() < 1e-11, "{bits} bits, load {load}: {ours} for {rate}");
        let slots = 64 << 20;
        let size = 8.0 * size_in_bytes(slots, bits as u32) as f64 / (load * slots as f64);
        assert!((size / bits_per_key - 1.0).abs() < 1e-11, "{bits} bits, load {load}: {size}");
        let exact = rate_exact(slots, (load * slots as f64) as u64, bits as u32);
        // Collisions of whole hashes, 2^-64 per key, are no part of the table.
        let collisions = slots as f64 * (bits - 64.0).exp2();
        let excess = exact / rate - 1.0 - collisions;
        assert!(excess.abs() < 1e-7, "{bits} bits, load {load}: {exact} for {rate}");
    }
}

#[test]
fn every_input_has_a_rate() {
    assert_eq!([rate_exact(5, 0, 8), rate_by_load(0.0, 8), rate_by_load(-1.0, 8)], [0.0; 3]);
    assert_eq!([rate_exact(0, 1, 8), rate_exact(1, 1, 0), rate_by_load(f64::NAN, 8)], [1.0; 3]);
    assert_eq!(rate_exact(1, u64::MAX, 1), 1.0);
    // One key of one slot and one bit has one of two fingerprints.
    assert!((rate_exact(1, 1, 1) - 0.5).abs() < 1e-15);
}

/// Bits per key at 10, 1, 0.1 and 0.01 % for every number of keys from 10^4 up, with the slots that overflow on average.
// At 0.01 % a key takes (2.125 + 14) / 0.95 = 16.974 bits. Nine slots that overflow and up to seven of the last group are
// 258 bits, more than 0.026 bits per key up to 9,900 keys and a little beyond. Of the 16.974 bits the offsets of the
// blocks, one byte per 64 slots, take 0.132.
#[test]
fn at_most_the_bits_per_key_that_are_promised() {
    let goals = [(0.1, 6.1, 6.08), (0.01, 9.65, 9.60), (0.001, 12.8, 12.76), (1e-4, 17.0, 16.97)];
    for (rate, most, least) in goals {
        let mut items = 10_000_u64;
        while items < 1 << 40 {
            let bits = QuotientParams::new(items, rate).unwrap().bits_per_item().unwrap();
            let most = if rate == 1e-4 && items < SMALL { 17.01 } else { most };
            assert!(bits <= most, "{items} at {rate}: {bits} bits per key");
            assert!(bits >= least, "{items} at {rate}: {bits} bits per key");
            items += if items < 30_000 { 1 } else { items / 997 };
        }
    }
    // More items than fit: the design is wrong, and the answer is no panic.
    let full = QuotientParams::from_slots_and_remainder_bits(MAX_SLOTS, 15).unwrap();
    let full = full.with_design(Some(u64::MAX), None).unwrap();
    assert!(full.bits_per_item().unwrap() > 0.0);
    let bits = QuotientParams::new(1_000, 0.01).unwrap().bits_per_item().unwrap();
    assert!((9.7..=10.2).contains(&bits), "{bits}");
}

/// From this number of keys up, 0.01 % takes at most 17.0 bits per key.
const SMALL: u64 = 11_118;

#[test]
fn known_shapes() {
    let shape = |items, rate| {
        let params = QuotientParams::new(items, rate).unwrap();
        (params.num_slots(), params.remainder_bits())
    };
    assert_eq!(shape(1, 0.5), (2, 1));
    // One group of eight slots: two bits less and more slots need fewer bytes.
    assert_eq!(shape(1, 0.12), (5, 1));
    assert_eq!(shape(1_000_000, 0.01), (1_052_632, 7));
    assert_eq!(shape(1_000_000, 0.001), (1_052_632, 10));
    // At 10 % three bits and more slots need fewer bytes than four bits.
    let (slots, bits) = shape(1_000_000, 0.1);
    assert!(bits == 3 && (1_186_000..1_187_000).contains(&slots), "{slots}");
}

#[test]
fn impossible_parameters_are_named() {
    let parameter = |result: Result<QuotientParams, ParamError>| result.unwrap_err().parameter();
    assert_eq!(parameter(QuotientParams::new(0, 0.01)), "expected_items");
    assert_eq!(parameter(QuotientParams::new(u64::MAX, 0.5)), "false_positive_rate");
    assert_eq!(parameter(QuotientParams::new(1 << 50, 0.5)), "slots");
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        let error = QuotientParams::new(1, rate).unwrap_err();
        assert!(matches!(error, ParamError(ParamFault::NotAProbability { .. })), "{error}");
    }
    let error = QuotientParams::new(1 << 40, 1e-9).unwrap_err();
    assert!(matches!(error, ParamError(ParamFault::BelowCollisions { .. })), "{error}");
    assert_eq!(parameter(QuotientParams::new(1, 1e-18)), "remainder_bits");
    assert_eq!(parameter(QuotientParams::growing(10, 9, 0.01)), "grows_to");
    assert_eq!(parameter(QuotientParams::growing(1, u64::MAX, 0.01)), "grows_to");
    assert_eq!(parameter(QuotientParams::growing(1, 1 << 40, 1e-7)), "remainder_bits");
    let shape = QuotientParams::from_slots_and_remainder_bits;
    assert_eq!(parameter(shape(0, 8)), "slots");
    assert_eq!(parameter(shape(MAX_SLOTS + 1, 8)), "slots");
    assert_eq!(parameter(shape(10, 0)), "remainder_bits");
    assert_eq!(shape(10, 57).unwrap_err().allowed(), Some(1..=56));
    assert_eq!(shape(MAX_SLOTS, 17).unwrap_err().allowed(), Some(1..=15));
    assert_eq!(shape(10, 8).unwrap().with_doublings(8).unwrap_err().allowed(), Some(0..=7));
    assert!(shape(MAX_SLOTS, 8).unwrap().with_doublings(1).is_err());
    let error = QuotientParams::for_memory(100, 1_000).unwrap_err();
    let least = *error.allowed().unwrap().start();
    assert_eq!(QuotientParams::for_memory(least, 1_000).unwrap().remainder_bits(), 1);
    assert!(QuotientParams::for_memory(1 << 60, 1 << 50).is_err());
}

/// Doubling moves a bit: the rate stays, and halving gives everything back.
#[test]
fn doublings_keep_the_rate_and_halvings_undo_them() {
    let mut params = QuotientParams::growing(300, 2_000_000, 0.003).unwrap();
    assert!(params.doublings() > 10);
    let (start, rate) = (params, params.rate_at(1_234));
    while params.doublings() > 0 {
        let next = params.doubled().unwrap();
        assert_eq!((next.halved(), next.doublings()), (Some(params), params.doublings() - 1));
        assert!((next.rate_at(1_234) / rate - 1.0).abs() < 1e-12);
        params = next;
    }
    assert_eq!(params, start.grown());
    let past = params.doubled().unwrap();
    assert_eq!(past.doublings(), 0);
    // Nor does a halving add to the plan what was past its end.
    assert_eq!(past.halved(), Some(start.grown()));
    let unplanned = QuotientParams::from_slots_and_remainder_bits(1_000, 8).unwrap();
    assert_eq!(unplanned.doubled().unwrap().halved(), Some(unplanned));
    let narrow = QuotientParams::from_slots_and_remainder_bits(10, 1).unwrap();
    assert_eq!(narrow.doubled(), None);
    let many = QuotientParams::from_slots_and_remainder_bits(MAX_SLOTS, 8).unwrap();
    assert_eq!(many.doubled(), None);
    let odd = QuotientParams::from_slots_and_remainder_bits(11, 8).unwrap();
    assert_eq!(odd.halved(), None);
    let wide = QuotientParams::from_slots_and_remainder_bits(64, MAX_REMAINDER_BITS).unwrap();
    assert_eq!(wide.halved(), None);
}

/// The first sizes of one plan are those of the same filter before and after doublings, so that they can be merged.
#[test]
fn all_filters_of_one_plan_are_doublings_of_one_another() {
    for grows_to in [1, 400, 487, 1_000, 123_456, 1_000_000_000] {
        let last = QuotientParams::growing(grows_to, grows_to, 0.01).unwrap();
        let alone = QuotientParams::new(grows_to, 0.01).unwrap();
        assert_eq!(last.doublings(), 0, "{grows_to}");
        assert!(last.num_slots() >= alone.num_slots());
        assert!(last.num_slots() - alone.num_slots() <= alone.num_slots() / 256, "{grows_to}");
        let mut items = 1;
        while items <= grows_to {
            let params = QuotientParams::growing(items, grows_to, 0.01).unwrap();
            assert!(params.capacity() >= items && params.grown() == last, "{items}");
            let is_least = params.num_slots() <= 512 || capacity(params.num_slots() / 2) < items;
            assert!(is_least, "{items} of {grows_to}: {params:?}");
            items += items / 7 + 1;
        }
    }
}

quickcheck! {
    fn the_promise_is_kept_and_the_items_fit(items: u32, exponent: u8) -> bool {
        let (items, rate) = (u64::from(items) + 1, 10f64.powf(-f64::from(exponent) / 32.0 - 0.01));
        let params = QuotientParams::new(items, rate).unwrap();
        params.rate_at(items) <= rate
            && params.capacity() >= items
            && (params.expected_items(), params.promised_rate()) == (Some(items), Some(rate))
    }

    fn nothing_smaller_keeps_the_promise(items: u32, exponent: u8) -> bool {
        let (items, rate) = (u64::from(items % 10_000_000) + 1, 10f64.powf(-f64::from(exponent) / 32.0 - 0.01));
        let best = QuotientParams::new(items, rate).unwrap().size_in_bytes();
        (1..=40).all(|bits| {
            // Slots of this width in fewer bytes: the most, less up to one in a thousand.
            let mut slots = best * 8 / u64::from(bits + 2);
            while slots > 0 && size_in_bytes(slots, bits) >= best {
                slots -= slots.div_ceil(1_000);
            }
            capacity(slots) < items || rate_exact(slots, items, bits) > rate
        })
    }

    fn slots_and_capacity_are_inverse(items: u32) -> bool {
        let slots = least_slots(items.into());
        capacity(slots) >= items.into() && (slots == 0 || capacity(slots - 1) < items.into())
    }

    fn memory_is_used_up_and_not_exceeded(bytes: u32, items: u16) -> bool {
        let (bytes, items) = (u64::from(bytes) + 8, u64::from(items) + 1);
        let fits = |slots: u64, bits| size_in_bytes(slots, bits) <= bytes;
        match QuotientParams::for_memory(bytes, items) {
            Err(_) => !fits(least_slots(items), 1),
            Ok(params) => {
                let (slots, bits) = (params.num_slots(), params.remainder_bits());
                params.capacity() >= items
                    && fits(slots, bits)
                    && !fits(slots + 8, bits)
                    // A bit more does not fit, or has more fingerprints than there are hashes.
                    && (bits == MAX_REMAINDER_BITS
                        || bits + slots.ilog2() >= 62
                        || !fits(least_slots(items), bits + 1))
            }
        }
    }
}

/// Whatever else a slot holds, and however many slots an item takes: the promise is kept, and no other shape has fewer bytes.
#[test]
fn slots_that_hold_more_keep_the_promise_in_the_fewest_bytes() {
    for slots_per_item in [1.0, 1.2, 2.0, 64.0] {
        for bits_beside in [0, 1, 32] {
            let slot_use = SlotUse { slots_per_item, bits_beside };
            for (items, rate) in [(1u64, 0.3), (900, 0.1), (1_000, 0.01), (123_456, 0.001)] {
                let params = QuotientParams::with_slot_use(items, None, rate, slot_use).unwrap();
                let used = (items as f64 * slots_per_item).ceil() as u64;
                assert!(params.capacity() >= used && params.rate_at(items) <= rate);
                assert_eq!(
                    (params.expected_items(), params.promised_rate()),
                    (Some(items), Some(rate))
                );
                let bytes = |slots, bits| size_in_bytes(slots, bits + bits_beside);
                let best = bytes(params.num_slots(), params.remainder_bits());
                for bits in 1..=MAX_REMAINDER_BITS - bits_beside {
                    // The most slots with fewer bytes have the lowest rate of all that have fewer.
                    let (mut low, mut high) = (0, best * 8);
                    while low + 1 < high {
                        let middle = low.midpoint(high);
                        *if bytes(middle, bits) < best { &mut low } else { &mut high } = middle;
                    }
                    let keeps = low >= least_slots(used) && rate_exact(low, items, bits) <= rate;
                    assert!(!keeps, "{items}, {rate}, {slot_use:?}: {bits} bits, {low} slots");
                }
            }
            let growing = QuotientParams::with_slot_use(500, Some(40_000), 0.02, slot_use).unwrap();
            let grown = growing.grown();
            assert!(growing.capacity() as f64 >= 500.0 * slots_per_item);
            assert!(grown.capacity() as f64 >= 40_000.0 * slots_per_item);
            assert!(growing.doublings() > 3 && grown.rate_at(40_000) <= 0.02);
        }
    }
    assert_eq!(
        QuotientParams::with_slot_use(1_000, None, 0.01, SlotUse::PLAIN),
        QuotientParams::new(1_000, 0.01)
    );
    let refused = |slots_per_item, bits_beside, rate| {
        let slot_use = SlotUse { slots_per_item, bits_beside };
        [None, Some(2_000)]
            .map(|max| QuotientParams::with_slot_use(1_000, max, rate, slot_use).unwrap_err())
            .map(|error| error.parameter())
    };
    for slots_per_item in [0.999, -1.0, 64.1, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(slots_per_item, 1, 0.01), ["slots_per_item"; 2]);
    }
    assert_eq!(refused(1.0, 50, 0.001), ["remainder_bits"; 2]);
}
