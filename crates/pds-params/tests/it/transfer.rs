//! Sizing of filters that are sent compressed, against the published figures and a search of all shapes.

use pds_params::BloomParams;

fn bits_per_item(params: &BloomParams) -> f64 {
    params.bits_per_item().unwrap()
}

#[test]
fn the_published_table_is_reached() {
    // Mitzenmacher 2002, table I: bits per key in memory, hashes, bits per key sent, rate.
    let table = [
        (8.0, 6, 8.0, 0.0216),
        (14.0, 2, 7.923, 0.0177),
        (92.0, 1, 7.923, 0.0108),
        (16.0, 11, 16.0, 4.59e-4),
        (28.0, 4, 15.846, 3.14e-4),
        (48.0, 3, 15.829, 2.22e-4),
    ];
    let items = 1_000_000;
    for (memory, hashes, sent, rate) in table {
        let bits = |per_item: f64| format!("{:.0}", per_item * items as f64).parse().unwrap();
        let given = BloomParams::from_bits_and_hashes(bits(memory), hashes).unwrap();
        // The table takes a half-full filter as incompressible, which is 0.2 % off for a whole number of hashes.
        assert!((given.entropy_at(items) / items as f64 / sent - 1.0).abs() < 0.003, "{memory}");
        assert!((given.rate_at(items) / rate - 1.0).abs() < 0.01, "{memory}");
        let found = BloomParams::for_transfer(items, bits(sent), bits(memory)).unwrap();
        assert_eq!(found.num_hashes(), hashes, "{memory}");
        assert!((bits_per_item(&found) / memory - 1.0).abs() < 0.001, "{memory}");
        assert!((found.promised_rate().unwrap() / rate - 1.0).abs() < 0.01, "{memory}");
    }
}

#[test]
fn the_table_of_the_documentation_is_right() {
    let items = 1_000_000;
    for (memory, hashes, percent) in
        [(8.0, 6, "2.16"), (9.5, 3, "1.99"), (14.3, 2, "1.70"), (96.9, 1, "1.03")]
    {
        // As much memory as is sent, or a little more than the table says, which is rounded.
        let slack = if hashes == 6 { 0.0 } else { 0.05 };
        let most = format!("{:.0}", (memory + slack) * items as f64).parse().unwrap();
        let params = BloomParams::for_transfer(items, 8 * items, most).unwrap();
        assert_eq!(params.num_hashes(), hashes, "{memory}");
        assert!((bits_per_item(&params) - memory).abs() <= 0.05, "{memory}");
        let found = format!("{:.2}", 100.0 * params.promised_rate().unwrap());
        assert_eq!(found, percent, "{memory}");
    }
}

/// A filter that answers `true` to every key is an error, not an answer.
#[test]
fn too_few_bits_for_any_promise_are_an_error() {
    let all = [(u64::MAX, 1, 1_000), (1_000_000, 1, 1_000), (1_000_000, 100, 1_000)];
    // As many bits sent as in memory.
    for (items, sent, memory) in all.into_iter().chain([(1, 1, 1), (5, 1, 1), (1_000, 8, 8)]) {
        let error = BloomParams::for_transfer(items, sent, memory).unwrap_err();
        assert_eq!(error.to_string(), "promised_rate is 1.0, but must be above 0 and below 1");
    }
    assert!(BloomParams::for_transfer(1_000, 100, 1_000).unwrap().promised_rate() < Some(1.0));
}

#[test]
fn no_shape_within_both_limits_has_a_lower_rate() {
    for items in [1, 7, 100] {
        for (sent, memory) in [(1, 1), (3, 40), (8, 14), (8, 30), (8, 8), (12, 9), (20, 64)] {
            let (sent, memory) = (sent * items, memory * items);
            // A filter of one bit has no rate.
            if memory == 1 {
                continue;
            }
            let found = BloomParams::for_transfer(items, sent, memory).unwrap();
            assert!(found.num_bits() <= memory);
            assert!(sent >= memory || found.entropy_at(items) <= sent as f64);
            let shapes = (1..=memory).flat_map(|bits| (1..=40).map(move |hashes| (bits, hashes)));
            let allowed = shapes
                .map(|(bits, hashes)| BloomParams::from_bits_and_hashes(bits, hashes).unwrap())
                // Filters that are more than half full are short in code, and of no use.
                .filter(|shape| {
                    shape.entropy_at(items) <= sent as f64 && shape.fill_at(items) <= 0.5
                });
            let least = allowed.map(|shape| shape.rate_at(items)).fold(1.0, f64::min);
            let rate = found.rate_at(items);
            assert!(rate <= least * (1.0 + 1e-9), "{items} {sent} {memory}: {rate}, not {least}");
        }
    }
}

#[test]
fn memory_buys_a_lower_rate_up_to_the_golomb_coded_set() {
    let items = 1_000_000;
    let rate = |memory: u64| {
        BloomParams::for_transfer(items, 10 * items, memory * items).unwrap().promised_rate()
    };
    let rates: Vec<_> = [10, 12, 14, 20, 30, 100, 400, 1_000_000].map(rate).to_vec();
    assert!(rates.is_sorted_by(|left, right| left >= right), "{rates:?}");
    // The limit: log2 e bits per key above log2(1/p).
    let limit = 2_f64.powf(-10.0 + core::f64::consts::LOG2_E);
    assert!((rates[7].unwrap() / limit - 1.0).abs() < 0.015, "{rates:?}");
}

#[test]
fn impossible_numbers_are_refused() {
    let refused = |items, sent, memory| {
        BloomParams::for_transfer(items, sent, memory).unwrap_err().parameter()
    };
    assert_eq!(refused(0, 8, 8), "expected_items");
    assert_eq!(refused(1, 0, 8), "sent_bits");
    assert_eq!(refused(1, (1 << 63) + 1, 8), "sent_bits");
    assert_eq!(refused(1, 8, 0), "bits");
    assert_eq!(refused(1, 8, u64::MAX), "bits");
    assert_eq!(refused(u64::MAX, 1, 1 << 63), "promised_rate");
    // The greatest numbers have an answer.
    assert!(BloomParams::for_transfer(1 << 60, 1 << 62, 1 << 63).is_ok());
    let empty = BloomParams::from_bits_and_hashes(100, 3).unwrap().entropy_at(0);
    assert!(empty.abs() < f64::EPSILON);
    assert!(BloomParams::from_bits_and_hashes(1, 3).unwrap().entropy_at(5) < f64::EPSILON);
}
