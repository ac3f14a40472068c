//! Behaviour of the map at ordinary and at edge parameters.

use pds_core::hash::finalize;
use pds_core::traits::{Membership, Merge};
use pds_testkit::keys;
use quotient::error::{BuildError, InsertError, MergeError};
use quotient::{QuotientMap, QuotientParams};

use super::shaped;

fn empty() -> QuotientMap {
    QuotientMap::new(1_000, 0.001, 16).unwrap()
}

#[test]
fn a_key_has_the_values_that_were_inserted() {
    let mut map = empty();
    assert_eq!((map.get("key"), map.values("key").count(), map.contains("key")), (None, 0, false));
    for value in [9, 65_535, 0, 9] {
        map.insert("key", value).unwrap();
    }
    assert!(map.values("key").eq([0, 9, 9, 65_535]));
    assert_eq!((map.get("key"), map.len(), map.contains("key")), (Some(0), 4, true));
    assert!(map.remove("key", 0) && !map.remove("key", 0) && !map.remove("key", 1));
    assert!(map.remove("key", 9) && map.values("key").eq([9, 65_535]));
    assert!(map.remove("key", 9) && map.remove("key", 65_535) && map.is_empty());
    assert_eq!(map.to_bytes(), empty().to_bytes());
}

/// Two keys with one fingerprint get the values that the documentation states.
#[test]
fn keys_with_one_fingerprint_share_their_values() {
    let mut map = shaped(16, 4, 32);
    // Four bits of the quotient and four of the remainder.
    let (first, second, third) = (0x5a << 56, 0x5a << 56 | 7, 0x5b << 56);
    map.insert_hash(first, u32::MAX).unwrap();
    map.insert_hash(second, 3).unwrap();
    map.insert_hash(third, 2).unwrap();
    for twin in [first, second] {
        assert_eq!(map.get_hash(twin), Some(3));
        assert!(map.values_hash(twin).eq([3, u32::MAX]));
    }
    assert!(map.values_hash(third).eq([2]));
    assert!(map.pairs().eq([(5, 10, 3), (5, 10, u32::MAX), (5, 11, 2)]));
    assert!(map.remove_hash(second, u32::MAX), "that of the first");
    assert!(map.values_hash(first).eq([3]));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    for value_bits in [1, 7, 31, 32] {
        let mut map = shaped(20, 5, value_bits);
        let max = u32::MAX >> (32 - value_bits);
        assert_eq!((map.max_value(), map.value_bits()), (max, value_bits));
        map.insert("key", max).unwrap();
        assert!(map.values("key").eq([max]));
        if let Some(above) = max.checked_add(1) {
            let error = InsertError::Value { value: above.into(), max: max.into() };
            assert_eq!(map.insert("key", above), Err(error));
            let text =
                format!("the value {above} is above {max}, the greatest one that fits its bits");
            assert_eq!(error.to_string(), text);
            // Its lowest bits are those of a value that another remainder has.
            assert!(!map.remove("key", u32::MAX) && !map.remove("key", above));
        }
        assert_eq!(map.len(), 1);
    }
}

#[test]
fn a_full_map_says_so_and_is_unchanged() {
    let mut map = shaped(100, 8, 9);
    for key in 0..95u32 {
        map.insert_hash(finalize(key.into()), key).unwrap();
    }
    let before = map.clone();
    let full = InsertError::Full { len: 95, capacity: 95 };
    assert_eq!(map.insert("key", 1), Err(full));
    let twice = map.merge(&before).unwrap_err();
    assert_eq!(twice, MergeError::Insert(InsertError::Full { len: 190, capacity: 95 }));
    assert_eq!(map, before);
    assert_eq!(map.load_factor(), 0.95);
}

#[test]
fn growing_is_building_at_that_size_and_shrinking_the_inverse() {
    let mut map = shaped(100, 9, 20);
    let fill = |map: &mut QuotientMap| {
        for key in 0..95u32 {
            map.insert_hash(finalize(key.into()), key * 1_000).unwrap();
        }
    };
    fill(&mut map);
    let before = map.to_bytes();
    for doublings in 1..9 {
        map.grow().unwrap();
        let mut built = shaped(100 << doublings, 9 - doublings, 20);
        fill(&mut built);
        assert_eq!(map, built);
    }
    assert!(map.grow().unwrap_err().to_string().contains("remainder_bits"));
    map.shrink_to_fit().unwrap();
    assert_eq!(map.to_bytes(), before);
    // Slots of 56 bits cannot shrink.
    let mut widest = shaped(64, 24, 32);
    widest.shrink_to_fit().unwrap();
    assert_eq!(widest.num_slots(), 64);
}

#[test]
fn a_map_grows_by_itself_and_merges_at_any_size() {
    let builder = QuotientMap::builder(12).expected_items(300).grows_to(50_000);
    let (mut left, mut right) = (builder.build().unwrap(), builder.build().unwrap());
    let mut both = builder.build().unwrap();
    for key in 0..20_000u32 {
        let map = if key < 400 { &mut left } else { &mut right };
        map.insert(&key, key % 4_096).unwrap();
        both.insert(&key, key % 4_096).unwrap();
    }
    assert!(left.num_slots() < right.num_slots());
    let mut merged = left.clone();
    merged.merge(&right).unwrap();
    assert_eq!(merged.to_bytes(), both.to_bytes());
    right.merge(&left).unwrap();
    assert_eq!(right, both);
    assert!((0..20_000u32).all(|key| both.values(&key).any(|value| value == key % 4_096)));
    assert!(both.false_positive_rate() <= 0.01);
}

#[test]
fn merges_of_empty_and_equal_maps() {
    fn merged<T: Merge>(mut left: T, right: &T) -> T {
        left.merge(right).unwrap_or_else(|_| panic!("it fits"));
        left
    }
    let mut map = empty();
    map.insert("key", 5).unwrap();
    assert_eq!(merged(map.clone(), &empty()), map);
    assert_eq!(merged(empty(), &map), map);
    assert!(merged(map.clone(), &map).values("key").eq([5, 5]));
}

#[test]
fn maps_that_cannot_be_merged_are_named_and_unchanged() {
    let named = |left: &QuotientMap, right: &QuotientMap, text: &str| {
        let mut merged = left.clone();
        let error = merged.merge(right).unwrap_err();
        assert!(matches!(error, MergeError::Incompatible(_)));
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(merged.to_bytes(), left.to_bytes());
    };
    named(&shaped(100, 8, 8), &shaped(100, 8, 9), "value_bits");
    named(&shaped(100, 8, 8), &shaped(100, 9, 8), "remainder_bits");
    named(&shaped(100, 8, 8), &shaped(200, 8, 8), "remainder_bits");
    named(&shaped(100, 8, 8), &shaped(150, 8, 8), "number of slots");
    named(&shaped(100, 1, 8), &shaped(400, 1, 8), "number of remainder bits");
    let seeded = QuotientMap::builder(8).slots(100).remainder_bits(8).seed(9).build().unwrap();
    named(&shaped(100, 8, 8), &seeded, "hasher");
}

#[test]
fn membership_is_that_of_the_keys() {
    fn check(map: &impl Membership, key: &str) -> bool {
        map.contains(key)
    }
    let mut map = empty();
    map.insert("key", 5).unwrap();
    assert!(check(&map, "key") && !check(&map, "absent"));
    let mut answers = [false; 2];
    map.contains_batch(&["key", "absent"], &mut answers);
    assert_eq!(answers, [true, false]);
    assert!(
        format!("{map:?}")
            .contains("QuotientMap { num_slots: 1053, remainder_bits: 10, value_bits: 16")
    );
}

#[test]
fn what_the_builder_refuses_is_named() {
    let sized = |bits| QuotientMap::builder(bits).expected_items(10).build();
    let exactly = |slots, bits, value_bits| {
        QuotientMap::builder(value_bits).slots(slots).remainder_bits(bits).build()
    };
    let low = QuotientMap::new(10, 1e-9, 32);
    for (index, (parameter, built)) in [
        ("value_bits", sized(0)),
        ("value_bits", sized(33)),
        ("value_bits", sized(u32::MAX)),
        ("value_bits", exactly(10, 8, 0)),
        ("remainder_bits", exactly(10, 25, 32)),
        ("remainder_bits", exactly(10, 0, 32)),
        ("remainder_bits", low),
        ("expected_items", QuotientMap::builder(3).build()),
        ("false_positive_rate", QuotientMap::new(10, 1.0, 32)),
    ]
    .into_iter()
    .enumerate()
    {
        match built {
            Err(BuildError::Param(error)) => {
                assert_eq!(error.parameter(), parameter, "{index}");
                let allows_none = error.to_string().contains("from 0 to");
                assert!(!allows_none, "{error}");
            }
            other => panic!("case {index}: {other:?}"),
        }
    }
    let params = QuotientParams::from_slots_and_remainder_bits(10, 24).unwrap();
    assert!(QuotientMap::from_params(params, 32, *empty().hasher()).is_ok());
    assert!(QuotientMap::from_params(params, 33, *empty().hasher()).is_err());
}

/// Absent keys, and keys that are in, have values of others at the predicted rate.
#[test]
fn values_of_others_come_at_the_predicted_rate() {
    let (mut wrong, mut absent, mut expected) = (0.0f64, 0.0, 0.0);
    for seed in 0..40 {
        let mut map = shaped(1_000, 8, 10);
        let pairs: Vec<_> = keys::random(seed).zip((0..900u32).cycle()).take(900).collect();
        pairs.iter().for_each(|&(hash, value)| map.insert_hash(hash, value).unwrap());
        for &(hash, value) in &pairs {
            assert!(map.values_hash(hash).any(|found| found == value), "a value was lost");
            wrong += f64::from(u8::from(map.values_hash(hash).count() > 1));
        }
        let strangers = keys::random(seed + 200).take(900);
        absent += strangers.filter(|&hash| map.get_hash(hash).is_some()).count() as f64;
        expected += 900.0 * map.false_positive_rate();
    }
    // 126 events are expected. Seven standard deviations of their number: one false alarm in 10^11. Wrong values come in
    // pairs, so their deviation is the square root of two times that.
    assert!(((absent - expected) / expected.sqrt()).abs() < 7.0, "{absent} for {expected}");
    assert!(((wrong - expected) / (2.0 * expected).sqrt()).abs() < 7.0, "{wrong} for {expected}");
}
