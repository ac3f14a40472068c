//! Memory: bytes that lie allocate a constant, and refused memory changes nothing.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};
use quotient::error::BuildError;
use quotient::{QuotientFilter, QuotientFilterView};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<QuotientFilter>(bytes);
    assert!(QuotientFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<QuotientFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let builder = QuotientFilter::builder().slots(8).remainder_bits(6);
    let one = builder.build().unwrap().to_bytes();
    for slots in [1 << 16, 1 << 24, 1 << 32, 1 << 48, 1 << 60] {
        let bytes = envelope::claiming(&one, slots, slots / 64 * (17 + 48));
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&bytes));
        assert!(peak < CONSTANT, "{slots} slots claimed: {peak} bytes");
    }
    // More than any machine has.
    let huge = QuotientFilter::builder().slots(1 << 48).remainder_bits(15).build();
    assert!(matches!(huge, Err(BuildError::Alloc(_))));
}
