//! Bytes that lie, with valid checksums.

use bloom_core::BloomFilter;
use pds_core::bytes::{ByteOptions, Compressed, Delta};
use pds_core::error::{ApplyError, DecodeErrorKind};
use pds_testkit::envelope::{claiming, forged, with_number, with_payload};

use super::{filled, of_payload, with_fill};

/// Offset of the index in a compressed filter: a head, the head of the filter and a checksum.
const INDEX: usize = 64 + 128 + 8;

fn compressed() -> (BloomFilter, Vec<u8>) {
    let filter = with_fill(70_000, 0.1, 1);
    let bytes = Compressed::new(&filter).to_bytes();
    (filter, bytes)
}

fn length(bytes: &[u8], chunk: usize) -> u16 {
    u16::from_le_bytes([bytes[INDEX + 2 * chunk], bytes[INDEX + 2 * chunk + 1]])
}

#[test]
fn lengths_of_chunks_that_lie_are_refused() {
    let (filter, bytes) = compressed();
    for chunk in 0..3 {
        let right = length(&bytes, chunk);
        for wrong in (0..=4_097).chain([5_000, 32_768, 65_535]).filter(|&wrong| wrong != right) {
            let lie = forged(&bytes, INDEX + 2 * chunk, &wrong.to_le_bytes());
            let error = Compressed::from_bytes(&lie).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Invalid, "{chunk} {wrong}");
        }
        // Lengths that add up, but split the codes elsewhere.
        let next = (chunk + 1) % 3;
        for moved in [1, 2, 3, 100] {
            let (less, more) = (right - moved, length(&bytes, next) + moved);
            if more > 4096 || (next == 2 && more > 560) {
                continue;
            }
            let lie = forged(&bytes, INDEX + 2 * chunk, &less.to_le_bytes());
            let lie = forged(&lie, INDEX + 2 * next, &more.to_le_bytes());
            let read = Compressed::from_bytes(&lie).unwrap();
            let wrong = (0..3).find_map(|i| read.chunk(i).err().map(|error| (i, error))).unwrap();
            assert_eq!(wrong.1.kind(), DecodeErrorKind::Invalid);
            let message = wrong.1.to_string();
            assert!(message.contains(&format!("of chunk {} at offset", wrong.0)), "{message}");
            let error = read.decompress::<BloomFilter>().unwrap_err();
            assert_eq!(error, wrong.1);
        }
    }
    assert!(Compressed::from_bytes(&bytes).unwrap().decompress::<BloomFilter>().unwrap() == filter);
}

#[test]
fn codes_that_are_changed_are_refused_or_found_by_the_checksum_of_the_filter() {
    let (_, bytes) = compressed();
    let bodies = INDEX + 6;
    for at in (bodies..bytes.len() - 8).step_by(7) {
        let lie = forged(&bytes, at, &[bytes[at] ^ 0x10]);
        let read = Compressed::from_bytes(&lie).unwrap();
        let error = read.decompress::<BloomFilter>().unwrap_err();
        assert!(
            [DecodeErrorKind::Invalid, DecodeErrorKind::Checksum].contains(&error.kind()),
            "{at}: {error}"
        );
    }
}

/// Returns the compressed bytes of a filter with every chunk as it is.
fn stored(filter: &BloomFilter) -> Vec<u8> {
    let bytes = filter.to_bytes();
    let (payload, sum) = bytes[128..].split_at(bytes.len() - 128 - 8);
    let lengths = payload.chunks(4096).map(|chunk| u16::try_from(chunk.len()).unwrap());
    let index: Vec<u8> = lengths.flat_map(u16::to_le_bytes).collect();
    with_payload(
        &Compressed::new(filter).to_bytes(),
        &[&bytes[..128], sum, &index, payload].concat(),
    )
}

#[test]
fn chunks_that_are_stored_though_a_code_is_shorter_are_refused() {
    let mut halves = vec![0; 4096];
    halves[..2048].fill(0xff);
    let shorter = [
        with_fill(64, 0.0, 1),
        with_fill(32_768, 0.0, 1),
        with_fill(1_024, 0.02, 1),
        with_fill(32_768, 0.47, 1),
        with_fill(32_768, 1.0, 1),
        // Half of the bits are set, but the code ends in zeros.
        of_payload(32_768, &halves),
    ];
    for (i, filter) in shorter.iter().enumerate() {
        let (bytes, stored) = (Compressed::new(filter).to_bytes(), stored(filter));
        assert!(bytes.len() < stored.len(), "{i}");
        let read = Compressed::from_bytes(&stored).unwrap();
        let error = read.decompress::<BloomFilter>().unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::Invalid, "{i}: {error}");
        assert_eq!(read.chunk(0).unwrap_err(), error);
    }
    for bits in [64, 1_024, 32_768, 100_000] {
        let filter = with_fill(bits, 0.5, 1);
        assert_eq!(Compressed::new(&filter).to_bytes(), stored(&filter));
        assert_eq!(super::compressed_bytes(&filter), stored(&filter).len());
    }
}

#[test]
fn damage_and_truncation_are_found_at_every_byte() {
    let (old, new) = (filled(0, 100), filled(0, 200));
    let both = [
        Compressed::new(&with_fill(3_000, 0.2, 1)).to_bytes(),
        Delta::between(&old, &new).unwrap().to_bytes(),
    ];
    for bytes in both {
        let refused = |bytes: &[u8]| {
            Compressed::from_bytes(bytes).is_err() && Delta::from_bytes(bytes).is_err()
        };
        for at in 0..bytes.len() {
            assert!(refused(&bytes[..at]), "{at} bytes");
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(refused(&damaged), "byte {at}");
        }
        assert!(refused(&[&bytes[..], &[0]].concat()), "a byte too many");
    }
}

#[test]
fn few_bytes_that_stand_for_many_are_limited() {
    // Zeros: a gibibit of bits in 65 KB.
    let empty = BloomFilter::builder().bits(1 << 30).hashes(1).build().unwrap();
    let compressed = Compressed::new(&empty);
    assert_eq!(compressed.to_bytes().len(), 208 + 2 * (1 << 15));
    let limit = ByteOptions::new().max_bytes(1 << 20);
    let error = limit.decompress::<BloomFilter>(&compressed).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Limit);
    // A head that claims more than the default limit, with an index of as many chunks.
    let many = with_fill(64, 0.0, 1);
    let (payload, claimed) = ((1_u64 << 30) / 8 * 9, (1_u64 << 30) * 9);
    let head = claiming(&many.to_bytes(), claimed, payload);
    let index = vec![0; 2 * usize::try_from(payload.div_ceil(4096)).unwrap()];
    let sum = [0; 8];
    let bytes = Compressed::new(&many).to_bytes();
    let lie = with_payload(&bytes, &[&head[..128], &sum, &index].concat());
    let lie = with_number(&lie, 0, payload);
    let error = Compressed::from_bytes(&lie).unwrap().decompress::<BloomFilter>().unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Limit, "{error}");
}

#[test]
fn heads_that_lie_are_refused() {
    let (_, bytes) = compressed();
    let invalid = |bytes: &[u8], message: &str| {
        let error = Compressed::from_bytes(bytes).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    };
    invalid(&with_number(&bytes, 0, 8_000), "must be that of the head in the payload");
    invalid(&with_number(&bytes, 0, 1 << 61 | 1), "must be at most 2^61");
    invalid(&with_number(&bytes, 0, u64::MAX), "must be at most 2^61");
    invalid(&forged(&bytes, 64, b"other"), "the 8 bytes at offset 64");
    invalid(&forged(&bytes, 64 + 100, &[9]), "checksum");
    // A head without its payload.
    let short = with_payload(&bytes, &bytes[64..64 + 128]);
    assert_eq!(Compressed::from_bytes(&short).unwrap_err().kind(), DecodeErrorKind::Invalid);
    // The head of a compressed filter inside another one is a head like any other.
    let twice = Compressed::new(&Compressed::from_bytes(&bytes).unwrap());
    let once: Compressed = twice.decompress().unwrap();
    assert_eq!(once.to_bytes(), bytes);
}

#[test]
fn deltas_that_lie_about_the_newer_state_change_nothing() {
    let (old, new) = (filled(0, 100), filled(0, 200));
    let bytes = Delta::between(&old, &new).unwrap().to_bytes();
    let other = Delta::between(&filled(0, 1), &filled(0, 200)).unwrap().to_bytes();
    let smaller = BloomFilter::new(10, 0.01).unwrap();
    let smaller = Delta::between(&smaller, &smaller).unwrap().to_bytes();
    let seeded = filled(7, 200);
    let seeded = Delta::between(&seeded, &seeded).unwrap().to_bytes();
    let older = &bytes[64..72];
    let lies = [
        // The checksum of the newer state, a bit of its fingerprint, changes of another delta, another shape, another hasher.
        (forged(&bytes, 72 + 128, &[1, 2, 3]), DecodeErrorKind::Checksum),
        (forged(&other, 64, older), DecodeErrorKind::Checksum),
        (forged(&smaller, 64, older), DecodeErrorKind::Invalid),
        (forged(&seeded, 64, older), DecodeErrorKind::Invalid),
    ];
    for (i, (lie, kind)) in lies.iter().enumerate() {
        let mut filter = old.clone();
        match Delta::from_bytes(lie).unwrap().apply(&mut filter) {
            Err(ApplyError::Decode(error)) => assert_eq!(error.kind(), *kind, "{i}: {error}"),
            other => panic!("{i}: {other:?}"),
        }
        assert_eq!(filter.to_bytes(), old.to_bytes());
    }
}
