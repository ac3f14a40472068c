//! The portable bytes: golden files, which never change, and errors of bad input.
//!
//! `BLESS=1 cargo test -p hll --test it format` rewrites the golden files for a new format version.
#![cfg(feature = "std")]

use core::hint::black_box;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hll::{
    AtomicHyperLogLog, HllParams, HyperLogLog, HyperLogLogView, UltraLogLog, UltraLogLogView,
};
use pds_core::bytes::{ByteOptions, Kind};
use pds_core::error::{DecodeError, ReadError};
use pds_core::hash::SipHashBuilder;
use pds_core::internal::DecodeFault;
use pds_testkit::ThreadTime;
use pds_testkit::envelope::{SHAPE, envelope as put_together, sections};

const KEY: [u8; 16] = *b"0123456789abcdef";

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn numbers(precision: u32, count: u64) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(precision).unwrap();
    sketch.extend(0..count);
    sketch
}

fn ultra(precision: u32, count: u64) -> UltraLogLog {
    let mut sketch = UltraLogLog::new(precision).unwrap();
    sketch.extend(0..count);
    sketch
}

fn dense(precision: u32, count: u64) -> HyperLogLog {
    let mut sketch = numbers(precision, count);
    sketch.make_dense();
    sketch
}

fn keyed() -> HyperLogLog<SipHashBuilder> {
    let hasher = SipHashBuilder::from_key(KEY);
    let mut sketch = HyperLogLog::builder().precision(10).hasher(hasher).build().unwrap();
    sketch.extend((0..50).map(|i| format!("key-{i}")));
    sketch
}

fn plain_files() -> [(&'static str, HyperLogLog); 5] {
    [
        ("empty.pds", numbers(14, 0)),
        ("sparse.pds", numbers(14, 300)),
        ("dense.pds", numbers(10, 20_000)),
        ("dense_small.pds", dense(8, 20)),
        ("coarsest.pds", numbers(4, 1_000_000)),
    ]
}

fn ultra_files() -> [(&'static str, UltraLogLog); 5] {
    [
        ("ultra.pds", ultra(10, 20_000)),
        ("ultra_coarsest.pds", ultra(4, 3_000)),
        ("ultra_empty.pds", ultra(14, 0)),
        ("ultra_list.pds", ultra(14, 300)),
        ("ultra_small.pds", ultra(4, 3)),
    ]
}

#[test]
fn todays_code_writes_the_golden_files() {
    let plain = plain_files().map(|(file, sketch)| (file, sketch.to_bytes()));
    let ultra = ultra_files().map(|(file, sketch)| (file, sketch.to_bytes()));
    let sip = [
        ("sip.pds", ByteOptions::new().with_key().to_bytes(&keyed())),
        ("sip_without_key.pds", ByteOptions::new().without_key().to_bytes(&keyed())),
    ];
    for (file, bytes) in plain.into_iter().chain(ultra).chain(sip) {
        if env::var_os("BLESS").is_some() {
            fs::write(golden(file), &bytes).unwrap();
        }
        assert_eq!(fs::read(golden(file)).unwrap(), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    for (file, sketch) in plain_files() {
        let bytes = fs::read(golden(file)).unwrap();
        assert_eq!(HyperLogLog::from_bytes(&bytes).unwrap(), sketch, "{file}");
        assert_eq!(ByteOptions::new().load::<HyperLogLog>(golden(file)).unwrap(), sketch, "{file}");
    }
    for (file, sketch) in ultra_files() {
        assert_eq!(ByteOptions::new().load::<UltraLogLog>(golden(file)).unwrap(), sketch, "{file}");
    }
    let bytes = fs::read(golden("sip.pds")).unwrap();
    assert_eq!(ByteOptions::new().from_bytes::<HyperLogLog<_>>(&bytes).unwrap(), keyed());
    let bytes = fs::read(golden("sip_without_key.pds")).unwrap();
    let hasher = SipHashBuilder::from_key(KEY);
    assert_eq!(
        ByteOptions::new().hasher(hasher).from_bytes::<HyperLogLog<_>>(&bytes).unwrap(),
        keyed()
    );
    let missing = ByteOptions::new().from_bytes::<HyperLogLog<SipHashBuilder>>(&bytes);
    assert_eq!(missing, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
}

/// One number pins the whole computation from keys to registers. It was computed by `docs/scripts/hyperloglog.py`,
/// which shares no code with the crate.
#[test]
fn the_state_of_a_million_keys_is_pinned() {
    let checksum = |bytes: Vec<u8>| u64::from_le_bytes(*bytes.last_chunk().unwrap());
    assert_eq!(checksum(numbers(12, 1_000_000).to_bytes()), 0x91b0_515d_414f_3375);
    assert_eq!(checksum(numbers(14, 300).to_bytes()), 0x6042_cbbf_8bf6_c817);
    assert_eq!(checksum(ultra(12, 1_000_000).to_bytes()), 0x8c4c_845e_46b2_5496);
    assert_eq!(checksum(ultra(14, 300).to_bytes()), 0x4d60_cc7f_9812_31ac);
}

#[test]
fn sizes_are_as_documented() {
    let size = |sketch: HyperLogLog| sketch.to_bytes().len();
    assert_eq!(size(numbers(14, 0)), 136);
    assert_eq!(size(numbers(14, 1_000)), 136 + 4_000);
    assert_eq!(size(numbers(14, 100_000)), 136 + 12_288);
    let size = |precision, count| ultra(precision, count).to_bytes().len();
    assert_eq!([size(14, 0), size(14, 1)], [136, 140]);
    assert_eq!(size(14, 100_000), 136 + 16_384);
}

#[test]
fn an_atomic_sketch_has_the_bytes_of_a_dense_one() {
    let shared = AtomicHyperLogLog::from(numbers(14, 300));
    assert_eq!(shared.to_bytes(), dense(14, 300).to_bytes());
    assert_ne!(shared.to_bytes(), numbers(14, 300).to_bytes());
    let back =
        ByteOptions::new().from_bytes::<AtomicHyperLogLog>(&numbers(14, 300).to_bytes()).unwrap();
    assert_eq!(back.into_plain(), dense(14, 300));
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_alignment() {
    for (file, sketch) in plain_files() {
        let bytes = [&[0; 3], &sketch.to_bytes()[..]].concat();
        let view = HyperLogLogView::open(&bytes[3..]).unwrap();
        assert_eq!(view.verify(), Ok(()));
        assert_eq!(view.estimate(), sketch.estimate(), "{file}");
        assert_eq!(view.estimate_with_error(), sketch.estimate_with_error(), "{file}");
        assert_eq!(view.estimate_interval(0.9), sketch.estimate_interval(0.9), "{file}");
        assert_eq!((view.precision(), view.is_dense()), (sketch.precision(), sketch.is_dense()));
        assert_eq!(view.to_sketch().unwrap(), sketch, "{file}");
    }
    let bytes = ByteOptions::new().without_key().to_bytes(&keyed());
    let hasher = SipHashBuilder::from_key(KEY);
    let view = ByteOptions::new().hasher(hasher).open::<_, HyperLogLogView<_, _>>(&bytes).unwrap();
    assert_eq!(view.to_sketch().unwrap(), keyed());
}

#[test]
fn case_21_an_ultra_view_answers_from_bytes_at_any_alignment() {
    for (file, sketch) in ultra_files() {
        let bytes = [&[0; 5], &sketch.to_bytes()[..]].concat();
        let view = UltraLogLogView::open(&bytes[5..]).unwrap();
        assert_eq!(view.verify(), Ok(()));
        assert_eq!(view.estimate(), sketch.estimate(), "{file}");
        assert_eq!(view.estimate_by_likelihood(), sketch.estimate_by_likelihood(), "{file}");
        assert_eq!(view.estimate_with_error(), sketch.estimate_with_error(), "{file}");
        assert_eq!(view.estimate_interval(0.9), sketch.estimate_interval(0.9), "{file}");
        assert_eq!((view.params(), view.is_empty()), (sketch.params(), sketch.is_empty()));
        assert_eq!(view.to_sketch().unwrap(), sketch, "{file}");
    }
    let hasher = SipHashBuilder::from_key(KEY);
    let mut sketch = UltraLogLog::from_params(HllParams::new(6).unwrap(), hasher);
    sketch.insert("key");
    let bytes = ByteOptions::new().without_key().to_bytes(&sketch);
    let missing =
        ByteOptions::new().open::<_, UltraLogLogView<_, SipHashBuilder>>(&bytes).map(drop);
    assert_eq!(missing, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
    let view = ByteOptions::new().hasher(hasher).open::<_, UltraLogLogView<_, _>>(&bytes).unwrap();
    assert_eq!(view.to_sketch().unwrap(), sketch);
}

/// The bytes of an UltraLogLog with keys in its first registers.
fn ultra_bytes_of(precision: u32, with_keys: u64) -> Vec<u8> {
    let mut sketch = UltraLogLog::new(precision).unwrap();
    (0..with_keys).for_each(|index| assert!(sketch.insert_hash(index << (64 - precision) | 1)));
    let bytes = sketch.to_bytes();
    assert_eq!(UltraLogLog::from_bytes(&bytes).unwrap(), sketch);
    let view = UltraLogLogView::open(&bytes).unwrap();
    assert_eq!((view.verify(), view.is_empty()), (Ok(()), with_keys == 0));
    assert_eq!(view.estimate().to_bits(), sketch.estimate().to_bits());
    bytes
}

#[test]
fn registers_are_listed_while_that_is_shorter() {
    for precision in 4..=18 {
        let registers = 1u64 << precision;
        for with_keys in [0, 1, registers / 4 - 1, registers / 4, registers / 4 + 1, registers] {
            let payload = ultra_bytes_of(precision, with_keys).len() as u64 - 136;
            assert_eq!(payload, registers.min(4 * with_keys), "{precision}, {with_keys}");
        }
    }
}

#[test]
fn views_verify_what_checksums_do_not_tell() {
    let bytes = envelope(Kind::HYPER_LOG_LOG, &[14, 0, 2], &[0x81, 0, 0, 0, 0x41, 0, 0, 0]);
    let view = HyperLogLogView::open(&bytes).unwrap();
    assert_field(view.verify().unwrap_err(), "a sparse entry", 132);
    let bytes = envelope(Kind::HYPER_LOG_LOG, &[4, 1, 0], &[0xff; 12]);
    let view = HyperLogLogView::open(&bytes).unwrap();
    assert_field(view.verify().unwrap_err(), "a rank", 128);
    for (with_keys, payload, name) in [(16, 16, "a register"), (2, 8, "an entry")] {
        let bytes = envelope(Kind::ULTRA_LOG_LOG, &[4, with_keys], &vec![255; payload]);
        let view = UltraLogLogView::open(&bytes).unwrap();
        assert!(view.estimate() >= 0.0);
        assert_field(view.verify().unwrap_err(), name, 128);
    }
}

/// The sketch of these registers at precision 26, as bytes.
fn sparse_bytes(precision: u64, registers: impl Iterator<Item = u32>) -> Vec<u8> {
    let payload: Vec<u8> = registers.flat_map(|i| (i << 6 | 1).to_le_bytes()).collect();
    let entries = payload.len() as u64 / 4;
    envelope(Kind::HYPER_LOG_LOG, &[precision, 0, entries], &payload)
}

/// Returns the time of `slow` in multiples of that of `fast`: the least times of many short runs in turn, so that other
/// load on the machine has no effect.
fn times_as_long<T, U>(slow: impl Fn() -> T, fast: impl Fn() -> U) -> f64 {
    fn time<T>(work: impl Fn() -> T) -> f64 {
        let start = ThreadTime::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    }
    let times = (0..40).map(|_| [time(&slow), time(&fast)]);
    let [slow, fast] = times.fold([f64::INFINITY; 2], |[a, b], [c, d]| [a.min(c), b.min(d)]);
    slow / fast
}

/// The ratio is 1 to 6. Entries that were inserted one by one would take a thousand times as long.
const MOST: f64 = 100.0;

/// Entries that were chosen to fall into one bucket would each need a search through all before them if they were
/// inserted.
#[test]
fn case_17_crafted_entries_are_read_as_fast_as_others() {
    let read = |bytes: &[u8]| HyperLogLog::from_bytes(bytes).unwrap();
    let entries = 0..1u32 << 15;
    let others = sparse_bytes(18, entries.clone().map(|i| i << 11));
    for first in [0, (1 << 26) - (1 << 15)] {
        let crafted = sparse_bytes(18, entries.clone().map(|i| first + i));
        assert!(read(&crafted).to_bytes() == crafted);
        let ratio = times_as_long(|| read(&crafted), || read(&others));
        assert!(ratio < MOST, "{ratio} times as long for crafted entries");
    }
}

#[test]
fn case_17_crafted_entries_are_merged_as_fast_as_others() {
    let of = |first: u32, count: u32, step: u32| {
        let registers = (0..count).map(|i| first + i * step);
        HyperLogLog::from_bytes(&sparse_bytes(18, registers)).unwrap()
    };
    let merged = |left: &HyperLogLog, right: &HyperLogLog| {
        let mut merged = left.clone();
        merged.merge(right).unwrap();
        merged
    };
    let half = 1 << 14;
    let others = [of(0, half, 1 << 12), of(1 << 10, half, 1 << 12)];
    // Into an empty sketch, into one of the same bucket, few into many, and over the limit: sparse and dense ones result.
    let crafted = [
        (of(0, 29_000, 1), of(29_000, 3_000, 1), 32_000),
        (of(0, 0, 1), of(0, 2 * half, 1), 2 * half),
        (of(0, half, 2), of(1, half, 2), 2 * half),
        (of(0, half, 1), of(half / 2, half, 1), half + half / 2),
        (of(0, 2 * half, 2), of(1, 2 * half, 2), 4 * half),
    ];
    for (left, right, count) in crafted {
        let result = merged(&left, &right);
        let whole = of(0, count.min(2 * half), 1);
        assert!(result.is_dense() == (count > 2 * half) && (result.is_dense() || result == whole));
        let fast = || merged(&others[0], &others[1]);
        let ratio = times_as_long(|| merged(&left, &right), fast);
        assert!(ratio < MOST, "{ratio} times as long for crafted entries");
    }
}

#[test]
fn a_damaged_payload_is_found_by_all_but_an_unverified_view() {
    let mut bytes = numbers(10, 20_000).to_bytes();
    bytes[200] ^= 1;
    let found = |error| matches!(error, DecodeError(DecodeFault::Checksum { part: "payload", .. }));
    let view = HyperLogLogView::open(&bytes).unwrap();
    assert!(view.estimate() > 0.0);
    assert!(found(view.verify().unwrap_err()) && found(view.to_sketch().unwrap_err()));
}

/// An envelope of any shape and payload, with checksums that fit.
fn envelope(kind: Kind, numbers: &[u64], payload: &[u8]) -> Vec<u8> {
    let of_hasher = sections(&HyperLogLog::new(14).unwrap().to_bytes()).remove(0);
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    put_together(kind.id(), &[of_hasher, (SHAPE, numbers)], payload)
}

fn plain_error(numbers: &[u64], payload: &[u8]) -> DecodeError {
    HyperLogLog::from_bytes(&envelope(Kind::HYPER_LOG_LOG, numbers, payload)).unwrap_err()
}

fn ultra_error(numbers: &[u64], payload: &[u8]) -> DecodeError {
    UltraLogLog::from_bytes(&envelope(Kind::ULTRA_LOG_LOG, numbers, payload)).unwrap_err()
}

#[track_caller]
fn assert_field(error: DecodeError, name: &str, offset: u64) {
    match error {
        DecodeError(DecodeFault::Field { name: n, offset: o, .. }) => {
            assert_eq!((n, o), (name, offset))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn case_17_impossible_shapes_are_typed_errors() {
    for precision in [0, 3, 19, 1 << 32, (1 << 32) + 14, u64::MAX] {
        let error = plain_error(&[precision, 0, 0], &[]);
        assert!(matches!(error, DecodeError(DecodeFault::Shape { offset: 72, .. })), "{error}");
    }
    assert_field(plain_error(&[14, 2, 0], &[]), "the form", 80);
    assert_field(plain_error(&[4, 0, 3], &[1; 12]), "the number of sparse entries", 88);
    assert_field(plain_error(&[4, 1, 1], &[0; 12]), "the number of sparse entries", 88);
    assert_field(plain_error(&[14, 0, u64::MAX], &[]), "the number of sparse entries", 88);
    for with_keys in [17, u64::MAX, u64::MAX / 4 + 2] {
        let error = ultra_error(&[4, with_keys], &[4; 16]);
        assert_field(error, "the number of registers with keys", 80);
    }
    let more = DecodeError(DecodeFault::Numbers { offset: 72, expected: 3, found: 4 });
    assert_eq!(plain_error(&[14, 0, 0, 1], &[]), more);
    let error = plain_error(&[14, 1, 0], &[0; 12_287]);
    assert!(matches!(
        error,
        DecodeError(DecodeFault::PayloadLength { max: 12_288, found: 12_287, .. })
    ));
}

#[test]
fn case_17_impossible_payloads_are_typed_errors() {
    let sparse = |words: &[u32]| {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        plain_error(&[14, 0, words.len() as u64], &payload)
    };
    for (words, offset) in [
        (&[0][..], 128),
        (&[40], 128),
        (&[0x41, 0x41], 132),
        (&[0x41, 0x42], 132),
        (&[0x81, 0x41], 132),
        (&[0x41, 0x81, 0xff], 136),
    ] {
        assert_field(sparse(words), "a sparse entry", offset);
    }
    // Rank 61 is the last one of precision 4. Register 5 begins in byte 3.
    let mut payload = [0; 12];
    payload[3] = 61;
    let bytes = envelope(Kind::HYPER_LOG_LOG, &[4, 1, 0], &payload);
    assert!(HyperLogLog::from_bytes(&bytes).is_ok());
    payload[3] = 62;
    assert_field(plain_error(&[4, 1, 0], &payload), "a rank", 131);
    for register in [1, 3, 5, 9, 11, 248, 255] {
        let payload = [[0; 7], [register; 7], [0; 7]];
        let error = ultra_error(&[4, 7], &payload.as_flattened()[..16]);
        assert_field(error, "a register", 135);
    }
    // One register more or fewer than the head says.
    for with_keys in [6, 8] {
        let payload = [[0; 7], [4; 7], [0; 7]];
        let error = ultra_error(&[4, with_keys], &payload.as_flattened()[..16]);
        assert_field(error, "the number of registers with keys", 128);
    }
    let listed = |entries: [u32; 3]| {
        let payload = entries.map(u32::to_le_bytes);
        ultra_error(&[4, 3], payload.as_flattened())
    };
    for (entries, offset) in [
        ([0x0004, 0x0104, 0x0004], 136),
        ([0x0104, 0x0104, 0x0204], 132),
        ([0x0004, 0x1004, 0x1104], 132),
        ([0x0000, 0x0104, 0x0204], 128),
        ([0x0004, 0x0109, 0x0204], 132),
        ([0x0004, 0x0104, 0xffff_ff04], 136),
    ] {
        assert_field(listed(entries), "an entry", offset);
    }
    let other = UltraLogLog::from_bytes(&numbers(14, 9).to_bytes());
    assert_eq!(
        other,
        Err(DecodeError(DecodeFault::Kind {
            offset: 10,
            expected: Kind::ULTRA_LOG_LOG,
            found: Kind::HYPER_LOG_LOG
        }))
    );
}

/// Checks that no part of the bytes is read or opened, and that none with another bit is read.
fn assert_damage_is_found(
    bytes: &[u8],
    is_read: impl Fn(&[u8]) -> bool,
    is_opened: impl Fn(&[u8]) -> bool,
) {
    for length in 0..bytes.len() {
        assert!(!is_read(&bytes[..length]), "{length}");
        assert!(!is_opened(&bytes[..length]), "{length}");
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(!is_read(&flipped), "bit {bit}");
    }
}

#[test]
fn case_17_no_truncation_and_no_flipped_bit_passes() {
    for bytes in [ultra(6, 5).to_bytes(), ultra(4, 20).to_bytes()] {
        let is_read = |bytes: &[u8]| UltraLogLog::from_bytes(bytes).is_ok();
        assert_damage_is_found(&bytes, is_read, |bytes| UltraLogLogView::open(bytes).is_ok());
    }
    for bytes in [numbers(6, 5).to_bytes(), dense(4, 20).to_bytes()] {
        let is_read = |bytes: &[u8]| HyperLogLog::from_bytes(bytes).is_ok();
        assert_damage_is_found(&bytes, is_read, |bytes| HyperLogLogView::open(bytes).is_ok());
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(
            HyperLogLog::from_bytes(&longer),
            Err(DecodeError(DecodeFault::Trailing { .. }))
        ));
    }
}

#[test]
fn streams_hold_one_sketch_after_the_other() {
    let mut stream = Vec::new();
    numbers(14, 300).write_to(&mut stream).unwrap();
    ultra(8, 300).write_to(&mut stream).unwrap();
    let mut reader = &stream[..];
    let limits = 2_000;
    assert_eq!(
        ByteOptions::new().max_bytes(limits).read_from::<HyperLogLog>(&mut reader).unwrap(),
        numbers(14, 300)
    );
    assert_eq!(
        ByteOptions::new().max_bytes(limits).read_from::<UltraLogLog>(&mut reader).unwrap(),
        ultra(8, 300)
    );
    assert!(reader.is_empty());
    let large = numbers(14, 100_000).to_bytes();
    let error =
        ByteOptions::new().max_bytes(limits).read_from::<HyperLogLog>(&large[..]).unwrap_err();
    assert!(
        matches!(error, ReadError::Decode(DecodeError(DecodeFault::Limit { found: 12_424, .. }))),
        "{error}"
    );
}

#[test]
fn reading_ends_the_martingale_of_a_dense_sketch() {
    for (count, lasts) in [(300, true), (20_000, false)] {
        let sketch = numbers(14, count);
        assert!(sketch.martingale_estimate().is_some());
        let back = HyperLogLog::from_bytes(&sketch.to_bytes()).unwrap();
        assert_eq!(back.martingale_estimate().is_some(), lasts);
    }
}

#[test]
fn every_precision_goes_there_and_back() {
    for precision in 4..=18 {
        let params = HllParams::new(precision).unwrap();
        let limit = params.max_sparse_entries();
        for count in [limit, limit + limit / 100 + 2, 3 * limit] {
            let sketch = numbers(precision, count);
            assert_eq!(sketch.is_dense(), count > limit);
            assert_eq!(HyperLogLog::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn case_18_serde_carries_the_same_bytes() {
    for sketch in [numbers(14, 300), numbers(8, 20_000)] {
        let text = serde_json::to_string(&sketch).unwrap();
        let back: HyperLogLog = serde_json::from_str(&text).unwrap();
        assert_eq!(back, sketch);
        let damaged = text.replacen('A', "B", 1);
        assert!(serde_json::from_str::<HyperLogLog>(&damaged).is_err());
    }
    let text = serde_json::to_string(&ultra(8, 300)).unwrap();
    assert_eq!(serde_json::from_str::<UltraLogLog>(&text).unwrap(), ultra(8, 300));
}
