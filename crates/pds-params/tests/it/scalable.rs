//! Schedules of growing filters, and sizes of layered filters.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of the table")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of the table")]

use crate::tables::table;
use pds_params::internal::ParamFault;
use pds_params::layered::answer_at_least;
use pds_params::scalable::compound_rate;
use pds_params::{BloomParams, LayeredParams, ParamError, ScalableParams, Schedule, bloom};
use pds_testkit::ThreadTime;
use quickcheck::quickcheck;

fn params(schedule: Schedule) -> ScalableParams {
    ScalableParams::new(1_000, 0.01, 2, schedule).unwrap()
}

/// Bits per item at 4, 12 and 20 layers that were computed by another program, from the asymptotic rate and a real number of hashes,
/// -log2(p) / ln(2): the integer number of hashes adds a little.
const COMPUTED: [(Schedule, [f64; 3]); 5] = [
    (Schedule::Ratio(0.8), [13.978, 17.570, 21.284]),
    (Schedule::Ratio(0.85), [14.291, 16.907, 19.612]),
    (Schedule::Ratio(0.9), [14.865, 16.561, 18.315]),
    (Schedule::Halving, [14.298, 25.459, 36.996]),
    (Schedule::Likely(1_000 * ((1 << 20) - 1)), [35.436, 24.275, 12.741]),
];

#[test]
fn bits_per_item_are_those_that_were_computed_independently() {
    for (schedule, expected) in COMPUTED {
        for (layers, expected) in [4, 12, 20].into_iter().zip(expected) {
            let found = params(schedule).bits_per_item(layers).unwrap();
            assert!((0.0..0.13).contains(&(found - expected)), "{schedule:?} {layers}: {found}");
        }
    }
}

/// The goal of the default schedule.
#[test]
fn twelve_layers_take_at_most_17_7_bits_per_item() {
    let found = params(Schedule::DEFAULT).bits_per_item(12).unwrap();
    assert!((16.5..17.7).contains(&found), "{found}");
    let known = params(Schedule::Likely(4_095_000)).bits_per_item(12).unwrap();
    assert!((12.5..12.9).contains(&known), "{known}");
    // Exceeded by four times.
    let exceeded = params(Schedule::Likely(1_023_000)).bits_per_item(12).unwrap();
    assert!((15.35..15.45).contains(&exceeded), "{exceeded}");
}

#[test]
fn the_rates_are_those_of_their_names() {
    let rates = |schedule, layers: u32| -> Vec<f64> {
        (0..layers).map(|index| params(schedule).layer(index).unwrap().rate).collect()
    };
    assert_eq!(rates(Schedule::Halving, 4), [0.005, 0.0025, 0.00125, 0.000_625]);
    // -ln(1 - p_i) = -ln(1 - p) (1 - r) r^i.
    for (index, rate) in rates(Schedule::DEFAULT, 12).into_iter().enumerate() {
        let share = (1.0 - rate).ln() / 0.99_f64.ln();
        assert!(
            (share / (0.15 * 0.85_f64.powf(index as f64)) - 1.0).abs() < 1e-9,
            "{index}: {share}"
        );
    }
    // Layers of 1,000, 2,000 and 4,000: 7/8 of the budget, then what is left is halved.
    let likely = rates(Schedule::Likely(5_000), 6);
    let share = |index: usize| (1.0 - likely[index]).ln() / 0.99_f64.ln();
    for (index, expected) in
        [(0, 0.125), (1, 0.25), (2, 0.5), (3, 1.0 / 16.0), (4, 1.0 / 32.0), (5, 1.0 / 64.0)]
    {
        assert!((share(index) / expected - 1.0).abs() < 1e-9, "{index}: {}", share(index));
    }
}

#[test]
fn the_plan_is_at_the_limits_what_it_is_elsewhere() {
    let plan = |items, growth| ScalableParams::new(items, 0.01, growth, Schedule::DEFAULT).unwrap();
    assert_eq!(plan(7, 1).layer(1_000).map(|layer| layer.items), Ok(7));
    assert_eq!(plan(1, 2).layer(63).map(|layer| layer.items), Ok(1 << 63));
    assert!(
        plan(1, 2)
            .layer(64)
            .unwrap_err()
            .to_string()
            .contains("expected_items would have to be 1.845e19")
    );
    assert!(plan(u64::MAX, 2).layer(0).is_ok() && plan(u64::MAX, 2).layer(1).is_err());
    assert_eq!(plan(3, 32_768).layer(2).map(|layer| layer.items), Ok(3 << 30));
    // The share of a layer ends at the least positive number.
    let steep = ScalableParams::new(1, 0.5, 1, Schedule::Ratio(1e-200)).unwrap();
    assert!(steep.layer(1).is_ok());
    assert_eq!(steep.layer(2).unwrap_err().parameter(), "false_positive_rate");
    // Many likely layers of one size are computed at once.
    let even = ScalableParams::new(1, 0.5, 1, Schedule::Likely(u64::MAX)).unwrap();
    assert!(even.layer(3).unwrap().rate > 0.0);
    assert!(
        ScalableParams::new(u64::MAX, 0.5, 32_768, Schedule::Likely(u64::MAX))
            .unwrap()
            .layer(0)
            .is_ok()
    );
}

#[test]
fn numbers_out_of_range_are_named() {
    let new = ScalableParams::new;
    let refused = [
        (new(0, 0.01, 2, Schedule::DEFAULT), "expected_items"),
        (new(1, 0.0, 2, Schedule::DEFAULT), "false_positive_rate"),
        (new(1, 1.0, 2, Schedule::DEFAULT), "false_positive_rate"),
        (new(1, f64::NAN, 2, Schedule::DEFAULT), "false_positive_rate"),
        (new(1, 0.1, 0, Schedule::DEFAULT), "growth"),
        (new(1, 0.1, 32_769, Schedule::DEFAULT), "growth"),
        (new(1, 0.1, 2, Schedule::Ratio(0.0)), "ratio"),
        (new(1, 0.1, 2, Schedule::Ratio(1.0)), "ratio"),
        (new(2, 0.1, 2, Schedule::Likely(1)), "likely_items"),
    ];
    for (result, parameter) in refused {
        assert_eq!(result.unwrap_err().parameter(), parameter);
    }
    assert_eq!(params(Schedule::Halving).bits_per_item(0).unwrap_err().parameter(), "layers");
    // The rate of the 60th layer is below that of colliding hashes.
    assert!(
        ScalableParams::new(1_000, 0.01, 1, Schedule::Halving).unwrap().bits_per_item(60).is_err()
    );
}

quickcheck! {
    fn the_compound_rate_keeps_the_promise_at_every_number_of_layers(
        first: u32, rate: f64, growth: u8, ratio: f64, kind: u8, layers: u8
    ) -> bool {
        let fraction = |x: f64, otherwise| {
            let x = x.abs().fract();
            if x > 0.0 { x } else { otherwise }
        };
        let (first, rate) = (u64::from(first) + 1, fraction(rate, 0.999_999));
        let schedule = match kind % 3 {
            0 => Schedule::Ratio(fraction(ratio, 0.999_9)),
            1 => Schedule::Halving,
            _ => Schedule::Likely(first.saturating_mul(1 + u64::from(kind))),
        };
        let params = ScalableParams::new(first, rate, 1 + u32::from(growth), schedule).unwrap();
        let layers = u32::from(layers);
        let product: f64 = (0..layers).map(|i| 1.0 - params.layer(i).map_or(0.0, |layer| layer.rate)).product();
        // The complement is the coarser of the two near 0.
        params.compound_rate(layers) <= rate && 1.0 - product <= rate * (1.0 + 1e-9) + 1e-15
    }
}

#[test]
fn the_compound_rate_is_that_of_independent_filters() {
    assert_eq!(compound_rate([]), 0.0);
    assert!((compound_rate([0.5, 0.25]) - 0.625).abs() < 1e-15);
    assert_eq!(compound_rate([0.1, 1.0]), 1.0);
    assert_eq!(compound_rate([1e-300]), 1e-300);
}

#[test]
fn the_law_of_layers_with_given_contents_is_the_table() {
    for row in table::<9>(include_str!("../data/layered.json"), 18) {
        let [bits, hashes, first, second, third, fourth, count, more, exactly] = row;
        let rates = [first, second, third, fourth]
            .map(|keys| bloom::rate_exact(bits as u64, keys as u64, hashes as u32));
        let count = count as usize;
        let at_least = |answer| answer_at_least(&rates, count, answer);
        assert!(
            (at_least(count + 1) / more - 1.0).abs() < 1e-9,
            "{row:?}: {}",
            at_least(count + 1)
        );
        let found = at_least(count + 1) - at_least(count + 2);
        assert!((found / exactly - 1.0).abs() < 1e-9, "{row:?}: {found}");
        assert_eq!([at_least(count), at_least(0), at_least(5)], [1.0, 1.0, 0.0]);
    }
}

/// Inserts a key `times` times, where each layer answers falsely or not. Returns whether each layer stores it, and its
/// count.
fn insert(falsely: &[bool], times: u64) -> (Vec<bool>, usize) {
    let mut stored = vec![false; falsely.len()];
    let holds = |stored: &[bool], layer: usize| stored[layer] || falsely[layer];
    for _ in 0..times {
        let first = (0..falsely.len()).find(|&layer| !holds(&stored, layer));
        if let Some(layer) = first {
            stored[layer] = true;
        }
    }
    let count = (0..falsely.len()).take_while(|&layer| holds(&stored, layer)).count();
    (stored, count)
}

/// The probability of each choice of layers that answer falsely.
fn outcomes(params: &LayeredParams) -> impl Iterator<Item = (Vec<bool>, f64)> {
    let rates: Vec<f64> =
        (0..params.num_layers()).map(|index| params.layer(index).unwrap().rate).collect();
    (0..1_u32 << rates.len()).map(move |set| {
        let falsely: Vec<bool> = (0..rates.len()).map(|layer| set >> layer & 1 == 1).collect();
        let chance = |(&is_false, &rate): (&bool, &f64)| if is_false { rate } else { 1.0 - rate };
        let probability = falsely.iter().zip(&rates).map(chance).product();
        (falsely, probability)
    })
}

#[test]
fn counts_and_stored_keys_are_those_of_all_outcomes_played_through() {
    let designs: [&[u64]; 4] = [
        &[1_000_000, 10_000],
        &[1_000_000, 50_000, 10_000, 10_000],
        &[5_000, 5_000, 5_000],
        &[100_000, 10, 5, 4, 3, 2, 1],
    ];
    for keys in designs {
        for rate in [0.3, 0.01, 0.000_1] {
            let params = LayeredParams::new(keys, rate).unwrap();
            let mut stored = vec![0.0; keys.len()];
            for times in 1..=keys.len() {
                let with = keys[times - 1] - keys.get(times).unwrap_or(&0);
                let mut too_high = 0.0;
                for (falsely, probability) in outcomes(&params) {
                    let (layers, count) = insert(&falsely, times as u64);
                    assert!(count >= times, "never too low");
                    too_high += if count > times { probability } else { 0.0 };
                    for (stored, _) in
                        stored.iter_mut().zip(layers).filter(|(_, is_stored)| *is_stored)
                    {
                        *stored += probability * with as f64;
                    }
                }
                assert!((too_high - params.rate_above(times)).abs() < 1e-12, "{keys:?} {times}");
                assert!(too_high <= rate, "{keys:?} {times}: {too_high}");
            }
            for (index, stored) in stored.into_iter().enumerate() {
                let design = params.layer(index).unwrap();
                // The design counts keys that a layer answers falsely already, and rounds up.
                let most = design.items as f64;
                assert!(stored <= most + 1e-6, "{keys:?} {index}: {stored} in {most}");
                assert!(
                    stored / (1.0 - design.rate) >= most - 1.0 - 1e-6,
                    "{keys:?} {index}: {most}"
                );
            }
        }
    }
}

#[test]
fn the_budget_is_shared_so_that_no_other_share_needs_less() {
    let params = LayeredParams::new(&[1_000_000, 30_000, 2_000], 0.01).unwrap();
    let designs = [0, 1, 2].map(|index| params.layer(index).unwrap());
    let bits = |rates: [f64; 3]| -> f64 {
        designs.iter().zip(rates).map(|(design, rate)| -(design.items as f64) * rate.ln()).sum()
    };
    let rates = designs.map(|design| design.rate);
    assert!(compound_rate(rates) <= 0.01 && compound_rate(rates) > 0.01 - 1e-9);
    for (more, less) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        let mut other = rates;
        let moved = 0.2 * rates[more].min(rates[less]);
        other[more] += moved;
        other[less] -= moved;
        assert!(bits(other) > bits(rates), "{more} {less}");
    }
}

#[test]
fn impossible_layers_are_named() {
    let fault = |keys: &[u64], rate| LayeredParams::new(keys, rate).unwrap_err();
    assert_eq!(fault(&[], 0.01).parameter(), "layers");
    assert_eq!(fault(&[1], 0.01).allowed(), Some(2..=16));
    assert_eq!(fault(&[1; 17], 0.01).parameter(), "layers");
    assert_eq!(fault(&[5, 0], 0.01).allowed(), Some(1..=5));
    assert_eq!(
        fault(&[5, 6], 0.01),
        ParamError(ParamFault::OutOfRange { parameter: "keys", value: 6, min: 1, max: 5 })
    );
    assert_eq!(fault(&[5, 5], 1.0).parameter(), "false_positive_rate");
    let greatest = LayeredParams::new(&[u64::MAX; 16], 0.5).unwrap();
    assert_eq!(greatest.layer(15).map(|layer| layer.items), Some(u64::MAX));
    assert_eq!((greatest.layer(16), greatest.rate_above(16)), (None, 0.0));
    assert!(BloomParams::for_double_hashing(u64::MAX, greatest.layer(0).unwrap().rate).is_err());
}

/// As many layers as can be asked for. To add up layer by layer would take minutes.
#[test]
fn any_number_of_layers_is_answered_at_once() {
    let schedules = [
        Schedule::DEFAULT,
        Schedule::Ratio(1e-300),
        Schedule::Ratio(1.0 - 1e-9),
        Schedule::Halving,
        Schedule::Likely(1_000),
        Schedule::Likely(1_000_000),
        Schedule::Likely(u64::MAX),
    ];
    let start = ThreadTime::now();
    for (schedule, growth) in
        schedules.into_iter().flat_map(|schedule| [1, 2, 32_768].map(|growth| (schedule, growth)))
    {
        let params = ScalableParams::new(1_000, 0.01, growth, schedule).unwrap();
        for layers in [0, 1, 2, 3, 20, 200, 1_500] {
            let each: Result<Vec<_>, _> = (0..layers).map(|index| params.layer(index)).collect();
            // None of so many items, or of so low a rate.
            let Ok(each) = each else { continue };
            let expected = compound_rate(each.iter().map(|layer| layer.rate));
            let found = params.compound_rate(layers);
            let error = (found - expected).abs();
            assert!(error <= 1e-12 * expected, "{schedule:?}, {growth}, {layers}: {found}");
        }
        let rate = params.compound_rate(u32::MAX);
        assert!(rate <= 0.01 && rate > 0.0085, "{schedule:?}, {growth}: {rate}");
        assert_eq!(params.bits_per_item(u32::MAX).unwrap_err().parameter(), "layers");
    }
    let many = ScalableParams::new(1_000, 0.01, 1, Schedule::Likely(u64::MAX)).unwrap();
    assert!(many.bits_per_item(1 << 12).is_ok_and(|bits| bits < 100.0));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
