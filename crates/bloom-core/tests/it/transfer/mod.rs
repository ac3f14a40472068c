//! Compressed filters and deltas: lengths against the entropy, exact return, and bytes that lie.
#![cfg(feature = "std")]

mod bodies;
mod hostile;

use bloom_core::{AtomicBloomFilter, BloomFilter};
use pds_core::bytes::{ByteOptions, Compressed, Delta};
use pds_core::error::{ApplyError, BuildError, DecodeErrorKind};
use pds_core::hash::{SipHashBuilder, finalize};
use pds_testkit::envelope::with_payload;
use pds_testkit::mutate::inputs;

/// Bytes of a compressed filter besides index and code: two heads and two checksums.
const FIXED: usize = 64 + 8 + 128 + 8;

/// Returns a filter of `bits` bits, each set with the probability `fill`.
fn with_fill(bits: u64, fill: f64, seed: u64) -> BloomFilter {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
    let limit = (fill * 2_f64.powi(32)) as u64;
    let mut payload = vec![0_u8; usize::try_from(bits.div_ceil(64) * 8).unwrap()];
    for bit in 0..usize::try_from(bits).unwrap() {
        let random = finalize(seed << 40 | bit as u64) >> 32;
        payload[bit / 8] |= u8::from(random < limit) << (bit % 8);
    }
    of_payload(bits, &payload)
}

/// Returns a filter of `bits` bits with this payload.
fn of_payload(bits: u64, payload: &[u8]) -> BloomFilter {
    let empty = BloomFilter::builder().bits(bits).hashes(3).build().unwrap();
    BloomFilter::from_bytes(&with_payload(&empty.to_bytes(), payload)).unwrap()
}

fn entropy(fill: f64) -> f64 {
    if fill <= 0.0 || fill >= 1.0 {
        return 0.0;
    }
    -fill * fill.log2() - (1.0 - fill) * (1.0 - fill).log2()
}

/// Returns the length of a compressed filter, after it was read back and compared.
fn compressed_bytes(filter: &BloomFilter) -> usize {
    let compressed = Compressed::new(filter);
    let bytes = compressed.to_bytes();
    let read = Compressed::from_bytes(&bytes).unwrap();
    assert_eq!(read, compressed);
    let back: BloomFilter = read.decompress().unwrap();
    assert_eq!(back.to_bytes(), filter.to_bytes(), "not only equal: the design is there, too");
    bytes.len()
}

#[test]
fn the_length_is_within_one_per_cent_of_the_entropy() {
    // Fill and bits of memory per key from the table of compressed Bloom filters (Mitzenmacher 2002), for a number of bits sent
    // per key. Whole numbers of keys, so that memory and bits sent are those of the table within 10^-5.
    let table = [
        (8.0, 0.5, 8.0),
        (8.0, 0.45, 8.058_225_076),
        (8.0, 0.4, 8.239_348_166),
        (8.0, 1.0 / 3.0, 8.711_789_495),
        (8.0, 0.3, 9.077_592_889),
        (8.0, 0.25, 9.860_983_254),
        (8.0, 0.133, 14.144_054_861),
        (8.0, 0.1, 17.057_729_559),
        (8.0, 0.05, 27.933_257_673),
        (10.0, 0.2, 13.851_795_034),
        (14.4, 0.1, 30.703_913_205),
    ];
    for (sent, fill, memory) in table {
        let keys = 100_000.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let bits = (memory * keys) as u64;
        let bytes = compressed_bytes(&with_fill(bits, fill, 1)) - FIXED;
        let found = bytes as f64 * 8.0 / keys;
        // The number of ones varies: by 0.2 % of the entropy at most, one standard deviation.
        assert!((found / sent - 1.0).abs() < 0.01, "fill {fill}: {found} bits per key, not {sent}");
    }
}

#[test]
fn the_length_is_near_the_entropy_of_the_bits_that_are_there() {
    let bits = 3_000_000;
    for (seed, fill) in
        (0..).zip([0.05, 0.08, 0.13, 0.2, 0.25, 0.3, 0.4, 0.45, 0.48, 0.6, 0.8, 0.95])
    {
        let filter = with_fill(bits, fill, seed);
        let least = entropy(filter.count_ones() as f64 / bits as f64) * bits as f64 / 8.0;
        let found = compressed_bytes(&filter);
        let excess = (found - FIXED) as f64 / least - 1.0;
        assert!((0.0..0.006).contains(&excess), "fill {fill}: {excess} above the entropy");
        // With everything, for a filter of this size.
        assert!(found as f64 / least < 1.01, "fill {fill}");
    }
}

#[test]
fn the_code_of_100_000_bits_is_within_one_per_cent_of_the_entropy() {
    let bits = 100_000;
    for fill in (1..20).map(|i| f64::from(i) / 20.0) {
        for seed in 0..10 {
            let filter = with_fill(bits, fill, seed);
            let least = entropy(filter.count_ones() as f64 / bits as f64) * bits as f64 / 8.0;
            let found = (compressed_bytes(&filter) - FIXED) as f64;
            assert!(found < 1.01 * least, "fill {fill}, seed {seed}: {found} of {least}");
        }
    }
}

/// Returns `len` random bytes, which no code makes shorter.
fn random(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| finalize(i).to_le_bytes()[0]).collect()
}

#[test]
fn two_bytes_per_started_chunk_are_all_that_is_longer() {
    let payload = random(61 * 4096);
    for chunks in 0..60 {
        for rest in [8, 2_048, 4_088, 4_096] {
            let len = 4096 * chunks + rest;
            let filter = of_payload(8 * len as u64, &payload[..len]);
            let (portable, found) = (filter.to_bytes().len(), compressed_bytes(&filter));
            let index = 2 * (chunks + 1);
            assert_eq!(found, portable + 72 + index, "{len} bytes");
            let share = index as f64 / len as f64;
            assert!(len < 4_096 || share <= 0.001, "{len} bytes: {share}");
            assert!(len < 172_032 || share <= 0.0005, "{len} bytes: {share}");
        }
    }
}

#[test]
fn no_filter_is_longer_by_more_than_the_index() {
    let mut payload = vec![0; 8 * 3_000];
    for (bits, seed) in
        [1, 2, 63, 64, 65, 32_767, 32_768, 32_769, 65_536, 98_305, 192_000].iter().zip(0..)
    {
        for fill in [0.0, 0.001, 0.3, 0.5, 0.7, 0.999, 1.0] {
            let filter = with_fill(*bits, fill, seed);
            let raw = usize::try_from(bits.div_ceil(64) * 8).unwrap();
            let found = compressed_bytes(&filter) - FIXED;
            assert!(found <= raw + 2 * raw.div_ceil(4096), "{bits} bits, fill {fill}: {found}");
        }
    }
    // Chunks that a code makes longer, and chunks that it makes shorter, in one filter.
    payload[..10_000].copy_from_slice(&random(10_000));
    payload[20_000] = 1;
    let found = compressed_bytes(&of_payload(8 * 24_000, &payload)) - FIXED;
    // Two chunks as they are, 1808 random bytes that take 10.2 bits each at 22 % set bits, zeros after them for nothing.
    assert!(found <= 2 * 4096 + 1808 * 102 / 80 + 2 * 6 + 20, "{found}");
}

#[test]
fn empty_and_full_filters_take_next_to_nothing() {
    for bits in [1, 64, 1_000, 32_768, 10_000_000] {
        let chunks = usize::try_from(u64::div_ceil(bits, 32_768)).unwrap();
        let empty = compressed_bytes(&with_fill(bits, 0.0, 1)) - FIXED;
        assert_eq!(empty, 2 * chunks, "{bits} bits");
        let full = compressed_bytes(&with_fill(bits, 1.0, 1)) - FIXED;
        assert!(full <= 12 * chunks + 8, "{bits} bits: {full}");
    }
}

#[test]
fn every_number_of_bits_up_to_some_chunks_comes_back() {
    let lengths = (1..700).chain((32_768 - 130)..(32_768 + 130)).chain([65_535, 65_536, 65_537]);
    for (seed, bits) in (0..).zip(lengths) {
        compressed_bytes(&with_fill(
            bits,
            [0.02, 0.3, 0.9][usize::try_from(seed % 3).unwrap()],
            seed,
        ));
    }
}

#[test]
fn a_chunk_is_read_without_the_others() {
    let filter = with_fill(100_000, 0.1, 3);
    let bytes = filter.to_bytes();
    let payload = &bytes[128..bytes.len() - 8];
    let compressed = Compressed::from_bytes(&Compressed::new(&filter).to_bytes()).unwrap();
    assert_eq!(compressed.num_chunks(), 4);
    for (index, chunk) in payload.chunks(Compressed::CHUNK_BYTES).enumerate().rev() {
        assert_eq!(compressed.chunk(index).unwrap(), chunk);
    }
    assert_eq!(compressed.header().shape.as_slice(), [100_000, 3]);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn there_is_no_chunk_after_the_last() {
    let _ = Compressed::new(&with_fill(32_768, 0.1, 1)).chunk(1);
}

#[test]
fn a_secret_key_is_written_on_request_only() {
    let key = *b"0123456789abcdef";
    let hasher = SipHashBuilder::from_key(key);
    let mut filter = BloomFilter::builder().expected_items(1_000).hasher(hasher).build().unwrap();
    filter.insert("a");
    let has_key = |bytes: &[u8]| bytes.windows(16).any(|window| window == key);
    let without = ByteOptions::new().without_key().compress(&filter);
    assert!(!has_key(&without.to_bytes()));
    let error = without.decompress::<BloomFilter<SipHashBuilder>>().unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::KeyMissing);
    let read: BloomFilter<_> = ByteOptions::new().hasher(hasher).decompress(&without).unwrap();
    assert!(read == filter);
    let with = ByteOptions::new().with_key().compress(&filter);
    assert!(has_key(&with.to_bytes()));
    assert!(with.decompress::<BloomFilter<SipHashBuilder>>().unwrap() == filter);

    // A delta never holds the key. The filter keeps its own.
    let (old, mut copy) = (filter.clone(), filter.clone());
    filter.insert("b");
    let delta = Delta::between(&old, &filter).unwrap();
    assert!(!has_key(&delta.to_bytes()));
    delta.apply(&mut copy).unwrap();
    assert!(copy == filter && copy.contains("b"));
}

#[test]
fn a_compressed_filter_is_no_other_structure() {
    let compressed = Compressed::new(&with_fill(100, 0.1, 1));
    assert_eq!(compressed.decompress::<Delta>().unwrap_err().kind(), DecodeErrorKind::Kind);
    let error = BloomFilter::from_bytes(&compressed.to_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the kind at offset 10 is 34 (compressed structure), expected 1 (Bloom filter)"
    );
    // A shared filter has the same bytes as the plain one.
    assert!(compressed.decompress::<AtomicBloomFilter>().is_ok());
}

/// Returns a filter of a seed for 10,000 keys with the keys `0..keys`.
fn filled(seed: u64, keys: u64) -> BloomFilter {
    let mut filter = BloomFilter::builder().expected_items(10_000).seed(seed).build().unwrap();
    filter.extend(0..keys);
    filter
}

#[test]
fn deltas_bring_an_old_copy_up_to_date_in_their_order_only() {
    let states = [0, 0, 1, 5_000, 5_100, 10_000].map(|keys| filled(0, keys));
    let patches: Vec<Delta> =
        states.windows(2).map(|pair| Delta::between(&pair[0], &pair[1]).unwrap()).collect();
    let mut copy = states[0].clone();
    for (i, patch) in patches.iter().enumerate() {
        let patch = Delta::from_bytes(&patch.to_bytes()).unwrap();
        assert_eq!(patch, patches[i]);
        for (j, later) in patches.iter().enumerate().skip(i + 1).filter(|_| i > 0) {
            let before = copy.to_bytes();
            let error = later.apply(&mut copy).unwrap_err();
            assert!(matches!(error, ApplyError::Other { .. }), "{i} {j}: {error}");
            assert_eq!(copy.to_bytes(), before);
        }
        patch.apply(&mut copy).unwrap();
        assert_eq!(copy.to_bytes(), states[i + 1].to_bytes());
        // A delta without changes can be applied again. Any other says that it was applied.
        let again = patch.apply(&mut copy);
        assert_eq!(again, if i == 0 { Ok(()) } else { Err(ApplyError::Applied) });
        assert_eq!(copy.to_bytes(), states[i + 1].to_bytes());
        let next = patches.get(i + 1).map(Delta::old_fingerprint);
        assert!(next.is_none_or(|next| next == patch.new_fingerprint()));
    }
}

#[test]
fn the_length_of_a_delta_follows_the_changes() {
    let bits = 4_000_000;
    let old = with_fill(bits, 0.3, 1);
    let unchanged = Delta::between(&old, &old).unwrap().to_bytes();
    assert_eq!(unchanged.len(), FIXED + 8 + 2 * 123);
    for share in [0.0001, 0.001, 0.01, 0.05, 0.3] {
        let mut new = old.clone();
        new.union_with(&with_fill(bits, share, 2)).unwrap();
        let changed = (new.count_ones() - old.count_ones()) as f64;
        let least = entropy(changed / bits as f64) * bits as f64 / 8.0;
        let found = Delta::between(&old, &new).unwrap().to_bytes().len() - FIXED - 8;
        // Index and counts take 4 bytes per chunk, the end of a code about one.
        assert!((found as f64) < 1.002 * least + 5.5 * 123.0, "{share}: {found} of {least}");
    }
}

#[test]
fn a_delta_refuses_filters_of_other_kinds_shapes_and_hashers() {
    let (old, new) = (filled(0, 10), filled(0, 20));
    let delta = Delta::between(&old, &new).unwrap();
    let mut others = [filled(1, 10), filled(0, 11), BloomFilter::new(10, 0.01).unwrap()];
    for other in &mut others {
        let before = other.to_bytes();
        let error = delta.apply(other).unwrap_err();
        assert!(error.to_string().starts_with("the delta starts from another state"), "{error}");
        assert_eq!(other.to_bytes(), before);
    }
    let refusals = [
        (&others[0], "hasher", "the hasher or its seed differs"),
        (&others[2], "number of bytes", "the number of bytes differs: 11992 here, 16 in the other"),
    ];
    for (other, parameter, message) in refusals {
        let error = Delta::between(&old, other).unwrap_err();
        assert_eq!(error.parameter(), parameter);
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn the_design_of_the_newer_filter_arrives() {
    let old = filled(0, 10);
    let same = BloomFilter::from_params(
        bloom_core::BloomParams::from_bits_and_hashes(old.num_bits(), old.num_hashes()).unwrap(),
        *old.hasher(),
    );
    let new = same.unwrap();
    let mut copy = old.clone();
    Delta::between(&old, &new).unwrap().apply(&mut copy).unwrap();
    assert_eq!((copy.expected_items(), copy.count_ones()), (None, 0));
}

#[test]
fn forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 20_000).for_each(|input| bodies::mutate(&input));
    inputs(2, 2_000).for_each(|input| bodies::decode(&input));
}

#[cfg(feature = "serde")]
#[test]
fn every_format_of_serde_carries_them() {
    let (old, new) = (filled(0, 3), filled(0, 4));
    let small = BloomFilter::builder().bits(200).hashes(3).build().unwrap();
    let compressed = Compressed::new(&small);
    pds_testkit::format::survives(&compressed, &compressed.to_bytes());
    let delta = Delta::between(&old, &new).unwrap();
    for format in pds_testkit::format::FORMATS {
        assert_eq!(format.read::<Delta>(&format.write(&delta).unwrap()), Ok(delta.clone()));
    }
}

#[test]
fn a_filter_for_transfer_is_sent_in_the_bits_that_were_asked_for() {
    let items = 200_000;
    for (sent, memory) in [(8, 8), (8, 14), (8, 30), (8, 100), (10, 120), (14, 31)] {
        let builder = BloomFilter::builder().expected_items(items).bits(memory * items);
        let mut filter = builder.for_transfer(sent * items).build().unwrap();
        assert!(filter.num_bits() <= memory * items);
        filter.extend(0..items);
        let found = (compressed_bytes(&filter) - FIXED) as f64 * 8.0;
        // The promise of 1 % is for 5 % set bits and more. Here 1 to 5 % are set in some.
        assert!(found < 1.015 * (sent * items) as f64, "{sent} {memory}: {found}");
        let hits = (0..items).filter(|key| filter.contains(&(key + items))).count() as f64;
        let promised = filter.promised_rate().unwrap();
        // Within 5 standard deviations, and the spread of the fill.
        let tolerance = 5.0 * (promised / items as f64).sqrt() + 0.01 * promised;
        assert!((hits / items as f64 - promised).abs() < tolerance, "{sent} {memory}: {hits}");
    }
}

#[test]
fn what_a_filter_for_transfer_needs_is_named() {
    let builder = BloomFilter::builder().for_transfer(80);
    let whole = builder.bits(100).expected_items(10);
    let refusals = [
        (builder.bits(100), "expected_items"),
        (builder.expected_items(10), "bits"),
        (whole.hashes(3), "hashes"),
        (whole.false_positive_rate(0.1), "false_positive_rate"),
        (whole.for_transfer(0), "sent_bits"),
    ];
    for (refused, parameter) in refusals {
        match refused.build().unwrap_err() {
            BuildError::Param(error) => assert_eq!(error.parameter(), parameter, "{error}"),
            other => panic!("{other}"),
        }
    }
    assert!(whole.build().is_ok());
}

/// The golden files: a filter and its successor, compressed, and the delta between them.
fn golden() -> [(&'static str, Vec<u8>); 4] {
    let old = with_fill(40_000, 0.1, 1);
    let mut new = old.clone();
    new.union_with(&with_fill(40_000, 0.002, 2)).unwrap();
    [
        ("old.pds", old.to_bytes()),
        ("new.pds", new.to_bytes()),
        ("new_compressed.pds", Compressed::new(&new).to_bytes()),
        ("delta.pds", Delta::between(&old, &new).unwrap().to_bytes()),
    ]
}

/// `BLESS=1 cargo test -p bloom-core --test it golden` rewrites the files for a new format version.
#[test]
fn golden_files_never_change() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transfer");
    for (name, bytes) in golden() {
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(folder.join(name), &bytes).unwrap();
        }
        assert!(std::fs::read(folder.join(name)).unwrap() == bytes, "{name}");
    }
}
