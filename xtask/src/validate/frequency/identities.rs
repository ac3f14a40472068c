//! Sketches of frequencies and summaries that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{Identity, Said, and, hashes};
use crate::validate::prelude::*;
use pds::cms::Update;
use pds::hash::DefaultHashBuilder;
use pds::heavy_hitters::Hitter;
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
    let plain = |name, update| {
        Identity::filled(
            name,
            move || sketch(update),
            |sketch| and(sketch.to_bytes(), &[real(sketch.total())]),
        )
    };
    macro_rules! skewed {
        ($name:literal, $empty:ident, $says:expr) => {
            Identity::new(
                $name,
                |seed| {
                    let mut summary = $empty();
                    // Small keys are frequent.
                    let keys = hashes(seed).map(|hash| hash % (1 + hash % 200));
                    keys.for_each(|key| _ = summary.insert(&key));
                    summary
                },
                $empty,
                $says,
            )
        };
    }
    vec![
        plain("plain", Update::Plain).job(NAME, seed),
        plain("conservative", Update::Conservative).job(NAME, seed),
        skewed!("count sketch", signed, |sketch| {
            and(sketch.to_bytes(), &[sketch.sum_of_squares().unwrap_or(f64::NAN)])
        })
        .job(NAME, seed),
        skewed!("heavy hitters", heavy, |summary| listed(&summary.top())).job(NAME, seed),
        skewed!("sketched heavy hitters", sketched, |summary| listed(&summary.top()))
            .job(NAME, seed),
        skewed!("top k", top, |summary| listed(&summary.top())).job(NAME, seed),
    ]
}

/// The keys of a list, with their estimates and errors, in an order of their own.
fn listed(top: &[Hitter<'_, u64>]) -> Said {
    let numbers = |hitter: &Hitter<'_, u64>| [hitter.estimate.value(), hitter.error, *hitter.key];
    let mut top: Vec<_> = top.iter().map(numbers).collect();
    top.sort_unstable();
    top.into_iter().flatten().flat_map(u64::to_le_bytes).collect()
}
