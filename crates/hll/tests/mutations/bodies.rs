//! What the fuzz targets and the ordinary tests do with a string of bytes.
#![expect(clippy::missing_panics_doc, reason = "a panic is how a body reports a fault")]

use hll::{AtomicHyperLogLog, HyperLogLog, HyperLogLogView, UltraLogLog, UltraLogLogView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Decodes bytes as either sketch. What is accepted has an estimate and is written back as it was.
pub fn decode(bytes: &[u8]) {
    if let Some(mut sketch) = portable::decode::<HyperLogLog>(bytes) {
        assert!(sketch.estimate() >= 0.0 && sketch.estimate_with_error().standard_error >= 0.0);
        sketch.insert(&1u8);
        let mut again = sketch.clone();
        again.merge(&sketch).unwrap();
        assert_eq!(again.to_bytes(), sketch.to_bytes());
    }
    if let Some(mut sketch) = portable::decode::<UltraLogLog>(bytes) {
        assert!(sketch.estimate() >= 0.0 && sketch.estimate_by_likelihood() >= 0.0);
        sketch.insert(&1u8);
    }
    let _ = AtomicHyperLogLog::from_bytes(bytes);
}

/// What both sketches and both views tell of their keys, as bits: estimates of damaged bytes need not be numbers.
macro_rules! answers {
    ($sketch:expr) => {{
        let (sketch, error) = ($sketch, $sketch.estimate_with_error());
        let interval = sketch.estimate_interval(0.9).map(|interval| interval.end().to_bits());
        let estimates = [sketch.estimate(), error.value, error.standard_error].map(f64::to_bits);
        (sketch.precision(), estimates, interval.ok())
    }};
}

/// Opens bytes without a copy, as either view, which answers whatever its payload is.
macro_rules! view_of {
    ($view:ty, $sketch:ty, $bytes:expr) => {{
        let read = <$sketch>::from_bytes($bytes);
        match <$view>::from_bytes($bytes) {
            Ok(view) => {
                let found = answers!(&view);
                portable::assert_alike(&view.to_sketch(), &read);
                assert_eq!(view.verify().is_ok(), read.is_ok());
                assert!(read.is_err() || answers!(read.as_ref().unwrap()) == found);
            }
            refused => portable::assert_alike(&refused, &read),
        }
    }};
}

/// Opens bytes as both views. They answer whatever their payload is, and verify what can be decoded.
pub fn view(bytes: &[u8]) {
    view_of!(HyperLogLogView, HyperLogLog, bytes);
    view_of!(UltraLogLogView, UltraLogLog, bytes);
    let ultra: Result<UltraLogLogView<'_>, _> = UltraLogLogView::from_bytes(bytes);
    let _ = ultra.map(|view| view.estimate_by_likelihood());
}

/// Changes the bytes of a sketch, with checksums that fit again, and reads them in every way.
pub fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = || 0..u32::from(input.first().copied().unwrap_or(0)) * 4;
    let precision = 4 + u32::from(choices.byte() % 5);
    let mut bytes = if choices.below(2) == 0 {
        let mut sketch = HyperLogLog::new(precision).unwrap();
        sketch.insert_batch(&keys().collect::<Vec<_>>());
        sketch.to_bytes()
    } else {
        let mut sketch = UltraLogLog::new(precision).unwrap();
        sketch.insert_batch(&keys().collect::<Vec<_>>());
        sketch.to_bytes()
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Two sketches of the same keys, one of which travels and merges, have the same bytes.
pub fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let precision = 4 + u32::from(choices.byte() % 5);
    let mut direct = HyperLogLog::new(precision).unwrap();
    let mut travelled = direct.clone();
    while !choices.is_empty() {
        let keys: Vec<u16> =
            (0..choices.byte() % 40).map(|i| u16::from_le_bytes([i, choices.byte()])).collect();
        direct.insert_batch(&keys);
        if choices.below(2) == 0 {
            let mut part = HyperLogLog::new(precision).unwrap();
            part.insert_batch(&keys);
            travelled.merge(&portable::sent(&part, &mut choices)).unwrap();
        } else {
            travelled = portable::sent(&travelled, &mut choices);
            travelled.insert_batch(&keys);
        }
        assert_eq!(travelled.to_bytes(), direct.to_bytes());
    }
}
