//! Theta sketches: inserts into an empty sketch and unions of 200, beside `datasketches`, whose hash and bytes are ours.
//!
//! Both keep the same hashes of the same keys, so that their errors are equal.

use core::hint::black_box;

use datasketches::theta::{self, ThetaSketchBuilder, ThetaUnionBuilder};
use pds::params::ThetaParams;
use pds::theta::ThetaSet;
use pds::{CompactThetaSketch, ThetaSketch, ThetaUnion};

use crate::contest::{Contender, Whole};
use crate::keys::{self, Keys};
use crate::report::Row;
use crate::suite::{Bench, Outcome, Suite};

/// The suite of theta sketches.
pub const SUITE: Suite = Suite { name: "theta", peers: &[PEER], run };

const PEER: &str = "datasketches";
const SMALL: &str = "K = 4,096";
const LARGE: &str = "K = 65,536";
const UNION: &str = "union of 200 sketches";

fn run(bench: &mut Bench<'_>) -> Outcome {
    for (case, nominal) in [(SMALL, 1 << 12), (LARGE, 1 << 16)] {
        for (digits, keys) in [(5, 100_000), (6, 1_000_000), (7, 10_000_000)] {
            update(bench, case, nominal, (digits, keys));
        }
        union(bench, case, nominal)?;
    }
    Ok(())
}

fn ours(nominal: u32) -> ThetaSketch {
    ThetaSketch::new(nominal).expect("a power of two")
}

fn theirs(nominal: u32, keys: impl Iterator<Item = u64>) -> theta::ThetaSketch {
    let size = u8::try_from(nominal.ilog2()).expect("below 64");
    let mut sketch = ThetaSketchBuilder::default().lg_k(size).build().expect("a size in range");
    keys.for_each(|key| sketch.update(key));
    sketch
}

/// Times the inserts of so many keys into an empty sketch, by `extend` and key by key.
fn update(bench: &mut Bench<'_>, case: &str, nominal: u32, (digits, keys): (u32, usize)) {
    let mut extend = Whole(|keys: &[u64]| {
        let mut sketch = ours(nominal);
        sketch.extend(keys);
        sketch.theta64()
    });
    let mut insert = Whole(|keys: &[u64]| {
        let mut sketch = ours(nominal);
        keys.iter().for_each(|key| _ = black_box(&mut sketch).insert(key));
        sketch.theta64()
    });
    let mut peer = Whole(|keys: &[u64]| theirs(nominal, keys.iter().copied()).theta64());
    let numbers = 0..keys as u64;
    let mut sketch = ours(nominal);
    sketch.extend(numbers.clone().map(keys::key));
    let estimates = [sketch.estimate(), theirs(nominal, numbers.map(keys::key)).estimate()];
    let errors = estimates.map(|estimate| (estimate / keys as f64 - 1.0).abs());
    let mut add = |operation: String, contender: &mut dyn Contender| {
        let block = (keys, Keys::absent());
        let row = bench.duel([case, &operation], PEER, block, [contender, &mut peer]);
        bench.add(row.quality("error", errors));
    };
    add(format!("update, 10^{digits} keys"), &mut extend);
    add(format!("update one by one, 10^{digits} keys"), &mut insert);
}

/// Times the union of 200 sketches that share half of their keys with the one before, per union.
fn union(bench: &mut Bench<'_>, case: &str, nominal: u32) -> Outcome {
    let numbers = |sketch: u64| {
        let keys = 10 * u64::from(nominal);
        (sketch * keys / 2..sketch * keys / 2 + keys).map(keys::key)
    };
    let mine: Vec<CompactThetaSketch> = (0..200)
        .map(|sketch| {
            let mut filled = ours(nominal);
            filled.extend(numbers(sketch));
            filled.to_compact()
        })
        .collect();
    let peers: Vec<_> =
        (0..200).map(|sketch| theirs(nominal, numbers(sketch)).compact(true)).collect();
    let params = ThetaParams::new(nominal)?;
    let of_ours = || {
        let mut union = ThetaUnion::new(params, mine[0].hasher());
        mine.iter().for_each(|sketch| union.add(sketch).expect("equal seeds"));
        union.to_compact()
    };
    let of_peers = || {
        let size = u8::try_from(nominal.ilog2()).expect("below 64");
        let mut union = ThetaUnionBuilder::default().lg_k(size).build().expect("a size in range");
        peers.iter().for_each(|sketch| union.update(sketch).expect("equal seeds"));
        union.to_sketch(true)
    };
    assert_eq!(of_ours().to_bytes(), of_peers().serialize(), "both have the same bytes");
    let mut ours = Whole(|keys: &[u64]| keys.iter().map(|_| of_ours().theta64()).sum());
    let mut theirs = Whole(|keys: &[u64]| keys.iter().map(|_| of_peers().theta64()).sum());
    let row = bench.duel([case, UNION], PEER, (1, Keys::absent()), [&mut ours, &mut theirs]);
    let truth = (201 * 10 * u64::from(nominal) / 2) as f64;
    let errors = [of_ours().estimate(), of_peers().estimate()];
    let row: Row = row.quality("error", errors.map(|estimate| (estimate / truth - 1.0).abs()));
    bench.add(row);
    Ok(())
}
