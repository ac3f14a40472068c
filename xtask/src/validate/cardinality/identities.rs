//! Cardinality sketches that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{FEW, Identity, KEYS, Said, and, hashes, with};
use crate::validate::prelude::*;
use pds::formats::redis::RedisHyperLogLog;
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    let of_plain = |name, count, empty: fn() -> HyperLogLog| {
        Identity::new(
            name,
            move |seed| with(plain(12), seed, count),
            empty,
            |sketch| {
                let error = sketch.estimate_with_error().standard_error;
                and(sketch.to_bytes(), &[sketch.estimate(), error])
            },
        )
        .job(NAME, seed)
    };
    let of_ultra = |name, empty: fn() -> UltraLogLog| {
        Identity::new(
            name,
            |seed| with(ultra(12), seed, KEYS),
            empty,
            |sketch| {
                let error = sketch.estimate_with_error().standard_error;
                and(sketch.to_bytes(), &[sketch.estimate(), error])
            },
        )
        .job(NAME, seed)
    };
    let redis = |seed| {
        let mut sketch = RedisHyperLogLog::new();
        hashes(seed).for_each(|hash| _ = sketch.insert_hash(hash));
        sketch
    };
    let atomic = |name, empty: fn() -> AtomicHyperLogLog| {
        let full = |seed| with(plain(12), seed, KEYS).into();
        Identity::new(name, full, empty, |sketch| and(sketch.to_bytes(), &[sketch.estimate()]))
    };
    let mut lower = atomic("atomic, of a lower precision", || plain(6).into());
    lower.left = false;
    vec![
        of_plain("sparse", FEW, || plain(12)),
        of_plain("sparse, of a lower precision", FEW, || plain(6)),
        of_plain("sparse, of a higher precision", FEW, || plain(16)),
        of_plain("dense", KEYS, || plain(12)),
        of_plain("dense, of a lower precision", KEYS, || plain(6)),
        of_plain("dense, of a higher precision", KEYS, || plain(16)),
        of_plain("dense, and an empty dense one", KEYS, || dense(6)),
        union_estimate().job(NAME, seed),
        overlap().job(NAME, seed),
        of_ultra("ultra", || ultra(12)),
        of_ultra("ultra, of a lower precision", || ultra(6)),
        of_ultra("ultra, of a higher precision", || ultra(16)),
        Identity::new("redis", redis, RedisHyperLogLog::new, |sketch| {
            and(sketch.to_bytes(), &[sketch.estimate()])
        })
        .job(NAME, seed),
        atomic("atomic", || plain(12).into()).job(NAME, seed),
        lower.job(NAME, seed),
    ]
}

fn plain(precision: u32) -> HyperLogLog {
    HyperLogLog::new(precision).expect("in range")
}

fn dense(precision: u32) -> HyperLogLog {
    let mut sketch = plain(precision);
    sketch.make_dense();
    sketch
}

pub(super) fn ultra(precision: u32) -> UltraLogLog {
    UltraLogLog::new(precision).expect("in range")
}

/// Sketches whose union is estimated, or whose overlap: the full one beside the empty one.
type Beside = Vec<HyperLogLog>;

fn beside(name: &'static str, says: fn(&Beside) -> Said) -> Identity<Beside> {
    let merge = |left: &mut Beside, right: &Beside| {
        left.extend(right.iter().cloned());
        false
    };
    let full = |seed| vec![with(plain(12), seed, KEYS)];
    Identity::merged_by(merge, name, full, || vec![plain(6)], says)
}

fn union_estimate() -> Identity<Beside> {
    beside("union_estimate, of a lower precision", |sketches| {
        let sketches: Vec<_> = sketches.iter().collect();
        and([], &[HyperLogLog::union_estimate(&sketches).expect("one hasher")])
    })
}

/// The parts, whichever side they are on.
fn overlap() -> Identity<Beside> {
    beside("overlap, of a lower precision", |sketches| {
        let nothing = plain(12);
        let (left, right) = (&sketches[0], sketches.get(1).unwrap_or(&nothing));
        let overlap = left.overlap(right).expect("one hasher");
        let mut sizes = [overlap.only_left, overlap.only_right];
        sizes.sort_by(|one, other| one.value.total_cmp(&other.value));
        let [less, more] = sizes;
        and([], &[less.value, more.value, more.standard_error, overlap.both.value])
    })
}
