//! The portable bytes as a serde value, under four formats.

use bloom_core::{AtomicBloomFilter, BloomFilter};
use pds_core::bytes::WithKey;
use pds_core::hash::SipHashBuilder;
use pds_testkit::format::{FORMATS, Format};

fn small() -> BloomFilter {
    let mut filter = BloomFilter::builder().expected_items(10).seed(7).build().unwrap();
    filter.extend(0..10u32);
    filter
}

/// Of one word, of a prime number of bits, and beyond every buffer of the formats.
fn all_sizes() -> Vec<BloomFilter> {
    let mut large = BloomFilter::new(100_000, 0.001).unwrap();
    large.extend(0..100_000u64);
    let mut odd = BloomFilter::builder().bits(8_191).hashes(255).build().unwrap();
    odd.insert("stored");
    vec![BloomFilter::builder().bits(1).hashes(1).build().unwrap(), small(), odd, large]
}

#[test]
fn case_18_every_format_gives_the_filter_back() {
    for format in FORMATS {
        for filter in all_sizes() {
            let written = format.write(&filter).unwrap();
            let read: BloomFilter = format.read(&written).unwrap();
            assert_eq!((&read, read.to_bytes()), (&filter, filter.to_bytes()), "{format:?}");
            let shared: AtomicBloomFilter = format.read(&written).unwrap();
            assert_eq!(format.write(&shared).unwrap(), written, "{format:?}");
            assert!(shared.into_plain() == filter);
        }
    }
}

#[test]
fn case_18_the_envelope_is_what_every_format_carries() {
    let envelope = small().to_bytes();
    for format in [Format::Bincode, Format::Postcard, Format::Cbor] {
        let written = format.write(&small()).unwrap();
        assert!(written.ends_with(&envelope), "{format:?}");
        assert!(written.len() <= envelope.len() + 3, "{format:?} adds more than a length");
    }
    let text = String::from_utf8(Format::Json.write(&small()).unwrap()).unwrap();
    assert!(text.starts_with("\"iVBEUw0KGgo") && text.len() < envelope.len() * 4 / 3 + 6, "{text}");
}

/// CBOR distinguishes bytes from arrays. Both are read.
#[test]
fn case_18_a_sequence_of_numbers_is_read_as_well() {
    let mut array = Vec::new();
    ciborium::into_writer(&small().to_bytes(), &mut array).unwrap();
    assert_ne!(array, Format::Cbor.write(&small()).unwrap());
    assert_eq!(Format::Cbor.read::<BloomFilter>(&array).unwrap(), small());
}

#[test]
fn case_18_every_truncation_is_an_error() {
    for format in FORMATS {
        let written = format.write(&small()).unwrap();
        for length in 0..written.len() {
            let read = format.read::<BloomFilter>(&written[..length]);
            assert!(read.is_err(), "{format:?}, {length} bytes of {}", written.len());
        }
    }
}

/// A changed envelope is never accepted. The format around it may have two encodings of the same value.
#[test]
fn case_18_no_flipped_bit_changes_the_filter() {
    for format in FORMATS {
        let written = format.write(&small()).unwrap();
        let mut refused = 0;
        for bit in 0..8 * written.len() {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match format.read::<BloomFilter>(&damaged) {
                Ok(read) => assert!(read == small(), "{format:?}, bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused >= 8 * small().to_bytes().len(), "{format:?}: {refused} refused");
    }
}

#[test]
fn case_18_errors_of_the_envelope_come_through() {
    let mut bytes = small().to_bytes();
    bytes[8] = 9;
    let mut written = Vec::new();
    ciborium::into_writer(&bytes, &mut written).unwrap();
    let error = Format::Cbor.read::<BloomFilter>(&written).unwrap_err();
    assert!(error.contains("format version 9 at offset 8"), "{error}");
    let error = Format::Json.read::<BloomFilter>(b"\"no base64!\"").unwrap_err();
    assert!(error.contains("Invalid"), "{error}");
    let error = Format::Json.read::<BloomFilter>(b"17").unwrap_err();
    assert!(error.contains("portable bytes (Bloom filter)"), "{error}");
}

fn keyed() -> BloomFilter<SipHashBuilder> {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter = BloomFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("stored");
    filter
}

#[test]
fn a_keyed_filter_is_serialised_with_its_key_on_request() {
    for format in FORMATS {
        let written = format.write(&WithKey(&keyed())).unwrap();
        let read: BloomFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == keyed() && read.contains("stored"), "{format:?}");
        assert!(format.read::<BloomFilter>(&written).is_err(), "{format:?}: another hasher");
    }
}
