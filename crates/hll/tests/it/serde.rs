//! The portable bytes as a serde value, under four formats.

use hll::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};
use pds_testkit::format::FORMATS;

/// Empty, sparse, full to the switch, and dense.
fn sketches() -> impl Iterator<Item = HyperLogLog> {
    [0, 10, 512, 100_000].into_iter().map(|keys| {
        let mut sketch = HyperLogLog::builder().precision(12).seed(keys).build().unwrap();
        sketch.extend(0..keys);
        sketch
    })
}

#[test]
fn every_format_gives_the_sketch_back() {
    for format in FORMATS {
        for sketch in sketches() {
            let read: HyperLogLog = format.read(&format.write(&sketch).unwrap()).unwrap();
            assert_eq!((&read, read.to_bytes()), (&sketch, sketch.to_bytes()), "{format:?}");
        }
    }
}

#[test]
fn every_format_gives_a_shared_sketch_back() {
    for format in FORMATS {
        for sketch in sketches() {
            let written = format.write(&AtomicHyperLogLog::from(sketch.clone())).unwrap();
            let read: AtomicHyperLogLog = format.read(&written).unwrap();
            let mut dense = sketch;
            dense.make_dense();
            assert_eq!(read.into_plain(), dense, "{format:?}");
        }
    }
}

#[test]
fn every_format_gives_an_ultra_sketch_back() {
    let mut sketch = UltraLogLog::new(10).unwrap();
    for format in FORMATS {
        let read: UltraLogLog = format.read(&format.write(&sketch).unwrap()).unwrap();
        assert_eq!(read, sketch, "{format:?}");
        sketch.extend(0..20_000u32);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let sketch = sketches().nth(1).unwrap();
    for format in FORMATS {
        let written = format.write(&sketch).unwrap();
        for length in 0..written.len() {
            let read = format.read::<HyperLogLog>(&written[..length]);
            assert!(read.is_err(), "{format:?}, {length} bytes of {}", written.len());
        }
    }
}

#[test]
fn one_sketch_is_not_read_as_another() {
    let sketch = sketches().last().unwrap();
    for format in FORMATS {
        assert!(format.read::<UltraLogLog>(&format.write(&sketch).unwrap()).is_err(), "{format:?}");
    }
}
