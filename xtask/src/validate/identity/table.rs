//! The structures that can be merged.

use super::super::judge::real;
use super::super::schedule::Job;
use super::{FEW, Identity, KEYS, Said, and, hashes, merged, with};
use pds::blocked::Preference;
use pds::cms::Update;
use pds::hll::redis::RedisHyperLogLog;
use pds::params::{BlockedBloomParams, CountMinParams, CountSketchParams, HeavyHittersParams};
use pds::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicHyperLogLog, BlockedBloomFilter,
    BlockedCountingBloomFilter, BloomFilter, CountMinSketch, CountSketch, CountingBloomFilter,
    CuckooFilter, DefaultHashBuilder, HeavyHitters, HyperLogLog, SketchedHeavyHitters,
    SplitBlockBloomFilter, TopK, UltraLogLog,
};

/// A row for a type with `Merge`, `to_bytes` and these estimates.
macro_rules! identity {
    ($structure:literal, $name:literal, $full:expr, $empty:expr, |$one:ident: $type:ty| $estimates:expr) => {
        Identity::<$type> {
            structure: $structure,
            name: $name,
            full: $full,
            empty: || $empty,
            says: |$one: &$type| and($one.to_bytes().to_vec(), &$estimates),
            left: true,
            merge: merged,
        }
    };
}

pub(super) fn bloom<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> BloomFilter {
        BloomFilter::new(KEYS, 0.01).expect("sound")
    }
    vec![
        identity!("bloom", "plain", |seed| with(plain(), seed, KEYS), plain(), |f: BloomFilter| [
            f.approx_len().value
        ])
        .job(seed),
        identity!(
            "bloom",
            "atomic",
            |seed| with(plain(), seed, KEYS).into(),
            plain().into(),
            |f: AtomicBloomFilter| [f.approx_len().value]
        )
        .job(seed),
    ]
}

pub(super) fn blocked<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> BlockedBloomFilter {
        let params = BlockedBloomParams::new(KEYS, 0.01, Preference::Fastest).expect("sound");
        BlockedBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
    }
    fn split() -> SplitBlockBloomFilter {
        SplitBlockBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    let split = Identity::<SplitBlockBloomFilter> {
        structure: "blocked",
        name: "split-block",
        full: |seed| {
            let mut filter = split();
            hashes(seed, KEYS).for_each(|hash| {
                filter.insert_hash(hash);
            });
            filter
        },
        empty: split,
        says: |f| and(f.to_parquet_bytes(), &[f.fill_ratio()]),
        left: true,
        merge: |left, right| left.union_with(right).is_err(),
    };
    vec![
        identity!(
            "blocked",
            "plain",
            |seed| with(plain(), seed, KEYS),
            plain(),
            |f: BlockedBloomFilter| [f.approx_len().value]
        )
        .job(seed),
        identity!(
            "blocked",
            "atomic",
            |seed| with(plain(), seed, KEYS).into(),
            plain().into(),
            |f: AtomicBlockedBloomFilter| [f.approx_len().value]
        )
        .job(seed),
        split.job(seed),
    ]
}

pub(super) fn counting<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> CountingBloomFilter {
        CountingBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    fn lines() -> BlockedCountingBloomFilter {
        BlockedCountingBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    vec![
        identity!(
            "counting",
            "plain",
            |seed| with(plain(), seed, KEYS),
            plain(),
            |f: CountingBloomFilter| [f.approx_len().value]
        )
        .job(seed),
        identity!(
            "counting",
            "blocked",
            |seed| with(lines(), seed, KEYS),
            lines(),
            |f: BlockedCountingBloomFilter| [f.fill_ratio()]
        )
        .job(seed),
    ]
}

/// Where a fingerprint lies in a cuckoo filter depends on the order: the answers are compared, not the bytes.
pub(super) fn cuckoo() -> Identity<CuckooFilter> {
    fn empty() -> CuckooFilter {
        CuckooFilter::new(KEYS, 0.01).expect("sound")
    }
    Identity {
        structure: "cuckoo",
        name: "plain",
        full: |seed| with(empty(), seed, KEYS),
        empty,
        says: |f| {
            let answers = (0..100_000u64).map(|hash| f.contains_hash(hash << 40 | hash).into());
            and(answers.collect(), &[real(f.len())])
        },
        left: true,
        merge: merged,
    }
}

pub(super) fn frequency<'a>(seed: u64) -> Vec<Job<'a>> {
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
        structure: "cms",
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
                structure: "cms",
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
            .job(seed)
        };
    }
    vec![
        identity!(
            "cms",
            "plain",
            |seed| with(sketch(Update::Plain), seed, KEYS),
            sketch(Update::Plain),
            |s: CountMinSketch| [real(s.total())]
        )
        .job(seed),
        identity!(
            "cms",
            "conservative",
            |seed| with(sketch(Update::Conservative), seed, KEYS),
            sketch(Update::Conservative),
            |s: CountMinSketch| [real(s.total())]
        )
        .job(seed),
        signed.job(seed),
        listed!("heavy hitters", HeavyHitters<u64>, heavy),
        listed!("sketched heavy hitters", SketchedHeavyHitters<u64>, sketched),
        listed!("top k", TopK<u64>, top),
    ]
}

pub(super) fn cardinality<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain(precision: u32) -> HyperLogLog {
        HyperLogLog::new(precision).expect("in range")
    }
    fn ultra(precision: u32) -> UltraLogLog {
        UltraLogLog::new(precision).expect("in range")
    }
    macro_rules! plain {
        ($name:literal, $count:expr, $empty:expr) => {
            identity!(
                "hll",
                $name,
                |seed| with(plain(12), seed, $count),
                $empty,
                |s: HyperLogLog| [s.estimate(), s.estimate_with_error().standard_error]
            )
            .job(seed)
        };
    }
    macro_rules! ultra {
        ($name:literal, $empty:expr) => {
            identity!("hll", $name, |seed| with(ultra(12), seed, KEYS), $empty, |s: UltraLogLog| [
                s.estimate(),
                s.estimate_with_error().standard_error
            ])
            .job(seed)
        };
    }
    let redis = identity!(
        "hll",
        "redis",
        |seed| with_redis(seed),
        RedisHyperLogLog::new(),
        |s: RedisHyperLogLog| [s.estimate()]
    );
    let atomic = || {
        identity!(
            "hll",
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
        union_estimate().job(seed),
        overlap().job(seed),
        ultra!("ultra", ultra(12)),
        ultra!("ultra, of a lower precision", ultra(6)),
        ultra!("ultra, of a higher precision", ultra(16)),
        redis.job(seed),
        atomic().job(seed),
        Identity {
            name: "atomic, of a lower precision",
            left: false,
            empty: || plain(6).into(),
            ..atomic()
        }
        .job(seed),
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
        structure: "hll",
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
