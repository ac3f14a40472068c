//! The compact bytes as a serde value, under four formats.

use pds_testkit::format::{FORMATS, Format, claiming, refuse_claims};
use theta::{CompactThetaSketch, ThetaSet, ThetaSketch};

fn sketch(seed: u64) -> CompactThetaSketch {
    let mut sketch = ThetaSketch::builder().nominal_size(16).seed(seed).build().unwrap();
    sketch.extend(0..100_u64);
    sketch.to_compact()
}

#[test]
fn case_18_every_format_gives_the_sketch_back_or_an_error() {
    let (sketch, bytes) = (sketch(9_001), sketch(9_001).to_bytes());
    for format in FORMATS {
        let written = format.write(&sketch).unwrap();
        assert_eq!(format.read::<CompactThetaSketch>(&written).as_ref(), Ok(&sketch), "{format:?}");
        assert!(format == Format::Json || written.ends_with(&bytes), "{format:?}");
        for length in 0..written.len() {
            let read = format.read::<CompactThetaSketch>(&written[..length]);
            assert!(read.is_err(), "{format:?}, {length} bytes");
        }
    }
    refuse_claims::<CompactThetaSketch>(&bytes);
}

/// The errors of this format have no messages.
fn is_silent(format: Format) -> bool {
    format == Format::Postcard
}

#[test]
fn damage_and_other_seeds_are_refused_as_from_bytes_does() {
    let bytes = sketch(9_001).to_bytes();
    for (at, value) in [(2, 7), (6, 0), (30, 0xff)] {
        let mut damaged = bytes.clone();
        damaged[at] = value;
        let expected = CompactThetaSketch::from_bytes(&damaged).unwrap_err().to_string();
        // The last one is an array of CBOR, where bytes above 23 are not numbers of one byte.
        for (format, written) in claiming(damaged.len() as u64, &damaged).into_iter().take(3) {
            let error = format.read::<CompactThetaSketch>(&written).unwrap_err();
            assert!(is_silent(format) || error.contains(&expected), "{format:?}: {error}");
        }
    }
    for format in FORMATS {
        let error = format.write(&sketch(123)).unwrap_err();
        assert!(is_silent(format) || error.contains("9001, not 123"), "{format:?}: {error}");
    }
}
