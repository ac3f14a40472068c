//! Sketches of frequencies and summaries that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{Identity, KEYS, and, hashes, identity, merged, with};
use crate::validate::judge::real;
use crate::validate::schedule::Job;
use pds::cms::Update;
use pds::hash::DefaultHashBuilder;
use pds::params::{CountMinParams, CountSketchParams, HeavyHittersParams};
use pds::{CountMinSketch, CountSketch, HeavyHitters, SketchedHeavyHitters, TopK};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    fn sketch(update: Update) -> CountMinSketch {
        let params = CountMinParams::new(0.01, 0.01).expect("sound");
        CountMinSketch::builder().params(params).update(update).build().expect("memory")
    }
    fn signed() -> CountSketch {
        let params = CountSketchParams::new(0.1, 0.01).expect("sound");
        CountSketch::from_params(params, DefaultHashBuilder::default()).expect("memory")
    }
    fn heavy() -> HeavyHitters<u64> {
        let params = HeavyHittersParams::new(0.01).expect("sound");
        HeavyHitters::from_params(params, DefaultHashBuilder::default()).expect("memory")
    }
    fn sketched() -> SketchedHeavyHitters<u64> {
        SketchedHeavyHitters::new(0.01, 0.005, 0.01).expect("sound")
    }
    fn top() -> TopK<u64> {
        TopK::new(20).expect("sound")
    }
    /// Keys of which the small ones are frequent.
    fn skewed(seed: u64) -> impl Iterator<Item = u64> {
        hashes(seed, KEYS).map(|hash| hash % (1 + hash % 200))
    }
    let signed = Identity::<CountSketch> {
        name: "count sketch",
        full: |seed| {
            let mut sketch = signed();
            skewed(seed).for_each(|key| {
                sketch.insert(&key);
            });
            sketch
        },
        empty: signed,
        says: |s| and(s.to_bytes(), &[s.sum_of_squares().unwrap_or(f64::NAN)]),
        left: true,
        merge: merged,
    };
    macro_rules! listed {
        ($name:literal, $type:ty, $empty:ident) => {
            Identity::<$type> {
                name: $name,
                full: |seed| {
                    let mut summary = $empty();
                    skewed(seed).for_each(|key| {
                        summary.insert(&key);
                    });
                    summary
                },
                empty: $empty,
                says: |s| {
                    let mut top: Vec<_> =
                        s.top().iter().map(|h| (h.estimate.value(), h.error, *h.key)).collect();
                    top.sort_unstable();
                    let numbers =
                        top.into_iter().flat_map(|(estimate, error, key)| [estimate, error, key]);
                    numbers.flat_map(u64::to_le_bytes).collect()
                },
                left: true,
                merge: merged,
            }
            .job(NAME, seed)
        };
    }
    vec![
        identity!(
            "plain",
            |seed| with(sketch(Update::Plain), seed, KEYS),
            sketch(Update::Plain),
            |s: CountMinSketch| [real(s.total())]
        )
        .job(NAME, seed),
        identity!(
            "conservative",
            |seed| with(sketch(Update::Conservative), seed, KEYS),
            sketch(Update::Conservative),
            |s: CountMinSketch| [real(s.total())]
        )
        .job(NAME, seed),
        signed.job(NAME, seed),
        listed!("heavy hitters", HeavyHitters<u64>, heavy),
        listed!("sketched heavy hitters", SketchedHeavyHitters<u64>, sketched),
        listed!("top k", TopK<u64>, top),
    ]
}
