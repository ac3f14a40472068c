//! The portable bytes: golden files, which never change, and errors of bad input.
//!
//! `BLESS=1 cargo test -p cms --test it format` rewrites the golden files for a new format version.
#![cfg(feature = "std")]

use std::path::Path;
use std::{env, fs};

use cms::internal::RowHash;
use cms::{
    AtomicCountMinSketch, CountMinParams, CountMinSketch, CountMinSketchView, CountSketch,
    CountSketchView, Update,
};
use pds_core::bytes::ByteOptions;
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder, finalize};
use pds_core::internal::DecodeFault;
use pds_testkit::envelope::{forged, with_number};
use pds_testkit::portable::{fault_of, refuses_damage};

const KEY: [u8; 16] = *b"0123456789abcdef";

/// 3,000 inserts of 500 keys, some often.
fn stream() -> impl Iterator<Item = u64> {
    (0..3_000u64).map(|i| i * i % 997 % 500)
}

fn word(i: u64) -> String {
    format!("key-{i}")
}

fn plain() -> CountMinSketch {
    let mut sketch = CountMinSketch::new(0.02, 0.05).unwrap();
    sketch.extend(stream());
    sketch
}

fn narrow() -> CountMinSketch<SipHashBuilder, u8> {
    let params = CountMinParams::least_memory(0.05, 0.1).unwrap();
    let builder =
        CountMinSketch::builder().params(params).update(Update::Conservative).counters::<u8>();
    let mut sketch = builder.hasher(SipHashBuilder::from_key(KEY)).build().unwrap();
    stream().for_each(|i| {
        sketch.insert(&word(i));
    });
    sketch
}

fn signed() -> CountSketch {
    let mut sketch = CountSketch::new(0.1, 0.05).unwrap();
    sketch.extend(stream());
    stream().take(1_000).for_each(|i| {
        sketch.remove_many(&(i + 7), 3);
    });
    sketch
}

fn golden() -> [(&'static str, Vec<u8>); 3] {
    [
        ("count_min.pds", plain().to_bytes()),
        ("count_min_u8_conservative_sip.pds", ByteOptions::new().with_key().to_bytes(&narrow())),
        ("count_sketch.pds", signed().to_bytes()),
    ]
}

fn read(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)).unwrap()
}

#[test]
fn todays_code_writes_the_golden_files() {
    for (file, bytes) in golden() {
        if env::var_os("BLESS").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
            fs::write(folder.join(file), &bytes).unwrap();
        }
        assert_eq!(read(file), bytes, "{file}");
    }
}

#[test]
fn todays_code_reads_the_golden_files() {
    let sketch = CountMinSketch::<DefaultHashBuilder>::from_bytes(&read("count_min.pds")).unwrap();
    assert_eq!((sketch.total(), sketch.params()), (3_000, plain().params()));
    assert_eq!(sketch, plain());
    let shared =
        ByteOptions::new().from_bytes::<AtomicCountMinSketch>(&read("count_min.pds")).unwrap();
    assert_eq!(shared.into_plain(), plain());
    let keyed = read("count_min_u8_conservative_sip.pds");
    let sketch =
        ByteOptions::new().from_bytes::<CountMinSketch<SipHashBuilder, u8>>(&keyed).unwrap();
    assert_eq!(sketch, narrow());
    assert_eq!(
        CountSketch::<DefaultHashBuilder>::from_bytes(&read("count_sketch.pds")).unwrap(),
        signed()
    );
}

/// Returns columns and signs by the specification, computed without this crate.
#[test]
fn case_19_columns_and_signs_are_those_of_the_specification() {
    let columns = |hash, width| {
        let mut rows = RowHash::new(hash);
        [(); 4].map(|()| rows.next_column(width))
    };
    assert_eq!(columns(finalize(0), 1_000), [715, 601, 756, 238]);
    assert_eq!(columns(finalize(1), 2_719), [1_539, 2_079, 2_464, 1_297]);
    let far = [518_338_352_265, 1_097_758_090_601, 614_216_063_428, 665_364_433_528];
    assert_eq!(columns(0x78af_5f94_892f_3950, 1 << 40), far);
    assert_eq!(RowHash::signs(finalize(0)) & 15, 0b1010);
    assert_eq!(RowHash::signs(finalize(1)) & 15, 0b1101);
}

/// The counters of one key by the specification alone, computed with another implementation of XXH3.
#[test]
fn case_19_a_key_has_its_counters_where_the_specification_says() {
    let mut sketch = CountMinSketch::builder()
        .params(CountMinParams::from_width_and_depth(1_000, 4).unwrap())
        .build()
        .unwrap();
    sketch.insert_many(&1u64, 5);
    let places: Vec<_> = (0..4_000).filter(|&i| sketch.counters()[i] == 5).collect();
    assert_eq!(places, [186, 1514, 2079, 3670]);
    let bytes = sketch.to_bytes();
    assert_eq!(bytes.len(), 128 + 16_000 + 24 + 8);
    for place in places {
        let at = 128 + 4 * place;
        assert_eq!(bytes[at..at + 4], [5, 0, 0, 0]);
    }
    assert_eq!(bytes[128 + 16_000..][..8], 5u64.to_le_bytes());
    assert_eq!(bytes[128 + 16_008..][..8], u64::from(u32::MAX).to_le_bytes());
    assert_eq!(bytes[128 + 16_016..][..8], [0; 8]);
}

#[test]
fn case_17_damaged_bytes_are_refused() {
    refuses_damage(&plain().to_bytes(), |bytes| {
        CountMinSketch::<DefaultHashBuilder>::from_bytes(bytes)
    });
    refuses_damage(&signed().to_bytes(), |bytes| {
        CountSketch::<DefaultHashBuilder>::from_bytes(bytes)
    });
}

/// Bytes that no sketch has, with correct checksums.
#[test]
fn case_17_forged_sketches_are_refused() {
    let bytes = plain().to_bytes();
    let of = |bytes: &[u8]| fault_of(CountMinSketch::<DefaultHashBuilder>::from_bytes(bytes));
    let number = |index, number| of(&with_number(&bytes, index, number));
    // The shape follows the hasher, because there is no design.
    assert_eq!(number(0, 0), ("width", 72));
    assert_eq!(number(0, u64::MAX), ("width", 72));
    assert_eq!(number(1, 65), ("depth", 80));
    assert_eq!(number(1, 1 << 32 | 3), ("depth", 80));
    assert_eq!(number(2, 16), ("the bits of a counter", 88));
    assert_eq!(number(3, 2), ("the update", 96));
    assert_eq!(number(4, 1e-9f64.to_bits()), ("delta", 112));
    assert_eq!(number(4, f64::INFINITY.to_bits()), ("epsilon", 104));
    assert_eq!(number(5, 1.0f64.to_bits()), ("delta", 112));
    assert_eq!(number(5, 1e-9f64.to_bits()), ("delta", 112));
    assert_eq!(number(0, 137), ("payload length", 16));
    let total_at = bytes.len() - 32;
    let total = forged(&bytes, total_at, &2_999u64.to_le_bytes());
    assert_eq!(of(&total), ("the total", total_at as u64));
    let saturated = forged(&bytes, total_at + 8, &(1u64 << 32).to_le_bytes());
    assert_eq!(of(&saturated), ("the least saturated count", total_at as u64 + 8));
    let saturated = forged(&bytes, total_at + 8, &[0; 8]);
    assert_eq!(of(&saturated), ("the least saturated count", total_at as u64 + 8));
    // Counts are saturated and none are lost, or more are lost than there were.
    let of_lost = |full_from: u64, lost: u64| {
        let numbers = [full_from.to_le_bytes(), lost.to_le_bytes()].concat();
        CountMinSketch::<DefaultHashBuilder>::from_bytes(&forged(&bytes, total_at + 8, &numbers))
    };
    for (full_from, lost) in [(1 << 31, 0), (1 << 31, 3_001), (u32::MAX.into(), 3_001)] {
        assert_eq!(fault_of(of_lost(full_from, lost)), ("the lost counts", total_at as u64 + 16));
    }
    assert!(of_lost(1 << 31, 3_000).is_ok());
    // 136 x 3 counters fill their words. 3 counters of one row leave half a word.
    let odd = CountMinSketch::builder().params(CountMinParams::from_width_and_depth(3, 1).unwrap());
    let odd = forged(&odd.build().unwrap().to_bytes(), 128 + 12, &[1]);
    assert_eq!(of(&odd), ("padding", 128 + 8));
    // Another kind, and another type of counters.
    assert!(matches!(
        CountSketch::<DefaultHashBuilder>::from_bytes(&bytes),
        Err(DecodeError(DecodeFault::Kind { .. }))
    ));
    let wide = CountMinSketch::<DefaultHashBuilder, u64>::from_bytes(&bytes);
    assert_eq!(fault_of(wide), ("the bits of a counter", 88));
    let conservative = CountMinSketch::builder()
        .params(plain().params())
        .update(Update::Conservative)
        .build()
        .unwrap();
    let shared = ByteOptions::new().from_bytes::<AtomicCountMinSketch>(&conservative.to_bytes());
    assert_eq!(fault_of(shared), ("the update", 96));
}

#[test]
fn case_21_views_answer_from_bytes_at_any_address() {
    let (plain, signed, narrow) = (plain(), signed(), narrow());
    for offset in 0..9 {
        let at = |bytes: Vec<u8>| [vec![0; offset], bytes].concat();
        let (bytes, signed_bytes) = (at(plain.to_bytes()), at(signed.to_bytes()));
        let view = CountMinSketchView::open(&bytes[offset..]).unwrap();
        let signed_view = CountSketchView::open(&signed_bytes[offset..]).unwrap();
        assert!(view.verify().is_ok() && signed_view.verify().is_ok());
        for key in 0..600u64 {
            assert_eq!(view.estimate(&key), plain.estimate(&key));
            assert_eq!(signed_view.estimate(&key), signed.estimate(&key));
        }
        assert_eq!((view.total(), view.params()), (3_000, plain.params()));
        assert_eq!(signed_view.params(), signed.params());
        assert!(
            view.to_sketch() == Ok(plain.clone()) && signed_view.to_sketch() == Ok(signed.clone())
        );
    }
    let narrow_bytes = ByteOptions::new().without_key().to_bytes(&narrow);
    let hasher = SipHashBuilder::from_key(KEY);
    let view = ByteOptions::new()
        .hasher(hasher)
        .open::<_, CountMinSketchView<_, _, u8>>(&narrow_bytes)
        .unwrap();
    assert!((0..600).all(|i| view.estimate(&word(i)) == narrow.estimate(&word(i))));
}

/// Any payload gives answers. `verify` checks whether they can be trusted.
#[test]
fn case_21_unverified_views_survive_any_payload() {
    let mut bytes = signed().to_bytes();
    let end = bytes.len() - 8;
    bytes[128..end].fill(0x80);
    let view = CountSketchView::open(&bytes).unwrap();
    assert!((0..600u64).all(|key| view.estimate(&key) != 0));
    assert!(matches!(view.verify(), Err(DecodeError(DecodeFault::Checksum { .. }))));
    assert!(view.to_sketch().is_err());
    assert!(CountSketchView::open(&plain().to_bytes()).is_err());
    assert!(CountSketchView::open(&bytes[..end]).is_err());
}

#[test]
fn streams_hold_one_structure_after_another() {
    let mut stream = Vec::new();
    signed().write_to(&mut stream).unwrap();
    plain().write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let options = ByteOptions::new();
    let other = options.read_from::<CountSketch>(&mut reader).unwrap();
    let sketch = options.read_from::<CountMinSketch>(&mut reader).unwrap();
    assert!(other == signed() && sketch == plain() && reader.is_empty());
}

/// Errors name updates and counters.
#[test]
fn case_45_errors_name_counters_and_updates() {
    let conservative = CountMinSketch::builder()
        .params(CountMinParams::new(0.1, 0.1).unwrap())
        .update(Update::Conservative)
        .build()
        .unwrap()
        .to_bytes();
    assert_eq!(
        ByteOptions::new()
            .from_bytes::<AtomicCountMinSketch>(&conservative)
            .unwrap_err()
            .to_string(),
        "the update at offset 96 is conservative (number 1), but must be plain, for a sketch that threads share"
    );
    assert_eq!(
        CountMinSketch::<DefaultHashBuilder, u8>::from_bytes(&conservative)
            .unwrap_err()
            .to_string(),
        "the bits of a counter at offset 88 is 32, but must be 8, for counters of type `u8`"
    );
}
