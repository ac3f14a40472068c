//! The portable bytes as a serde value, under four formats.

use bloom_window::hash::SipHashBuilder;
use bloom_window::{TimedBloomFilter, WindowBloomFilter};
use pds_core::bytes::WithKey;
use pds_testkit::format::{FORMATS, survives};

#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    let mut window = WindowBloomFilter::new(10, 0.1).unwrap();
    window.extend(0..25_u32);
    survives(&window, &window.to_bytes());
    let mut timed = TimedBloomFilter::new(10, 5, 0.1).unwrap();
    timed.advance(7).unwrap();
    timed.extend(0..5_u32);
    survives(&timed, &timed.to_bytes());
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter = WindowBloomFilter::builder().window(10).hasher(hasher).build().unwrap();
    filter.insert("stored");
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: WindowBloomFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<WindowBloomFilter>(&written).is_err(), "{format:?}: another hasher");
    }
}
