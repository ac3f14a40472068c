//! The portable bytes as a serde value, under four formats.

use hll::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};
use pds_core::bytes::serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug)]
enum Format {
    Bincode,
    Postcard,
    Json,
    Cbor,
}

const FORMATS: [Format; 4] = [Format::Bincode, Format::Postcard, Format::Json, Format::Cbor];

impl Format {
    fn write(self, value: &impl Serialize) -> Vec<u8> {
        match self {
            Self::Bincode => {
                bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap()
            }
            Self::Postcard => postcard::to_allocvec(value).unwrap(),
            Self::Json => serde_json::to_vec(value).unwrap(),
            Self::Cbor => {
                let mut written = Vec::new();
                ciborium::into_writer(value, &mut written).unwrap();
                written
            }
        }
    }

    fn read<T: for<'de> Deserialize<'de>>(self, bytes: &[u8]) -> Option<T> {
        match self {
            Self::Bincode => bincode::serde::decode_from_slice(bytes, bincode::config::standard())
                .ok()
                .map(|(value, _)| value),
            Self::Postcard => postcard::from_bytes(bytes).ok(),
            Self::Json => serde_json::from_slice(bytes).ok(),
            Self::Cbor => ciborium::from_reader(bytes).ok(),
        }
    }
}

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
            let read: HyperLogLog = format.read(&format.write(&sketch)).unwrap();
            assert_eq!((&read, read.to_bytes()), (&sketch, sketch.to_bytes()), "{format:?}");
        }
    }
}

#[test]
fn every_format_gives_a_shared_sketch_back() {
    for format in FORMATS {
        for sketch in sketches() {
            let written = format.write(&AtomicHyperLogLog::from(sketch.clone()));
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
        let read: UltraLogLog = format.read(&format.write(&sketch)).unwrap();
        assert_eq!(read, sketch, "{format:?}");
        sketch.extend(0..20_000u32);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let sketch = sketches().nth(1).unwrap();
    for format in FORMATS {
        let written = format.write(&sketch);
        for length in 0..written.len() {
            let read = format.read::<HyperLogLog>(&written[..length]);
            assert!(read.is_none(), "{format:?}, {length} bytes of {}", written.len());
        }
    }
}

#[test]
fn one_sketch_is_not_read_as_another() {
    let sketch = sketches().last().unwrap();
    for format in FORMATS {
        assert!(format.read::<UltraLogLog>(&format.write(&sketch)).is_none(), "{format:?}");
    }
}
