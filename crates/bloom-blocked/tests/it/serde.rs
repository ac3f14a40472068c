//! The portable bytes as a serde value, under four formats.

use bloom_blocked::hash::SipHashBuilder;
use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter};
use bloom_core::BloomFilter;
use pds_core::bytes::WithKey;
use pds_testkit::envelope::with_number;
use pds_testkit::format::{FORMATS, Format, survives};

fn small() -> BlockedBloomFilter {
    let mut filter = BlockedBloomFilter::builder().blocks(3).hashes(6).build().unwrap();
    filter.extend(0..100u32);
    filter
}

#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    survives(&small(), &small().to_bytes());
}

#[test]
fn case_18_shared_and_plain_filters_read_each_other() {
    let shared = AtomicBlockedBloomFilter::from(small());
    for format in FORMATS {
        let written = format.write(&shared).unwrap();
        assert_eq!(written, format.write(&small()).unwrap(), "{format:?}");
        let read: AtomicBlockedBloomFilter = format.read(&written).unwrap();
        assert_eq!(read.into_plain(), small(), "{format:?}");
    }
}

/// A filter of another kind, and a shape that is impossible under right checksums.
#[test]
fn case_18_errors_of_the_envelope_come_through() {
    let impossible = with_number(&small().to_bytes(), 1, 7);
    let standard = BloomFilter::new(10, 0.01).unwrap().to_bytes();
    for (bytes, named) in [(impossible, "hashes"), (standard, "Bloom filter")] {
        for format in [Format::Bincode, Format::Postcard, Format::Cbor] {
            let written = format.write(&bytes).unwrap();
            let error = format.read::<BlockedBloomFilter>(&written).unwrap_err();
            // postcard keeps no text of an error.
            assert!(error.contains(named) || format == Format::Postcard, "{format:?}: {error}");
        }
    }
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let builder = BlockedBloomFilter::builder().expected_items(10).hasher(hasher);
    let mut filter = builder.build().unwrap();
    filter.insert("stored");
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: BlockedBloomFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<BlockedBloomFilter>(&written).is_err(), "{format:?}");
    }
}
