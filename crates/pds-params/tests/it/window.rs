//! Sizes and rates of window filters.

use pds_params::internal::ParamFault;
use pds_params::{BloomParams, ParamError, TimedParams, WindowParams};

/// Rate, slack, and the generations, hashes and bits per key that were computed for them in double precision by another
/// program, for a window of any great length.
const COMPUTED: [(f64, f64, u32, u32, f64); 6] = [
    (0.01, 0.1, 14, 7, 18.44),
    (0.01, 0.05, 30, 8, 18.71),
    (0.01, 0.02, 62, 9, 19.53),
    (0.001, 0.1, 14, 10, 23.72),
    (0.001, 0.05, 30, 10, 24.28),
    (0.001, 0.02, 62, 11, 24.90),
];

#[test]
fn sizes_are_those_that_were_computed_independently() {
    for (rate, slack, generations, hashes, bits) in COMPUTED {
        // Many of each number of generations, so that none is rounded up by much.
        let params = WindowParams::new(20_000_000, rate, slack).unwrap();
        assert_eq!((params.generations(), params.num_hashes()), (generations, hashes));
        let found = params.bits_per_item();
        assert!((found - bits).abs() < 0.006, "{rate} {slack}: {found}");
    }
}

/// The published structure of slices needs 22.17, 20.45 and 19.62 bits at a rate of 1 % (its rate by the recurrence over runs).
#[test]
fn at_most_2_4_and_2_2_and_2_1_times_the_bits_of_a_filter_that_forgets_nothing() {
    for (slack, most) in [(0.1, 2.4), (0.05, 2.2), (0.02, 2.1)] {
        let plain = BloomParams::new(1_000_000, 0.01).unwrap().bits_per_item().unwrap();
        let window = WindowParams::new(1_000_000, 0.01, slack).unwrap().bits_per_item();
        let timed = TimedParams::new(1_000_000, 1_000_000, 0.01, slack).unwrap();
        assert!(window <= most * plain, "{slack}: {window}");
        assert!(timed.bits_per_item().unwrap() <= window, "{slack}");
    }
}

/// Whether a shape keeps a rate when all columns that answer are full.
fn keeps(window: u64, generations: u32, words: u64, hashes: u32, rate: f64) -> bool {
    let params = WindowParams::from_shape(window, generations, words, hashes).unwrap();
    let column = params.grid().rate_at([window.div_ceil(generations.into())]);
    1.0 - (1.0 - column).powf(f64::from(generations) + 1.0) <= rate
}

#[test]
fn small_windows_have_few_words_of_all_that_keep_slack_and_rate_and_no_word_too_many() {
    for window in [1_u64, 2, 3, 10, 25, 62] {
        for (rate, slack) in [(0.3, 0.9), (0.02, 0.5), (0.01, 0.25)] {
            let allowed = (window as f64 * (1.0 + slack)).ceil();
            let stay = |l: u32| f64::from(l + 1) * window.div_ceil(l.into()) as f64;
            let fewest = |l| {
                let kept = |words| (1..=30).any(|hashes| keeps(window, l, words, hashes, rate));
                (1..).find(|&words| kept(words)).unwrap()
            };
            let fewest = (1..=62).filter(|&l| stay(l) <= allowed).map(fewest).min();
            let found = WindowParams::new(window, rate, slack).ok();
            assert_eq!(found.is_some(), fewest.is_some(), "{window} {rate}");
            let (Some(found), Some(fewest)) = (found, fewest) else { continue };
            let (words, generations) = (found.grid().num_words(), found.generations());
            assert!(stay(generations) <= allowed);
            // A fifteenth more saves hashes, and one word more may come of rounding.
            assert!(words <= fewest + fewest / 15 + 1, "{window} {rate}: {words} {fewest}");
            let kept = |words| keeps(window, generations, words, found.num_hashes(), rate);
            assert!(kept(words) && (words == 1 || !kept(words - 1)), "{window} {rate}");
        }
    }
}

#[test]
fn slack_and_rate_are_kept_at_every_moment() {
    for window in (1..20).chain([97, 1_000, 1_001, 12_345]) {
        for (rate, slack) in [(0.05, 0.5), (0.01, 0.1), (0.001, 0.05)] {
            let Ok(params) = WindowParams::new(window, rate, slack) else { continue };
            let (generations, items) = (u64::from(params.generations()), params.generation_items());
            assert!(generations * items >= window);
            assert!(params.longest_stay() as f64 <= (window as f64 * (1.0 + slack)).ceil());
            let rates = (0..3)
                .flat_map(|i| [0, items / 2, items - 1].map(|j| i * generations * items / 2 + j));
            for inserts in rates {
                assert!(params.rate_after(inserts) <= params.worst_rate() * (1.0 + 1e-9));
            }
            assert!(params.worst_rate() <= rate, "{window} {rate} {slack}");
        }
    }
}

#[test]
fn the_rate_before_and_after_a_generation_is_forgotten() {
    let params = WindowParams::from_shape(14_000, 14, 3_800, 11).unwrap();
    let items = params.generation_items();
    let generations = u64::from(params.generations());
    assert_eq!(params.rate_after(0), 0.0);
    // A simulation in another language: 480,000 absent keys at 24 such moments gave 0.00998, with a deviation of 0.00015.
    assert!((params.worst_rate() - 0.0101).abs() < 0.000_05, "{}", params.worst_rate());
    let one = params.rate_after(items);
    let after = params.rate_after(generations * items);
    assert!((after - (1.0 - (1.0 - one).powi(14))).abs() < 1e-12);
    assert!((params.worst_rate() / after - 15.0 / 14.0).abs() < 0.01);
    // Much later nothing has changed.
    assert_eq!(params.rate_after(1_000_000 * items), after);
}

#[test]
fn timed_windows_keep_slack_and_rate() {
    for ticks in (1..20).chain([3_600, 86_400_000]) {
        for (items, rate, slack) in [(1, 0.1, 0.3), (1_000, 0.01, 0.1), (50_000, 0.001, 0.04)] {
            let Ok(params) = TimedParams::new(ticks, items, rate, slack) else { continue };
            assert!(u64::from(params.generations()) * params.generation_ticks() >= ticks);
            assert!(params.longest_stay() as f64 <= (ticks as f64 * (1.0 + slack)).ceil());
            assert!(params.rate_at(items) <= rate, "{ticks} {items}");
            assert!(params.rate_at(4 * items + 100) > rate);
            assert_eq!(
                (params.expected_items(), params.promised_rate()),
                (Some(items), Some(rate))
            );
        }
    }
    // A generation of a window that is no whole number of them receives more than its share of the keys.
    for (ticks, slack) in [(10, 0.5), (11, 0.1), (24, 0.25), (100, 0.1), (197, 0.1)] {
        let params = TimedParams::new(ticks, 1_000 * ticks, 0.01, slack).unwrap();
        let (live, keys) = (params.generations() + 1, 1_000 * params.generation_ticks());
        let rows = params.size_in_bytes() / 8 * (1 << (64 / live).ilog2());
        let column = BloomParams::from_bits_and_hashes(rows, params.num_hashes()).unwrap();
        let all = 1.0 - (1.0 - column.rate_at(keys)).powi(live.try_into().unwrap());
        assert!(all <= 0.01, "{ticks} ticks: {all}");
    }
    let hour = TimedParams::new(3_600, 100_000, 0.01, 0.1).unwrap();
    assert_eq!((hour.generations(), hour.generation_ticks(), hour.num_hashes()), (15, 240, 7));
    // Computed independently for many keys: 17.41 bits.
    let bits = hour.bits_per_item().unwrap();
    assert!((bits - 17.41).abs() < 0.03, "{bits}");
}

fn fault(error: Result<WindowParams, ParamError>) -> ParamFault {
    error.unwrap_err().0
}

#[test]
fn impossible_windows_are_refused_with_the_values_allowed() {
    for slack in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        let fault = fault(WindowParams::new(100, 0.01, slack));
        assert!(matches!(fault, ParamFault::NotAProbability { parameter: "slack", .. }), "{slack}");
    }
    let least = |window| match fault(WindowParams::new(window, 0.01, 0.001)) {
        ParamFault::TooLow { parameter: "slack", min, .. } => min,
        fault => panic!("{fault:?}"),
    };
    assert!((least(6_200_000) - 1.0 / 62.0).abs() < 1e-12);
    // 33 generations of two keys.
    assert_eq!(least(63), 3.0 / 63.0);
    for window in [63, 64, 65, 1_000, 6_200_000] {
        assert!(WindowParams::new(window, 0.01, least(window)).is_ok(), "{window}");
    }
    // A key more is the least possible one, and is within any slack.
    assert_eq!(WindowParams::new(1, 0.01, 0.001).unwrap().longest_stay(), 1);
    for rate in [0.0, 1.0, f64::NAN] {
        let fault = fault(WindowParams::new(100, rate, 0.1));
        assert!(matches!(
            fault,
            ParamFault::NotAProbability { parameter: "false_positive_rate", .. }
        ));
    }
    for (window, rate) in [(0, 0.01), ((1 << 62) + 1, 0.01)] {
        let fault = fault(WindowParams::new(window, rate, 0.1));
        assert!(matches!(fault, ParamFault::OutOfRange { parameter: "window", .. }), "{window}");
    }
    assert!(matches!(
        fault(WindowParams::new(1 << 62, 0.01, 0.1)),
        ParamFault::BelowCollisions { .. }
    ));
    let ticks = |ticks, items| TimedParams::new(ticks, items, 0.01, 0.1).unwrap_err().parameter();
    assert_eq!((ticks(0, 1), ticks(1, 0)), ("ticks", "expected_items"));
}

#[test]
fn impossible_shapes_are_refused() {
    let shape = |window, generations, words, hashes| {
        fault(WindowParams::from_shape(window, generations, words, hashes))
    };
    let faults = [
        (shape(0, 1, 1, 1), "window"),
        (shape(1, 0, 1, 1), "generations"),
        (shape(1, 63, 1, 1), "generations"),
        (shape(1, 62, 0, 1), "words"),
        (shape(1, 62, (1 << 57) + 1, 1), "words"),
        (shape(1, 62, 1 << 57, 0), "hashes"),
        (shape(1, 62, 1 << 57, 256), "hashes"),
    ];
    for (fault, name) in faults {
        assert!(
            matches!(fault, ParamFault::OutOfRange { parameter, .. } if parameter == name),
            "{name}: {fault:?}"
        );
    }
    WindowParams::from_shape(1 << 62, 62, 1 << 57, 255).unwrap();
    TimedParams::from_shape(1 << 62, 63, 1 << 57, 255).unwrap();
    assert_eq!(TimedParams::from_shape(1, 64, 1, 1).unwrap_err().parameter(), "generations");
    let params = WindowParams::from_shape(1, 1, 1, 1).unwrap();
    assert!(params.with_promised_rate(Some(1.0)).is_err());
    assert_eq!(params.with_promised_rate(Some(0.5)).unwrap().promised_rate(), Some(0.5));
}
