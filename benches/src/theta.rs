//! Theta sketches: inserts into an empty sketch and unions of 200, beside `datasketches`, whose hash and bytes are ours.
//!
//! Both keep the same hashes of the same keys, so that their errors are equal.

use core::hint::black_box;

use datasketches::theta::{self, ThetaSketchBuilder, ThetaUnionBuilder};
use pds::params::ThetaParams;
use pds::theta::ThetaSet;
use pds::{CompactThetaSketch, ThetaSketch, ThetaUnion};

use crate::contest::Contender;
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome};

const PEER: &str = "datasketches";

/// Measures sketches of two sizes.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    for (case, size) in [("K = 4,096", 12), ("K = 65,536", 16)] {
        for digits in 5..=7 {
            update(bench, case, size, digits);
        }
        union(bench, case, size)?;
    }
    Ok(())
}

/// Returns the sketch of ours of 2^size hashes.
fn ours(size: u8, keys: impl IntoIterator<Item = u64>) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(1 << size).expect("a power of two");
    sketch.extend(keys);
    sketch
}

fn theirs(size: u8, keys: impl IntoIterator<Item = u64>) -> theta::ThetaSketch {
    let mut sketch = ThetaSketchBuilder::default().lg_k(size).build().expect("a size in range");
    keys.into_iter().for_each(|key| sketch.update(key));
    sketch
}

/// Returns the errors of two estimates.
fn errors(estimates: [f64; 2], truth: u64) -> [f64; 2] {
    estimates.map(|estimate| (estimate / truth as f64 - 1.0).abs())
}

/// Times the inserts of 10^digits keys into an empty sketch, by `extend` and key by key.
fn update(bench: &mut Bench<'_>, case: &str, size: u8, digits: u32) {
    let len = 10_usize.pow(digits);
    let mut extend = |keys: &[u64]| ours(size, keys.iter().copied()).theta64();
    let mut insert = |keys: &[u64]| {
        let mut sketch = ours(size, []);
        keys.iter().for_each(|key| _ = black_box(&mut sketch).insert(key));
        sketch.theta64()
    };
    let mut peer = |keys: &[u64]| theirs(size, keys.iter().copied()).theta64();
    let numbers = 0..len as u64;
    let mine = ours(size, numbers.clone().map(key)).estimate();
    let errors = errors([mine, theirs(size, numbers.map(key)).estimate()], len as u64);
    let ways: [(&str, &mut dyn Contender); 2] =
        [("update", &mut extend), ("update one by one", &mut insert)];
    for (way, ours) in ways {
        let (operation, block) = (format!("{way}, 10^{digits} keys"), (len, Keys::absent()));
        let row = bench.duel([case, &operation], PEER, block, [ours, &mut peer]);
        bench.add(row.quality("error", errors));
    }
}

/// Times the union of 200 sketches that share half of their keys with the one before, per union.
fn union(bench: &mut Bench<'_>, case: &str, size: u8) -> Outcome {
    let keys = 10 << size;
    let numbers = |sketch: u64| (sketch * keys / 2..sketch * keys / 2 + keys).map(key);
    let mine: Vec<CompactThetaSketch> =
        (0..200).map(|sketch| ours(size, numbers(sketch)).to_compact()).collect();
    let peers: Vec<_> =
        (0..200).map(|sketch| theirs(size, numbers(sketch)).compact(true)).collect();
    let params = ThetaParams::new(1 << size)?;
    let of_ours = || {
        let mut union = ThetaUnion::new(params, mine[0].hasher());
        mine.iter().for_each(|sketch| union.add(sketch).expect("equal seeds"));
        union.to_compact()
    };
    let of_peers = || {
        let mut union = ThetaUnionBuilder::default().lg_k(size).build().expect("a size in range");
        peers.iter().for_each(|sketch| union.update(sketch).expect("equal seeds"));
        union.to_sketch(true)
    };
    assert_eq!(of_ours().to_bytes(), of_peers().serialize(), "both have the same bytes");
    let estimates = [of_ours().estimate(), of_peers().estimate()];
    let mut ours = |_: &[u64]| of_ours().theta64();
    let mut theirs = |_: &[u64]| of_peers().theta64();
    let (labels, block) = ([case, "union of 200 sketches"], (1, Keys::absent()));
    let row = bench.duel(labels, PEER, block, [&mut ours, &mut theirs]);
    bench.add(row.quality("error", errors(estimates, 201 * keys / 2)));
    Ok(())
}
