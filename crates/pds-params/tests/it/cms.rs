//! Shapes of counting sketches, compared with an independent table, and parameters without a shape.

use core::mem::replace;
use core::time::Duration;

use pds_params::cms::{MAX_DEPTH, MAX_TRACKED};
use pds_params::internal::ParamFault;
use pds_params::{CountMinParams, CountSketchParams, HeavyHittersParams, ParamError};
use pds_testkit::ThreadTime;
use serde_json::Value;

#[test]
fn published_shapes_are_those_of_the_table() {
    let table: Value = serde_json::from_str(include_str!("../data/count_min_sizes.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 48);
    for row in rows {
        let (epsilon, delta) = (row[0].as_f64().unwrap(), row[1].as_f64().unwrap());
        let params = CountMinParams::new(epsilon, delta).unwrap();
        assert_eq!(params.width(), row[2].as_u64().unwrap(), "{row}");
        assert_eq!(u64::from(params.depth()), row[3].as_u64().unwrap(), "{row}");
        assert!(params.delta_at(epsilon) <= delta, "{row}");
    }
}

#[test]
fn the_least_memory_is_the_least() {
    for epsilon in [0.3, 0.1, 0.01, 0.003, 1e-5] {
        for delta in [0.9, 0.5, 0.1, 0.01, 1e-4, 1e-9] {
            let least = CountMinParams::least_memory(epsilon, delta).unwrap();
            assert!(least.delta_at(epsilon) <= delta);
            assert!(least.counters() <= CountMinParams::new(epsilon, delta).unwrap().counters());
            for depth in 1..=MAX_DEPTH {
                let Some(width) = (least.counters() - 1).checked_div(depth.into()) else {
                    continue;
                };
                if let Ok(smaller) = CountMinParams::from_width_and_depth(width, depth) {
                    let delta_at = smaller.delta_at(epsilon);
                    assert!(delta_at > delta, "{epsilon} {delta}: {smaller:?} has {delta_at}");
                }
            }
        }
    }
}

/// Widths for which a floating-point quotient gives one too few.
#[test]
fn rounding_loses_no_part_of_a_bound() {
    for (epsilon, delta) in [(1.0 / 49.0, 1.0 / 9.0), (1.0 / 187.0, 0.25), (1.0 / 161.0, 0.5)] {
        let least = CountMinParams::least_memory(epsilon, delta).unwrap();
        assert!(least.delta_at(epsilon) <= delta, "{least:?}");
    }
    for (epsilon, delta) in [(0.01, 0.25), (1.0 / 37.0, 0.1), (1.0 / 45.0, 0.25)] {
        let params = CountSketchParams::new(epsilon, delta).unwrap();
        assert!(params.delta_at(epsilon) <= delta, "{params:?}");
    }
}

#[test]
fn a_budget_is_used_as_well_as_it_can_be() {
    for (bytes, counter_bytes) in [(56, 4), (100, 1), (1 << 16, 4), (1 << 28, 8)] {
        let params = CountMinParams::for_memory(bytes, counter_bytes, 0.01).unwrap();
        assert!(params.size_in_bytes(counter_bytes) <= bytes);
        assert!(params.delta_at(params.epsilon()) <= 0.01 * (1.0 + 1e-12));
        // The least sketch for a slightly smaller error exceeds the budget.
        if params.epsilon() < 0.9 {
            let least = CountMinParams::least_memory(params.epsilon() * 0.97, 0.01).unwrap();
            assert!(least.size_in_bytes(counter_bytes) > bytes, "{params:?} {least:?}");
        }
    }
}

/// The computed delta is kept, and no depth with as many counters has a smaller one.
#[test]
fn the_least_delta_is_that_of_the_best_depth() {
    for (bytes, epsilon) in [(4_008, 0.001), (1 << 16, 0.001), (1 << 20, 1e-4), (1 << 28, 1e-7)] {
        let params = CountMinParams::least_delta(bytes, 4, epsilon).unwrap();
        assert!(params.size_in_bytes(4) <= bytes && params.delta() < 1.0, "{params:?}");
        assert_eq!(params.delta_at(epsilon), params.delta());
        for depth in 1..=MAX_DEPTH {
            let width = (bytes / 4 / u64::from(depth)).max(1);
            let other = CountMinParams::from_width_and_depth(width, depth).unwrap();
            assert!(other.delta_at(epsilon) >= params.delta(), "{other:?} {params:?}");
        }
    }
    for bytes in [0, 4, 4_007] {
        let error = CountMinParams::least_delta(bytes, 4, 0.001).unwrap_err();
        assert!(matches!(
            error,
            ParamError(ParamFault::OutOfRange { parameter: "bytes", min: 4_008, .. })
        ));
    }
    assert!(CountMinParams::least_delta(u64::MAX, 4, 1e-300).is_err());
}

#[test]
fn a_count_sketch_uses_its_memory_as_well_as_it_can() {
    for bytes in [1 << 11, 1 << 20, (1 << 30) + 7] {
        for delta in [0.3, 0.01, 1e-6] {
            let params = CountSketchParams::for_memory(bytes, delta).unwrap();
            assert!(params.size_in_bytes() <= bytes);
            assert!(params.delta_at(params.epsilon()) <= delta * (1.0 + 1e-9), "{params:?}");
            if params.epsilon() < 0.9 {
                let least = CountSketchParams::new(params.epsilon() * 0.97, delta).unwrap();
                assert!(least.size_in_bytes() > bytes, "{params:?} {least:?}");
            }
        }
    }
    for bytes in [0, 7, u64::MAX] {
        let error = CountSketchParams::for_memory(bytes, 0.01).unwrap_err();
        assert!(matches!(error, ParamError(ParamFault::OutOfRange { parameter: "bytes", .. })));
    }
}

#[test]
fn impossible_sketches_are_errors_that_name_the_parameter() {
    for bad in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        for error in [
            CountMinParams::new(bad, 0.1).unwrap_err(),
            CountMinParams::least_memory(bad, 0.1).unwrap_err(),
            CountSketchParams::new(bad, 0.1).unwrap_err(),
        ] {
            assert!(matches!(
                error,
                ParamError(ParamFault::NotAProbability { parameter: "epsilon", .. })
            ));
        }
        for error in [
            CountMinParams::new(0.1, bad).unwrap_err(),
            CountMinParams::least_memory(0.1, bad).unwrap_err(),
            CountMinParams::for_memory(100, 4, bad).unwrap_err(),
            CountSketchParams::new(0.1, bad).unwrap_err(),
        ] {
            assert!(matches!(
                error,
                ParamError(ParamFault::NotAProbability { parameter: "delta", .. })
            ));
        }
        let error = HeavyHittersParams::new(bad).unwrap_err();
        assert!(matches!(error, ParamError(ParamFault::NotAProbability { parameter: "phi", .. })));
    }
    let out_of_range = |result: Result<CountMinParams, ParamError>, name: &str| {
        assert!(
            matches!(result, Err(ParamError(ParamFault::OutOfRange { parameter, .. })) if parameter == name)
        );
    };
    out_of_range(CountMinParams::from_width_and_depth(0, 4), "width");
    out_of_range(CountMinParams::from_width_and_depth(u64::MAX, 4), "width");
    out_of_range(CountMinParams::from_width_and_depth(4, 0), "depth");
    out_of_range(CountMinParams::from_width_and_depth(4, MAX_DEPTH + 1), "depth");
    out_of_range(CountMinParams::for_memory(3, 4, 0.1), "bytes");
    out_of_range(CountMinParams::for_memory(3, 0, 0.1), "counter_bytes");
    let too_large = |result: Result<CountMinParams, ParamError>, name: &str| {
        assert!(
            matches!(result, Err(ParamError(ParamFault::TooLarge { parameter, .. })) if parameter == name)
        );
    };
    too_large(CountMinParams::new(1e-18, 0.1), "width");
    too_large(CountMinParams::new(0.1, 1e-300), "depth");
    too_large(CountMinParams::least_memory(1e-300, 0.1), "width");
}

#[test]
fn a_count_sketch_keeps_its_error_by_chebyshev() {
    for epsilon in [0.3, 0.1, 0.01] {
        for delta in [0.9, 0.1, 0.01, 1e-6] {
            let params = CountSketchParams::new(epsilon, delta).unwrap();
            assert!(params.delta_at(epsilon) <= delta, "{params:?}");
            assert_eq!((params.epsilon(), params.delta()), (epsilon, delta));
        }
    }
    let given = CountSketchParams::from_width_and_depth(300, 1).unwrap();
    assert!((given.epsilon() - 0.1).abs() < 1e-12 && (given.delta() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(given.standard_error_of_a_row(30_000.0), 10.0);
}

#[test]
fn as_many_keys_are_tracked_as_a_share_needs() {
    let capacity = |phi| HeavyHittersParams::new(phi).map(|params| params.capacity());
    assert_eq!((capacity(0.5), capacity(0.1), capacity(0.003)), (Ok(2), Ok(10), Ok(334)));
    // The double nearest to 1/49 is below it.
    assert_eq!(capacity(1.0 / 49.0), Ok(50));
    assert_eq!(HeavyHittersParams::with_error(0.01, 0.5).unwrap().capacity(), 100);
    assert!(matches!(
        capacity(1e-12),
        Err(ParamError(ParamFault::TooLarge { parameter: "capacity", .. }))
    ));
    let given = |capacity| HeavyHittersParams::with_capacity(0.1, capacity);
    assert!(given(10).is_ok() && given(MAX_TRACKED).is_ok());
    assert!(matches!(
        given(9),
        Err(ParamError(ParamFault::OutOfRange { parameter: "capacity", min: 10, .. }))
    ));
}

/// The capacity for a budget misses no key above its share, and is the capacity that this share requires.
#[test]
fn memory_tells_the_share_of_heavy_hitters() {
    for bytes in [144, 1_000, 49 * 72, 1 << 20, MAX_TRACKED * 72 + 95] {
        let params = HeavyHittersParams::for_memory(bytes).unwrap();
        assert!((bytes - 95..=bytes).contains(&params.memory_bytes()), "{params:?}");
        assert_eq!(HeavyHittersParams::new(params.phi()), Ok(params));
    }
    for bytes in [0, 143, MAX_TRACKED * 72 + 96] {
        let error = HeavyHittersParams::for_memory(bytes).unwrap_err();
        assert!(matches!(
            error,
            ParamError(ParamFault::OutOfRange { parameter: "bytes", min: 144, .. })
        ));
    }
}

#[test]
fn an_error_that_a_shape_does_not_keep_is_refused() {
    for params in [
        CountMinParams::new(0.01, 0.01).unwrap(),
        CountMinParams::least_memory(0.01, 0.3).unwrap(),
        CountMinParams::for_memory(1 << 16, 4, 1e-6).unwrap(),
        CountMinParams::from_width_and_depth(1, 1).unwrap(),
        CountMinParams::from_width_and_depth(1_000, MAX_DEPTH).unwrap(),
    ] {
        let (width, depth) = (params.width(), params.depth());
        let again = |epsilon, delta| CountMinParams::with_error(width, depth, epsilon, delta);
        assert_eq!(again(params.epsilon(), params.delta()), Ok(params));
        let refused = again(params.epsilon() / 3.0, params.delta());
        assert!(matches!(
            refused,
            Err(ParamError(ParamFault::TooLarge { parameter: "delta", .. }))
        ));
        assert!(again(f64::NAN, params.delta()).is_err() && again(-9.0, params.delta()).is_err());
        assert!(again(params.epsilon(), 1.0).is_err());
    }
    for params in [
        CountSketchParams::new(0.01, 0.01).unwrap(),
        CountSketchParams::from_width_and_depth(1, 1).unwrap(),
        CountSketchParams::from_width_and_depth(1_000, MAX_DEPTH).unwrap(),
    ] {
        let (width, depth) = (params.width(), params.depth());
        let again = |epsilon, delta| CountSketchParams::with_error(width, depth, epsilon, delta);
        assert_eq!(again(params.epsilon(), params.delta()), Ok(params));
        assert!(again(params.epsilon() / 3.0, params.delta()).is_err());
        assert!(again(f64::NAN, params.delta()).is_err() && again(-9.0, params.delta()).is_err());
    }
}

/// The error for a budget that is too small for any promise names the least sufficient one.
#[test]
fn case_44_a_budget_without_a_promise_is_an_error_that_names_the_least() {
    let least = |error| match error {
        ParamError(ParamFault::OutOfRange { parameter: "bytes", min, .. }) => min,
        other => panic!("{other}"),
    };
    for delta in [0.999, 0.5, 0.01, 1e-6, 1e-300, 5e-324] {
        for bytes in [1, 2, 4, 8] {
            let min = least(CountMinParams::for_memory(0, bytes, delta).unwrap_err());
            let params = CountMinParams::for_memory(min, bytes, delta).unwrap();
            assert!(params.epsilon() < 1.0 && params.size_in_bytes(1) < min + 8, "{params:?}");
            assert_eq!(least(CountMinParams::for_memory(min - 1, bytes, delta).unwrap_err()), min);
        }
        let min = least(CountSketchParams::for_memory(0, delta).unwrap_err());
        let params = CountSketchParams::for_memory(min, delta).unwrap();
        assert!(params.epsilon() < 1.0 && params.size_in_bytes() <= min, "{params:?}");
        assert_eq!(least(CountSketchParams::for_memory(min - 1, delta).unwrap_err()), min);
    }
    for epsilon in [0.999, 0.5, 0.01, 1e-6, 1e-12] {
        let min = least(CountMinParams::least_delta(0, 4, epsilon).unwrap_err());
        let params = CountMinParams::least_delta(min, 4, epsilon).unwrap();
        assert!(params.delta() < 1.0, "{params:?}");
        assert_eq!(least(CountMinParams::least_delta(min - 1, 4, epsilon).unwrap_err()), min);
    }
}

/// Counters are stored in whole words: three bytes hold no counter, and 23 bytes hold as many as 16.
#[test]
fn case_25_a_budget_is_kept_in_whole_words() {
    for counter_bytes in [1, 2, 4, 8] {
        for bytes in (8..200).chain(1_000_001..1_000_008) {
            for shape in [
                CountMinParams::for_memory(bytes, counter_bytes, 0.9),
                CountMinParams::least_delta(bytes, counter_bytes, 0.9),
            ] {
                let size = shape.ok().map(|shape| shape.size_in_bytes(counter_bytes));
                assert!(size.is_none_or(|size| size <= bytes), "{bytes} bytes: {size:?}");
            }
        }
    }
    for few in [2, 7] {
        let error = CountMinParams::for_memory(few, 1, 0.9).unwrap_err();
        let least = ParamError(ParamFault::OutOfRange {
            parameter: "bytes",
            value: few,
            min: 8,
            max: 1 << 60,
        });
        assert_eq!(error, least);
        assert_eq!(CountMinParams::least_delta(few, 1, 0.9), Err(least));
    }
}

/// Every method with every extreme number takes at most a tenth of a second. Bounds are probabilities, and shapes can
/// be stored and read again.
#[test]
fn case_47_absurd_parameters_are_answered_at_once() {
    let rates = [
        f64::NAN,
        f64::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        5e-324,
        1e-300,
        2f64.powi(-55),
        1e-9,
        0.5,
        1.0 - f64::EPSILON / 2.0,
        1.0,
        2.5,
        1e300,
        f64::INFINITY,
    ];
    let sizes = [0, 1, 2, 7, 8, 1 << 20, 1 << 31, (1 << 60) - 1, 1 << 60, 1 << 63, u64::MAX];
    // The clock is read once per hundred calls or more.
    let mut last = ThreadTime::now();
    let mut on_time = || {
        let taken = replace(&mut last, ThreadTime::now()).elapsed();
        assert!(taken < Duration::from_millis(1_500), "{taken:?}");
    };
    let is_probability = |rate: f64| rate > 0.0 && rate < 1.0;
    let count_min = |params: Result<CountMinParams, ParamError>| {
        let Ok(params) = params else { return };
        let (width, depth) = (params.width(), params.depth());
        let again = CountMinParams::with_error(width, depth, params.epsilon(), params.delta());
        assert_eq!(again, Ok(params));
        rates.iter().for_each(|&at| assert!((0.0..=1.0).contains(&params.delta_at(at)), "{at}"));
        assert!(params.delta_at(-1.0) == 1.0 && params.delta_at(f64::NAN) == 1.0);
        sizes.iter().for_each(|&bytes| assert!(params.size_in_bytes(bytes) >= bytes.min(8)));
    };
    for a in rates {
        on_time();
        for b in rates {
            for params in [CountMinParams::new(a, b), CountMinParams::least_memory(a, b)] {
                assert!(params.is_err() || is_probability(a) && is_probability(b), "{a} {b}");
                count_min(params);
            }
            for (width, depth) in [(1, 1), (1 << 54, 64), (u64::MAX, 1), (0, 0)] {
                count_min(CountMinParams::with_error(width, depth, a, b));
            }
        }
        for bytes in sizes {
            for counter_bytes in [0, 1, 8, 9, u64::MAX] {
                count_min(CountMinParams::for_memory(bytes, counter_bytes, a));
                count_min(CountMinParams::least_delta(bytes, counter_bytes, a));
            }
            for depth in [0, 1, 2, 64, 65, u32::MAX] {
                count_min(CountMinParams::from_width_and_depth(bytes, depth));
            }
        }
    }
    let count_sketch = |params: Result<CountSketchParams, ParamError>| {
        let Ok(params) = params else { return };
        let (width, depth) = (params.width(), params.depth());
        let again = CountSketchParams::with_error(width, depth, params.epsilon(), params.delta());
        assert_eq!(again, Ok(params));
        rates.iter().for_each(|&at| assert!((0.0..=1.0).contains(&params.delta_at(at)), "{at}"));
        assert!(params.delta_at(-1.0) == 1.0 && params.delta_at(f64::NAN) == 1.0);
    };
    for a in rates {
        on_time();
        for b in rates {
            let params = CountSketchParams::new(a, b);
            assert!(params.is_err() || is_probability(a) && is_probability(b), "{a} {b}");
            count_sketch(params);
            count_sketch(CountSketchParams::with_error(3, 3, a, b));
        }
        for bytes in sizes {
            count_sketch(CountSketchParams::for_memory(bytes, a));
            for depth in [0, 1, 2, 64, 65] {
                count_sketch(CountSketchParams::from_width_and_depth(bytes, depth));
            }
        }
    }
    for phi in rates {
        on_time();
        for epsilon in rates {
            if let Ok(params) = HeavyHittersParams::with_error(phi, epsilon) {
                assert!(is_probability(phi) && is_probability(epsilon));
                let again = HeavyHittersParams::with_capacity(phi, params.capacity());
                assert_eq!(again, Ok(params));
            }
        }
        for size in sizes {
            let _ = (
                HeavyHittersParams::with_capacity(phi, size),
                HeavyHittersParams::for_memory(size),
            );
        }
    }
    on_time();
}

/// If two parameters are wrong, the error names the first.
#[test]
fn an_epsilon_that_is_no_number_is_named() {
    let nan = f64::NAN;
    let errors = [
        CountMinParams::new(nan, nan).unwrap_err(),
        CountMinParams::least_memory(nan, nan).unwrap_err(),
        CountMinParams::with_error(10, 3, nan, nan).unwrap_err(),
        CountMinParams::with_error(10, 3, nan, 0.1).unwrap_err(),
        CountMinParams::least_delta(1_000, 4, nan).unwrap_err(),
        CountSketchParams::new(nan, nan).unwrap_err(),
        CountSketchParams::with_error(10, 3, nan, nan).unwrap_err(),
        CountSketchParams::with_error(10, 3, nan, 0.1).unwrap_err(),
        HeavyHittersParams::with_error(0.1, nan).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "epsilon is NaN, but must be above 0 and below 1");
    }
}
