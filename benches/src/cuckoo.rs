//! The cuckoo filter, with fingerprints of eight bits: the only width that the peer of its kind has.

use core::error::Error;
use core::fmt;
use core::hash::{BuildHasher, Hasher};

use cuckoofilter::{CuckooFilter as Peers, ExportedCuckooFilter};
use pds::hash::DefaultHasher;
use pds::params::cuckoo::rate_by_load;
use pds::{BloomFilter, CountingBloomFilter, CuckooFilter, DefaultHashBuilder};
use probabilistic_collections::cuckoo::CuckooFilter as Collected;

use crate::allocation;
use crate::goals::{Against, Goal};
use crate::keys::key;
use crate::membership::{Build, Design, Filter, Lineup, Operation, Peer, contender};
use crate::removal::{self, Removing, changes};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Outcome, Suite};

/// What is measured of it.
pub const SUITE: Suite = Suite {
    name: "cuckoo",
    peers: &["cuckoofilter", "qfilter", "probabilistic-collections"],
    goals: &[
        against_peer("hit", 4.0),
        against_peer("miss", 2.0),
        against_peer("hit batch", 4.0),
        against_peer("miss batch", 2.0),
        against_floor("hit batch"),
        against_floor("miss batch"),
    ],
    run,
};

/// Lookups at a load of 0.95. All sizes are powers of two: the peers have no others.
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
        Peer { name: "cuckoofilter", note: "", build: peer },
        Peer {
            name: "qfilter",
            note: "has 7.1 bits a slot",
            build: |design, _| Ok(Box::new(Quotient::of_five_bits(design.items)?)),
        },
        Peer {
            name: "probabilistic-collections",
            note: "hashes a key twice",
            build: |design, _| Ok(Box::new(collected(design.bytes)?)),
        },
    ],
};

/// The same without the peer that takes a microsecond a key.
const MEDIUM: Lineup = Lineup { sizes: &[8 << 20], peers: LINEUP.peers.split_at(2).0, ..LINEUP };

/// Lookups beyond the caches. Half full, as the last percents of a billion keys take minutes; lookups do not know.
const LARGE: Lineup = Lineup {
    sizes: &[1 << 30],
    rate: 0.015_56,
    items: |bytes, _| Ok(bytes / 2),
    ours: |design, _| {
        Ok(Box::new(Copied { filter: ours(design)?, words: half_full(design.bytes) }))
    },
    peers: &[Peer { name: "cuckoofilter", note: "is half full, as ours, at 1 GiB", build: peer }],
    ..LINEUP
};

/// Keys of the filters whose memory is compared, rates that they have to keep, and absent keys asked for.
const WEIGHED_KEYS: u64 = 1_000_000;
const WEIGHED_RATES: [f64; 2] = [0.01, 0.001];
const WEIGHED_ABSENT: u64 = 10_000_000;

/// Each of the size that it asks for itself.
const WEIGHED: [Peer; 4] = [
    Peer {
        name: "cuckoofilter",
        note: "has 8 bits a fingerprint: it keeps these rates by its load only, at powers of two",
        build: |design, _| Ok(Box::new(Eight::empty(at_low_load(design))?)),
    },
    Peer {
        name: "qfilter",
        note: "",
        build: |design, _| Ok(Box::new(Quotient::new(design.items, design.rate)?)),
    },
    Peer {
        name: "Bloom",
        note: "is our standard filter, which forgets nothing",
        build: |design, _| Ok(Box::new(BloomFilter::new(design.items, design.rate)?)),
    },
    Peer {
        name: "counting Bloom",
        note: "is our own, with counters of 4 bits",
        build: |design, _| Ok(Box::new(CountingBloomFilter::new(design.items, design.rate)?)),
    },
];

const fn against_peer(operation: &'static str, at_least: f64) -> Goal {
    Goal { case: "8 MiB", operation, against: Against::Peer("cuckoofilter"), at_least }
}

const fn against_floor(operation: &'static str) -> Goal {
    Goal { case: "1 GiB", operation, against: Against::Floor, at_least: 0.9 }
}

fn run(bench: &mut Bench<'_>) -> Outcome {
    weigh(bench)?;
    for lineup in [LINEUP, MEDIUM, LARGE] {
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
        against("qfilter", &mut Quotient::of_five_bits(design.items)?)?;
        if lineup.peers.len() > 2 {
            against("probabilistic-collections", &mut collected(bytes)?)?;
        }
    }
    Ok(())
}

/// The memory that filters need to keep a rate, and the rate that they have then.
fn weigh(bench: &mut Bench<'_>) -> Outcome {
    for rate in WEIGHED_RATES {
        let design = Design { bytes: 0, items: WEIGHED_KEYS, rate, backend: None };
        let by_design: Build =
            |design, _| Ok(Box::new(CuckooFilter::new(design.items, design.rate)?));
        let ours = weighed(&design, by_design)?;
        let case = format!("{} %, {WEIGHED_KEYS} keys", 100.0 * rate);
        for Peer { name, note, build } in WEIGHED {
            let theirs = weighed(&design, build)?;
            let bits = [ours.0, theirs.0];
            let row = Row::exact([&case, "memory"], name, Unit::BitsPerItem, bits);
            let row = row.rates([ours.1, theirs.1], WEIGHED_ABSENT);
            bench.add(if note.is_empty() { row } else { row.note(format!("{name} {note}.")) });
        }
    }
    Ok(())
}

/// Bits a key, and the rate.
fn weighed(design: &Design, build: Build) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut filter, bytes) = allocation::measured(|| build(design, None))?;
    (0..design.items).for_each(|number| _ = filter.insert(key(number)));
    let positives = (0..WEIGHED_ABSENT).filter(|&number| filter.contains(key(!number))).count();
    let bits = 8.0 * bytes as f64 / design.items as f64;
    Ok((bits, positives as f64 / WEIGHED_ABSENT as f64))
}

/// The least power of two of slots in which 8-bit fingerprints keep a rate.
fn at_low_load(design: &Design) -> u64 {
    let keeps = |slots: &u64| rate_by_load(design.items as f64 / *slots as f64, 8) <= design.rate;
    (0..40).map(|bits| 1 << bits).find(keeps).expect("a load that is low enough")
}

fn ours(design: &Design) -> Result<CuckooFilter, Box<dyn Error>> {
    let builder = CuckooFilter::builder().buckets(design.bytes / 4).fingerprint_bits(8);
    Ok(builder.huge_pages(design.huge_pages()).build()?)
}

fn peer(design: &Design, preset: Option<&[u64]>) -> Result<Box<dyn Filter>, Box<dyn Error>> {
    Ok(Box::new(match preset {
        Some(words) => Eight::preset(words)?,
        None => Eight::empty(design.bytes)?,
    }))
}

contender!(
    can be full: CuckooFilter,
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.insert(&key).is_ok()
    }

    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        let before = self.len();
        // One that does not fit is missed when it is asked for.
        let _ = self.insert_batch(keys);
        self.len() - before
    }
);

impl Removing for CuckooFilter {
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.remove(&key)
    }
}

/// Ours beside the fingerprints that peers start with.
#[derive(Debug)]
struct Copied {
    filter: CuckooFilter,
    words: Vec<u64>,
}

impl Filter for Copied {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        Filter::insert(&mut self.filter, key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        Filter::contains(&self.filter, key)
    }

    fn clear(&mut self) {
        self.filter.clear();
    }

    fn insert_batch(&mut self, keys: &[u64]) -> u64 {
        Filter::insert_batch(&mut self.filter, keys)
    }

    fn contains_batch(&self, keys: &[u64], answers: &mut [bool]) -> u64 {
        Filter::contains_batch(&self.filter, keys, answers)
    }

    fn words(&self) -> Option<&[u64]> {
        Some(&self.words)
    }
}

/// Bytes of which every other, about, is zero and the others are random.
fn half_full(bytes: u64) -> Vec<u64> {
    let every_other = |number: u64| {
        let bits = key(!number) & 0x0101_0101_0101_0101;
        key(number) & bits.wrapping_mul(0xff)
    };
    (0..bytes / 8).map(every_other).collect()
}

/// The default hasher, for a peer that makes its own by `Default`.
struct Xxh3(DefaultHasher);

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
    fn empty(slots: u64) -> Result<Self, Box<dyn Error>> {
        let slots = usize::try_from(slots)?;
        Ok(Self { filter: Peers::with_capacity(slots), slots })
    }

    /// Every other slot, about, with a random fingerprint.
    fn preset(words: &[u64]) -> Result<Self, Box<dyn Error>> {
        let values: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (slots, length) = (values.len(), values.iter().filter(|&&value| value != 0).count());
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

/// A quotient filter.
struct Quotient(qfilter::Filter<Box<[u8]>, DefaultHashBuilder>);

impl fmt::Debug for Quotient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Quotient").field(&self.0.len()).finish()
    }
}

impl Quotient {
    fn new(items: u64, rate: f64) -> Result<Self, Box<dyn Error>> {
        let filter = qfilter::Filter::new_with_hasher(items, rate, DefaultHashBuilder::default());
        Ok(Self(filter.map_err(|error| format!("qfilter: {error:?}"))?))
    }

    /// Five bits of remainder: 1 / 32 when it is full, which it is at a load of 0.95.
    fn of_five_bits(items: u64) -> Result<Self, Box<dyn Error>> {
        Self::new(items, 1.0 / 32.0)
    }
}

impl Filter for Quotient {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_duplicated(key).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(key)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl Removing for Quotient {
    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(key)
    }
}

/// The filter of a collection of such structures.
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
