//! Errors say what was wrong, which value, what is allowed.

use pds_core::{AllocError, BuildError, DefaultHashBuilder, Incompatible, SipHashBuilder};

#[test]
fn differing_shapes_are_named() {
    assert_eq!(Incompatible::check_shape("number of bits", 8, 8), Ok(()));
    let error = Incompatible::check_shape("number of bits", 8, 9).unwrap_err();
    assert_eq!(error.to_string(), "the number of bits differs: 8 here, 9 in the other");
}

#[test]
fn differing_hashers_are_found_by_a_probe() {
    let (a, b) = (DefaultHashBuilder::default(), DefaultHashBuilder::with_seed(5));
    assert_eq!(Incompatible::check_hasher(&a, &a), Ok(()));
    let error = Incompatible::check_hasher(&a, &b).unwrap_err();
    assert!(error.to_string().starts_with("the hasher or its seed differs"), "{error}");
    let (a, b) = (SipHashBuilder::from_key([0; 16]), SipHashBuilder::from_key([1; 16]));
    assert!(Incompatible::check_hasher(&a, &b).is_err());
}

#[test]
fn build_errors_show_their_cause() {
    let error = BuildError::from(AllocError { bytes: 800 });
    assert_eq!(error.to_string(), "memory of 800 bytes was refused");
}
