//! The quotient filter. The comparable peer supports only powers of two of slots.

use pds::hash::DefaultHashBuilder;
use pds::{QuotientFilter, ShardedQuotientFilter};

use crate::arena::{Design, Lineup, Peer};
use crate::contest::{Block, Contender};
use crate::filter::{ALL, Filter, LOOKUPS, filter};
use crate::keys::{Keys, key};
use crate::large::{self, CAPACITY};
use crate::removal::{self, BLOOM, CUCKOO, OF_A_MILLION, QUOTIENT};
use crate::report::size;
use crate::suite::{Bench, Fallible, Outcome};

/// The peer's name in rows that compare with insertions into a filter of our own.
const INSERTS: &str = "own inserts";

/// Bits of a remainder. A slot then has a byte and an eighth of a bit.
const BITS: u32 = 6;

/// Lookups at a load of 0.95.
const LINEUP: Lineup = Lineup {
    mode: "",
    hash_in: false,
    sizes: &[64 << 10, 8 << 20],
    // Of 0.95 remainders in a run, on average, at least one is met.
    rate: 0.014_734,
    items: |bytes, _| Ok(bytes / 100 * 95),
    lines: |_| 2.0,
    operations: &LOOKUPS,
    backend: None,
    ours: |design, _| Ok(Box::new(ours(design)?)),
    peers: &[Peer {
        name: "qfilter",
        note: "",
        build: |design, _| Ok(Box::new(Quotient::of_bits(design.items, BITS)?)),
    }],
};

/// The filter whose shards threads lock, asked by one thread: what the locks and the sorting by shards cost it.
const SHARDED: Lineup = Lineup {
    mode: "64 shards",
    sizes: &[8 << 20],
    // At a load of 0.92 no shard gets more keys than it has room for.
    rate: 0.014_272,
    items: |bytes, _| Ok(bytes / 100 * 92),
    operations: &ALL,
    ours: |design, _| Ok(Box::new(ShardedQuotientFilter::from_filter(ours(design)?, 64)?)),
    peers: &[Peer {
        name: "plain",
        note: "is our own filter, without shards and locks",
        build: |design, _| Ok(Box::new(ours(design)?)),
    }],
    ..LINEUP
};

/// Measures filters within the caches, and merges and growth.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    removal::memory(bench, (&[0.1, 0.01, 0.001, 0.0001], OF_A_MILLION), QUOTIENT, RIVALS)?;
    LINEUP.run(bench)?;
    SHARDED.run(bench)?;
    for &bytes in LINEUP.sizes {
        let design = LINEUP.design(bytes)?;
        let (ours, peer) = (&mut ours(&design)?, &mut Quotient::of_bits(design.items, BITS)?);
        removal::changes(bench, &design, "qfilter", (bytes, removal::SLOTS), [ours, peer]);
        merge(bench, &design)?;
        grow(bench, &design)?;
    }
    Ok(())
}

/// Measures a filter of 1 GiB.
pub(crate) fn run_large(bench: &mut Bench<'_>) -> Outcome {
    let peers = &[Peer {
        name: "qfilter",
        note: "starts each load with as many random fingerprints as ours has",
        build: |design, _| Ok(Box::new(Quotient::preset(CAPACITY, BITS, design.items)?)),
    }];
    large::run(bench, &Lineup { peers, ..LINEUP })
}

/// The peer, at the size that it chooses for a rate.
pub(crate) const QFILTER: Peer = Peer {
    name: "qfilter",
    note: "",
    build: |design, _| Ok(Box::new(Quotient::new(design.items, design.rate)?)),
};

/// Filters that keep a rate, each at the size that it chooses.
const RIVALS: &[Peer] = &[
    QFILTER,
    Peer { name: "cuckoo", note: "is our own", build: CUCKOO },
    Peer { name: "bloom", note: "is our standard filter, without removal", build: BLOOM },
];

/// Merges two filters that are half as full as the result.
fn merge(bench: &mut Bench<'_>, design: &Design) -> Outcome {
    let half = design.items / 2;
    let keys: Vec<u64> = (0..2 * half).map(key).collect();
    let (first, second) = keys.split_at(usize::try_from(half)?);
    let (mut mine, mut other) = (ours(design)?, ours(design)?);
    mine.insert_batch(first)?;
    other.insert_batch(second)?;
    let peer = |keys: &[u64]| {
        let mut filter = Quotient::of_bits(design.items, BITS)?;
        filter.insert_each(keys);
        Fallible::Ok(filter)
    };
    let (theirs, their_other) = (peer(first)?, peer(second)?);
    let merge = |filter: &mut QuotientFilter| filter.merge(&other).is_ok();
    let insert = |filter: &mut QuotientFilter| second.iter().all(|key| filter.insert(key).is_ok());
    let peers = |filter: &mut Quotient| filter.0.merge(true, &their_other.0).is_ok();
    let labels = [&*size(design.bytes), "merge"];
    let block = (second.len(), Keys::absent());
    let mut ours = Change::new(&mine, merge);
    let theirs = &mut Change::new(&theirs, peers);
    bench.add(bench.duel(labels, "qfilter", block.clone(), [&mut ours, theirs]));
    let inserts = &mut Change::new(&mine, insert);
    let row = bench.duel(labels, INSERTS, block, [&mut ours, inserts]);
    bench.add(row.note(format!("{INSERTS}: each key of one filter is inserted into the other.")));
    Ok(())
}

/// Doubles a full filter, and inserts its keys into an empty one of the size that it then has.
fn grow(bench: &mut Bench<'_>, design: &Design) -> Outcome {
    let len = design.items / 2;
    let small = QuotientFilter::builder().expected_items(len).grows_to(design.items);
    let mut full = small.false_positive_rate(LINEUP.rate).build()?;
    let mut grown = full.try_clone()?;
    grown.grow()?;
    let keys: Vec<u64> = (0..len).map(key).collect();
    full.insert_batch(&keys)?;
    let double = &mut Change::new(&full, |filter: &mut QuotientFilter| filter.grow().is_ok());
    let insert = |filter: &mut QuotientFilter| keys.iter().all(|key| filter.insert(key).is_ok());
    let (labels, block) = ([&*size(design.bytes), "grow"], (keys.len(), Keys::absent()));
    let row = bench.duel(labels, INSERTS, block, [double, &mut Change::new(&grown, insert)]);
    bench.add(row.note(format!("{INSERTS}: the keys are inserted into a filter of double size.")));
    Ok(())
}

/// A change of a whole filter, of a fresh copy in each round.
struct Change<'a, T, F> {
    filter: &'a T,
    copy: Option<T>,
    change: F,
}

impl<'a, T: Clone, F: Fn(&mut T) -> bool> Change<'a, T, F> {
    const fn new(filter: &'a T, change: F) -> Self {
        Self { filter, copy: None, change }
    }
}

impl<T: Clone, F: Fn(&mut T) -> bool> Contender for Change<'_, T, F> {
    fn prepare(&mut self, _block: &Block) {
        self.copy = Some(self.filter.clone());
    }

    /// # Panics
    /// If the change fails.
    fn run(&mut self, _keys: &[u64]) -> u64 {
        let copy = self.copy.as_mut().expect("prepared");
        assert!((self.change)(copy), "the filter has room");
        0
    }
}

fn ours(design: &Design) -> Fallible<QuotientFilter> {
    let builder = QuotientFilter::builder().slots(design.bytes).remainder_bits(BITS);
    Ok(builder.huge_pages(design.is_huge()).build()?)
}

filter!(ours QuotientFilter => {
    insert(filter, key) => filter.insert(&key).is_ok(),
    // A key that does not fit is found missing by the lookups.
    insert_batch(filter, keys) => filter.insert_batch(keys).is_ok().into(),
    remove(filter, key) => filter.remove(&key),
});

filter!(ours ShardedQuotientFilter => {
    insert(filter, key) => Self::insert(filter, &key).is_ok(),
    insert_batch(filter, keys) => Self::insert_batch(filter, keys).is_ok().into(),
});

/// The peer.
#[derive(Clone)]
pub(crate) struct Quotient(qfilter::Filter<Box<[u8]>, DefaultHashBuilder>);

impl Quotient {
    fn new(items: u64, rate: f64) -> Fallible<Self> {
        let filter = qfilter::Filter::new_with_hasher(items, rate, DefaultHashBuilder::default());
        Ok(Self(filter.map_err(|error| format!("qfilter: {error:?}"))?))
    }

    /// Creates a filter with remainders of so many bits. Full is a load of 0.95.
    pub(crate) fn of_bits(items: u64, bits: u32) -> Fallible<Self> {
        Self::new(items, 2_f64.powi(-bits.cast_signed()))
    }

    /// Creates a filter with at most this many random fingerprints. They are in order, because they are sums of random
    /// distances.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "64 bits at most")]
    pub(crate) fn preset(capacity: u64, bits: u32, items: u64) -> Fallible<Self> {
        let mut filter = qfilter::Builder::new(Self::of_bits(capacity, bits)?.0);
        let end = 2_f64.powi(filter.fingerprint_size().into());
        let mut place = 0.0;
        for number in 0..items {
            let uniform = (key(number) >> 11) as f64 / 2_f64.powi(53);
            place -= (-uniform).ln_1p() * end / items as f64;
            if place >= end {
                break;
            }
            let inserted = filter.insert_fingerprint(true, place as u64);
            inserted.map_err(|error| format!("qfilter: {error:?}"))?;
        }
        Ok(Self(filter.into_filter()))
    }
}

filter!(Quotient => {
    insert(filter, key) => filter.0.insert_duplicated(key).is_ok(),
    contains(filter, key) => filter.0.contains(key),
    remove(filter, key) => filter.0.remove(key),
    clear(filter) => filter.0.clear(),
});
