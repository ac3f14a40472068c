//! Cardinality sketches that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{FEW, Identity, KEYS, Said, and, hashes, with};
use crate::validate::prelude::*;
use pds::formats::redis::RedisHyperLogLog;
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    macro_rules! merged {
        ($name:literal, $full:ident, $count:expr, $empty:expr) => {
            Identity::new(
                $name,
                |seed| with($full(12), seed, $count),
                || $empty,
                |sketch| {
                    let error = sketch.estimate_with_error().standard_error;
                    and(sketch.to_bytes(), &[sketch.estimate(), error])
                },
            )
            .job(NAME, seed)
        };
    }
    let redis = Identity::new(
        "redis",
        |seed| {
            let mut sketch = RedisHyperLogLog::new();
            hashes(seed).for_each(|hash| _ = sketch.insert_hash(hash));
            sketch
        },
        RedisHyperLogLog::new,
        |sketch| and(sketch.to_bytes(), &[sketch.estimate()]),
    );
    let atomic = |name, empty| {
        Identity::<AtomicHyperLogLog>::new(
            name,
            |seed| with(plain(12), seed, KEYS).into(),
            empty,
            |sketch| and(sketch.to_bytes(), &[sketch.estimate()]),
        )
    };
    let lower = atomic("atomic, of a lower precision", || plain(6).into());
    vec![
        merged!("sparse", plain, FEW, plain(12)),
        merged!("sparse, of a lower precision", plain, FEW, plain(6)),
        merged!("sparse, of a higher precision", plain, FEW, plain(16)),
        merged!("dense", plain, KEYS, plain(12)),
        merged!("dense, of a lower precision", plain, KEYS, plain(6)),
        merged!("dense, of a higher precision", plain, KEYS, plain(16)),
        merged!("dense, and an empty dense one", plain, KEYS, dense(6)),
        union_estimate().job(NAME, seed),
        overlap().job(NAME, seed),
        merged!("ultra", ultra, KEYS, ultra(12)),
        merged!("ultra, of a lower precision", ultra, KEYS, ultra(6)),
        merged!("ultra, of a higher precision", ultra, KEYS, ultra(16)),
        redis.job(NAME, seed),
        atomic("atomic", || plain(12).into()).job(NAME, seed),
        Identity { left: false, ..lower }.job(NAME, seed),
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
    Identity {
        name,
        full: |seed| vec![with(plain(12), seed, KEYS)],
        empty: || vec![plain(6)],
        says,
        left: true,
        merge: |left, right| {
            left.extend(right.iter().cloned());
            false
        },
    }
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
