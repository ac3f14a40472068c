//! Which of the k most frequent keys three ways of finding them list, at equal memory.
//!
//! Prints the table of this crate's README: `cargo run --release -p heavy-hitters --example top_k_recall`, a few seconds. An access
//! log is counted too, where one lies beside the workspace or is named: `-- access.log`.
//!
//! [`TopK`] is the conservative sketch. The others are written here as published, and simply: their speed says nothing.

extern crate alloc;

use alloc::collections::BTreeSet;
use core::error::Error;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use heavy_hitters::TopK;
use pds_core::hash::finalize;
use pds_core::internal::reduced_mut;
use pds_testkit::keys;
use pds_testkit::zipf::Zipf;

const ITEMS: usize = 100_000;
const EVENTS: usize = 1_000_000;
const EXPONENTS: [f64; 4] = [1.0, 1.1, 1.25, 1.5];

/// A stream, and the bytes that one of its keys takes where it is kept.
struct Stream {
    name: String,
    keys: Vec<u64>,
    key_bytes: usize,
}

/// Lists the k most frequent keys of a stream in so many bytes.
type List = fn(k: usize, bytes: usize, stream: &Stream) -> Vec<u64>;

/// Who lists keys, in the order of the columns.
const WAYS: [(&str, List); 3] =
    [("SpaceSaving", space_saving), ("HeavyKeeper", heavy_keeper), ("`TopK`", top_k)];

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    println!("| stream | k | memory | {} |", WAYS.map(|(name, _)| name).join(" | "));
    println!("|---|---|---|---|---|---|");
    for (seed, exponent) in (1..).zip(EXPONENTS) {
        let zipf = Zipf::new(ITEMS, exponent);
        let keys = zipf.stream(seed).take(EVENTS).map(|rank| rank as u64).collect();
        compare(&Stream { name: format!("Zipf {exponent:?}"), keys, key_bytes: 8 });
    }
    if let Some(log) = log() {
        let log = fs::read_to_string(log)?;
        let (addresses, paths): (Vec<_>, Vec<_>) = log.lines().filter_map(parse).unzip();
        compare(&Stream::of_strings("addresses", &addresses));
        compare(&Stream::of_strings("paths", &paths));
    }
    Ok(())
}

impl Stream {
    /// Strings as numbers, in the order in which they first came.
    fn of_strings(name: &str, strings: &[&str]) -> Self {
        let mut numbers = HashMap::new();
        let number = |&string| {
            let next = numbers.len() as u64;
            *numbers.entry(string).or_insert(next)
        };
        let keys = strings.iter().map(number).collect();
        let key_bytes = size_of::<String>()
            + numbers.keys().copied().map(str::len).sum::<usize>() / numbers.len();
        Self { name: name.to_owned(), keys, key_bytes }
    }
}

/// Prints the recall of all ways, in the memory of the sketch of `TopK` and in parts of it.
fn compare(stream: &Stream) {
    for k in [10, 100] {
        let whole = (1_024 * k).max(32 << 10);
        for bytes in [whole, whole / 2, whole / 4, whole / 8] {
            let recalls = WAYS.map(|(_, list)| recall(k, &list(k, bytes, stream), &stream.keys));
            let recalls = recalls.map(|recall| format!("{recall:.2}")).join(" | ");
            println!("| {} | {k} | {} KiB | {recalls} |", stream.name, bytes >> 10);
        }
    }
}

/// The share of the first k that is listed; of keys that come equally often any may be.
fn recall(k: usize, listed: &[u64], stream: &[u64]) -> f64 {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    stream.iter().for_each(|&key| *counts.entry(key).or_default() += 1);
    let mut sorted: Vec<u64> = counts.values().copied().collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    assert!(listed.len() <= k && sorted.len() > k);
    listed.iter().filter(|key| counts[key] >= sorted[k - 1]).count() as f64 / k as f64
}

/// The structure of this crate; in another memory than its own, the same sketch and a list of the greatest estimates.
fn top_k(k: usize, bytes: usize, stream: &Stream) -> Vec<u64> {
    let mut list = TopK::<u64>::new(k as u64).expect("memory");
    if list.sketch().size_in_bytes() <= bytes as u64 {
        stream.keys.iter().for_each(|key| _ = list.insert(key));
        return list.top().iter().map(|hitter| *hitter.key).collect();
    }
    let width = bytes as u64 / 32;
    let params = cms::CountMinParams::from_width_and_depth(width, 4).expect("a sound shape");
    let builder = cms::CountMinSketch::builder()
        .params(params)
        .update(cms::Update::Conservative)
        .counters::<u64>();
    let mut sketch = builder.build().expect("memory");
    let mut greatest = Greatest::new(k);
    for &key in &stream.keys {
        greatest.offer(key, sketch.insert(&key).value());
    }
    greatest.keys()
}

/// SpaceSaving: a new key takes the place of that with the least count, and its count.
///
/// A place is a key, its count, the error of it, and 8 bytes to find both by.
///
/// Ahmed Metwally, Divyakant Agrawal, Amr El Abbadi, ICDT 2005, section 3.
fn space_saving(k: usize, bytes: usize, stream: &Stream) -> Vec<u64> {
    let mut kept = Greatest::new(bytes / (stream.key_bytes + 24));
    for &key in &stream.keys {
        let count = kept.counts.get(&key).map_or_else(|| kept.least(), |&(count, _)| count);
        kept.offer(key, count + 1);
    }
    kept.first(k)
}

/// HeavyKeeper: two rows of buckets of 8 bytes, each the count of one key, which other keys wear down by chance.
///
/// Junzhi Gong et al., USENIX ATC 2018, sections 3.2 and 3.3; the base of the decay is 1.08.
fn heavy_keeper(k: usize, bytes: usize, stream: &Stream) -> Vec<u64> {
    let width = bytes / 16;
    let mut rows = [vec![(0u32, 0u32); width], vec![(0, 0); width]];
    let mut random = keys::random(1);
    let mut greatest = Greatest::new(k);
    for &key in &stream.keys {
        let hash = finalize(key);
        let fingerprint = (hash >> 32) as u32 | 1;
        let mut most = 0;
        for (row, buckets) in (0..).zip(&mut rows) {
            let bucket = reduced_mut(buckets, finalize(hash ^ row));
            if bucket.0 == fingerprint {
                bucket.1 += 1;
            } else if chance(&mut random) < 1.08_f64.powf(-f64::from(bucket.1)) {
                *bucket = if bucket.1 <= 1 { (fingerprint, 1) } else { (bucket.0, bucket.1 - 1) };
            }
            most = most.max(if bucket.0 == fingerprint { bucket.1 } else { 0 });
        }
        if most > 0 {
            greatest.offer(key, most.into());
        }
    }
    greatest.keys()
}

fn chance(random: &mut impl Iterator<Item = u64>) -> f64 {
    random.next().expect("an endless stream") as f64 / 2.0_f64.powi(64)
}

/// Keys of the greatest counts that were offered.
struct Greatest {
    room: usize,
    /// The count of a key, and when it got it.
    counts: HashMap<u64, (u64, u64)>,
    /// The same by count, the oldest of equal ones first.
    order: BTreeSet<(u64, u64, u64)>,
    offers: u64,
}

impl Greatest {
    fn new(room: usize) -> Self {
        Self { room, counts: HashMap::new(), order: BTreeSet::new(), offers: 0 }
    }

    /// The count that a key has to exceed to come in.
    fn least(&self) -> u64 {
        if self.order.len() < self.room { 0 } else { self.order.first().map_or(0, |first| first.0) }
    }

    fn offer(&mut self, key: u64, count: u64) {
        if let Some(&(old, since)) = self.counts.get(&key) {
            if count <= old {
                return;
            }
            self.order.remove(&(old, since, key));
        } else if count <= self.least() {
            return;
        } else if self.order.len() == self.room {
            let (.., displaced) = self.order.pop_first().expect("room for one at least");
            self.counts.remove(&displaced);
        }
        self.offers += 1;
        self.counts.insert(key, (count, self.offers));
        self.order.insert((count, self.offers, key));
    }

    fn first(&self, k: usize) -> Vec<u64> {
        self.order.iter().rev().take(k).map(|&(.., key)| key).collect()
    }

    fn keys(&self) -> Vec<u64> {
        self.first(self.room)
    }
}

/// The address and the path of a request.
fn parse(line: &str) -> Option<(&str, &str)> {
    let address = line.split(' ').next()?;
    let path = line.split('"').nth(1)?.split(' ').nth(1)?;
    Some((address, path))
}

/// The log that is named, or else the one beside the workspace, where it is.
fn log() -> Option<PathBuf> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/apache-access-10k.log");
    env::args_os().nth(1).map(PathBuf::from).or_else(|| beside.exists().then_some(beside))
}
