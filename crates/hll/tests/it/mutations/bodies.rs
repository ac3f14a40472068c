//! The bodies of the fuzz targets, which ordinary tests run, too.
use hll::bytes::ByteOptions;
use hll::{AtomicHyperLogLog, HyperLogLog, HyperLogLogView, UltraLogLog, UltraLogLogView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Decodes bytes as either sketch. What is accepted has an estimate and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
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
    let _ = ByteOptions::new().from_bytes::<AtomicHyperLogLog>(bytes);
}

/// The answers of both sketches and both views, as bits: estimates of damaged bytes need not be numbers.
macro_rules! answers {
    ($sketch:expr) => {{
        let (sketch, error) = ($sketch, $sketch.estimate_with_error());
        let interval = sketch.estimate_interval(0.9).unwrap();
        assert!(interval.start() <= interval.end() && *interval.start() < f64::INFINITY);
        let estimates = [sketch.estimate(), error.value, error.standard_error].map(f64::to_bits);
        (sketch.precision(), estimates, interval.end().to_bits())
    }};
}

/// Opens bytes without a copy as either view, which answers for any payload.
macro_rules! view_of {
    ($view:ty, $sketch:ty, $bytes:expr) => {{
        let read = <$sketch>::from_bytes($bytes);
        match <$view>::open($bytes) {
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

/// Opens bytes as both views. They answer for any payload, and verify what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_of!(HyperLogLogView<&[u8]>, HyperLogLog, bytes);
    view_of!(UltraLogLogView<&[u8]>, UltraLogLog, bytes);
    let ultra: Result<UltraLogLogView<_>, _> = UltraLogLogView::open(bytes);
    let _ = ultra.map(|view| view.estimate_by_likelihood());
}

/// Changes the bytes of a sketch, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let [one, other] = [(); 2].map(|()| {
        let bytes = changed(&mut choices);
        decode(&bytes);
        view(&bytes);
        bytes
    });
    pair(&one, &other);
    ultra_pair(&one, &other);
}

/// The bytes of a sketch, changed.
fn changed(choices: &mut Choices<'_>) -> Vec<u8> {
    let (precision, is_plain) = (precision(choices), choices.below(2) == 0);
    let from = u32::from(choices.byte());
    let keys: Vec<u32> = (from..from + 4 * u32::from(choices.byte())).collect();
    let mut bytes = if is_plain {
        let mut sketch = HyperLogLog::new(precision).unwrap();
        sketch.insert_batch(&keys);
        sketch.to_bytes()
    } else {
        let mut sketch = UltraLogLog::new(precision).unwrap();
        sketch.insert_batch(&keys);
        sketch.to_bytes()
    };
    change(&mut bytes, choices);
    bytes
}

/// Returns any precision, mostly a low one, which is fast.
fn precision(choices: &mut Choices<'_>) -> u32 {
    match choices.byte() {
        byte @ 0..=239 => 4 + u32::from(byte % 5),
        byte => 9 + u32::from(byte % 10),
    }
}

/// Two decoded sketches together, which may be of different precisions and of no keys at all.
fn pair(one: &[u8], other: &[u8]) {
    let (Ok(one), Ok(other)) = (HyperLogLog::from_bytes(one), HyperLogLog::from_bytes(other))
    else {
        return;
    };
    let [mut merged, mut swapped] = [one.clone(), other.clone()];
    let result = merged.merge(&other);
    assert_eq!(result.is_ok(), swapped.merge(&one).is_ok());
    if result.is_err() {
        assert!(merged == one && one.overlap(&other).is_err());
        return;
    }
    assert_eq!(merged.to_bytes(), swapped.to_bytes());
    assert_eq!(HyperLogLog::union_estimate(&[&one, &other]), Ok(merged.estimate()));
    let overlap = one.overlap(&other).unwrap();
    for part in [overlap.only_left, overlap.only_right, overlap.both] {
        assert!(part.value >= 0.0 && part.value.is_finite(), "{overlap:?}");
        assert!(part.standard_error >= 0.0 && part.standard_error.is_finite(), "{overlap:?}");
    }
    assert!((0.0..=1.0).contains(&overlap.jaccard()), "{overlap:?}");
    // Folding and merging go in either order.
    merged.reduce_precision(4).unwrap();
    let [mut folded, mut also] = [one, other];
    folded.reduce_precision(4).unwrap();
    also.reduce_precision(4).unwrap();
    folded.merge(&also).unwrap();
    assert_eq!(folded.to_bytes(), merged.to_bytes());
}

fn ultra_pair(one: &[u8], other: &[u8]) {
    let (Ok(one), Ok(other)) = (UltraLogLog::from_bytes(one), UltraLogLog::from_bytes(other))
    else {
        return;
    };
    let [mut merged, mut swapped] = [one.clone(), other.clone()];
    let result = merged.merge(&other);
    assert_eq!(result.is_ok(), swapped.merge(&one).is_ok());
    if result.is_ok() {
        assert_eq!(merged.to_bytes(), swapped.to_bytes());
        merged.reduce_precision(4).unwrap();
        assert!(merged.estimate() >= 0.0);
    }
}

/// Two sketches of the same keys have the same bytes, even if one is written, read and merged meanwhile.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let precision = precision(&mut choices);
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
