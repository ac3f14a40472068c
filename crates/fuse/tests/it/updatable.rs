//! Updatable maps: what holds for every set of keys, and the portable bytes.
//!
//! `BLESS=1 cargo test -p fuse --test it updatable` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use core::fmt::Debug;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fuse::{ConstructionError, UpdatableMap, UpdatableMapView};
use pds_core::bytes::{Header, Kind};
use pds_core::error::DecodeError;
use pds_testkit::envelope::{with_number, with_numbers, with_payload};
use pds_testkit::keys;
use pds_testkit::portable::{fault_of, refuse, refuses_damage};
use pds_testkit::stats::Binomial;
use quickcheck::quickcheck;

/// Entries with random hashes and values of so many bits.
fn entries(seed: u64, keys: usize, value_bits: u32) -> Vec<(u64, u64)> {
    let values = keys::random(seed + 1_000_000).map(move |value| value >> (64 - value_bits));
    keys::random(seed).zip(values).take(keys).collect()
}

/// A map with some keys in its exact list.
fn listed() -> UpdatableMap {
    let builder = UpdatableMap::builder().value_bits(9).check_bits(6).limits(0, 1);
    let build = |seed| builder.build_hashes(entries(seed, 40, 9)).unwrap();
    (0..).map(build).find(|map| map.num_exact() > 1).unwrap()
}

/// Maps without keys, with an exact list, and of more than 1 MiB, which batches prefetch.
#[test]
fn case_24_a_batch_is_one_by_one() {
    let build = |keys| {
        let builder = UpdatableMap::builder().value_bits(7).check_bits(8);
        builder.build_hashes(entries(3, keys, 7)).unwrap()
    };
    let strangers = keys::random(3).take(300_000).chain(keys::random(4).take(1_000));
    for (map, keys) in [(build(0), 0), (build(500), 500), (listed(), 0), (build(600_000), 600_000)]
    {
        let asked: Vec<u64> = strangers.clone().collect();
        let view = UpdatableMapView::open(map.to_bytes()).unwrap();
        let mut answers = [vec![Some(1); asked.len()], vec![None; asked.len()]];
        map.get_hash_batch(&asked, &mut answers[0]);
        view.get_hash_batch(&asked, &mut answers[1]);
        let expected: Vec<_> = asked.iter().map(|&hash| map.get_hash(hash)).collect();
        assert_eq!(answers, [&expected[..]; 2], "{keys} keys");
        assert!(expected.iter().take(keys.min(300_000)).all(Option::is_some));
    }
    let map = listed();
    let (hashes, values): (Vec<u64>, Vec<_>) = (0..50)
        .flat_map(|seed| entries(seed, 40, 9))
        .map(|(hash, _)| (hash, map.get_hash(hash)))
        .unzip();
    let mut answers = vec![None; hashes.len()];
    map.get_hash_batch(&hashes, &mut answers);
    assert_eq!(answers, values);
}

#[test]
#[should_panic = "one answer per key: 2 keys, but 1 answers"]
fn a_batch_has_one_answer_per_key() {
    listed().get_batch(&[1, 2], &mut [None]);
}

#[test]
fn values_of_every_width_are_stored_and_changed() {
    for value_bits in 1..=64 {
        for keys in [1, 2, 30, 500] {
            let first = entries(keys as u64 * 100 + u64::from(value_bits), keys, value_bits);
            let builder =
                UpdatableMap::builder().value_bits(value_bits).check_bits(value_bits % 33);
            let mut map = builder.build_hashes(first.clone()).unwrap();
            assert!(first.iter().all(|&(hash, value)| map.get_hash(hash) == Some(value)));
            let max = u64::MAX >> (64 - value_bits);
            let changed = |value: u64| max - value;
            for (index, &(hash, value)) in first.iter().enumerate() {
                assert_eq!(map.set_hash(hash, changed(value)), Ok(true));
                let others = first.iter().enumerate().step_by(7);
                for (other, &(hash, value)) in others {
                    let expected = if other <= index { changed(value) } else { value };
                    assert_eq!(
                        map.get_hash(hash),
                        Some(expected),
                        "{value_bits} bits, {keys} keys"
                    );
                }
            }
        }
    }
}

#[test]
fn the_history_of_changes_leaves_no_trace() {
    let old = entries(1, 20_000, 13);
    let new: Vec<(u64, u64)> = old.iter().map(|&(hash, value)| (hash, value ^ 0x155)).collect();
    let builder = UpdatableMap::builder().value_bits(13);
    let mut map = builder.build_hashes(old).unwrap();
    for &(hash, value) in new.iter().rev() {
        assert_eq!(map.set_hash(hash, 0), Ok(true));
        assert_eq!(map.set_hash(hash, value), Ok(true));
    }
    let reversed = new.iter().rev().copied().collect();
    let other = builder.build_hashes(reversed).unwrap();
    assert_eq!(map.to_bytes(), other.to_bytes());
    assert_eq!(map, other);
    let mut twice = new;
    twice.extend_from_within(..5_000);
    assert_eq!(builder.build_hashes(twice).unwrap(), map);
}

/// The rate of strangers that have a value is 3/4 · 2^-c, at a false-alarm level of 10^-7 for each c.
#[test]
fn strangers_have_a_value_at_the_stated_rate() {
    for check_bits in [0, 1, 4, 8, 12] {
        let builder = UpdatableMap::builder().value_bits(3).check_bits(check_bits);
        let map = builder.build_hashes(entries(2, 30_000, 3)).unwrap();
        let queries = 1_000_000;
        let found =
            keys::random(3).take(queries).filter(|&hash| map.get_hash(hash).is_some()).count();
        let accepted = Binomial::new(queries as u64, map.false_positive_rate()).acceptance(1e-7);
        assert!(accepted.contains(&(found as u64)), "{check_bits}: {found} not in {accepted:?}");
    }
}

#[test]
fn setting_a_stranger_changes_nothing() {
    let stored = entries(4, 1_000, 8);
    let mut map = UpdatableMap::builder().check_bits(32).build_hashes(stored.clone()).unwrap();
    let before = map.clone();
    assert!(keys::random(5).take(10_000).all(|hash| map.set_hash(hash, 1) == Ok(false)));
    assert_eq!(map, before);
}

#[test]
fn case_53_exact_lists_are_changed_too() {
    let mut exact = 0;
    for seed in 0..40 {
        let stored = entries(seed, 400, 10);
        let builder = UpdatableMap::builder().value_bits(10).limits(0, 1);
        let mut map = builder.build_hashes(stored.clone()).unwrap();
        assert!(stored.iter().all(|&(hash, value)| map.get_hash(hash) == Some(value)));
        for &(hash, value) in &stored {
            assert_eq!(map.set_hash(hash, 1_023 - value), Ok(true));
        }
        let view = UpdatableMapView::open(map.to_bytes()).unwrap();
        view.verify().unwrap();
        for (hash, value) in stored {
            let expected = Some(1_023 - value);
            assert_eq!([map.get_hash(hash), view.get_hash(hash)], [expected; 2]);
        }
        exact += map.num_exact();
    }
    assert!(exact > 0);
}

#[test]
fn case_52_values_that_do_not_fit_and_contradictions_are_refused() {
    let mut map = UpdatableMap::builder().value_bits(4).build([("a", 3), ("b", 15)]).unwrap();
    let error = map.set("a", 16).unwrap_err();
    assert!(matches!(error, ConstructionError::ValueTooLarge { value: 16, max: 15, .. }));
    assert_eq!((map.get("a"), map.get("b")), (Some(3), Some(15)));
    let error = UpdatableMap::builder().value_bits(4).build([("a", 16)]).unwrap_err();
    assert!(matches!(error, ConstructionError::ValueTooLarge { value: 16, max: 15, .. }));
    let error = UpdatableMap::new([("a", 9), ("b", 1), ("a", 7)], 8).unwrap_err();
    assert!(matches!(error, ConstructionError::Contradiction { values: [7, 9], .. }));
    let keys = || core::iter::from_fn(|| -> Option<(u32, u64)> { panic!("asked for a key") });
    for (value_bits, check_bits) in [(0, 8), (65, 8), (8, 33)] {
        let builder = UpdatableMap::builder().value_bits(value_bits).check_bits(check_bits);
        let error = builder.build(keys()).unwrap_err().to_string();
        assert!(error.contains("_bits"), "{error}");
    }
}

#[test]
fn a_map_without_keys_has_no_value() {
    let mut map = UpdatableMap::new([(0u32, 0); 0], 0).unwrap();
    assert!(map.is_empty() && map.size_in_bytes() == 0 && map.false_positive_rate() == 0.0);
    assert_eq!((map.get(&1u32), map.set(&1u32, 1)), (None, Ok(false)));
}

/// The cost that the documentation states.
#[test]
fn a_key_has_as_many_bits_as_stated() {
    for (keys, slots) in [(10_000, 1.24), (100_000, 1.17), (1_000_000, 1.131)] {
        let builder = UpdatableMap::builder().value_bits(12).check_bits(6);
        let map = builder.build_hashes(entries(6, keys, 12)).unwrap();
        let ratio = map.bits_per_key() / 20.0;
        assert!(ratio <= slots && ratio > slots - 0.02, "{keys}: {ratio}");
    }
}

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn all_golden() -> Vec<(&'static str, UpdatableMap)> {
    let build = |keys: u64, value_bits, check_bits| {
        let builder = UpdatableMap::builder().value_bits(value_bits).check_bits(check_bits);
        builder.build((0..keys).map(|key| (key, key % (1 << value_bits)))).unwrap()
    };
    vec![
        ("updatable_default.pds", UpdatableMap::new((0..100u64).map(|key| (key, key)), 8).unwrap()),
        ("updatable_wide.pds", build(20, 60, 32)),
        ("updatable_unchecked.pds", build(300, 5, 0)),
        ("updatable_no_key.pds", build(0, 3, 3)),
        ("updatable_listed.pds", listed()),
    ]
}

#[test]
fn golden_files_are_written_and_read() {
    for (file, map) in all_golden() {
        let bytes = map.to_bytes();
        if env::var_os("BLESS").is_some() {
            fs::write(golden_path(file), &bytes).unwrap();
        }
        let golden = fs::read(golden_path(file)).unwrap();
        assert_eq!(golden, bytes, "{file}");
        let read = UpdatableMap::from_bytes(&golden).unwrap();
        assert_eq!(read, map);
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], golden.as_slice()].concat();
            let view = UpdatableMapView::open(&shifted[shift..]).unwrap();
            view.verify().unwrap();
            assert!((0..500u64).all(|key| view.get(&key) == map.get(&key)), "{file}");
            assert_eq!(view.to_map().unwrap(), map);
        }
    }
}

#[test]
fn a_header_tells_the_shape() {
    let (_, map) = all_golden().remove(0);
    let header = Header::peek(&map.to_bytes()).unwrap();
    assert_eq!((header.kind, header.payload_bytes), (Kind::UPDATABLE, map.size_in_bytes()));
    assert_eq!(header.shape.as_slice(), [100, 0, 0, 7, 8]);
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let (_, map) = all_golden().remove(0);
    let bytes = map.to_bytes();
    let fault = |index, number| {
        let bytes = with_number(&bytes, index, number);
        assert!(UpdatableMapView::open(&bytes).is_err());
        fault_of(UpdatableMap::from_bytes(&bytes))
    };
    assert_eq!(fault(0, 110).0, "payload length");
    assert_eq!(fault(0, u64::MAX), ("keys", 72));
    assert_eq!(fault(1, 33), ("growth", 80));
    assert_eq!(fault(2, 101), ("rest", 88));
    assert_eq!(fault(2, 1).0, "payload length");
    for bits in [0, 65, u64::MAX] {
        assert_eq!(fault(3, bits), ("value_bits", 96));
    }
    assert_eq!(fault(3, 8).0, "payload length");
    assert_eq!(fault(4, 33), ("check_bits", 104));
    assert_eq!(fault(4, 1 << 32), ("check_bits", 104));
    let more = UpdatableMap::from_bytes(&with_numbers(&bytes, &[100, 0, 0, 7, 8, 0]));
    assert_eq!(fault_of(more), ("numbers", 72));
    refuse::<UpdatableMap>(&with_number(&bytes, 0, 1 << 40));
}

/// Reads a map after a change of a word of its payload, counted from the end, under right checksums.
fn fault_after(map: &UpdatableMap, from_end: u64, change: impl Fn(u64) -> u64) -> &'static str {
    let bytes = map.to_bytes();
    let end = bytes.len() - 8;
    let mut payload = bytes[end - usize::try_from(map.size_in_bytes()).unwrap()..end].to_vec();
    let at = payload.len() - 8 * usize::try_from(from_end).unwrap();
    let word = u64::from_le_bytes(payload[at..at + 8].try_into().unwrap());
    payload[at..at + 8].copy_from_slice(&change(word).to_le_bytes());
    let forged = with_payload(&bytes, &payload);
    let read = UpdatableMap::from_bytes(&forged);
    let view = UpdatableMapView::open(&forged).unwrap();
    assert_eq!(view.verify().err(), read.as_ref().err().copied());
    fault_of(read).0
}

#[test]
fn case_17_a_payload_that_lies_is_refused() {
    let listed = listed();
    assert_eq!(fault_after(&listed, 1, |value| value | 1 << 9), "padding");
    assert_eq!(fault_after(&listed, listed.num_exact() + 1, |word| word | 1 << 63), "padding");
    // Six cells of 8 bits, the salt, and six values of 9 bits: a word each.
    let builder = UpdatableMap::builder().value_bits(9).check_bits(6);
    let one = builder.build_hashes(entries(1, 1, 9)).unwrap();
    assert_eq!(one.size_in_bytes(), 24);
    assert_eq!(fault_after(&one, 2, |salt| salt ^ 1), "the salt of a shard");
    assert_eq!(fault_after(&one, 3, |word| word | 1 << 63), "padding");
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    for (_, map) in all_golden() {
        refuses_damage(&map.to_bytes(), UpdatableMap::from_bytes);
    }
}

/// A payload that nobody asked to verify may answer wrongly; it never panics.
#[test]
fn case_21_an_unverified_view_survives_any_payload() {
    for (file, map) in all_golden() {
        for fill in [0xff, 0x55, 0x24] {
            let mut bytes = map.to_bytes();
            let end = bytes.len() - 8;
            bytes[end - usize::try_from(map.size_in_bytes()).unwrap()..end].fill(fill);
            let view = UpdatableMapView::open(&bytes).unwrap();
            let max = u64::MAX >> (64 - map.value_bits());
            assert!(keys::random(1).take(2_000).all(|hash| view.get_hash(hash) <= Some(max)));
            assert_eq!(view.verify().is_err(), !map.is_empty(), "{file}");
        }
    }
}

quickcheck! {
    fn a_map_is_the_map_of_its_history(start: HashMap<u16, u16>, changes: Vec<(u16, u16)>) -> bool {
        let mut model = start.clone();
        let entries = start.iter().map(|(&key, &value)| (key, u64::from(value)));
        let builder = UpdatableMap::builder().value_bits(16).check_bits(32);
        let mut map = builder.build(entries).unwrap();
        let known: Vec<u16> = start.keys().copied().collect();
        for (key, value) in changes {
            let key = if known.is_empty() { key } else { known[usize::from(key) % known.len()] };
            let is_known = model.get_mut(&key).map(|old| *old = value).is_some();
            assert_eq!(map.set(&key, value.into()), Ok(is_known));
        }
        let read = UpdatableMap::from_bytes(&map.to_bytes()).unwrap();
        read == map
            && map.len() == model.len() as u64
            && model.iter().all(|(key, &value)| map.get(key) == Some(value.into()))
    }

    fn case_17_arbitrary_bytes_are_an_error(bytes: Vec<u8>) -> bool {
        UpdatableMap::from_bytes(&bytes).is_err()
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_every_serde_format_gives_the_map_back_or_an_error() {
    for (_, map) in all_golden() {
        pds_testkit::format::survives(&map, &map.to_bytes());
    }
}

#[test]
fn maps_are_shown_with_their_shape() {
    let show = |map: &dyn Debug| format!("{map:?}");
    let map = UpdatableMap::new([("a", 1)], 4).unwrap();
    assert!(show(&map).starts_with("UpdatableMap { len: 1, value_bits: 1, check_bits: 4"));
    let view = UpdatableMapView::open(map.to_bytes()).unwrap();
    assert!(show(&view).starts_with("UpdatableMapView { len: 1"));
    let damaged: Result<UpdatableMap, DecodeError> = UpdatableMap::from_bytes(&[]);
    assert!(damaged.is_err());
}
