//! The portable bytes as a serde value, under four formats.

use minhash::hash::SipHashBuilder;
use minhash::{LshIndex, MinHash};
use pds_core::bytes::WithKey;
use pds_testkit::format::{FORMATS, survives};

#[test]
fn case_18_every_format_gives_the_structure_back_or_an_error() {
    let mut sketch = MinHash::new(16).unwrap();
    sketch.extend(0..25_u32);
    survives(&sketch, &sketch.to_bytes());
    let signature = sketch.signature(8).unwrap();
    survives(&signature, &signature.to_bytes());
    let mut index = LshIndex::builder().num_values(16).bands(3).rows(2).build().unwrap();
    index.insert(7, &sketch).unwrap();
    survives(&index, &index.to_bytes());
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut sketch = MinHash::builder().num_values(16).hasher(hasher).build().unwrap();
    sketch.insert("stored");
    for format in FORMATS {
        let written = format.write(&WithKey(&sketch)).unwrap();
        let read: MinHash<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == sketch, "{format:?}");
        assert!(format.read::<MinHash>(&written).is_err(), "{format:?}: another hasher");
    }
}
