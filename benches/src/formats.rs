//! Values of other systems, beside the crates of their owners, on equal bytes.

use core::hint::black_box;

use datasketches::countmin::CountMinSketch;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use pds::formats::datasketches::{DataSketchesCountMin, DataSketchesHll, HllRegisters};
use pds::formats::parquet::{ParquetBloomFilter, ParquetValue};
use pds::formats::xorf::{XorFilter, XorKind};
use sbbf_rs_safe::Filter as Sbbf;
use xorf::{BinaryFuse8, DmaSerializable, Filter as _};

use crate::contest::{Contender, each};
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome};

/// The cases, each with its peer.
type Case = (&'static str, &'static str);
const PARQUET: Case = ("Parquet, 1 MiB", "sbbf-rs-safe");
const HLL: Case = ("DataSketches HLL, lg_k 12", "datasketches");
const COUNT_MIN: Case = ("DataSketches count-min, 5 x 4,096", "datasketches");
const FUSE: Case = ("binary fuse, 10^6 keys", "xorf");

/// Keys of a block, for what costs some nanoseconds each.
const BLOCK: usize = 1 << 16;

/// Measures values of other systems.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    parquet(bench)?;
    hll(bench)?;
    count_min(bench)?;
    fuse(bench)
}

/// Times ours and the peer on the keys of a block.
fn duel(
    bench: &mut Bench<'_>,
    (case, peer): Case,
    (operation, block): (&str, usize),
    contenders: [&mut dyn Contender; 2],
) {
    bench.add(bench.duel([case, operation], peer, (block, Keys::absent()), contenders));
}

/// Times the reading of some bytes, per value. Each reader returns a number that depends on what it read.
fn read(
    bench: &mut Bench<'_>,
    case: Case,
    operation: &str,
    ours: impl Fn() -> u64,
    theirs: impl Fn() -> u64,
) {
    let ours = &mut each(|_| black_box(&ours)());
    let theirs = &mut each(|_| black_box(&theirs)());
    duel(bench, case, (operation, 64), [ours, theirs]);
}

/// Both hash the eight bytes of a number by XXH64.
fn parquet(bench: &mut Bench<'_>) -> Outcome {
    let mut ours = ParquetBloomFilter::new(400_000, 0.001)?;
    (0..400_000).for_each(|number| _ = ours.insert(&key(number)));
    assert_eq!(ours.blocks().to_bitset().len(), 1 << 20);
    let (bytes, bitset) = (ours.to_bytes(), ours.blocks().to_bitset());
    let mut theirs = Sbbf::from_bytes(&bitset).ok_or("a bitset")?;
    read(
        bench,
        PARQUET,
        "read",
        || u64::from(ParquetBloomFilter::from_bytes(&bytes).expect("its bytes").contains(&7u64)),
        || u64::from(Sbbf::from_bytes(&bitset).expect("a bitset").contains_hash(7)),
    );
    let one_by_one = &mut each(|key| u64::from(ours.contains(&key)));
    let others = &mut each(|key| u64::from(theirs.contains_hash(key.parquet_hash())));
    duel(bench, PARQUET, ("contains", BLOCK), [one_by_one, others]);
    let mut answers = vec![false; BLOCK];
    let mut batch = |keys: &[u64]| {
        ours.contains_batch(keys, &mut answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    };
    duel(bench, PARQUET, ("contains, our batch", BLOCK), [&mut batch, others]);
    let mine = &mut each(|key| u64::from(ours.insert(&key)));
    let others = &mut each(|key| u64::from(!theirs.insert_hash(key.parquet_hash())));
    duel(bench, PARQUET, ("insert", BLOCK), [mine, others]);
    Ok(())
}

/// The peer keeps the registers of the bytes as they are. Ours refuses bytes whose sums are not those of the registers.
fn hll(bench: &mut Bench<'_>) -> Outcome {
    let ours = |keys: &[u64]| {
        let mut sketch = DataSketchesHll::new(12, HllRegisters::Hll8).expect("in range");
        keys.iter().for_each(|&key| _ = sketch.insert(key));
        sketch
    };
    let mut filled = ours(&(0..100_000).map(key).collect::<Vec<_>>());
    let widths = [
        ("read, 4 bits", HllRegisters::Hll4),
        ("read, 6 bits", HllRegisters::Hll6),
        ("read", HllRegisters::Hll8),
    ];
    for (operation, width) in widths {
        filled.set_width(width);
        read_hll(bench, operation, &filled.to_bytes())?;
    }
    let mut mine = |keys: &[u64]| u64::from(ours(keys).lg_k());
    let mut theirs = |keys: &[u64]| {
        let mut sketch = HllSketch::new(12, HllType::Hll8).expect("in range");
        keys.iter().for_each(|&key| sketch.update(key));
        u64::from(sketch.lg_config_k())
    };
    duel(bench, HLL, ("insert", 1 << 17), [&mut mine, &mut theirs]);
    merge_hll(bench, &filled.to_bytes())
}

/// Times unions of one sketch: as it is, and read anew each time, as an engine does that stores sketches.
fn merge_hll(bench: &mut Bench<'_>, bytes: &[u8]) -> Outcome {
    let mine = || DataSketchesHll::from_bytes(black_box(bytes)).expect("its bytes");
    let others = || HllSketch::deserialize(black_box(bytes)).expect("its bytes");
    let unite = |keys: &[u64], one: &dyn Fn(&mut DataSketchesHll)| {
        let mut union = DataSketchesHll::new(12, HllRegisters::Hll8).expect("in range");
        keys.iter().for_each(|_| one(&mut union));
        u64::from(union.lg_k())
    };
    let unite_others = |keys: &[u64], one: &dyn Fn(&mut HllUnion)| {
        let mut union = HllUnion::new(12).expect("in range");
        keys.iter().for_each(|_| one(&mut union));
        u64::from(union.lg_config_k())
    };
    let (one, other) = (mine(), others());
    let mut ours = |keys: &[u64]| unite(keys, &|union| union.merge(black_box(&one)));
    let mut theirs = |keys: &[u64]| unite_others(keys, &|union| union.update(black_box(&other)));
    duel(bench, HLL, ("merge", 64), [&mut ours, &mut theirs]);
    let mut ours = |keys: &[u64]| unite(keys, &|union| union.merge(&mine()));
    let mut theirs = |keys: &[u64]| unite_others(keys, &|union| union.update(&others()));
    duel(bench, HLL, ("read and merge", 64), [&mut ours, &mut theirs]);
    Ok(())
}

/// Times the reading of a sketch of 2^12 registers.
fn read_hll(bench: &mut Bench<'_>, operation: &str, bytes: &[u8]) -> Outcome {
    let (one, other) = (DataSketchesHll::from_bytes(bytes)?, HllSketch::deserialize(bytes)?);
    assert_eq!(one.estimate().value, other.estimate(), "both read the same");
    let ours = || u64::from(DataSketchesHll::from_bytes(bytes).expect("its bytes").lg_k());
    let theirs = || u64::from(HllSketch::deserialize(bytes).expect("its bytes").lg_config_k());
    read(bench, HLL, operation, ours, theirs);
    Ok(())
}

/// The peer has counters of whole numbers, ours those of the library for C++. The sizes are equal.
fn count_min(bench: &mut Bench<'_>) -> Outcome {
    type Peer = CountMinSketch<u64>;
    let mut ours = DataSketchesCountMin::new(9_001, 5, 4_096)?;
    let mut theirs = Peer::new(5, 4_096)?;
    for key in (0..10_000).map(key) {
        ours.insert(key, 1.0);
        theirs.update(key);
    }
    let bytes = [ours.to_bytes(), theirs.serialize()];
    read(
        bench,
        COUNT_MIN,
        "read",
        || u64::from(DataSketchesCountMin::from_bytes(&bytes[0]).expect("its bytes").num_buckets()),
        || u64::from(Peer::deserialize(&bytes[1]).expect("its bytes").num_buckets()),
    );
    let mine = &mut each(|key| u64::from(ours.estimate(key) > 2.0));
    let others = &mut each(|key| u64::from(theirs.estimate(key) > 2));
    duel(bench, COUNT_MIN, ("estimate", BLOCK), [mine, others]);
    Ok(())
}

fn fuse(bench: &mut Bench<'_>) -> Outcome {
    let theirs = BinaryFuse8::try_from((0..1_000_000).map(key).collect::<Vec<_>>())?;
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    theirs.dma_copy_descriptor_to(&mut bytes);
    bytes.extend(theirs.dma_fingerprints());
    let ours = XorFilter::from_bytes(XorKind::BinaryFuse8, &bytes)?;
    let mine = &mut each(|key| u64::from(ours.contains(key)));
    let others = &mut each(|key| u64::from(theirs.contains(&key)));
    duel(bench, FUSE, ("contains", BLOCK), [mine, others]);
    Ok(())
}
