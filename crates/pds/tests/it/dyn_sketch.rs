//! Sketches of unknown kind: each is opened as the kind that its header states, and behaves as its own type.
#![cfg(all(feature = "std", feature = "bloom", feature = "cms", feature = "hll"))]

use pds::bytes::{ByteOptions, Kind};
use pds::error::{DecodeError, Incompatible};
use pds::hash::SipHashBuilder;
use pds::{BloomFilter, CountMinSketch, CountSketch, DynSketch, HyperLogLog, UltraLogLog};
use pds_core::internal::{DecodeFault, Difference};
use pds_testkit::mutate::{Choices, inputs, mutate};

const KEYS: u64 = 300;

/// A sketch of every type empty, and how its own type writes it with the integers below 300 in it.
fn all() -> Vec<(DynSketch, Vec<u8>)> {
    fn pair<K: Clone>(
        dynamic: impl Fn(K) -> DynSketch,
        empty: &K,
        insert: impl Fn(&mut K, u64),
        bytes: impl Fn(&K) -> Vec<u8>,
    ) -> (DynSketch, Vec<u8>) {
        let mut full = empty.clone();
        (0..KEYS).for_each(|key| insert(&mut full, key));
        (dynamic(empty.clone()), bytes(&full))
    }
    macro_rules! pair {
        ($empty:expr) => {
            pair(
                DynSketch::from,
                &$empty,
                |sketch, key| _ = sketch.insert(&key),
                |sketch| sketch.to_bytes(),
            )
        };
    }
    let builder = CountMinSketch::builder().error(0.1, 0.1);
    vec![
        pair!(builder.counters::<u8>().build().unwrap()),
        pair!(builder.counters::<u16>().build().unwrap()),
        pair!(builder.counters::<u32>().build().unwrap()),
        pair!(builder.counters::<u64>().build().unwrap()),
        pair!(CountSketch::new(0.1, 0.1).unwrap()),
        pair!(HyperLogLog::new(12).unwrap()),
        pair!(UltraLogLog::new(12).unwrap()),
    ]
}

#[test]
fn every_kind_is_filled_written_and_read_as_by_its_own_type() {
    for (mut sketch, bytes) in all() {
        let kind = sketch.kind();
        (0..KEYS).for_each(|key| sketch.insert(&key));
        assert_eq!(sketch.to_bytes(), bytes, "{sketch:?}");
        let read = DynSketch::from_bytes(&bytes).unwrap();
        let streamed = DynSketch::read_from(bytes.as_slice()).unwrap();
        let mut written = Vec::new();
        streamed.write_to(&mut written).unwrap();
        assert_eq!((read.kind(), read.to_bytes(), written), (kind, bytes.clone(), bytes));
        assert_eq!(read.size_in_bytes(), sketch.size_in_bytes(), "{kind}");
    }
}

/// A sketch answers its own question, and none to the other.
#[test]
fn sketches_count_keys_or_distinct_keys() {
    let counting = [Kind::COUNT_MIN, Kind::COUNT_SKETCH];
    for (mut sketch, _) in all() {
        (0..3).for_each(|_| sketch.insert("here"));
        sketch.insert("there");
        if counting.contains(&sketch.kind()) {
            assert_eq!((sketch.frequency("here"), sketch.cardinality()), (Some(3), None));
        } else {
            assert_eq!(sketch.frequency("here"), None);
            let distinct = sketch.cardinality().expect("a sketch of distinct keys");
            assert!((distinct - 2.0).abs() < 0.1, "{sketch:?}: {distinct}");
        }
    }
}

/// Equal kinds and shapes merge as their own types do; of any two others neither changes, and the error names both.
#[test]
fn only_equal_kinds_merge() {
    let sketches: Vec<DynSketch> =
        all().iter().map(|(_, bytes)| DynSketch::from_bytes(bytes).unwrap()).collect();
    for (i, one) in sketches.iter().enumerate() {
        for (j, other) in sketches.iter().enumerate() {
            let mut merged = one.clone();
            match merged.merge(other) {
                Ok(()) => {
                    assert_eq!(i, j, "{one:?} and {other:?}");
                    assert!(merged.frequency(&1u64).is_none_or(|count| count >= 2), "{merged:?}");
                    assert_eq!(merged.cardinality(), one.cardinality());
                }
                Err(error) => {
                    assert!(matches!(
                        error,
                        Incompatible(Difference::Mode { parameter: "kind", .. })
                    ));
                    assert_eq!((i != j, merged.to_bytes()), (true, one.to_bytes()), "{error}");
                }
            }
        }
    }
    let [mut narrow, wide] =
        [10, 14].map(|precision| DynSketch::from(UltraLogLog::new(precision).unwrap()));
    let error = DynSketch::merge(&mut narrow, &wide).err();
    let own = UltraLogLog::new(10).unwrap().merge(&UltraLogLog::new(14).unwrap()).err();
    assert_eq!(error, own);
    let mut count_min: DynSketch = sketches[0].clone();
    let error = count_min.merge(&sketches[2]).unwrap_err().to_string();
    assert!(error.contains("count-min sketch of u8") && error.contains("of u32"), "{error}");
}

#[test]
fn other_structures_and_keys_are_refused() {
    let bytes = BloomFilter::new(10, 0.1).unwrap().to_bytes();
    let error = DynSketch::from_bytes(&bytes).unwrap_err();
    let text = "the kind at offset 10 is 1 (Bloom filter), expected a count-min or count sketch, a HyperLogLog or an \
                UltraLogLog";
    assert_eq!(error.to_string(), text);

    let hasher = SipHashBuilder::from_key([5; 16]);
    let sketch = HyperLogLog::builder().hasher(hasher).build().unwrap();
    let sketch = DynSketch::from(sketch);
    let bytes = ByteOptions::new().without_key().to_bytes(&sketch);
    assert!(matches!(DynSketch::from_bytes(&bytes), Err(DecodeError(DecodeFault::Hasher { .. }))));
    let missing = ByteOptions::new().from_bytes::<DynSketch<SipHashBuilder>>(&bytes);
    assert!(matches!(missing, Err(DecodeError(DecodeFault::KeyMissing { .. }))));
    let read: DynSketch<_> = ByteOptions::new().hasher(hasher).from_bytes(&bytes).unwrap();
    assert_eq!(read.downcast::<HyperLogLog<SipHashBuilder>>().unwrap().precision(), 14);
}

/// Forged bytes are refused, or written back unchanged.
#[test]
fn case_17_forged_sketches_are_refused_or_come_back_unchanged() {
    let originals = all();
    let (mut accepted, mut refused) = (0, 0);
    for input in inputs(11, 20_000) {
        let mut choices = Choices::new(&input);
        let mut bytes = originals[choices.below(originals.len())].1.clone();
        mutate(&mut bytes, &mut choices);
        match DynSketch::from_bytes(&bytes) {
            Ok(sketch) => {
                assert_eq!(sketch.to_bytes(), bytes);
                accepted += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}
