//! The portable bytes as a serde value, under four formats.

use bloom_counting::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_counting::{Bits8, BlockedCountingBloomFilter, CountingBloomFilter};
use pds_core::bytes::WithKey;
use pds_testkit::envelope::with_number;
use pds_testkit::format::{FORMATS, Format, survives};

type Wide = CountingBloomFilter<DefaultHashBuilder, Bits8>;

/// Counters that end inside a word.
fn narrow() -> CountingBloomFilter {
    let mut filter = CountingBloomFilter::builder().counters(37).hashes(3).build().unwrap();
    filter.extend((0..40u32).map(|i| i * i % 11));
    filter
}

#[test]
fn case_18_every_format_gives_the_filters_back_or_an_error() {
    survives(&narrow(), &narrow().to_bytes());
    let builder = CountingBloomFilter::builder().counters(21).hashes(4);
    let mut wide = builder.wide_counters().build().unwrap();
    (0..300).for_each(|_| _ = wide.insert("often"));
    survives::<Wide>(&wide, &wide.to_bytes());
    let mut blocked = BlockedCountingBloomFilter::builder().lines(2).build().unwrap();
    blocked.extend((0..40u32).map(|i| i * i % 11));
    survives(&blocked, &blocked.to_bytes());
}

/// Filters of another kind or width, and a shape that is impossible under right checksums.
#[test]
fn case_18_errors_of_the_envelope_come_through() {
    let impossible = with_number(&narrow().to_bytes(), 1, 256);
    for format in FORMATS {
        let written = format.write(&narrow()).unwrap();
        assert!(format.read::<BlockedCountingBloomFilter>(&written).is_err(), "{format:?}");
        assert!(format.read::<Wide>(&written).is_err(), "{format:?}");
    }
    for format in [Format::Bincode, Format::Postcard, Format::Cbor] {
        let written = format.write(&impossible).unwrap();
        let error = format.read::<CountingBloomFilter>(&written).unwrap_err();
        // postcard keeps no text of an error.
        assert!(error.contains("hashes") || format == Format::Postcard, "{format:?}: {error}");
    }
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let builder = BlockedCountingBloomFilter::builder().expected_items(10).hasher(hasher);
    let mut filter = builder.build().unwrap();
    filter.insert("stored");
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: BlockedCountingBloomFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<BlockedCountingBloomFilter>(&written).is_err(), "{format:?}");
    }
}
