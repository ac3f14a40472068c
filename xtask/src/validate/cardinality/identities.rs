//! Cardinality sketches that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{FEW, Identity, KEYS, Said, and, hashes, identity, with};
use crate::validate::schedule::Job;
use pds::formats::redis::RedisHyperLogLog;
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain(precision: u32) -> HyperLogLog {
        HyperLogLog::new(precision).expect("in range")
    }
    fn ultra(precision: u32) -> UltraLogLog {
        UltraLogLog::new(precision).expect("in range")
    }
    macro_rules! plain {
        ($name:literal, $count:expr, $empty:expr) => {
            identity!($name, |seed| with(plain(12), seed, $count), $empty, |s: HyperLogLog| [
                s.estimate(),
                s.estimate_with_error().standard_error
            ])
            .job(NAME, seed)
        };
    }
    macro_rules! ultra {
        ($name:literal, $empty:expr) => {
            identity!($name, |seed| with(ultra(12), seed, KEYS), $empty, |s: UltraLogLog| [
                s.estimate(),
                s.estimate_with_error().standard_error
            ])
            .job(NAME, seed)
        };
    }
    let redis = identity!(
        "redis",
        |seed| with_redis(seed),
        RedisHyperLogLog::new(),
        |s: RedisHyperLogLog| [s.estimate()]
    );
    let atomic = || {
        identity!(
            "atomic",
            |seed| with(plain(12), seed, KEYS).into(),
            plain(12).into(),
            |s: AtomicHyperLogLog| [s.estimate()]
        )
    };
    vec![
        plain!("sparse", FEW, plain(12)),
        plain!("sparse, of a lower precision", FEW, plain(6)),
        plain!("sparse, of a higher precision", FEW, plain(16)),
        plain!("dense", KEYS, plain(12)),
        plain!("dense, of a lower precision", KEYS, plain(6)),
        plain!("dense, of a higher precision", KEYS, plain(16)),
        plain!("dense, and an empty dense one", KEYS, dense(6)),
        union_estimate().job(NAME, seed),
        overlap().job(NAME, seed),
        ultra!("ultra", ultra(12)),
        ultra!("ultra, of a lower precision", ultra(6)),
        ultra!("ultra, of a higher precision", ultra(16)),
        redis.job(NAME, seed),
        atomic().job(NAME, seed),
        Identity {
            name: "atomic, of a lower precision",
            left: false,
            empty: || plain(6).into(),
            ..atomic()
        }
        .job(NAME, seed),
    ]
}

fn with_redis(seed: u64) -> RedisHyperLogLog {
    let mut sketch = RedisHyperLogLog::new();
    hashes(seed, KEYS).for_each(|hash| {
        sketch.insert_hash(hash);
    });
    sketch
}

fn dense(precision: u32) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(precision).expect("in range");
    sketch.make_dense();
    sketch
}

/// Sketches whose union is estimated, or whose overlap: the full one beside the empty one.
type Beside = Vec<HyperLogLog>;

fn beside(name: &'static str, says: fn(&Beside) -> Said) -> Identity<Beside> {
    Identity {
        name,
        full: |seed| vec![with(HyperLogLog::new(12).expect("in range"), seed, KEYS)],
        empty: || vec![HyperLogLog::new(6).expect("in range")],
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
        and(Vec::new(), &[HyperLogLog::union_estimate(&sketches).expect("one hasher")])
    })
}

/// The parts, whichever side they are on.
fn overlap() -> Identity<Beside> {
    beside("overlap, of a lower precision", |sketches| {
        let nothing = HyperLogLog::new(12).expect("in range");
        let (left, right) = (&sketches[0], sketches.get(1).unwrap_or(&nothing));
        let overlap = left.overlap(right).expect("one hasher");
        let mut sizes = [overlap.only_left, overlap.only_right];
        sizes.sort_by(|one, other| one.value.total_cmp(&other.value));
        and(
            Vec::new(),
            &[sizes[0].value, sizes[1].value, sizes[1].standard_error, overlap.both.value],
        )
    })
}
