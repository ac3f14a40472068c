//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p cms --test format` writes the golden files anew: a new format version.
#![cfg(feature = "std")]

use core::fmt::Debug;
use core::hash::BuildHasher;
use std::path::Path;
use std::{env, fs};

use cms::{
    AtomicCountMinSketch, CountMinParams, CountMinSketch, CountMinSketchView, CountSketch,
    CountSketchView, HeavyHitters, RowHash, SketchedHeavyHitters, TopK,
};
use pds_core::bytes::ReadLimits;
use pds_core::hash::finalize;
use pds_core::{DecodeError, DefaultHashBuilder, Raw, SipHashBuilder};

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
    let builder = CountMinSketch::builder(params).conservative().counters::<u8>();
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

fn heavy() -> HeavyHitters<String> {
    let mut summary = HeavyHitters::new(0.01).unwrap();
    stream().for_each(|i| {
        summary.insert(word(i).as_str());
    });
    summary
}

fn top() -> TopK<u64> {
    let mut list = TopK::new(5).unwrap();
    stream().for_each(|i| {
        list.insert(&i);
    });
    list
}

fn sketched() -> SketchedHeavyHitters<Vec<u8>> {
    let mut detector = SketchedHeavyHitters::new(0.02, 0.05, 0.1).unwrap();
    stream().for_each(|i| {
        detector.insert(word(i % 60).as_bytes());
    });
    detector
}

fn golden() -> [(&'static str, Vec<u8>); 6] {
    [
        ("count_min.pds", plain().to_bytes()),
        ("count_min_u8_conservative_sip.pds", narrow().with_key().to_bytes()),
        ("count_sketch.pds", signed().to_bytes()),
        ("heavy_hitters_string.pds", heavy().to_bytes()),
        ("top_k_u64.pds", top().to_bytes()),
        ("sketched_heavy_hitters_bytes.pds", sketched().to_bytes()),
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
        AtomicCountMinSketch::<DefaultHashBuilder>::from_bytes(&read("count_min.pds")).unwrap();
    assert_eq!(shared.into_plain(), plain());
    let keyed = read("count_min_u8_conservative_sip.pds");
    let sketch = CountMinSketch::<SipHashBuilder, u8>::from_bytes_with_key(&keyed).unwrap();
    assert_eq!(sketch, narrow());
    assert_eq!(
        CountSketch::<DefaultHashBuilder>::from_bytes(&read("count_sketch.pds")).unwrap(),
        signed()
    );
    let summary = HeavyHitters::<String>::from_bytes(&read("heavy_hitters_string.pds")).unwrap();
    assert_eq!(summary, heavy());
    assert_eq!(summary.top(), heavy().top());
    assert_eq!(TopK::<u64>::from_bytes(&read("top_k_u64.pds")).unwrap(), top());
    let detector = read("sketched_heavy_hitters_bytes.pds");
    let detector = SketchedHeavyHitters::<Vec<u8>>::from_bytes(&detector).unwrap();
    assert!(detector == sketched() && detector.top().len() > 10);
    assert_eq!(detector.top(), sketched().top());
}

/// Columns and signs by the specification, computed without this crate.
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
    let mut sketch =
        CountMinSketch::builder(CountMinParams::from_width_and_depth(1_000, 4).unwrap())
            .build()
            .unwrap();
    sketch.insert_many(&1u64, 5);
    let places: Vec<_> = (0..4_000).filter(|&i| sketch.counters()[i] == 5).collect();
    assert_eq!(places, [186, 1514, 2079, 3670]);
    let bytes = sketch.to_bytes();
    assert_eq!(bytes.len(), 128 + 16_000 + 16 + 8);
    for place in places {
        let at = 128 + 4 * place;
        assert_eq!(bytes[at..at + 4], [5, 0, 0, 0]);
    }
    assert_eq!(bytes[128 + 16_000..][..8], 5u64.to_le_bytes());
    assert_eq!(bytes[128 + 16_008..][..8], u64::from(u32::MAX).to_le_bytes());
}

/// Cut anywhere, extended, and with any one bit flipped, bytes are an error and no structure.
fn refuses_damage<T>(bytes: &[u8], from_bytes: impl Fn(&[u8]) -> Result<T, DecodeError>) {
    assert!(from_bytes(bytes).is_ok());
    let step = (bytes.len() / 300).max(1);
    for end in (0..bytes.len()).step_by(step) {
        assert!(from_bytes(&bytes[..end]).is_err(), "cut to {end}");
    }
    assert!(matches!(from_bytes(&[bytes, &[0]].concat()), Err(DecodeError::Trailing { .. })));
    for bit in (0..8 * 128).chain((8 * 128..8 * bytes.len()).step_by(8 * step + 3)) {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(from_bytes(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn case_17_damaged_bytes_are_refused() {
    refuses_damage(&plain().to_bytes(), |bytes| {
        CountMinSketch::<DefaultHashBuilder>::from_bytes(bytes)
    });
    refuses_damage(&signed().to_bytes(), |bytes| {
        CountSketch::<DefaultHashBuilder>::from_bytes(bytes)
    });
    refuses_damage(&heavy().to_bytes(), HeavyHitters::<String>::from_bytes);
    refuses_damage(&top().to_bytes(), TopK::<u64>::from_bytes);
    refuses_damage(&sketched().to_bytes(), SketchedHeavyHitters::<Vec<u8>>::from_bytes);
}

/// Changes bytes at an offset and makes both checksums right again, as a stranger could.
fn forged(bytes: &[u8], offset: usize, new: &[u8]) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    forged[offset..offset + new.len()].copy_from_slice(new);
    let sum = xxh3(&forged[..120]);
    forged[120..128].copy_from_slice(&sum);
    let end = forged.len() - 8;
    let sum = xxh3(&forged[128..end]);
    forged[end..].copy_from_slice(&sum);
    forged
}

/// XXH3 of bytes: the default hasher's hash of them as they are.
fn xxh3(bytes: &[u8]) -> [u8; 8] {
    DefaultHashBuilder::default().hash_one(Raw(bytes)).to_le_bytes()
}

fn field_of<T: Debug>(result: Result<T, DecodeError>) -> &'static str {
    match result.unwrap_err() {
        DecodeError::Field { name, .. } | DecodeError::Choice { name, .. } => name,
        DecodeError::Shape { .. } => "shape",
        DecodeError::PayloadLength { .. } => "payload length",
        DecodeError::Padding { .. } => "padding",
        DecodeError::Trailing { .. } => "trailing",
        other => panic!("{other}"),
    }
}

/// Bytes with right checksums that no sketch has.
#[test]
fn case_17_forged_sketches_are_refused() {
    let bytes = plain().to_bytes();
    let refused = |offset, new: &[u8]| {
        field_of(CountMinSketch::<DefaultHashBuilder>::from_bytes(&forged(&bytes, offset, new)))
    };
    assert_eq!(refused(56, &0u64.to_le_bytes()), "shape");
    assert_eq!(refused(56, &u64::MAX.to_le_bytes()), "shape");
    assert_eq!(refused(64, &65u64.to_le_bytes()), "shape");
    assert_eq!(refused(64, &(1u64 << 32 | 3).to_le_bytes()), "shape");
    assert_eq!(refused(72, &16u64.to_le_bytes()), "the bits of a counter");
    assert_eq!(refused(80, &2u64.to_le_bytes()), "the update");
    assert_eq!(refused(88, &1e-9f64.to_le_bytes()), "shape");
    assert_eq!(refused(88, &f64::NAN.to_le_bytes()), "shape");
    assert_eq!(refused(96, &1u64.to_le_bytes()), "an unused number of the shape");
    assert_eq!(refused(112, &9u64.to_le_bytes()), "trailing");
    assert_eq!(refused(56, &137u64.to_le_bytes()), "payload length");
    let total_at = bytes.len() - 24;
    assert_eq!(refused(total_at, &2_999u64.to_le_bytes()), "the total");
    assert_eq!(refused(total_at + 8, &(1u64 << 32).to_le_bytes()), "the least saturated count");
    // 136 x 3 counters fill their words; 3 of one row leave half a word.
    let odd = CountMinSketch::builder(CountMinParams::from_width_and_depth(3, 1).unwrap());
    let odd = forged(&odd.build().unwrap().to_bytes(), 128 + 12, &[1]);
    assert_eq!(field_of(CountMinSketch::<DefaultHashBuilder>::from_bytes(&odd)), "padding");
    // Another kind, and other counters than those asked for.
    assert!(matches!(
        CountSketch::<DefaultHashBuilder>::from_bytes(&bytes),
        Err(DecodeError::Kind { .. })
    ));
    let wide = CountMinSketch::<DefaultHashBuilder, u64>::from_bytes(&bytes);
    assert_eq!(field_of(wide), "the bits of a counter");
    let conservative = CountMinSketch::builder(plain().params()).conservative().build().unwrap();
    let shared = AtomicCountMinSketch::<DefaultHashBuilder>::from_bytes(&conservative.to_bytes());
    assert_eq!(field_of(shared), "the update");
}

#[test]
fn case_17_forged_summaries_are_refused() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    summary.insert_many(&1, 5);
    summary.insert_many(&2, 7);
    let bytes = summary.to_bytes();
    let refused = |offset, new: &[u8]| {
        field_of(HeavyHitters::<u64>::from_bytes(&forged(&bytes, offset, new)))
    };
    assert_eq!(refused(56, &9u64.to_le_bytes()), "shape");
    assert_eq!(refused(64, &0f64.to_le_bytes()), "shape");
    assert_eq!(refused(72, &3u64.to_le_bytes()), "the type of the keys");
    assert_eq!(refused(80, &16u64.to_le_bytes()), "the number of tracked keys");
    assert_eq!(refused(80, &15u64.to_le_bytes()), "payload length");
    assert_eq!(refused(88, &u64::MAX.to_le_bytes()), "the bytes of the keys");
    assert_eq!(refused(128, &11u64.to_le_bytes()), "the total");
    // The floor, then entries of count, error and key, 24 bytes each.
    assert_eq!(refused(136, &1u64.to_le_bytes()), "the total");
    assert_eq!(refused(136, &6u64.to_le_bytes()), "a count");
    assert_eq!(refused(144, &6u64.to_le_bytes()), "the total");
    assert_eq!(refused(144 + 8, &1u64.to_le_bytes()), "the error of a count");
    assert_eq!(refused(144 + 24 + 16, &1u64.to_le_bytes()), "a tracked key");

    let mut words = TopK::<String>::new(2).unwrap();
    words.insert("word");
    let bytes = words.to_bytes();
    // The sketch of 1,024 x 4 counters of 8 bytes, and what it has behind them, come first.
    let entry = 128 + 32_768 + 16 + 8;
    assert_eq!(bytes.len(), entry + 16 + 8 + 4 + 8);
    let refused =
        |offset, new: &[u8]| field_of(TopK::<String>::from_bytes(&forged(&bytes, offset, new)));
    assert_eq!(refused(entry + 16, &5u64.to_le_bytes()), "the length of a key");
    assert_eq!(refused(entry + 16, &3u64.to_le_bytes()), "the bytes of the keys");
    assert_eq!(refused(entry + 24, &[0xff]), "a string");
    assert_eq!(refused(64, &1u64.to_le_bytes()), "an unused number of the shape");
    assert_eq!(refused(entry, &2u64.to_le_bytes()), "a count");
    assert_eq!(refused(entry - 8, &1u64.to_le_bytes()), "the floor");
    assert_eq!(refused(56, &0u64.to_le_bytes()), "shape");
}

/// The sketch comes behind its epsilon, the candidates behind the sketch.
#[test]
fn case_17_forged_detectors_are_refused() {
    let mut detector = SketchedHeavyHitters::<u64>::new(0.2, 0.1, 0.1).unwrap();
    detector.insert_many(&1, 5);
    let bytes = detector.to_bytes();
    // 28 x 3 counters of 8 bytes, the total and another number behind the epsilon.
    let entry = 128 + 8 + 672 + 16 + 8;
    assert_eq!(bytes.len(), entry + 24 + 8);
    let refused = |offset, new: &[u8]| {
        field_of(SketchedHeavyHitters::<u64>::from_bytes(&forged(&bytes, offset, new)))
    };
    assert_eq!(refused(56, &0u64.to_le_bytes()), "shape");
    assert_eq!(refused(56, &27u64.to_le_bytes()), "payload length");
    assert_eq!(refused(72, &3u64.to_le_bytes()), "the type of the keys");
    assert_eq!(refused(80, &16u64.to_le_bytes()), "the number of tracked keys");
    assert_eq!(refused(96, &1.0f64.to_le_bytes()), "shape");
    assert_eq!(refused(96, &f64::NAN.to_le_bytes()), "shape");
    assert_eq!(refused(128, &1e-9f64.to_le_bytes()), "shape");
    assert_eq!(refused(entry - 24, &4u64.to_le_bytes()), "the total");
    assert_eq!(refused(entry - 8, &5u64.to_le_bytes()), "the floor");
    assert_eq!(refused(entry, &6u64.to_le_bytes()), "a count");
    assert_eq!(refused(entry + 8, &6u64.to_le_bytes()), "the error of a count");
    let read = TopK::<u64>::from_bytes(&bytes);
    assert!(matches!(read, Err(DecodeError::Kind { .. })));
}

#[test]
fn case_21_views_answer_from_bytes_at_any_address() {
    let (plain, signed, narrow) = (plain(), signed(), narrow());
    for offset in 0..9 {
        let at = |bytes: Vec<u8>| [vec![0; offset], bytes].concat();
        let (bytes, signed_bytes) = (at(plain.to_bytes()), at(signed.to_bytes()));
        let view: CountMinSketchView = CountMinSketchView::from_bytes(&bytes[offset..]).unwrap();
        let signed_view = CountSketchView::from_bytes(&signed_bytes[offset..]).unwrap();
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
    let narrow_bytes = narrow.without_key().to_bytes();
    let hasher = SipHashBuilder::from_key(KEY);
    let view = CountMinSketchView::<_, u8>::from_bytes_with_hasher(&narrow_bytes, hasher).unwrap();
    assert!((0..600).all(|i| view.estimate(&word(i)) == narrow.estimate(&word(i))));
}

/// Any payload gives answers; `verify` tells what they are worth.
#[test]
fn case_21_unverified_views_survive_any_payload() {
    let mut bytes = signed().to_bytes();
    let end = bytes.len() - 8;
    bytes[128..end].fill(0x80);
    let view = CountSketchView::from_bytes(&bytes).unwrap();
    assert!((0..600u64).all(|key| view.estimate(&key) != 0));
    assert!(matches!(view.verify(), Err(DecodeError::Checksum { .. })));
    assert!(view.to_sketch().is_err());
    assert!(CountSketchView::from_bytes(&plain().to_bytes()).is_err());
    assert!(CountSketchView::from_bytes(&bytes[..end]).is_err());
}

/// A great capacity costs memory when keys come, not when bytes claim it.
#[test]
fn case_17_a_claimed_capacity_costs_nothing() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    (0..5).for_each(|key| {
        summary.insert(&key);
    });
    let claim = forged(&summary.to_bytes(), 56, &(1u64 << 31).to_le_bytes());
    let mut decoded = HeavyHitters::<u64>::from_bytes(&claim).unwrap();
    assert!(decoded.size_in_bytes() < 1_000);
    (0..1_000).for_each(|key| {
        decoded.insert(&key);
    });
    let counts = (decoded.estimate(&3).value(), decoded.estimate(&999).value());
    assert_eq!((counts, decoded.total()), ((2, 1), 1_005));
}

#[test]
fn streams_hold_one_structure_after_another() {
    let mut stream = Vec::new();
    heavy().write_to(&mut stream).unwrap();
    plain().write_to(&mut stream).unwrap();
    let mut reader = stream.as_slice();
    let summary = HeavyHitters::<String>::read_from(&mut reader, ReadLimits::UNLIMITED).unwrap();
    let sketch =
        CountMinSketch::<DefaultHashBuilder>::read_from(&mut reader, ReadLimits::UNLIMITED)
            .unwrap();
    assert!(summary == heavy() && sketch == plain() && reader.is_empty());
}

/// Key types, updates and counters have names, which errors say.
#[test]
fn case_45_errors_name_key_types_and_updates() {
    let numbers = TopK::<u32>::new(3).unwrap().to_bytes();
    assert_eq!(
        TopK::<u64>::from_bytes(&numbers).unwrap_err().to_string(),
        "the type of the keys at offset 72 is u32 (number 3), but must be u64"
    );
    let conservative = CountMinSketch::builder(CountMinParams::new(0.1, 0.1).unwrap())
        .conservative()
        .build()
        .unwrap()
        .to_bytes();
    assert_eq!(
        AtomicCountMinSketch::<DefaultHashBuilder, u32>::from_bytes(&conservative)
            .unwrap_err()
            .to_string(),
        "the update at offset 80 is conservative (number 1), but must be plain, for a sketch that threads share"
    );
    assert_eq!(
        CountMinSketch::<DefaultHashBuilder, u8>::from_bytes(&conservative)
            .unwrap_err()
            .to_string(),
        "the bits of a counter at offset 72 is 32, but must be 8, for counters of type `u8`"
    );
}
