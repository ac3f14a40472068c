//! Text output of the types, and the parameters that errors name.

use pds_params::bloom::{Overlap, information_bound, instance_rate_relative_spread, union_rate};
use pds_params::internal::ParamFault;
use pds_params::{BloomParams, Estimate, ParamError};

#[test]
fn a_shape_without_a_design_promises_nothing() {
    let params = BloomParams::from_bits_and_hashes(65, 3).unwrap();
    assert_eq!((params.num_bits(), params.num_hashes(), params.size_in_bytes()), (65, 3, 16));
    assert_eq!(params.expected_items(), None);
    assert_eq!(params.promised_rate(), None);
    assert_eq!(params.bits_per_item(), None);
}

#[test]
fn a_design_is_kept_as_it_was_given() {
    let params = BloomParams::for_double_hashing(1_000, 0.02).unwrap();
    assert_eq!(params.expected_items(), Some(1_000));
    assert_eq!(params.promised_rate(), Some(0.02));
    assert_eq!(params.bits_per_item(), Some(params.num_bits() as f64 / 1_000.0));
    assert_eq!(params.size_in_bytes(), params.num_bits().div_ceil(64) * 8);
}

#[test]
fn the_greatest_shape_is_accepted() {
    let (bits, hashes) = (BloomParams::MAX_BITS, BloomParams::MAX_HASHES);
    let params = BloomParams::from_bits_and_hashes(bits, hashes).unwrap();
    assert_eq!(params.size_in_bytes(), 1 << 60);
}

#[test]
fn predictions_of_the_fill_have_the_law_of_occupancy() {
    // One item of two positions in two bits sets both, or one, with probability one half each.
    let params = BloomParams::from_bits_and_hashes(2, 2).unwrap();
    let set_bits = params.set_bits_at(1);
    assert!((set_bits.value - 1.5).abs() < 1e-15 && (set_bits.standard_error - 0.5).abs() < 1e-15);
    assert!((params.fill_at(1) - 0.75).abs() < 1e-15);
    assert!((params.rate_at(1) - 5.0 / 8.0).abs() < 1e-15);
}

#[test]
fn the_spread_at_half_fill_is_the_rule_of_thumb() {
    let spread = instance_rate_relative_spread(1 << 30, (1 << 30) / 10 * 693 / 700, 7);
    let rule = 0.554 * 7.0 / f64::from(1 << 15);
    assert!((spread / rule - 1.0).abs() < 0.02, "{spread} for {rule}");
}

#[test]
fn the_information_bound_is_one_bit_for_each_halving() {
    assert_eq!(information_bound(1_000, 1.0 / 1_024.0), 10_000.0);
    assert_eq!(information_bound(1_000, 1.0), 0.0);
    assert_eq!(information_bound(0, 0.0), 0.0);
    assert_eq!(information_bound(1, 0.0), f64::INFINITY);
}

#[test]
fn an_overlap_is_at_most_the_smaller_set() {
    let rate = |common| union_rate(10_000, 5, Overlap { left: 700, right: 300, common });
    assert_eq!(rate(u64::MAX), rate(300));
    assert!(rate(299) > rate(300) && rate(0) > rate(299));
}

#[test]
fn estimates_are_shown_with_the_precision_asked_for() {
    let estimate = Estimate { value: 123.44, standard_error: 5.55 };
    assert_eq!(estimate.to_string(), "123.4 ± 5.5");
    assert_eq!(format!("{estimate:.0}"), "123 ± 6");
    let unknown = Estimate { value: f64::INFINITY, standard_error: f64::INFINITY };
    assert_eq!(unknown.to_string(), "inf ± inf");
}

#[test]
fn errors_are_shown_for_people() {
    let too_large = BloomParams::new(1_000_000_000_000_000_000, 0.01).unwrap_err().to_string();
    assert!(too_large.starts_with("bits would have to be 9.593e"), "{too_large}");
    assert!(too_large.ends_with("e18, but must be at most 9.223e18"), "{too_large}");
    let collisions = BloomParams::for_double_hashing(1 << 40, 1e-9).unwrap_err().to_string();
    assert_eq!(
        collisions,
        "false_positive_rate is 1e-9, but must be above 5.960464477539063e-8, \
         the collision rate of 64-bit hashes for so many items"
    );
    let missing = ParamError(ParamFault::Missing { parameter: "expected_items" }).to_string();
    assert_eq!(
        missing,
        "expected_items is missing and cannot be derived from the other parameters"
    );
    let conflict = ParamError(ParamFault::Conflict { parameter: "bits" }).to_string();
    assert_eq!(conflict, "bits is given, but the other parameters already determine it");
}
