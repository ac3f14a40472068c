//! The bodies of the fuzz targets, which ordinary tests run, too.
use std::collections::HashMap;
use std::sync::LazyLock;

use cms::{CountMinSketch, CountMinSketchView, CountSketch, CountSketchView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Decodes bytes as each of the structures. What is accepted answers, and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(mut sketch) = portable::decode::<CountMinSketch>(bytes) {
        let _ =
            (sketch.estimate(&1u8), sketch.estimate_interval(&1u8), sketch.estimate_mean_min(&1u8));
        let _ = (sketch.insert(&1u8), sketch.total());
    }
    if let Some(mut sketch) = portable::decode::<CountSketch>(bytes) {
        let _ = (sketch.estimate(&1u8), sketch.sum_of_squares());
        sketch.insert(&1u8);
    }
}

/// Opens bytes without a copy. The view answers for any payload. If the bytes can be decoded, it answers as the sketch.
pub(crate) fn view(bytes: &[u8]) {
    let read = CountMinSketch::from_bytes(bytes);
    match CountMinSketchView::open(bytes) {
        Ok(view) => {
            let view: CountMinSketchView<_> = view;
            let answers = (0..20u8).map(|key| view.estimate_interval(&key));
            portable::assert_alike(&view.to_sketch(), &read);
            // A view verifies the checksum. Decoding also checks whether the counters fit together.
            assert!(view.verify().is_ok() || read.is_err());
            let read: Option<CountMinSketch> = read.ok();
            for (key, answer) in (0..20u8).zip(answers) {
                assert!(
                    read.as_ref().is_none_or(|sketch| sketch.estimate_interval(&key) == answer)
                );
            }
        }
        refused => portable::assert_alike(&refused, &read),
    }
    signed_view(bytes);
}

fn signed_view(bytes: &[u8]) {
    let read = CountSketch::from_bytes(bytes);
    match CountSketchView::open(bytes) {
        Ok(view) => {
            let answers = (0..20u8).map(|key| view.estimate(&key));
            portable::assert_alike(&view.to_sketch(), &read);
            assert_eq!(view.verify().is_ok(), read.is_ok());
            if let Ok(sketch) = read {
                assert!((0..20u8).map(|key| sketch.estimate(&key)).eq(answers));
            } else {
                let _ = answers.count();
            }
        }
        refused => portable::assert_alike(&refused, &read),
    }
}

/// An empty sketch. To find its shape takes longer than all else that a test body does.
static EMPTY: LazyLock<CountSketch> = LazyLock::new(|| CountSketch::new(0.3, 0.1).unwrap());

/// Changes the bytes of a structure, with checksums that fit again, and reads them as each of them.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = choices.byte();
    let mut bytes = match choices.below(2) {
        0 => {
            let mut sketch = CountMinSketch::<_, u32>::new(0.1, 0.1).unwrap();
            (0..keys).for_each(|key| _ = sketch.insert(&key));
            sketch.to_bytes()
        }
        _ => {
            let mut sketch = EMPTY.clone();
            (0..keys).for_each(|key| _ = sketch.insert(&key));
            sketch.to_bytes()
        }
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Counts keys in a sketch that is written and read meanwhile. It keeps its promises.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut sketch = CountMinSketch::new(0.1, 0.1).unwrap();
    let mut counts: HashMap<u8, u64> = HashMap::new();
    while !choices.is_empty() {
        let (key, count) = (choices.byte(), u64::from(choices.byte()));
        match choices.below(3) {
            0 => sketch = portable::sent(&sketch, &mut choices),
            1 => {
                let mut other = CountMinSketch::new(0.1, 0.1).unwrap();
                for key in key..=key.saturating_add(choices.byte() % 16) {
                    other.insert_many(&key, count);
                    *counts.entry(key).or_default() += count;
                }
                sketch.merge(&portable::sent(&other, &mut choices)).unwrap();
            }
            _ => {
                sketch.insert_many(&key, count);
                *counts.entry(key).or_default() += count;
            }
        }
        assert_eq!(sketch.total(), counts.values().sum::<u64>());
        for (key, &count) in &counts {
            let most = sketch.estimate_interval(key).truth_at_most;
            assert!(most.is_none_or(|most| count <= most), "an estimate below the truth");
        }
    }
}
