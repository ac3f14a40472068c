//! The cuckoo filter, with fingerprints of eight bits. The comparable peer supports only this width.

use core::any::Any;
use core::hash::{BuildHasher, Hasher};

use cuckoofilter::{CuckooFilter as Peers, ExportedCuckooFilter};
use pds::CuckooFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::cuckoo::rate_by_load;
use probabilistic_collections::cuckoo::CuckooFilter as Collected;

use crate::arena::{Lineup, Peer};
use crate::filter::{Filter, LOOKUPS, Operation, Task, filter};
use crate::keys::Keys;
use crate::large::{self, CAPACITY, FULL};
use crate::quotient::{QFILTER, Quotient};
use crate::removal::{self, BLOOM, COUNTING, CUCKOO, OF_A_MILLION};
use crate::report::size;
use crate::suite::{Bench, Fallible, Outcome};

/// The number of insertions per block into a full filter. Each takes about ten microseconds.
const ATTEMPTS: usize = 1_000;

/// Bits per fingerprint. Buckets have 32 bits.
const BITS: u32 = 8;

/// Lookups at a load of 0.95. All sizes are powers of two, because the peers support no others.
const LINEUP: Lineup = Lineup {
    mode: "",
    hash_in: false,
    sizes: &[64 << 10],
    rate: 0.0294,
    items: |bytes, _| Ok(bytes / 100 * 95),
    lines: |_| 2.0,
    operations: &LOOKUPS,
    backend: None,
    ours: |design, _| {
        let builder = CuckooFilter::builder().buckets(design.bytes / 4).fingerprint_bits(BITS);
        Ok(Box::new(builder.huge_pages(design.is_huge()).build()?))
    },
    peers: &[
        Peer {
            name: "cuckoofilter",
            note: "",
            build: |design, _| Ok(Box::new(Eight::empty(design.bytes)?)),
        },
        Peer {
            name: "qfilter",
            note: "has 7.1 bits per slot",
            build: |design, _| Ok(Box::new(Quotient::of_bits(design.items, 5)?)),
        },
        Peer {
            name: "probabilistic-collections",
            note: "hashes each key twice",
            build: |design, _| {
                let slots = usize::try_from(design.bytes)?;
                Ok(Box::new(Collection { filter: collected(slots), slots }))
            },
        },
    ],
};

/// The same without the peer that takes a microsecond per key.
const MEDIUM: Lineup = Lineup { sizes: &[8 << 20], peers: LINEUP.peers.split_at(2).0, ..LINEUP };

/// Measures filters within the caches.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    removal::memory(bench, (&[0.01, 0.001], OF_A_MILLION), CUCKOO, RIVALS)?;
    for lineup in [LINEUP, MEDIUM] {
        lineup.run(bench)?;
        let bytes = lineup.sizes[0];
        let design = lineup.design(bytes)?;
        for peer in lineup.peers {
            let (mut ours, mut theirs) =
                ((lineup.ours)(&design, None)?, (peer.build)(&design, None)?);
            let stages = (bytes, removal::SLOTS);
            removal::changes(bench, &design, peer.name, stages, [&mut *ours, &mut *theirs]);
        }
        let mut ours = (lineup.ours)(&design, None)?;
        refuse(bench, bytes, [&mut *ours, &mut Eight::empty(bytes)?]);
    }
    Ok(())
}

/// Measures a filter of 1 GiB.
pub(crate) fn run_large(bench: &mut Bench<'_>) -> Outcome {
    let lineup = Lineup {
        rate: rate_by_load(FULL, BITS),
        // The third peer of smaller filters takes a microsecond or more per key, and can only be filled key by key.
        peers: &[
            Peer {
                name: "cuckoofilter",
                note: "starts each load with the slots of ours",
                build: |_, ours| Ok(Box::new(Eight::preset(ours.ok_or("a start from ours")?)?)),
            },
            Peer {
                name: "qfilter",
                note: "starts each load with as many random fingerprints as ours has",
                build: |design, _| Ok(Box::new(Quotient::preset(CAPACITY, 5, design.items)?)),
            },
        ],
        ..LINEUP
    };
    large::run(bench, &lineup)
}

/// Filters that keep a rate, each at the size that it chooses.
const RIVALS: &[Peer] = &[
    Peer {
        name: "cuckoofilter",
        note: "has 8 bits per fingerprint, and keeps a rate only by a lower load, at powers of two",
        build: |design, _| Ok(Box::new(Eight::empty(at_low_load(design.items, design.rate))?)),
    },
    QFILTER,
    Peer { name: "bloom", note: "is our standard filter, without removal", build: BLOOM },
    Peer { name: "counting", note: "is our own, with counters of 4 bits", build: COUNTING },
];

/// Times insertions into filters that are as full as possible. Few of them succeed.
fn refuse(bench: &mut Bench<'_>, bytes: u64, [ours, theirs]: [&mut dyn Filter; 2]) {
    stuff(ours);
    stuff(theirs);
    let [mut ours, mut theirs] = Task::pair([ours, theirs], Operation::Insert);
    let (labels, peer) = ([&*size(bytes), "insert when full"], "cuckoofilter");
    let block = (ATTEMPTS, Keys::surplus());
    let row = bench.duel(labels, peer, block, [&mut ours, &mut theirs]).bytes(bytes);
    bench.add(row.note(format!("{peer} loses a key on each failed insert.")));
}

/// Inserts until at most one attempt in twenty succeeds.
fn stuff(filter: &mut dyn Filter) {
    let (mut keys, mut attempts) = (Keys::stored(u64::MAX), [0; ATTEMPTS]);
    loop {
        keys.fill(&mut attempts);
        if filter.insert_each(&attempts) <= ATTEMPTS as u64 / 20 {
            break;
        }
    }
}

/// Returns the least power of two of slots for which 8-bit fingerprints keep a rate.
fn at_low_load(items: u64, rate: f64) -> u64 {
    let keeps = |slots: &u64| rate_by_load(items as f64 / *slots as f64, BITS) <= rate;
    (0..40).map(|bits| 1 << bits).find(keeps).expect("a load that is low enough")
}

filter!(ours CuckooFilter => {
    insert(filter, key) => filter.insert(&key).is_ok(),
    // A key that does not fit is found missing by the lookups.
    insert_batch(filter, keys) => filter.insert_batch(keys).is_ok().into(),
    remove(filter, key) => filter.remove(&key),
});

/// The default hasher, for a peer that creates its hasher by `Default`.
struct Xxh3(<DefaultHashBuilder as BuildHasher>::Hasher);

impl Default for Xxh3 {
    fn default() -> Self {
        Self(DefaultHashBuilder::default().build_hasher())
    }
}

impl Hasher for Xxh3 {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// The peer with fingerprints of eight bits.
struct Eight {
    filter: Peers<Xxh3>,
    slots: usize,
}

impl Eight {
    /// The content of an empty slot.
    const EMPTY: u8 = 100;

    fn empty(slots: u64) -> Fallible<Self> {
        let slots = usize::try_from(slots)?;
        Ok(Self { filter: Peers::with_capacity(slots), slots })
    }

    /// Creates a filter with the fingerprints of ours at the same positions.
    fn preset(ours: &dyn Filter) -> Fallible<Self> {
        let ours: &CuckooFilter = (ours as &dyn Any).downcast_ref().ok_or("a cuckoo filter")?;
        let slots = usize::try_from(ours.num_slots())?;
        let mut values = vec![Self::EMPTY; slots];
        let mut slot = 0;
        for (bucket, fingerprint) in ours.fingerprints() {
            slot = usize::try_from(4 * bucket)?.max(slot);
            // To the peer, zero is a fingerprint, and `EMPTY` is not.
            values[slot] =
                Some(u8::try_from(fingerprint)?).filter(|&value| value != Self::EMPTY).unwrap_or(0);
            slot += 1;
        }
        let length = usize::try_from(ours.len())?;
        Ok(Self { filter: ExportedCuckooFilter { values, length }.into(), slots })
    }
}

filter!(Eight => {
    insert(peer, key) => peer.filter.add(&key).is_ok(),
    contains(peer, key) => peer.filter.contains(&key),
    remove(peer, key) => peer.filter.delete(&key),
    clear(peer) => peer.filter = Peers::with_capacity(peer.slots),
});

/// The cuckoo filter of `probabilistic-collections`.
struct Collection {
    filter: Collected<u64, DefaultHashBuilder>,
    slots: usize,
}

fn collected(slots: usize) -> Collected<u64, DefaultHashBuilder> {
    Collected::with_hashers(slots, [1, 2].map(DefaultHashBuilder::with_seed))
}

filter!(Collection => {
    insert(peer, key) => {
        peer.filter.insert(&key);
        true
    },
    contains(peer, key) => peer.filter.contains(&key),
    remove(peer, key) => {
        peer.filter.remove(&key);
        true
    },
    clear(peer) => peer.filter = collected(peer.slots),
});
