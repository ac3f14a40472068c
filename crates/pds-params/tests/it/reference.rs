//! Every formula, compared with tables that another program computed in 30 to 60 digits.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of set bits")]

use pds_params::BloomParams;
use pds_params::bloom::{
    Overlap, SetBits, cardinality, expected_set_bits, intersection_cardinality, intersection_rate,
    overfill_rate, rate_asymptotic, rate_exact, rate_finite, set_bits_standard_deviation,
    union_rate,
};
use serde_json::Value;

/// One row of a table, by column name.
struct Row(Vec<(String, Value)>);

impl Row {
    fn get(&self, column: &str) -> &Value {
        &self.0.iter().find(|(name, _)| name == column).expect("a column of the table").1
    }

    fn int(&self, column: &str) -> u64 {
        self.get(column).as_u64().expect("an integer")
    }

    fn hashes(&self) -> u32 {
        u32::try_from(self.int("hashes")).expect("a number of hashes")
    }

    fn real(&self, column: &str) -> f64 {
        self.get(column).as_f64().expect("a number")
    }

    /// Returns a fraction whose parts may exceed 64 bits.
    fn decimal(&self, column: &str) -> f64 {
        self.get(column).as_str().and_then(|digits| digits.parse().ok()).expect("digits")
    }

    /// Asserts that `actual` equals the column's number, with a relative error of at most 10^-11.
    #[track_caller]
    fn assert_close(&self, column: &str, actual: f64) {
        let expected = self.real(column);
        let error = (actual - expected).abs();
        assert!(error <= 1e-11 * expected.abs(), "{column}: {actual} in {:?}", self.0);
    }
}

/// Parses a table and checks its number of rows.
fn table(text: &str, len: usize) -> Vec<Row> {
    let table: Value = serde_json::from_str(text).expect("a JSON table");
    let columns = table["columns"].as_array().expect("columns");
    let name = |column: &Value| column.as_str().expect("a name").to_owned();
    let row = |values: &Value| {
        let values = values.as_array().expect("a row");
        Row(columns.iter().map(name).zip(values.iter().cloned()).collect())
    };
    let rows: Vec<_> = table["rows"].as_array().expect("rows").iter().map(row).collect();
    assert_eq!(rows.len(), len);
    rows
}

#[test]
fn the_three_rates_and_the_law_of_the_fill() {
    for row in table(include_str!("../data/rates.json"), 215) {
        let (bits, items, hashes) = (row.int("bits"), row.int("items"), row.hashes());
        row.assert_close("asymptotic", rate_asymptotic(bits, items, hashes));
        row.assert_close("finite", rate_finite(bits, items, hashes));
        row.assert_close("exact", rate_exact(bits, items, hashes));
        row.assert_close("set_bits", expected_set_bits(bits, items, hashes));
        row.assert_close("set_bits_sd", set_bits_standard_deviation(bits, items, hashes));
    }
}

#[test]
fn exact_rates_of_tiny_filters_are_the_fractions() {
    for row in table(include_str!("../data/rates_rational.json"), 9) {
        let rate = rate_exact(row.int("bits"), row.int("items"), row.hashes());
        let fraction = row.decimal("numerator") / row.decimal("denominator");
        assert!((rate / fraction - 1.0).abs() < 1e-14, "{rate} in {:?}", row.0);
    }
}

#[test]
fn exact_rates_at_the_edges_of_each_evaluation() {
    for row in table(include_str!("../data/rates_extreme.json"), 119) {
        row.assert_close("exact", rate_exact(row.int("bits"), row.int("items"), row.hashes()));
    }
}

#[test]
fn sizes_are_the_least_to_the_bit() {
    for row in table(include_str!("../data/sizes.json"), 149) {
        let (items, rate) = (row.int("items"), row.real("rate"));
        let params = BloomParams::new(items, rate).unwrap();
        assert_eq!(
            (params.num_bits(), params.num_hashes()),
            (row.int("bits"), row.hashes()),
            "{items} items at {rate}"
        );
        row.assert_close("exact", params.rate_at(items));
    }
}

#[test]
fn sizes_beyond_2_to_the_40_are_never_too_small() {
    for row in table(include_str!("../data/sizes_large.json"), 20) {
        let (items, rate, least) = (row.int("items"), row.real("rate"), row.int("bits"));
        let bits = BloomParams::new(items, rate).unwrap().num_bits();
        assert!(bits >= least, "{bits} bits in {:?}", row.0);
        assert!((bits - least) as f64 <= 1e-12 * least as f64 + 1.0, "{bits} bits in {:?}", row.0);
    }
}

#[test]
fn best_hashes_for_given_bits() {
    for row in table(include_str!("../data/sizes.json"), 149) {
        let items = row.int("items");
        let params = BloomParams::from_bits_and_items(row.int("usual_bits"), items).unwrap();
        assert_eq!(u64::from(params.num_hashes()), row.int("usual_hashes"), "{:?}", row.0);
        row.assert_close("usual_exact", params.promised_rate().unwrap());
    }
}

#[test]
fn rates_beyond_the_design() {
    for row in table(include_str!("../data/overfill.json"), 99) {
        let rate = overfill_rate(row.real("bits_per_item"), row.hashes(), row.real("load"));
        row.assert_close("rate", rate);
    }
}

#[test]
fn rates_of_unions_and_intersections() {
    for row in table(include_str!("../data/set_rates.json"), 24) {
        let [left, right, common] = ["left", "right", "common"].map(|column| row.int(column));
        let (bits, sets) = (row.int("bits"), Overlap { left, right, common });
        row.assert_close("union", union_rate(bits, row.hashes(), sets));
        row.assert_close("intersection", intersection_rate(bits, row.hashes(), sets));
    }
}

#[test]
fn cardinalities_with_their_errors() {
    for row in table(include_str!("../data/cardinalities.json"), 36) {
        let items = cardinality(row.int("bits"), row.hashes(), row.int("set_bits"));
        row.assert_close("items", items.value);
        row.assert_close("standard_error", items.standard_error);
    }
}

#[test]
fn the_error_of_an_intersection_is_the_simulated_one() {
    for row in table(include_str!("../data/intersections.json"), 11) {
        let (bits, hashes) = (row.int("bits"), row.hashes());
        let [left, right, common] =
            ["only_left", "only_right", "common"].map(|column| row.int(column));
        let ones = |items| expected_set_bits(bits, items, hashes).round() as u64;
        let items = intersection_cardinality(
            bits,
            hashes,
            SetBits {
                left: ones(left + common),
                right: ones(right + common),
                union: ones(left + right + common),
            },
        );
        // Rounding the counts changes the estimate by about one item.
        assert!((items.value - common as f64).abs() < 1.0, "{items} in {:?}", row.0);
        // The relative standard error of a simulated deviation is 1/√(2 trials).
        let ratio = items.standard_error / row.real("sd");
        let z = (ratio - 1.0) * (2.0 * row.real("trials")).sqrt();
        assert!(z.abs() < 4.0, "ratio {ratio}, z {z} in {:?}", row.0);
    }
}
