//! What the fuzz targets and the ordinary tests do with a string of bytes.
#![expect(clippy::missing_panics_doc, reason = "a panic is how a body reports a fault")]

use std::collections::HashMap;

use cms::{
    CountMinSketch, CountMinSketchView, CountSketch, CountSketchView, HeavyHitters,
    SketchedHeavyHitters, TopK,
};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable;

/// Decodes bytes as each of the structures. What is accepted answers, and is written back as it was.
pub fn decode(bytes: &[u8]) {
    if let Some(mut sketch) = portable::decode::<CountMinSketch>(bytes) {
        let _ =
            (sketch.estimate(&1u8), sketch.estimate_interval(&1u8), sketch.estimate_mean_min(&1u8));
        let _ = (sketch.insert(&1u8), sketch.total());
    }
    if let Some(mut sketch) = portable::decode::<CountSketch>(bytes) {
        let _ = (sketch.estimate(&1u8), sketch.sum_of_squares());
        sketch.insert(&1u8);
    }
    if let Some(mut summary) = portable::decode::<HeavyHitters<u64>>(bytes) {
        let _ = (summary.top().len(), summary.threshold(), summary.estimate_interval(&1));
        summary.insert(&1);
    }
    if let Some(summary) = portable::decode::<HeavyHitters<String>>(bytes) {
        assert!(
            summary.iter().count() as u64 <= summary.capacity().div_ceil(2) + summary.capacity()
        );
    }
    if let Some(mut detector) = portable::decode::<SketchedHeavyHitters<u64>>(bytes) {
        let _ = (detector.top().len(), detector.threshold());
        detector.insert(&1);
        let copy = detector.clone();
        detector.merge(&copy).expect("one of the same shape");
    }
    if let Some(mut list) = portable::decode::<TopK<u64>>(bytes) {
        assert!(list.top().len() as u64 <= list.k());
        list.insert(&1);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and as the sketch where there is one.
pub fn view(bytes: &[u8]) {
    let read = CountMinSketch::from_bytes(bytes);
    match CountMinSketchView::open(bytes) {
        Ok(view) => {
            let view: CountMinSketchView<'_> = view;
            let answers = (0..20u8).map(|key| view.estimate_interval(&key));
            portable::assert_alike(&view.to_sketch(), &read);
            // A view verifies the checksum; whether the counters fit together is decoding's to check.
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

/// Changes the bytes of a structure, with checksums that fit again, and reads them as each of them.
pub fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let keys = choices.byte();
    let mut bytes = match choices.below(6) {
        0 => {
            let mut sketch = CountMinSketch::<_, u32>::new(0.1, 0.1).unwrap();
            (0..keys).for_each(|key| _ = sketch.insert(&key));
            sketch.to_bytes()
        }
        1 => {
            let mut sketch = CountSketch::new(0.3, 0.1).unwrap();
            (0..keys).for_each(|key| _ = sketch.insert(&key));
            sketch.to_bytes()
        }
        2 => hitters(0..u64::from(keys)).to_bytes(),
        3 => {
            let mut detector = SketchedHeavyHitters::<u64>::new(0.1, 0.2, 0.1).unwrap();
            (0..u64::from(keys)).for_each(|key| _ = detector.insert(&(key % 16)));
            detector.to_bytes()
        }
        4 => hitters((0..keys % 16).map(|key| "x".repeat(key.into()))).to_bytes(),
        _ => {
            let mut list = TopK::<u64>::new(4).unwrap();
            (0..u64::from(keys)).for_each(|key| _ = list.insert(&key));
            list.to_bytes()
        }
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

fn hitters<K: cms::PortableKey + core::hash::Hash + Eq + Clone>(
    keys: impl Iterator<Item = K>,
) -> HeavyHitters<K> {
    let mut summary = HeavyHitters::new(0.1).unwrap();
    keys.for_each(|key| _ = summary.insert(&key));
    summary
}

/// The same counts in a sketch and in a summary.
struct Counted {
    sketch: CountMinSketch,
    summary: HeavyHitters<u8>,
}

impl Counted {
    fn new() -> Self {
        let (sketch, summary) = (CountMinSketch::new(0.1, 0.1), HeavyHitters::new(0.2));
        Self { sketch: sketch.unwrap(), summary: summary.unwrap() }
    }

    fn insert(&mut self, key: u8, count: u64) {
        self.sketch.insert_many(&key, count);
        self.summary.insert_many(&key, count);
    }

    fn merge(&mut self, other: &Self) {
        self.sketch.merge(&other.sketch).unwrap();
        self.summary.merge(&other.summary).unwrap();
    }

    fn sent(&self, choices: &mut Choices<'_>) -> Self {
        let summary = portable::sent(&self.summary, choices);
        Self { sketch: portable::sent(&self.sketch, choices), summary }
    }

    fn check(&self, counts: &HashMap<u8, u64>) {
        let total: u64 = counts.values().sum();
        assert_eq!((self.sketch.total(), self.summary.total()), (total, total));
        let top = self.summary.top();
        for (key, &count) in counts {
            let most = self.sketch.estimate_interval(key).truth_at_most;
            assert!(most.is_none_or(|most| count <= most), "an estimate below the truth");
            assert!(self.summary.estimate_interval(key).contains(count));
            assert!(self.summary.estimate(key).value() - count <= total / self.summary.capacity());
            let listed = top.iter().any(|hitter| hitter.key == key);
            assert!(listed || count <= self.summary.threshold(), "a heavy key is missed");
        }
    }
}

/// Counts keys in a sketch and a summary that travel; both keep what they promise.
pub fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut counted = Counted::new();
    let mut counts: HashMap<u8, u64> = HashMap::new();
    while !choices.is_empty() {
        let (key, count) = (choices.byte(), u64::from(choices.byte()));
        match choices.below(3) {
            0 => counted = counted.sent(&mut choices),
            1 => {
                let mut other = Counted::new();
                for key in key..=key.saturating_add(choices.byte() % 16) {
                    other.insert(key, count);
                    *counts.entry(key).or_default() += count;
                }
                counted.merge(&other.sent(&mut choices));
            }
            _ => {
                counted.insert(key, count);
                *counts.entry(key).or_default() += count;
            }
        }
        counted.check(&counts);
    }
}
