//! Sketches as serde values, under four formats.

use cms::{CountMinSketch, CountSketch};
use pds_core::bytes::WithKey;
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder};
use pds_testkit::format::{FORMATS, survives};

fn keys() -> impl Iterator<Item = u64> {
    (0..300).map(|i| i * i % 41)
}

#[test]
fn case_18_every_format_gives_the_envelope_back() {
    let mut sketch = CountMinSketch::new(0.4, 0.2).unwrap();
    sketch.extend(keys());
    survives(&sketch, &sketch.to_bytes());
    let mut sketch = CountSketch::new(0.8, 0.3).unwrap();
    sketch.extend(keys());
    survives(&sketch, &sketch.to_bytes());
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let params = cms::CountMinParams::new(0.4, 0.2).unwrap();
    let sketch = CountMinSketch::builder().params(params).hasher(hasher).build().unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&sketch)).unwrap();
        assert!(format.read::<CountMinSketch<SipHashBuilder>>(&written).unwrap() == sketch);
        assert!(format.read::<CountMinSketch<DefaultHashBuilder>>(&written).is_err());
    }
}
