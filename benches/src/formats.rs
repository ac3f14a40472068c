//! Values of other systems, beside the crates of their owners, on equal bytes.

use core::hint::black_box;

use datasketches::countmin::CountMinSketch;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use pds::formats::datasketches::{DataSketchesCountMin, DataSketchesHll, HllRegisters};
use pds::formats::parquet::{ParquetBloomFilter, ParquetValue};
use pds::formats::xorf::{XorFilter, XorKind};
use sbbf_rs_safe::Filter as Sbbf;
use xorf::{BinaryFuse8, DmaSerializable, Filter as _};

use crate::contest::{Contender, Each, Whole};
use crate::keys::{self, Keys};
use crate::suite::{Bench, Outcome, Suite};

/// The suite of values of other systems.
pub const SUITE: Suite = Suite { name: "formats", peers: &[SBBF, DATASKETCHES, XORF], run };

const SBBF: &str = "sbbf-rs-safe";
const DATASKETCHES: &str = "datasketches";
const XORF: &str = "xorf";

const PARQUET: &str = "Parquet, 1 MiB";
const HLL: &str = "DataSketches HLL, lg_k 12";
const COUNT_MIN: &str = "DataSketches count-min, 5 x 4,096";
const FUSE: &str = "binary fuse, 10^6 keys";

const INSERT: &str = "insert";
const CONTAINS: &str = "contains";
const BATCH: &str = "contains, our batch";
const READ: &str = "read";
const READ_4: &str = "read, 4 bits";
const READ_6: &str = "read, 6 bits";

/// Keys of a block, for what costs some nanoseconds each.
const BLOCK: usize = 1 << 16;

fn run(bench: &mut Bench<'_>) -> Outcome {
    parquet(bench)?;
    hll(bench)?;
    count_min(bench)?;
    fuse(bench)
}

/// Times ours and a peer on the keys of a block.
fn duel(
    bench: &mut Bench<'_>,
    names: [&str; 2],
    peer: &'static str,
    block: usize,
    contenders: [&mut dyn Contender; 2],
) {
    let row = bench.duel(names, peer, (block, Keys::absent()), contenders);
    bench.add(row);
}

/// Times the reading of some bytes, per value. Each reader returns a number that depends on what it read.
fn read(
    bench: &mut Bench<'_>,
    names: [&str; 2],
    peer: &'static str,
    ours: impl Fn() -> u64,
    theirs: impl Fn() -> u64,
) {
    let mut ours = Whole(|keys: &[u64]| keys.iter().map(|_| black_box(&ours)()).sum());
    let mut theirs = Whole(|keys: &[u64]| keys.iter().map(|_| black_box(&theirs)()).sum());
    duel(bench, names, peer, 64, [&mut ours, &mut theirs]);
}

/// Both hash the eight bytes of a number by XXH64.
fn parquet(bench: &mut Bench<'_>) -> Outcome {
    let mut ours = ParquetBloomFilter::new(400_000, 0.001)?;
    (0..400_000).for_each(|number| _ = ours.insert(&keys::key(number)));
    assert_eq!(ours.blocks().to_bitset().len(), 1 << 20);
    let (bytes, bitset) = (ours.to_bytes(), ours.blocks().to_bitset());
    let mut theirs = Sbbf::from_bytes(&bitset).ok_or("a bitset")?;
    read(
        bench,
        [PARQUET, READ],
        SBBF,
        || u64::from(ParquetBloomFilter::from_bytes(&bytes).expect("its bytes").contains(&7u64)),
        || u64::from(Sbbf::from_bytes(&bitset).expect("a bitset").contains_hash(7)),
    );
    let mut mine = Each(|key: u64| u64::from(ours.contains(&key)));
    let mut others = Each(|key: u64| u64::from(theirs.contains_hash(key.parquet_hash())));
    duel(bench, [PARQUET, CONTAINS], SBBF, BLOCK, [&mut mine, &mut others]);
    let mut answers = vec![false; BLOCK];
    let mut mine = Whole(|keys: &[u64]| {
        ours.contains_batch(keys, &mut answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    });
    duel(bench, [PARQUET, BATCH], SBBF, BLOCK, [&mut mine, &mut others]);
    let mut mine = Each(|key: u64| u64::from(ours.insert(&key)));
    let mut others = Each(|key: u64| u64::from(!theirs.insert_hash(key.parquet_hash())));
    duel(bench, [PARQUET, INSERT], SBBF, BLOCK, [&mut mine, &mut others]);
    Ok(())
}

/// The peer keeps the registers of the bytes as they are. Ours refuses bytes whose sums are not those of the registers.
fn hll(bench: &mut Bench<'_>) -> Outcome {
    let ours = |keys: &[u64]| {
        let mut sketch = DataSketchesHll::new(12, HllRegisters::Hll8).expect("in range");
        keys.iter().for_each(|&key| _ = sketch.insert(key));
        sketch
    };
    let theirs = |keys: &[u64]| {
        let mut sketch = HllSketch::new(12, HllType::Hll8).expect("in range");
        keys.iter().for_each(|&key| sketch.update(key));
        sketch
    };
    let hundred_thousand: Vec<u64> = (0..100_000).map(keys::key).collect();
    let mut narrow = ours(&hundred_thousand);
    for (operation, width) in [(READ_4, HllRegisters::Hll4), (READ_6, HllRegisters::Hll6)] {
        narrow.set_width(width);
        read_hll(bench, operation, &narrow.to_bytes())?;
    }
    let bytes = ours(&hundred_thousand).to_bytes();
    read_hll(bench, READ, &bytes)?;
    let mut mine = Whole(|keys: &[u64]| u64::from(ours(keys).lg_k()));
    let mut others = Whole(|keys: &[u64]| u64::from(theirs(keys).lg_config_k()));
    duel(bench, [HLL, INSERT], DATASKETCHES, 1 << 17, [&mut mine, &mut others]);
    merge_hll(bench, &bytes)
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
    let mut ours = Whole(|keys: &[u64]| unite(keys, &|union| union.merge(black_box(&one))));
    let mut theirs =
        Whole(|keys: &[u64]| unite_others(keys, &|union| union.update(black_box(&other))));
    duel(bench, [HLL, "merge"], DATASKETCHES, 64, [&mut ours, &mut theirs]);
    let mut ours = Whole(|keys: &[u64]| unite(keys, &|union| union.merge(&mine())));
    let mut theirs = Whole(|keys: &[u64]| unite_others(keys, &|union| union.update(&others())));
    duel(bench, [HLL, "read and merge"], DATASKETCHES, 64, [&mut ours, &mut theirs]);
    Ok(())
}

/// Times the reading of a sketch of 2^12 registers.
fn read_hll(bench: &mut Bench<'_>, operation: &str, bytes: &[u8]) -> Outcome {
    let (one, other) = (DataSketchesHll::from_bytes(bytes)?, HllSketch::deserialize(bytes)?);
    assert_eq!(one.estimate().value, other.estimate(), "both read the same");
    let ours = || u64::from(DataSketchesHll::from_bytes(bytes).expect("its bytes").lg_k());
    let theirs = || u64::from(HllSketch::deserialize(bytes).expect("its bytes").lg_config_k());
    read(bench, [HLL, operation], DATASKETCHES, ours, theirs);
    Ok(())
}

/// The peer has counters of whole numbers, ours those of the library for C++. The sizes are equal.
fn count_min(bench: &mut Bench<'_>) -> Outcome {
    let mut ours = DataSketchesCountMin::new(9_001, 5, 4_096)?;
    let mut theirs = CountMinSketch::<u64>::new(5, 4_096)?;
    for key in (0..10_000).map(keys::key) {
        ours.insert(key, 1.0);
        theirs.update(key);
    }
    let bytes = [ours.to_bytes(), theirs.serialize()];
    read(
        bench,
        [COUNT_MIN, READ],
        DATASKETCHES,
        || u64::from(DataSketchesCountMin::from_bytes(&bytes[0]).expect("its bytes").num_buckets()),
        || {
            u64::from(
                CountMinSketch::<u64>::deserialize(&bytes[1]).expect("its bytes").num_buckets(),
            )
        },
    );
    let mut mine = Each(|key: u64| u64::from(ours.estimate(key) > 2.0));
    let mut others = Each(|key: u64| u64::from(theirs.estimate(key) > 2));
    duel(bench, [COUNT_MIN, "estimate"], DATASKETCHES, BLOCK, [&mut mine, &mut others]);
    Ok(())
}

fn fuse(bench: &mut Bench<'_>) -> Outcome {
    let keys: Vec<u64> = (0..1_000_000).map(keys::key).collect();
    let theirs = BinaryFuse8::try_from(&keys)?;
    let mut bytes = vec![0; BinaryFuse8::DESCRIPTOR_LEN];
    theirs.dma_copy_descriptor_to(&mut bytes);
    bytes.extend(theirs.dma_fingerprints());
    let ours = XorFilter::from_bytes(XorKind::BinaryFuse8, &bytes)?;
    let mut mine = Each(|key: u64| u64::from(ours.contains(key)));
    let mut others = Each(|key: u64| u64::from(theirs.contains(&key)));
    duel(bench, [FUSE, CONTAINS], XORF, BLOCK, [&mut mine, &mut others]);
    Ok(())
}
