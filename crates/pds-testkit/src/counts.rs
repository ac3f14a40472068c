//! Tests of the item counts that follow from set bits.

/// Defines tests of the counts of a Bloom filter, standard or blocked, which `shaped(size, hashes)` builds.
///
/// `shapes` contains pairs of size and hashes. `filled` contains triples with a number of items in addition.
#[macro_export]
macro_rules! counts_of_bits {
    (shapes: $shapes:expr, filled: $filled:expr) => {
        /// Faults: a count below the lower bound that the bits prove, a broken identity, infinite or missing errors.
        #[test]
        fn case_27_counts_do_not_contradict_the_bits() {
            for (size, hashes) in $shapes {
                let empty = shaped(size, hashes);
                assert_eq!(
                    empty.approx_len(),
                    ::pds_params::Estimate { value: 0.0, standard_error: 0.0 }
                );
                let mut filter = empty.try_clone().unwrap();
                for key in 0..40u64 {
                    filter.insert(&key);
                    let items = filter.approx_len();
                    let proven = filter.count_ones().div_ceil(hashes.into());
                    if filter.fill_ratio() < 1.0 {
                        assert!(
                            items.value.is_finite() && items.standard_error.is_finite(),
                            "{items}"
                        );
                        assert!(items.value >= proven as f64, "{items}, but {proven} are proven");
                        let same = filter.approx_intersection_len(&filter).unwrap();
                        assert!(same.value.is_finite() && same.standard_error.is_finite());
                        let none = filter.approx_intersection_len(&empty).unwrap();
                        assert_eq!(
                            none,
                            ::pds_params::Estimate { value: 0.0, standard_error: 0.0 }
                        );
                    } else {
                        assert_eq!(items.value, f64::INFINITY, "the bits tell nothing");
                    }
                    assert_eq!(filter.approx_union_len(&empty).unwrap(), items);
                    assert_eq!(empty.approx_union_len(&filter).unwrap(), items);
                }
            }
        }

        /// Two standard errors contain 95.4 % of the estimates if these are normal. Sparse and full filters are not
        /// tested.
        #[test]
        fn case_28_standard_errors_hold_the_truth() {
            const FILTERS: u32 = 1_000;
            // Four standard deviations of a count of 1,000 at 95 %, for about 27 tests.
            const LEAST: u32 = 950 - 28;
            let mut random = $crate::keys::random(28);
            for (size, hashes, items) in $filled {
                let (mut single, mut union, mut common) = (0, 0, 0);
                for _ in 0..FILTERS {
                    let mut left = shaped(size, hashes);
                    let mut right = left.try_clone().unwrap();
                    let keys: Vec<u64> = random.by_ref().take(2 * items - items / 2).collect();
                    left.insert_hash_batch(&keys[..items]);
                    right.insert_hash_batch(&keys[items - items / 2..]);
                    let holds = |estimate: ::pds_params::Estimate, truth: usize| {
                        let off = (estimate.value - truth as f64).abs();
                        u32::from(off <= 2.0 * estimate.standard_error)
                    };
                    single += holds(left.approx_len(), items);
                    union += holds(left.approx_union_len(&right).unwrap(), 2 * items - items / 2);
                    common += holds(left.approx_intersection_len(&right).unwrap(), items / 2);
                }
                let held = [single, union, common];
                assert!(
                    held.iter().all(|&count| count >= LEAST),
                    "{size}, {hashes}, {items}: {held:?}"
                );
            }
        }
    };
}
