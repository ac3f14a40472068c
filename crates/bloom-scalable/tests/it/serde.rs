//! The portable bytes as a serde value, under four formats.

use bloom_core::BloomFilter;
use bloom_scalable::hash::SipHashBuilder;
use bloom_scalable::{LayeredBloomFilter, ScalableBloomFilter};
use pds_core::bytes::WithKey;
use pds_testkit::format::{FORMATS, survives};

#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    let mut scalable = ScalableBloomFilter::new(3, 0.1).unwrap();
    (0..8_u32).for_each(|key| _ = scalable.insert(&key));
    survives(&scalable, &scalable.to_bytes());
    let mut layered = LayeredBloomFilter::new(&[3, 2], 0.1).unwrap();
    layered.extend(0..3_u32);
    survives(&layered, &layered.to_bytes());
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    type Keyed = ScalableBloomFilter<BloomFilter<SipHashBuilder>>;
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter: Keyed =
        ScalableBloomFilter::builder().expected_items(1).hasher(hasher).build().unwrap();
    filter.insert_batch(&["stored", "too"]).unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: Keyed = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(
            format.read::<ScalableBloomFilter>(&written).is_err(),
            "{format:?}: another hasher"
        );
    }
}
