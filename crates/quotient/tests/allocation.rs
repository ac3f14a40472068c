//! Memory: bytes that lie allocate a constant, and refused memory changes nothing.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use pds_core::hash::finalize;
use pds_testkit::allocation::{CONSTANT, Cap, PeakAlloc, peak_of, refusals_of, with_at_most};
use pds_testkit::{envelope, portable};
use quotient::error::{AllocError, BuildError, InsertError, MergeError};
use quotient::{
    CountingQuotientFilter, CountingQuotientFilterView, QuotientFilter, QuotientFilterView,
    QuotientMap, QuotientMapView,
};

#[global_allocator]
static ALLOCATOR: Cap<PeakAlloc> = Cap::new(PeakAlloc, usize::MAX);

/// Refuses bytes as a type, and as a view of it.
macro_rules! refuse {
    ($filter:ty, $view:ident, $bytes:expr) => {
        portable::refuse::<$filter>($bytes);
        assert!($view::open($bytes).is_err());
        #[cfg(feature = "serde")]
        pds_testkit::format::refuse_claims::<$filter>($bytes);
    };
}

#[test]
fn memory_is_neither_taken_for_lies_nor_needed_to_stay_whole() {
    case_17_a_claim_allocates_nothing();
    refused_memory_changes_nothing();
}

fn case_17_a_claim_allocates_nothing() {
    let plain = QuotientFilter::builder().slots(8).remainder_bits(6).build().unwrap();
    let counting = CountingQuotientFilter::builder().slots(8).remainder_bits(5).build().unwrap();
    let map = QuotientMap::builder(4).slots(8).remainder_bits(2).build().unwrap();
    let (plain, counting, map) = (plain.to_bytes(), counting.to_bytes(), map.to_bytes());
    for slots in [1 << 16, 1 << 24, 1 << 32, 1 << 48, 1 << 60] {
        let claims = |one: &[u8]| envelope::claiming(one, slots, slots / 64 * (17 + 48));
        let (plain, counting, map) = (claims(&plain), claims(&counting), claims(&map));
        let ((), peak) = peak_of(&PeakAlloc, || {
            refuse!(QuotientFilter, QuotientFilterView, &plain);
            refuse!(CountingQuotientFilter, CountingQuotientFilterView, &counting);
            refuse!(QuotientMap, QuotientMapView, &map);
        });
        assert!(peak < CONSTANT, "{slots} slots claimed: {peak} bytes");
    }
    // More than any machine has.
    let huge = QuotientFilter::builder().slots(1 << 48).remainder_bits(15).build();
    assert!(matches!(huge, Err(BuildError::Alloc(_))));
}

fn of_insert(error: &InsertError) -> bool {
    matches!(error, InsertError::Alloc(_))
}

fn of_merge(error: &MergeError) -> bool {
    matches!(error, MergeError::Insert(InsertError::Alloc(_)))
}

fn of_build(error: &BuildError) -> bool {
    matches!(error, BuildError::Alloc(_))
}

/// Growth, shrinking, merging, and runs that overflow the last slot.
fn refused_memory_changes_nothing() {
    let refused = with_at_most(&ALLOCATOR, 100, || QuotientFilter::new(1_000, 0.01));
    assert!(matches!(refused, Err(BuildError::Alloc(_))));

    // All 64 slots of the one block are there. Any run that goes beyond needs another one.
    macro_rules! each {
        ($empty:expr, $insert:expr) => {{
            let (insert, none) = ($insert, $empty);
            let mut filter = $empty;
            (0..50).for_each(|key| insert(&mut filter, finalize(key)).unwrap());
            let refusals = [
                refusals_of(&ALLOCATOR, &filter, |f| f.grow(), of_build),
                refusals_of(&ALLOCATOR, &filter, |f| f.merge(&none), of_merge),
                refusals_of(
                    &ALLOCATOR,
                    &filter,
                    |f| f.try_clone().map(drop),
                    |_: &AllocError| true,
                ),
            ];
            assert!(refusals[0] > 1 && refusals[1] == 0 && refusals[2] > 1, "{refusals:?}");
            let mut few = $empty;
            insert(&mut few, 7).unwrap();
            insert(&mut few, u64::MAX).unwrap();
            assert!(refusals_of(&ALLOCATOR, &few, |f| f.merge(&few), of_merge) > 1);
            assert!(
                refusals_of(&ALLOCATOR, &few, |f| f.shrink_to_fit(), |_: &AllocError| true) > 1
            );
            assert!(refusals_of(&ALLOCATOR, &few, |f| insert(f, u64::MAX), of_insert) > 1);
        }};
    }
    each!(
        QuotientFilter::builder().slots(64).remainder_bits(9).build().unwrap(),
        |filter: &mut QuotientFilter, hash| filter.insert_hash(hash)
    );
    each!(
        QuotientMap::builder(5).slots(64).remainder_bits(9).build().unwrap(),
        |map: &mut QuotientMap, hash| map.insert_hash(hash, 3)
    );
    each!(
        CountingQuotientFilter::builder().slots(64).remainder_bits(9).build().unwrap(),
        |filter: &mut CountingQuotientFilter, hash| filter.insert_hash(hash)
    );

    // Some of the digits find a slot, and go again when the next one finds none.
    let mut counting =
        CountingQuotientFilter::builder().slots(64).remainder_bits(2).build().unwrap();
    counting.insert_hash(u64::MAX - (1 << 60)).unwrap();
    counting.insert_hash(7).unwrap();
    let many = |f: &mut CountingQuotientFilter| f.insert_many_hash(u64::MAX - (1 << 60), 1 << 40);
    assert!(refusals_of(&ALLOCATOR, &counting, many, of_insert) > 1);
    let new = |f: &mut CountingQuotientFilter| f.insert_many_hash(u64::MAX - (1 << 59), 1 << 40);
    assert!(refusals_of(&ALLOCATOR, &counting, new, of_insert) > 1);

    // A full filter that grows by itself.
    let builder = QuotientFilter::builder().expected_items(300).grows_to(10_000);
    let mut growing = builder.build().unwrap();
    (0..growing.capacity()).for_each(|key| growing.insert(&key).unwrap());
    assert!(refusals_of(&ALLOCATOR, &growing, |f| f.insert("key"), of_insert) > 1);
}
