//! Numbers from textbooks and articles, right or wrong, each with the correct value.
//!
//! `docs/accuracy.md` explains them.

use pds_params::hll::CardinalityEstimator::Improved;
use pds_params::{BloomParams, CuckooParams, HllParams, bloom, counting};

fn percent(rate: f64) -> String {
    format!("{:.1} %", 100.0 * rate)
}

/// "10 bits an address give 0.1 %": they give 0.82 %. A rate of 0.1 % requires 14.4 bits.
#[test]
fn ten_bits_an_address() {
    let ten = BloomParams::from_bits_and_items(10_000_000, 1_000_000).unwrap();
    assert_eq!(
        (ten.num_hashes(), format!("{:.4}", ten.rate_at(1_000_000)).as_str()),
        (7, "0.0082")
    );
    let bits = BloomParams::new(1_000_000, 0.001).unwrap().bits_per_item().unwrap();
    assert_eq!(format!("{bits:.2}"), "14.38");
}

/// "10^9 addresses at 0.1 % take 1.2 GB": they take 1.80 GB. 1.2 GB is the size for 1 %.
#[test]
fn a_billion_addresses() {
    let gigabytes = |rate| {
        let params = BloomParams::new(1_000_000_000, rate).unwrap();
        format!("{:.2}", params.size_in_bytes() as f64 / 1e9)
    };
    assert_eq!(gigabytes(0.001), "1.80");
    assert_eq!(gigabytes(0.01), "1.20");
}

/// "10^10 addresses at 0.1 % take 18 GB": right, in decimal gigabytes.
#[test]
fn ten_billion_addresses() {
    let params = BloomParams::new(10_000_000_000, 0.001).unwrap();
    assert_eq!(params.num_bits(), 143_776_393_389);
    assert_eq!(format!("{:.2}", params.size_in_bytes() as f64 / 1e9), "17.97");
}

/// "-n ln p / (ln 2)² bits keep the rate": not with a whole number of hashes.
#[test]
fn the_textbook_size_misses_its_target() {
    let textbook = BloomParams::from_bits_and_items(9_585_059, 1_000_000).unwrap();
    assert_eq!(format!("{:.4} %", 100.0 * textbook.rate_at(1_000_000)), "1.0039 %");
    assert_eq!(BloomParams::new(1_000_000, 0.01).unwrap().num_bits() - 9_585_059, 7_898);
}

/// "At 1.5, 2 and 3 times its load a 1 % filter errs in 5, 14 and 37 %": it depends on the design.
#[test]
fn overfilled_filters() {
    let rates = |bits: u64, hashes| {
        let params = BloomParams::from_bits_and_hashes(bits, hashes).unwrap();
        [1_500_000, 2_000_000, 3_000_000].map(|items| percent(params.rate_at(items)))
    };
    assert_eq!(rates(9_585_059, 7), ["5.8 %", "15.7 %", "43.6 %"]);
    assert_eq!(rates(9_592_957, 7), ["5.8 %", "15.7 %", "43.5 %"], "ours of the least size");
    assert_eq!(rates(9_585_059, 6), ["5.1 %", "13.3 %", "36.9 %"]);
    assert_eq!(rates(10_000_000, 7), ["4.9 %", "13.8 %", "40.1 %"]);
}

/// "A cuckoo filter beats Bloom below 3 %": only with semi-sorted buckets, which this filter does not have. Its limit
/// is 0.37 % at a load of 0.95, apart from the steps of whole fingerprints.
#[test]
fn cuckoo_against_bloom() {
    let bits = |rate| {
        let cuckoo = CuckooParams::new(10_000_000, rate).unwrap().bits_per_item().unwrap();
        let bloom = BloomParams::new(10_000_000, rate).unwrap().bits_per_item().unwrap();
        (cuckoo, bloom)
    };
    for (rate, cuckoo_wins) in
        [(0.03, false), (0.01, false), (0.005, false), (0.002, true), (0.0005, true), (1e-5, true)]
    {
        let (cuckoo, bloom) = bits(rate);
        assert_eq!(cuckoo < bloom, cuckoo_wins, "{rate}: {cuckoo} and {bloom}");
    }
}

/// "1.5 KB count billions with an error of 2 %": 2.3 %, one standard error.
#[test]
fn hyperloglog_in_a_kilobyte_and_a_half() {
    let params = HllParams::new(11).unwrap();
    assert_eq!(
        (params.packed_bytes(), percent(params.standard_error(Improved))),
        (1_536, "2.3 %".into())
    );
    let twelve = HllParams::new(14).unwrap();
    assert_eq!(twelve.packed_bytes(), 12_288);
    assert_eq!(format!("{:.2} %", 100.0 * twelve.standard_error(Improved)), "0.81 %");
}

/// "Counters of four bits never overflow": rarely, for distinct keys near the design load.
#[test]
fn four_bit_counters() {
    let overflow = |load| counting::overflow_probability(load * core::f64::consts::LN_2, 16);
    let close = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.01;
    assert!(close(overflow(1.0), 7.07e-17) && close(overflow(2.0), 2.4e-12));
    assert!(close(overflow(3.0), 8.3e-10));
    // 10^8 counters at three times the load: one filter in twelve has a saturated counter.
    let any = counting::any_overflow_probability(100_000_000, 3.0 * core::f64::consts::LN_2, 16);
    assert_eq!(percent(any), "8.0 %");
}

/// "(1 - (1 - 1/m)^(kn))^k is the rate": it is a lower bound, and far too low for small filters. The exact value for 15
/// bits was computed independently, in fractions, from the distribution of the number of set bits.
#[test]
fn the_three_formulas_differ_in_small_filters() {
    let rates = |bits, items, hashes, digits| {
        let asymptotic = bloom::rate_asymptotic(bits, items, hashes);
        let finite = bloom::rate_finite(bits, items, hashes);
        let exact = bloom::rate_exact(bits, items, hashes);
        [asymptotic, finite, exact].map(|rate| format!("{:.digits$} %", 100.0 * rate))
    };
    assert_eq!(rates(15, 1, 10, 4), ["0.0744 %", "0.0946 %", "0.1990 %"]);
    assert_eq!(rates(9_592_957, 1_000_000, 7, 7), ["0.9999989 %", "0.9999991 %", "0.9999998 %"]);
}
