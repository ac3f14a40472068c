//! Binary fuse graphs against the published sizes.

use pds_params::ParamError;
use pds_params::fuse::{FuseShape, MAX_GROWTH, MAX_KEYS, bits_for_rate, check_bits, rate};
use pds_params::internal::ParamFault;

/// Keys, and the slots of a 3-wise binary fuse filter as Graf and Lemire size it (2022, section 4).
const PUBLISHED: [(u64, u64); 14] = [
    (100, 192),
    (1_000, 1_408),
    (2_000, 2_816),
    (5_000, 6_656),
    (10_000, 12_800),
    (20_000, 24_576),
    (100_000, 118_784),
    (200_000, 233_472),
    (500_000, 573_440),
    (1_000_000, 1_130_496),
    (3_000_000, 3_375_104),
    (10_000_000, 11_272_192),
    (100_000_000, 112_590_848),
    (1_000_000_000, 1_125_122_048),
];

fn slots(keys: u64) -> u64 {
    FuseShape::new(keys, 0).unwrap().num_slots()
}

#[test]
fn no_larger_than_the_published_sizes() {
    for (keys, published) in PUBLISHED {
        let slots = slots(keys);
        assert!(slots <= published, "{keys} keys: {slots} slots, published {published}");
        assert!(keys > 10_000 || slots < published, "{keys} keys: {slots} slots");
    }
}

/// The published size, as its formula states it.
#[expect(clippy::cast_possible_truncation, reason = "below 2^31")]
fn published(keys: u64) -> u64 {
    let log = (keys as f64).ln();
    let segment = 1_u64 << ((log / 3.33_f64.ln() + 2.25).floor() as u32).min(18);
    let factor = (0.875 + 0.25 * 1e6_f64.ln() / log).max(1.125);
    let capacity = (keys as f64 * factor).round() as u64;
    capacity.div_ceil(segment).max(3) * segment
}

#[test]
fn the_formula_gives_the_published_sizes() {
    for (keys, slots) in PUBLISHED {
        assert_eq!(published(keys), slots, "{keys}");
    }
}

#[test]
fn smaller_than_the_published_size_at_every_number_of_keys_up_to_ten_thousand() {
    for keys in 2..=10_000 {
        assert!(slots(keys) < published(keys), "{keys}: {} {}", slots(keys), published(keys));
    }
}

/// The published sizes are rounded up to whole segments. Where they happen to be exact, ours are up to 0.5 % larger.
#[test]
fn at_most_a_little_larger_than_the_published_size_at_any_number_of_keys() {
    let mut keys = 10_001;
    while keys < 1 << 30 {
        let ratio = slots(keys) as f64 / published(keys) as f64;
        assert!(ratio < 1.005, "{keys}: {ratio}");
        keys += keys / 97;
    }
}

#[test]
fn slots_ascend_with_keys_but_for_the_choice_of_the_shape() {
    let mut before = 0;
    for keys in 0..=10_999 {
        let slots = slots(keys);
        assert!(slots >= before && slots >= keys, "{keys}");
        before = slots;
    }
    assert!(slots(11_000).abs_diff(before) < 150);
}

#[test]
fn shapes_hold_their_slots() {
    for keys in (0..1_000).chain((1..300).map(|i| i * i * i * 100)).chain([1 << 40, MAX_KEYS]) {
        for growth in [0, 1, MAX_GROWTH] {
            let shape = FuseShape::new(keys, growth).unwrap();
            let (starts, window) = (shape.starts(), shape.window());
            let third = if shape.is_coupled() { starts } else { window };
            assert_eq!(third + 2 * window, shape.slots_per_shard(), "{keys}");
            assert_eq!(starts == 0, keys == 0);
            assert_eq!(shape.shards() > 1, keys >= 1 << 23);
            let grown = 1.0 + f64::from(growth) / 64.0;
            let exact = FuseShape::new(keys, 0).unwrap().num_slots() as f64 * grown;
            let difference = shape.num_slots() as f64 - exact;
            assert!(
                difference.abs() <= 6.0 * shape.shards() as f64,
                "{keys} {growth}: {difference}"
            );
            // Slots of a shard are numbered in 32 bits.
            assert!(shape.slots_per_shard() < 1 << 25);
        }
    }
}

#[test]
fn no_keys_need_no_slots() {
    assert_eq!(slots(0), 0);
    assert_eq!(FuseShape::new(0, 0).unwrap().shards(), 0);
}

#[test]
fn the_fewest_bits_keep_a_rate() {
    for bits in 1..=32 {
        let exact = 0.5_f64.powi(bits);
        let bits = u32::try_from(bits).unwrap();
        assert_eq!(rate(bits), exact);
        assert_eq!(bits_for_rate(exact), Ok(bits));
        assert_eq!(bits_for_rate(exact * 1.9), Ok(bits));
        check_bits(bits).unwrap();
    }
    assert_eq!(bits_for_rate(0.999), Ok(1));
    let error = bits_for_rate(1e-10);
    assert_eq!(
        error,
        Err(ParamError(ParamFault::TooLarge {
            parameter: "fingerprint_bits",
            value: 34.0,
            max: 32.0
        }))
    );
    for rate in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(bits_for_rate(rate), Err(ParamError(ParamFault::NotAProbability { .. }))),
            "{rate}"
        );
    }
}

#[test]
fn too_much_is_refused() {
    for bits in [0, 33, u32::MAX] {
        assert!(
            matches!(check_bits(bits), Err(ParamError(ParamFault::OutOfRange { .. }))),
            "{bits}"
        );
    }
    assert!(matches!(
        FuseShape::new(MAX_KEYS + 1, 0),
        Err(ParamError(ParamFault::OutOfRange { parameter: "keys", .. }))
    ));
    assert!(matches!(
        FuseShape::new(1, MAX_GROWTH + 1),
        Err(ParamError(ParamFault::OutOfRange { parameter: "growth", .. }))
    ));
}

/// The curves that the integers stand for: the slots of a shard, and those of a window.
fn fitted(keys: f64, growth: u32) -> [f64; 2] {
    let factor = 1.0 + f64::from(growth) / 64.0;
    if keys < 11_000.0 {
        let window = ((1.2225 * keys + 1.3 * keys.sqrt() + 1.5) * factor / 3.0).ceil();
        return [3.0 * window, window];
    }
    let ten_thousands = keys / 1e4;
    let slots = keys * (1.089 + 0.157 * ten_thousands.powf(-0.29));
    [(slots * factor).ceil(), (324.0 * ten_thousands.powf(0.68)).ceil()]
}

#[test]
fn the_integers_stand_for_the_fitted_curves_and_never_need_more_slots() {
    let small = (1..11_000).step_by(7);
    let large = (11_000..8_300_000).step_by(9_973);
    for keys in small.chain(large).chain([10_999, (1 << 23) - 1]) {
        for growth in [0, 1, MAX_GROWTH] {
            let shape = FuseShape::new(keys, growth).unwrap();
            let [slots, window] = fitted(keys as f64, growth);
            let ratios = [shape.slots_per_shard() as f64 / slots, shape.window() as f64 / window];
            // Below 11,000 keys they are equal, else a chord lies below its curve.
            let least = if keys < 11_000 { [1.0, 1.0] } else { [0.9995, 0.993] };
            for (ratio, least) in ratios.into_iter().zip(least) {
                assert!((least..=1.0).contains(&ratio), "{keys} {growth}: {ratios:?}");
            }
        }
    }
}

#[test]
fn shards_have_room_for_four_standard_deviations() {
    for keys in [1 << 23, 12_345_678, 20_000_000, 100_000_000, 1 << 33, MAX_KEYS] {
        let shape = FuseShape::new(keys, 0).unwrap();
        let mean = keys as f64 / shape.shards() as f64;
        let [slots, _] = fitted(mean + 4.0 * mean.sqrt(), 0);
        let ratio = shape.slots_per_shard() as f64 / slots;
        assert!((0.9998..=1.0).contains(&ratio), "{keys}: {ratio}");
    }
}
