//! The blocked layout, compared with tables that were computed independently of this crate.
//!
//! The rows for eight hashes and for the split-block filter come from a general evaluation of many layouts in 45
//! digits. The other rows were computed in 60 digits, without the split into halves. The method is inclusion and
//! exclusion over the bits of whole keys, and over all pairs of bits.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of set bits and of blocks")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of set bits and of blocks")]

use crate::tables::table;
use pds_params::blocked::{
    cardinality, expected_set_bits, instance_rate_relative_spread, intersection_cardinality, rate,
    rate_asymptotic, set_bits_standard_deviation, split_block_rate,
};
use pds_params::bloom::SetBits;
use pds_params::internal::ParamFault;
use pds_params::{BlockedBloomParams, ParamError, Preference};
use quickcheck::quickcheck;

#[track_caller]
fn assert_close(actual: f64, expected: f64, relative: f64) {
    let error = (actual - expected).abs();
    assert!(error <= relative * expected + 1e-15, "{actual}, expected {expected}");
}

#[test]
fn rates_of_many_blocks() {
    for [bits_per_item, rate] in table(include_str!("../data/blocked/rates_8_hashes.json"), 17) {
        assert_close(rate_asymptotic(bits_per_item, 8), rate, 1e-11);
    }
    for [hashes, bits_per_item, rate] in table(include_str!("../data/blocked/rates.json"), 80) {
        assert_close(rate_asymptotic(bits_per_item, hashes as u32), rate, 1e-9);
    }
}

#[test]
fn rates_of_few_blocks() {
    let rows = table(include_str!("../data/blocked/rates_few_blocks.json"), 48);
    for [block_bits, blocks, items, expected, asymptotic] in rows {
        let (blocks, items) = (blocks as u64, items as u64);
        if block_bits == 512.0 {
            assert_close(rate(blocks, items, 8), expected, 1e-11);
            let bits_per_item = blocks as f64 * block_bits / items as f64;
            assert_close(rate_asymptotic(bits_per_item, 8), asymptotic, 1e-11);
        } else {
            assert_close(split_block_rate(blocks, items), expected, 1e-11);
        }
    }
    let rows = table(include_str!("../data/blocked/rates_finite.json"), 105);
    for [hashes, blocks, items, expected] in rows {
        assert_close(rate(blocks as u64, items as u64, hashes as u32), expected, 1e-9);
    }
}

#[test]
fn spreads_between_filters() {
    // The effect of rounding to whole items is below 1e-7.
    const BLOCKS: u64 = 1 << 30;
    let spread = |hashes, bits_per_item: f64| {
        let items = (BLOCKS as f64 * 512.0 / bits_per_item).round() as u64;
        instance_rate_relative_spread(BLOCKS, items, hashes) * (BLOCKS as f64).sqrt()
    };
    for [bits_per_item, variance] in
        table(include_str!("../data/blocked/variances_8_hashes.json"), 7)
    {
        let expected = variance.sqrt() / rate_asymptotic(bits_per_item, 8);
        assert_close(spread(8, bits_per_item), expected, 1e-6);
    }
    for [hashes, bits_per_item, expected] in table(include_str!("../data/blocked/spreads.json"), 32)
    {
        assert_close(spread(hashes as u32, bits_per_item), expected, 1e-6);
    }
}

#[test]
fn the_law_of_the_set_bits() {
    let rows = table(include_str!("../data/blocked/set_bits.json"), 24);
    for [hashes, blocks, items, set_bits, sd] in rows {
        let (blocks, items, hashes) = (blocks as u64, items as u64, hashes as u32);
        assert_close(expected_set_bits(blocks, items, hashes), set_bits, 1e-11);
        assert_close(set_bits_standard_deviation(blocks, items, hashes), sd, 1e-9);
    }
}

#[test]
fn the_least_size_is_the_least() {
    let rows = table(include_str!("../data/blocked/least_bits_8_hashes.json"), 4);
    for [rate, bits_per_item] in rows {
        // Finite filters need a little less than the limit, and are rounded up to whole blocks.
        let params = BlockedBloomParams::new(100_000_000, rate, Preference::Fastest).unwrap();
        if params.num_hashes() == 8 {
            assert_close(params.bits_per_item().unwrap(), bits_per_item, 1e-5);
        }
    }
    for items in [1, 2, 50, 51, 1_000, 999_983] {
        for promised in [0.9, 0.1, 0.01, 0.001, 1e-4, 1e-6] {
            for preference in [Preference::Fastest, Preference::Smallest] {
                let params = BlockedBloomParams::new(items, promised, preference).unwrap();
                let (blocks, hashes) = (params.num_blocks(), params.num_hashes());
                assert!(rate(blocks, items, hashes) <= promised, "{params:?}");
                assert!(blocks == 1 || rate(blocks - 1, items, hashes) > promised, "{params:?}");
            }
        }
    }
}

#[test]
fn bits_an_item_are_the_published_ones() {
    let bits = |rate, preference| {
        BlockedBloomParams::new(50_000_000, rate, preference).unwrap().bits_per_item().unwrap()
    };
    assert!(bits(0.01, Preference::Fastest) <= 10.10);
    assert!(bits(0.01, Preference::Smallest) <= 9.94);
    assert!(bits(0.001, Preference::Fastest) <= 15.73);
    assert!(bits(0.0001, Preference::Fastest) <= 22.15);
}

#[test]
fn the_smallest_is_never_larger() {
    for exponent in 1..40 {
        let promised = 10f64.powf(-f64::from(exponent) / 8.0);
        let size = |preference| {
            BlockedBloomParams::new(100_000, promised, preference).unwrap().num_blocks()
        };
        let (fastest, smallest) = (size(Preference::Fastest), size(Preference::Smallest));
        assert!(smallest <= fastest && fastest as f64 <= 1.05 * smallest as f64, "{promised}");
    }
}

#[test]
fn blocks_and_rate_give_the_most_items() {
    for (blocks, promised) in [(1, 0.01), (3, 0.001), (100, 0.3), (1 << 20, 1e-4), (1 << 36, 0.01)]
    {
        let params =
            BlockedBloomParams::from_blocks_and_rate(blocks, promised, Preference::Smallest)
                .unwrap();
        let items = params.expected_items().unwrap();
        assert!(params.rate_at(items) <= promised);
        assert!(params.rate_at(items + items / 10_000 + 1) > promised, "{params:?}");
    }
}

#[test]
fn what_is_impossible_is_named() {
    let new = |items, rate| BlockedBloomParams::new(items, rate, Preference::Fastest).unwrap_err();
    for rate in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        assert!(matches!(new(1, rate), ParamError(ParamFault::NotAProbability { .. })), "{rate}");
    }
    assert!(matches!(
        new(0, 0.5),
        ParamError(ParamFault::OutOfRange { parameter: "expected_items", .. })
    ));
    assert!(matches!(
        new(1 << 62, 0.26),
        ParamError(ParamFault::TooLarge { parameter: "blocks", .. })
    ));
    assert!(matches!(new(1 << 40, 1e-8), ParamError(ParamFault::BelowCollisions { .. })));
    let shaped = |hashes| BlockedBloomParams::from_blocks_and_hashes(1, hashes).unwrap_err();
    for hashes in [0, 1, 17, 18] {
        assert!(matches!(
            shaped(hashes),
            ParamError(ParamFault::OutOfRange { parameter: "hashes", .. })
        ));
    }
    for hashes in [3, 15] {
        assert!(matches!(
            shaped(hashes),
            ParamError(ParamFault::NotEven { parameter: "hashes", .. })
        ));
    }
    for blocks in [0, (1 << 54) + 1] {
        let error = BlockedBloomParams::from_blocks_and_hashes(blocks, 8).unwrap_err();
        assert!(
            matches!(error, ParamError(ParamFault::OutOfRange { parameter: "blocks", .. })),
            "{error}"
        );
    }
    let error =
        BlockedBloomParams::from_blocks_and_rate(1, 1e-20, Preference::Smallest).unwrap_err();
    assert!(matches!(error, ParamError(ParamFault::BelowCollisions { .. })), "{error}");
}

#[test]
fn rates_stay_probabilities_at_any_fill() {
    for hashes in (2..=16).step_by(2) {
        for blocks in [1, 2, 1_000, 1 << 54] {
            let mut last = 0.0;
            for items in (0..64).map(|shift| 1u64 << shift) {
                let rate = rate(blocks, items, hashes);
                assert!((last..=1.0).contains(&(rate * (1.0 + 1e-9) + 1e-15).min(1.0)), "{rate}");
                assert!((0.0..=1.0).contains(&rate));
                last = rate;
            }
            assert!(last == 1.0 || blocks == 1 << 54, "{blocks} blocks of 2^63 items");
        }
    }
}

#[test]
fn a_count_of_set_bits_gives_the_items_back() {
    for hashes in (2..=16).step_by(2) {
        for items in [0, 1, 100, 20_000, 100_000] {
            let ones = expected_set_bits(1_000, items, hashes).round() as u64;
            let found = cardinality(1_000, hashes, ones);
            assert!((found.value - items as f64).abs() < 0.2 + 1e-4 * items as f64, "{found}");
            assert!(
                found.standard_error >= 0.0 && found.standard_error < 0.01 * items as f64 + 1.0
            );
        }
    }
    assert_eq!(cardinality(3, 8, 3 * 512).value, f64::INFINITY);
}

#[test]
fn an_overlap_is_found_with_an_error_between_its_bounds() {
    let (blocks, hashes) = (10_000, 8);
    let ones = |items| expected_set_bits(blocks, items, hashes).round() as u64;
    let ones = SetBits { left: ones(300_000), right: ones(250_000), union: ones(450_000) };
    let common = intersection_cardinality(blocks, hashes, ones);
    assert!((common.value - 100_000.0).abs() < 2.0, "{common}");
    let alone = cardinality(blocks, hashes, ones.union).standard_error;
    assert!(common.standard_error > 0.2 * alone && common.standard_error < 2.0 * alone, "{common}");
}

quickcheck! {
    fn sizes_keep_their_promise(items: u32, exponent: u8) -> bool {
        let (items, promised) = (u64::from(items).max(1), 0.8f64.powi(i32::from(exponent % 64) + 1));
        let params = BlockedBloomParams::new(items, promised, Preference::Smallest).unwrap();
        params.rate_at(items) <= promised
    }
}
