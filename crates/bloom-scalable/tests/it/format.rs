//! The portable bytes: golden files, the same forever, and what bad input gets.
//!
//! `BLESS=1 cargo test -p bloom-scalable --test it format` writes the golden files anew: a new format version.

use std::path::{Path, PathBuf};
use std::{env, fs};

use bloom_core::BloomFilter;
use bloom_scalable::bytes::{ByteOptions, Envelope, Header, Kind};
use bloom_scalable::error::{DecodeError, DecodeErrorKind};
use bloom_scalable::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_scalable::{
    LayeredBloomFilter, LayeredBloomFilterView, ScalableBlockedBloomFilter,
    ScalableBlockedBloomFilterView, ScalableBloomFilter, ScalableBloomFilterView, Schedule,
};
use pds_params::BloomParams;
use pds_testkit::ThreadTime;
use pds_testkit::envelope::{number_offset, with_number, with_numbers, with_payload};
use pds_testkit::portable::{fault_of, refuses_damage};

fn golden_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// Compares bytes with a golden file, and returns the file.
fn checked(file: &str, bytes: &[u8]) -> Vec<u8> {
    if env::var_os("BLESS").is_some() {
        fs::write(golden_path(file), bytes).unwrap();
    }
    let golden = fs::read(golden_path(file)).unwrap();
    assert_eq!(golden, bytes, "{file}");
    golden
}

fn scalable(schedule: Schedule, keys: u32) -> ScalableBloomFilter {
    let builder = ScalableBloomFilter::builder().expected_items(10).schedule(schedule);
    let mut filter = builder.build().unwrap();
    (0..keys).for_each(|key| _ = filter.insert(&key));
    filter
}

fn merged() -> ScalableBloomFilter {
    let mut filter = scalable(Schedule::DEFAULT, 45);
    let mut other = scalable(Schedule::Halving, 0);
    (1_000..1_025_u32).for_each(|key| _ = other.insert(&key));
    filter.merge(&other).unwrap();
    filter
}

fn all() -> [(&'static str, ScalableBloomFilter); 5] {
    [
        ("empty.pds", scalable(Schedule::DEFAULT, 0)),
        ("scalable.pds", scalable(Schedule::DEFAULT, 100)),
        ("halving.pds", scalable(Schedule::Halving, 30)),
        ("likely.pds", scalable(Schedule::Likely(50), 90)),
        ("merged.pds", merged()),
    ]
}

fn layered() -> LayeredBloomFilter {
    let mut filter = LayeredBloomFilter::new(&[50, 20, 5], 0.01).unwrap();
    (0..50_u32).for_each(|key| _ = filter.insert(&key));
    (0..20_u32).for_each(|key| _ = filter.insert(&key));
    (0..5_u32).for_each(|key| _ = filter.insert(&key));
    filter
}

fn blocked() -> ScalableBlockedBloomFilter {
    let builder = ScalableBloomFilter::builder().expected_items(20).growth(3);
    let mut filter = builder.build_blocked().unwrap();
    (0..200_u32).for_each(|key| _ = filter.insert(&key));
    filter
}

#[test]
fn todays_code_writes_and_reads_the_golden_files() {
    for (file, filter) in all() {
        let bytes = checked(file, &filter.to_bytes());
        let read = ScalableBloomFilter::from_bytes(&bytes).unwrap();
        assert!(read == filter, "{file}");
        let view = ScalableBloomFilterView::open(&bytes).unwrap();
        view.verify().unwrap();
        for key in 0..2_000_u32 {
            let expected = filter.contains(&key);
            assert_eq!([read.contains(&key), view.contains(&key)], [expected; 2], "{file}: {key}");
        }
        assert_eq!(view.promised_rate(), filter.promised_rate());
        assert_eq!(view.to_filter().as_ref(), Ok(&filter), "{file}");
    }
    let bytes = checked("blocked.pds", &blocked().to_bytes());
    let read: ScalableBlockedBloomFilter = ByteOptions::new().from_bytes(&bytes).unwrap();
    assert!(read == blocked());
    let view = ScalableBlockedBloomFilterView::open(&bytes).unwrap();
    view.verify().unwrap();
    assert!((0..500_u32).all(|key| view.contains(&key) == read.contains(&key)));
    let bytes = checked("layered.pds", &layered().to_bytes());
    let read = LayeredBloomFilter::from_bytes(&bytes).unwrap();
    let view = LayeredBloomFilterView::open(&bytes).unwrap();
    view.verify().unwrap();
    assert!(read == layered() && view.to_filter().unwrap() == read);
    for key in 0..500_u32 {
        assert_eq!([read.count(&key), view.count(&key)], [layered().count(&key); 2]);
    }
}

#[test]
fn layered_filters_of_any_rate_can_be_read() {
    for rate in [1e-15, 1e-6, 0.3, 0.9, 1.0 - 1e-9, 1.0 - f64::EPSILON, 1.0 - f64::EPSILON / 2.0] {
        for keys in [&[50, 20][..], &[7; 16], &[9, 9, 1]] {
            let filter = LayeredBloomFilter::new(keys, rate).unwrap();
            let read = LayeredBloomFilter::from_bytes(&filter.to_bytes());
            assert_eq!(read.as_ref(), Ok(&filter), "{rate} {keys:?}");
        }
    }
}

#[test]
fn a_filter_goes_on_where_its_bytes_ended() {
    for keys in [0, 1, 9, 10, 11, 29, 30, 31, 100] {
        let mut filter = scalable(Schedule::DEFAULT, keys);
        let mut read = ScalableBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
        for key in 500..700_u32 {
            assert_eq!(filter.insert(&key), read.insert(&key));
        }
        assert!(filter == read, "{keys}");
    }
    let (mut one, mut other) =
        (merged(), ScalableBloomFilter::from_bytes(&merged().to_bytes()).unwrap());
    let more = scalable(Schedule::Likely(50), 77);
    assert_eq!(one.merge(&more), other.merge(&more));
    assert_eq!(one.to_bytes(), other.to_bytes());
}

#[test]
fn a_secret_key_is_written_on_request_only_and_in_all_layers_or_none() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter =
        ScalableBloomFilter::builder().expected_items(2).hasher(hasher).build().unwrap();
    (0..20_u32).for_each(|key| _ = filter.insert(&key));
    let omitted = ByteOptions::new().without_key().to_bytes(&filter);
    let key: &[u8] = b"0123456789abcdef";
    assert!(!omitted.windows(16).any(|part| part == key));
    type Keyed = ScalableBloomFilter<BloomFilter<SipHashBuilder>>;
    let refused = ByteOptions::new().from_bytes::<Keyed>(&omitted).unwrap_err();
    assert_eq!(refused.kind(), DecodeErrorKind::KeyMissing);
    let read: Keyed = ByteOptions::new().hasher(hasher).from_bytes(&omitted).unwrap();
    assert!(read == filter);
    let view: ScalableBloomFilterView<&[u8], SipHashBuilder> =
        ByteOptions::new().hasher(hasher).open(omitted.as_slice()).unwrap();
    assert!((0..20_u32).all(|key| view.contains(&key)));
    let included = ByteOptions::new().with_key().to_bytes(&filter);
    assert_eq!(included.windows(16).filter(|part| *part == key).count(), 1 + filter.num_layers());
    assert!(ByteOptions::new().from_bytes::<Keyed>(&included).unwrap() == filter);
}

/// Reads bytes in every way, which must all refuse them alike. Returns the fault.
fn refused(bytes: &[u8]) -> DecodeError {
    let error = ScalableBloomFilter::from_bytes(bytes).unwrap_err();
    let streamed = ScalableBloomFilter::read_from(bytes).unwrap_err();
    assert_eq!(streamed.to_string(), error.to_string());
    let view = ScalableBloomFilterView::open(bytes).and_then(|view| view.to_filter());
    // Compared as text, because an impossible rate may be NaN, which is not equal to itself.
    assert_eq!(view.unwrap_err().to_string(), error.to_string());
    error
}

#[test]
fn case_17_numbers_that_lie_are_refused() {
    let bytes = scalable(Schedule::DEFAULT, 25).to_bytes();
    let forge = |index, number| refused(&with_number(&bytes, index, number));
    let rejected = [
        (0, 2, "the kind of the layers"),
        (0, 0, "the kind of the layers"),
        (1, 0, "expected_items"),
        (2, 0, "false_positive_rate"),
        (2, 1.0_f64.to_bits(), "false_positive_rate"),
        (2, f64::NAN.to_bits(), "false_positive_rate"),
        (3, 0, "growth"),
        (3, 32_769, "growth"),
        (3, (1 << 32) + 2, "growth"),
        (4, 0, "the schedule"),
        (4, 4, "the schedule"),
        (5, 1.0_f64.to_bits(), "the value of the schedule"),
        (5, f64::NAN.to_bits(), "the value of the schedule"),
        (6, 0, "layers"),
        (6, 65, "layers"),
        (6, u64::MAX, "layers"),
        (7, 2, "the merged layers"),
        (7, u64::MAX, "the merged layers"),
        (8, 21, "the room in the newest layer"),
        (8, 20, "the room in the newest layer"),
    ];
    for (index, number, name) in rejected {
        let (found, offset) = fault_of::<()>(Err(forge(index, number)));
        assert_eq!(found, name, "{index} {number}");
        assert_eq!(offset, number_offset(&bytes, index) as u64, "{index} {number}");
    }
    // The index of the second layer is then not read, and no padding either.
    assert_eq!(fault_of::<()>(Err(forge(6, 1))).0, "padding");
    // Another growth, rate or schedule would have other layers.
    for (index, number) in [(1, 11), (2, 0.02_f64.to_bits()), (3, 3), (5, 0.8_f64.to_bits())] {
        assert_eq!(fault_of::<()>(Err(forge(index, number))).0, "the layer of this number");
    }
    let growth = forge(3, u64::MAX).to_string();
    assert!(growth.contains("18446744073709551615"), "{growth}");
    assert_eq!(fault_of::<()>(Err(refused(&with_numbers(&bytes, &[1, 2, 3])))).0, "numbers");
    let halving = scalable(Schedule::Halving, 5).to_bytes();
    let fault = refused(&with_number(&halving, 5, 1));
    assert_eq!(fault_of::<()>(Err(fault)).0, "the value of the schedule");
    let likely = scalable(Schedule::Likely(50), 5).to_bytes();
    let fault = refused(&with_number(&likely, 5, 9));
    assert_eq!(fault_of::<()>(Err(fault)).0, "the value of the schedule");
}

/// The envelopes of the layers.
fn layers(bytes: &[u8], mut position: u64) -> Vec<Vec<u8>> {
    let envelope = Envelope::open(bytes).unwrap();
    let mut layers = Vec::new();
    while position < envelope.header().payload_bytes {
        let (layer, end) = envelope.nested_at(position).unwrap();
        layers.push(layer.get_ref().to_vec());
        position = end;
    }
    layers
}

/// The same filter with other layers, under right checksums.
fn with_layers(bytes: &[u8], indices: &[u64], layers: &[Vec<u8>]) -> Vec<u8> {
    let mut payload: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    for layer in layers {
        payload.resize(payload.len().next_multiple_of(64), 0);
        payload.extend(layer);
    }
    with_payload(bytes, &payload)
}

#[test]
fn case_17_layers_that_lie_are_refused() {
    let bytes = scalable(Schedule::DEFAULT, 25).to_bytes();
    let own = layers(&bytes, 16);
    assert_eq!(with_layers(&bytes, &[0, 1], &own), bytes);
    let name =
        |layers: &[Vec<u8>]| fault_of::<()>(Err(refused(&with_layers(&bytes, &[0, 1], layers)))).0;
    let kind = |layers: &[Vec<u8>]| refused(&with_layers(&bytes, &[0, 1], layers)).kind();
    // Out of order, twice the same, too few, too many.
    assert_eq!(name(&[own[1].clone(), own[0].clone()]), "the layer of this number");
    assert_eq!(name(&[own[0].clone(), own[0].clone()]), "the layer of this number");
    assert!(refused(&with_layers(&bytes, &[0, 1], &own[..1])).to_string().contains("payload"));
    assert_eq!(name(&[own.clone(), own.clone()].concat()), "unread");
    assert_eq!(name(&[own.clone(), vec![vec![0; 8]]].concat()), "unread");
    // Of another kind, of another hasher, not an envelope, nested too deep in itself.
    assert_eq!(
        kind(&[layers(&blocked().to_bytes(), 24)[0].clone(), own[1].clone()]),
        DecodeErrorKind::Kind
    );
    assert_eq!(kind(&[bytes.clone(), own[1].clone()]), DecodeErrorKind::Kind);
    let seeded = ScalableBloomFilter::builder().expected_items(10).seed(9).build().unwrap();
    let seeded = layers(&seeded.to_bytes(), 8)[0].clone();
    assert_eq!(kind(&[seeded, own[1].clone()]), DecodeErrorKind::KeyMismatch);
    let sip =
        ScalableBloomFilter::builder().expected_items(10).hasher(SipHashBuilder::from_key([1; 16]));
    let sip = ByteOptions::new().with_key().to_bytes(&sip.build().unwrap());
    assert_eq!(kind(&[layers(&sip, 8)[0].clone(), own[1].clone()]), DecodeErrorKind::Hasher);
    // A layer without a design, or with another one.
    let mut plain = BloomFilter::builder().bits(own_bits(&own[0])).hashes(10).build().unwrap();
    plain.insert(&1);
    assert_eq!(name(&[plain.to_bytes(), own[1].clone()]), "the layer of this number");
    // One bit of a layer, under the right checksum of the whole only.
    let mut damaged = own.clone();
    damaged[0][130] ^= 1;
    let forged = with_layers(&bytes, &[0, 1], &damaged);
    assert_eq!(
        ScalableBloomFilter::from_bytes(&forged).unwrap_err().kind(),
        DecodeErrorKind::Checksum
    );
    let view = ScalableBloomFilterView::open(&forged).unwrap();
    assert_eq!(view.verify().unwrap_err().kind(), DecodeErrorKind::Checksum);
}

fn own_bits(layer: &[u8]) -> u64 {
    Header::peek(layer).unwrap().shape.as_slice()[0]
}

#[test]
fn case_17_merged_layers_that_lie_are_refused() {
    let bytes = merged().to_bytes();
    let indices = [0_u64, 1, 0, 1, 2];
    let own = layers(&bytes, 40);
    assert_eq!(with_layers(&bytes, &indices, &own), bytes);
    let refused =
        |indices: &[u64], layers: &[Vec<u8>]| refused(&with_layers(&bytes, indices, layers));
    // The newest layer, which takes further keys, has an index of its own.
    let at = Header::peek(&bytes).unwrap().payload_offset();
    for (indices, place) in [([0, 1 << 32, 0, 1, 2], 1), ([0, 1, 0, 1, 1], 4), ([2, 1, 0, 1, 2], 4)]
    {
        let fault = fault_of::<()>(Err(refused(&indices, &own)));
        assert_eq!(fault, ("the index of a layer", at + 8 * place), "{indices:?}");
    }
    let full = with_number(&with_layers(&bytes, &[2, 1, 0, 1, 2], &own), 8, 0);
    assert!(ScalableBloomFilter::from_bytes(&full).is_ok());
    let mut plain = own.clone();
    plain[1] = BloomFilter::builder().bits(99).hashes(3).build().unwrap().to_bytes();
    assert_eq!(fault_of::<()>(Err(refused(&indices, &plain))).0, "the layer of this number");
    // One bit for an item at 10^-15.
    let params = BloomParams::from_bits_and_hashes(1, 1).unwrap();
    let params = params.with_design(Some(1), Some(1e-15)).unwrap();
    plain[1] = BloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap().to_bytes();
    assert_eq!(fault_of::<()>(Err(refused(&indices, &plain))).0, "the layer of this number");
    // Any size of a merged layer is possible, with any index.
    let mut other = own.clone();
    other[0] = BloomFilter::new(77, 0.1).unwrap().to_bytes();
    let any = with_layers(&bytes, &[u32::MAX.into(), 7, 7, 0, 5], &other);
    let mut read = ScalableBloomFilter::from_bytes(&any).unwrap();
    assert!(read.promised_rate() > 0.1 && read.num_layers() == 5);
    (0..500_u32).for_each(|key| _ = read.insert(&key));
    assert_eq!(ScalableBloomFilter::from_bytes(&read.to_bytes()).as_ref(), Ok(&read));
}

#[test]
fn case_17_many_layers_are_refused_unless_they_are_there() {
    let bytes = scalable(Schedule::DEFAULT, 5).to_bytes();
    // Of layers of one size there may be a million, but not in these bytes.
    let even = with_number(&with_number(&bytes, 3, 1), 6, 1_000_000);
    let fault = ScalableBloomFilter::from_bytes(&even);
    assert!(fault.is_err() && ScalableBloomFilterView::open(&even).is_err());
    let merged = with_number(&with_number(&bytes, 6, 1_000_001), 7, 1_000_000);
    assert_eq!(fault_of::<()>(Err(refused(&merged))).0, "payload length");
    // A thousand that are there are read, and asked.
    let layer = BloomFilter::new(1, 0.5).unwrap().to_bytes();
    let own = layers(&bytes, 8);
    let many = [vec![layer; 1_000], own].concat();
    let head = with_number(&with_number(&bytes, 6, 1_001), 7, 1_000);
    let indices: Vec<u64> = (1..1_001).chain([0]).collect();
    let forged = with_layers(&head, &indices, &many);
    let read = ScalableBloomFilter::from_bytes(&forged).unwrap();
    assert!(read.num_layers() == 1_001 && read.contains(&3_u32) && !read.contains(&77_u32));
    assert!(ScalableBloomFilterView::open(&forged).unwrap().contains(&3_u32));
}

/// Building searches the size of each layer. Reading must not: a kilobyte of bytes would take milliseconds.
#[test]
fn case_17_reading_many_layers_takes_less_time_than_building_them() {
    let start = ThreadTime::now();
    let builder = ScalableBloomFilter::builder().expected_items(1).false_positive_rate(0.5);
    let mut filter = builder.growth(1).schedule(Schedule::Ratio(0.99999)).build().unwrap();
    (0..300_u32).for_each(|key| _ = filter.insert(&key));
    let built = start.elapsed();
    let bytes = filter.to_bytes();
    let fastest = |read: &dyn Fn()| {
        let run = || {
            let start = ThreadTime::now();
            read();
            start.elapsed()
        };
        (0..5).map(|_| run()).min().unwrap()
    };
    let read = fastest(&|| assert!(ScalableBloomFilter::from_bytes(&bytes).unwrap() == filter));
    let opened = fastest(&|| assert!(ScalableBloomFilterView::open(&bytes).is_ok()));
    assert!(10 * read < built && 10 * opened < built, "{built:?}, {read:?}, {opened:?}");
}

#[test]
fn case_17_layered_filters_that_lie_are_refused() {
    let bytes = layered().to_bytes();
    let own = layers(&bytes, 0);
    let refused = |bytes: &[u8]| {
        let error = LayeredBloomFilter::from_bytes(bytes).unwrap_err();
        let view = LayeredBloomFilterView::open(bytes).and_then(|view| view.to_filter());
        assert_eq!(view.unwrap_err(), error);
        error
    };
    for (index, number, name) in [
        (0, 2, "the kind of the layers"),
        (1, 0, "layers"),
        (1, 1, "layers"),
        (1, 17, "layers"),
        (1, u64::MAX, "layers"),
        (1, 2, "unread"),
        (2, 0, "the promised rate"),
        (2, f64::NAN.to_bits(), "the promised rate"),
        (2, 1.0_f64.to_bits(), "the promised rate"),
    ] {
        let fault = refused(&with_number(&bytes, index, number));
        assert_eq!(fault_of::<()>(Err(fault)).0, name, "{index} {number}");
    }
    let plain = BloomFilter::builder().bits(99).hashes(3).build().unwrap().to_bytes();
    let fault = refused(&with_layers(&bytes, &[], &[own[0].clone(), plain, own[2].clone()]));
    assert_eq!(fault_of::<()>(Err(fault)).0, "the layer of this number");
    // More items in the second layer than in the first, and layers that do not keep the rate of the whole.
    let swapped = [own[1].clone(), own[0].clone(), own[2].clone()];
    let fault = refused(&with_layers(&bytes, &[], &swapped));
    assert_eq!(fault_of::<()>(Err(fault)).0, "the layer of this number");
    let high = LayeredBloomFilter::new(&[50, 20], 0.5).unwrap().to_bytes();
    for rate in [1e-300, 0.499_f64] {
        let fault = fault_of::<()>(Err(refused(&with_number(&high, 2, rate.to_bits()))));
        assert_eq!(fault, ("the promised rate", number_offset(&high, 2) as u64));
    }
    let seeded = BloomFilter::builder().expected_items(9).seed(1).build().unwrap().to_bytes();
    let fault = refused(&with_layers(&bytes, &[], &[own[0].clone(), seeded, own[2].clone()]));
    assert_eq!(fault.kind(), DecodeErrorKind::KeyMismatch);
    let other = scalable(Schedule::DEFAULT, 1).to_bytes();
    assert_eq!(LayeredBloomFilter::from_bytes(&other).unwrap_err().kind(), DecodeErrorKind::Kind);
    assert_eq!(Header::peek(&bytes).unwrap().kind, Kind::LAYERED_BLOOM);
}

#[test]
fn case_17_every_cut_and_every_flipped_bit_is_an_error() {
    refuses_damage(&scalable(Schedule::DEFAULT, 25).to_bytes(), ScalableBloomFilter::from_bytes);
    refuses_damage(&merged().to_bytes(), ScalableBloomFilter::from_bytes);
    refuses_damage(&layered().to_bytes(), LayeredBloomFilter::from_bytes);
}

#[test]
fn case_21_a_view_answers_from_bytes_at_any_address_and_for_any_payload() {
    for (file, filter) in all() {
        let bytes = filter.to_bytes();
        for shift in 0..9 {
            let shifted = [&vec![0xff; shift], bytes.as_slice()].concat();
            let view = ScalableBloomFilterView::open(&shifted[shift..]).unwrap();
            assert!((0..500_u32).all(|key| view.contains(&key) == filter.contains(&key)), "{file}");
        }
        // Every bit of the last layer.
        let mut own = layers(&bytes, 8 * filter.num_layers() as u64);
        let last = own.pop().unwrap();
        let payload = Header::peek(&last).unwrap().payload_bytes;
        let mut full = with_payload(&last, &vec![0xff; usize::try_from(payload).unwrap()]);
        *full.last_mut().unwrap() ^= 1;
        own.push(full);
        let indices: &[u64] =
            if file == "merged.pds" { &[0, 1, 0, 1, 2] } else { &[0, 1, 2, 3][..own.len()] };
        let forged = with_layers(&bytes, indices, &own);
        let view = ScalableBloomFilterView::open(&forged).unwrap();
        assert!(view.contains(&77_777_u32) && view.verify().is_err());
        assert!(!view.health().to_string().is_empty() && view.false_positive_rate() > 0.99);
    }
    let owned = ScalableBloomFilterView::open(merged().to_bytes()).unwrap();
    assert_eq!(owned.get_ref(), &merged().to_bytes());
    let debug = format!("{owned:?}");
    assert!(debug.contains("num_layers: 5"), "{debug}");
    assert_eq!(owned.hasher(), &DefaultHashBuilder::default());
}
