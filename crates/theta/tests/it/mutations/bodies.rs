//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.

extern crate alloc;

use alloc::collections::BTreeSet;

use pds_testkit::mutate::Choices;
use theta::{
    CompactThetaSketch, ThetaHasher, ThetaParams, ThetaSet, ThetaSketch, ThetaSketchView,
    ThetaUnion,
};

/// Asks a sketch of any type. What it tells contradicts nothing.
fn ask(set: &impl ThetaSet) {
    let interval = set.estimate_interval(0.9).unwrap();
    assert!(*interval.start() >= set.num_retained() as f64 && interval.start() <= interval.end());
    let estimate = set.estimate_with_error();
    assert!(estimate.value >= set.num_retained() as f64 && estimate.standard_error >= 0.0);
    assert!(estimate.value.is_finite() && estimate.standard_error.is_finite());
    let comparison = set.compare(set).unwrap();
    assert_eq!(comparison.common(), comparison.union());
    let jaccard = comparison.jaccard_interval(0.9).unwrap();
    assert!(jaccard.start() <= jaccard.end());
}

/// Decodes bytes. What is accepted answers every question, is continued, and is written so that it is read again.
pub(crate) fn decode(bytes: &[u8]) {
    let Ok(sketch) = CompactThetaSketch::from_bytes(bytes) else { return };
    ask(&sketch);
    for written in [sketch.to_bytes(), sketch.to_compressed_bytes()] {
        assert!(CompactThetaSketch::from_bytes(&written).unwrap() == sketch);
    }
    let params = ThetaParams::new(16).unwrap();
    let mut continued = ThetaSketch::resume(&sketch, params);
    (0..40_i64).for_each(|key| _ = continued.insert(&key));
    ask(&continued);
    assert!(continued.num_retained() as u64 <= params.max_retained());
    let mut union = ThetaUnion::new(params, sketch.hasher());
    union.add(&sketch).unwrap();
    union.add(&continued).unwrap();
    ask(&union);
    let both = sketch.intersection(&continued).unwrap().num_retained();
    let rest = sketch.difference(&continued).unwrap().num_retained();
    assert!(both + rest <= sketch.num_retained());
}

/// Opens bytes without a copy. The view answers whatever its hashes are, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    let Ok(view) = ThetaSketchView::open(bytes) else { return };
    let read = CompactThetaSketch::from_bytes(bytes);
    assert_eq!(view.verify().err(), read.as_ref().err().copied());
    ask(&view);
    let copy = view.to_compact();
    assert!(CompactThetaSketch::from_bytes(&copy.to_bytes()).unwrap() == copy);
    assert!(read.is_err() || read.unwrap() == copy);
}

/// Changes the bytes of a valid sketch, and reads them.
pub(crate) fn mutate(choices: &[u8]) {
    let mut choices = Choices::new(choices);
    let mut sketch = ThetaSketch::new(16).unwrap();
    sketch.extend(0..choices.below(200) as u64);
    let compact = sketch.to_compact();
    let is_plain = choices.below(2) == 0;
    let mut bytes = if is_plain { compact.to_bytes() } else { compact.to_compressed_bytes() };
    for _ in 0..=choices.below(4) {
        match choices.below(6) {
            0 => bytes.truncate(choices.below(bytes.len() + 1)),
            1 => bytes.extend((0..choices.below(20)).map(|_| choices.byte())),
            2 if !bytes.is_empty() => {
                let bit = choices.below(8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            3 | 4 if bytes.len() > 24 => bytes[choices.below(24)] = choices.byte(),
            _ if bytes.len() > 32 => {
                let at = 16 + choices.below(bytes.len() - 24);
                bytes[at..at + 8].copy_from_slice(&choices.number().to_le_bytes());
            }
            _ => {}
        }
    }
    decode(&bytes);
    view(&bytes);
}

/// Compares operations on exact sketches with those on sets of keys, and on others with their hashes.
pub(crate) fn ops(choices: &[u8]) {
    let mut choices = Choices::new(choices);
    // 255 keys are at most in, of which a large sketch loses none.
    let mut sketches = [ThetaSketch::new(256).unwrap(), ThetaSketch::new(256).unwrap()];
    let mut sets = [BTreeSet::new(), BTreeSet::new()];
    while !choices.is_empty() {
        let i = choices.below(2);
        match choices.below(8) {
            0 => {
                let bytes = sketches[i].to_compact().to_compressed_bytes();
                let read = CompactThetaSketch::from_bytes(&bytes).unwrap();
                sketches[i] = ThetaSketch::resume(&read, sketches[i].params());
            }
            1 => {
                let [left, right] = &mut sketches;
                left.merge(right).unwrap();
                sets[0] = &sets[0] | &sets[1];
            }
            2 => {
                let mut union = ThetaUnion::new(sketches[i].params(), ThetaHasher::default());
                sketches.iter().for_each(|sketch| union.add(sketch).unwrap());
                sketches[i] = ThetaSketch::resume(&union, sketches[i].params());
                sets[i] = &sets[0] | &sets[1];
            }
            3 => {
                let both = sketches[0].intersection(&sketches[1]).unwrap();
                sketches[i] = ThetaSketch::resume(&both, sketches[i].params());
                sets[i] = &sets[0] & &sets[1];
            }
            4 => {
                let rest = sketches[i].difference(&sketches[1 - i]).unwrap();
                sketches[i] = ThetaSketch::resume(&rest, sketches[i].params());
                sets[i] = &sets[i] - &sets[1 - i];
            }
            5 => {
                sketches[i].clear();
                sets[i].clear();
            }
            _ => {
                let key = u64::from(choices.byte());
                assert_eq!(sketches[i].insert(&key), sets[i].insert(key));
            }
        }
        for (sketch, set) in sketches.iter().zip(&sets) {
            assert_eq!(sketch.estimate(), set.len() as f64);
            assert_eq!(sketch.is_empty(), set.is_empty());
        }
        let common = sets[0].intersection(&sets[1]).count() as f64;
        let union = sets[0].union(&sets[1]).count().max(1) as f64;
        let comparison = sketches[0].compare(&sketches[1]).unwrap();
        assert_eq!(comparison.jaccard().value, common / union);
    }
}
