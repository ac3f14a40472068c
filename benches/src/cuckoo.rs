//! The cuckoo filter, with fingerprints of eight bits. The comparable peer supports only this width.

use core::error::Error;
use core::fmt;
use core::hash::{BuildHasher, Hasher};

use cuckoofilter::{CuckooFilter as Peers, ExportedCuckooFilter};
use pds::hash::DefaultHashBuilder;
use pds::params::cuckoo::rate_by_load;
use pds::{BloomFilter, CountingBloomFilter, CuckooFilter};
use probabilistic_collections::cuckoo::CuckooFilter as Collected;

use crate::contest::{Contender, Whole};
use crate::keys::{Keys, key};
use crate::large::{self, CAPACITY, FULL, Large};
use crate::membership::{Design, Filter, Lineup, Operation, Peer, contender};
use crate::quotient::Quotient;
use crate::removal::{self, Promise, Removing, Rival, changes};
use crate::report::size;
use crate::suite::{Bench, Outcome, Suite};

/// Filters within the caches.
pub const SUITE: Suite =
    Suite { name: "cuckoo", peers: &["cuckoofilter", "qfilter", "probabilistic-collections"], run };

/// A filter of 1 GiB. It has its own suite, because it takes as long as all smaller ones.
pub const LARGE: Suite = Suite {
    name: "cuckoo-large",
    peers: &["cuckoofilter", "qfilter"],
    run: |bench| large().run(bench),
};

/// The number of insertions per block into a full filter. Each takes about ten microseconds.
const ATTEMPTS: usize = 1_000;

/// Bits per fingerprint. Buckets have 32 bits.
const BITS: u32 = 8;

/// Lookups at a load of 0.95. All sizes are powers of two, because the peers support no others.
pub const LINEUP: Lineup = Lineup {
    mode: "",
    sizes: &[64 << 10],
    rate: 0.0294,
    items: |bytes, _| Ok(bytes / 100 * 95),
    lines: |_| 2.0,
    operations: &[Operation::Hit, Operation::Miss, Operation::HitBatch, Operation::MissBatch],
    backend: || None,
    ours: |design, _| Ok(Box::new(ours(design)?)),
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
            build: |design, _| Ok(Box::new(collected(design.bytes)?)),
        },
    ],
};

/// The same without the peer that takes a microsecond per key.
const MEDIUM: Lineup = Lineup { sizes: &[8 << 20], peers: LINEUP.peers.split_at(2).0, ..LINEUP };

fn run(bench: &mut Bench<'_>) -> Outcome {
    weigh(bench)?;
    for lineup in [LINEUP, MEDIUM] {
        lineup.run(bench)?;
    }
    for lineup in [LINEUP, MEDIUM] {
        let bytes = lineup.sizes[0];
        let design = lineup.design(bytes)?;
        let mut against = |name, peer: &mut dyn Removing| -> Outcome {
            let contenders = [&mut ours(&design)? as &mut dyn Removing, peer];
            changes(bench, &design, name, (bytes, removal::SLOTS), contenders);
            Ok(())
        };
        against("cuckoofilter", &mut Eight::empty(bytes)?)?;
        against("qfilter", &mut Quotient::of_bits(design.items, 5)?)?;
        if lineup.peers.len() > 2 {
            against("probabilistic-collections", &mut collected(bytes)?)?;
        }
        refuse(bench, bytes, [&mut ours(&design)?, &mut Eight::empty(bytes)?]);
    }
    Ok(())
}

fn large() -> Large<CuckooFilter> {
    Large {
        rate: rate_by_load(FULL, BITS),
        lines: 2.0,
        ours,
        // The third peer of smaller filters takes a microsecond or more per key, and can only be filled key by key.
        peers: &[
            large::Peer {
                name: "cuckoofilter",
                note: "starts each load with the slots of ours",
                preset: |ours, _| Ok(Box::new(Eight::preset(ours)?)),
            },
            large::Peer {
                name: "qfilter",
                note: "starts each load with as many random fingerprints as ours has",
                preset: |_, held| Ok(Box::new(Quotient::preset(CAPACITY, 5, held)?)),
            },
        ],
    }
}

/// Times insertions into filters that are as full as possible. Few of them succeed.
fn refuse(bench: &mut Bench<'_>, bytes: u64, [ours, theirs]: [&mut dyn Filter; 2]) {
    let peer = "cuckoofilter";
    stuff(ours);
    stuff(theirs);
    let contenders: [&mut dyn Contender; 2] = [
        &mut Whole(|keys: &[u64]| ours.insert_each(keys)),
        &mut Whole(|keys: &[u64]| theirs.insert_each(keys)),
    ];
    let labels = [&*size(bytes), "insert when full"];
    let row = bench.duel(labels, peer, (ATTEMPTS, Keys::surplus()), contenders);
    bench.add(row.bytes(bytes).note(format!("{peer} loses a key on each failed insert.")));
}

/// Inserts until at most one attempt in twenty succeeds.
fn stuff(filter: &mut dyn Filter) {
    let mut numbers = 0..;
    let mut attempts = || -> Vec<u64> { numbers.by_ref().take(ATTEMPTS).map(key).collect() };
    while filter.insert_each(&attempts()) > ATTEMPTS as u64 / 20 {}
}

/// Measures the memory of filters that keep a rate, each at the size that it chooses.
fn weigh(bench: &mut Bench<'_>) -> Outcome {
    for rate in [0.01, 0.001] {
        Promise { items: 1_000_000, rate }.memory(
            bench,
            ("cuckoo", &|items, rate| Ok(Box::new(CuckooFilter::new(items, rate)?))),
            &[
                Rival {
                    name: "cuckoofilter",
                    note: "has 8 bits per fingerprint, and keeps a rate only by a lower load, at powers of two",
                    build: &|items, rate| Ok(Box::new(Eight::empty(at_low_load(items, rate))?)),
                },
                Rival {
                    name: "qfilter",
                    note: "",
                    build: &|items, rate| Ok(Box::new(Quotient::new(items, rate)?)),
                },
                Rival {
                    name: "bloom",
                    note: "is our standard filter, without removal",
                    build: &|items, rate| Ok(Box::new(BloomFilter::new(items, rate)?)),
                },
                Rival {
                    name: "counting",
                    note: "is our own, with counters of 4 bits",
                    build: &|items, rate| Ok(Box::new(CountingBloomFilter::new(items, rate)?)),
                },
            ],
        )?;
    }
    Ok(())
}

/// Returns the least power of two of slots for which 8-bit fingerprints keep a rate.
fn at_low_load(items: u64, rate: f64) -> u64 {
    let keeps = |slots: &u64| rate_by_load(items as f64 / *slots as f64, BITS) <= rate;
    (0..40).map(|bits| 1 << bits).find(keeps).expect("a load that is low enough")
}

fn ours(design: &Design) -> Result<CuckooFilter, Box<dyn Error>> {
    let builder = CuckooFilter::builder().buckets(design.bytes / 4).fingerprint_bits(BITS);
    Ok(builder.huge_pages(design.huge_pages()).build()?)
}

contender!(can be full, and forget: CuckooFilter);

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

    fn empty(slots: u64) -> Result<Self, Box<dyn Error>> {
        let slots = usize::try_from(slots)?;
        Ok(Self { filter: Peers::with_capacity(slots), slots })
    }

    /// Creates a filter with the fingerprints of ours at the same positions.
    fn preset(ours: &CuckooFilter) -> Result<Self, Box<dyn Error>> {
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

impl fmt::Debug for Eight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eight").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl Filter for Eight {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.filter.add(&key).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    fn clear(&mut self) {
        self.filter = Peers::with_capacity(self.slots);
    }
}

impl Removing for Eight {
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.filter.delete(&key)
    }
}

/// The cuckoo filter of `probabilistic-collections`.
struct Collection {
    filter: Collected<u64, DefaultHashBuilder>,
    slots: usize,
}

fn collected(slots: u64) -> Result<Collection, Box<dyn Error>> {
    let slots = usize::try_from(slots)?;
    Ok(Collection { filter: Collected::with_hashers(slots, hashers()), slots })
}

fn hashers() -> [DefaultHashBuilder; 2] {
    [1, 2].map(DefaultHashBuilder::with_seed)
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl Filter for Collection {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.filter.insert(&key);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    fn clear(&mut self) {
        self.filter = Collected::with_hashers(self.slots, hashers());
    }
}

impl Removing for Collection {
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.filter.remove(&key);
        true
    }
}
