//! The best-known figures of the field, each beside the figure measured here. A "peer" called *published* is a figure, not a
//! program.

use core::cell::Cell;
use core::hash::BuildHasher;
use std::collections::HashSet;

use pds::compare::HumanCount;
use pds::hash::DefaultHashBuilder;
use pds::params::HllParams;
use pds::{BlockedBloomFilter, BloomFilter, CuckooFilter, HyperLogLog};
use pds_testkit::keys::{random, urls};
use pds_testkit::stats::Median;

use crate::contest::{contest, each};
use crate::filter::{Filter, filter};
use crate::keys::Keys;
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Fallible, Outcome};

const PUBLISHED: &str = "published";
/// Keys per turn.
const BLOCK: usize = 1 << 16;
const ADDRESSES: usize = 1_000_000;
/// Bits per address. The 1.2 MB of the published figure hold a million addresses.
const BITS: u64 = 10;

/// Measures memory, lookups, rates and errors that go from text to text.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    addresses(bench)?;
    let large = if bench.effort() == Effort::Quick { 10_000_000 } else { 100_000_000 };
    for items in [50_000, large] {
        lookups(bench, items)?;
    }
    let sketches = if bench.effort() == Effort::Quick { 4 } else { 40 };
    for (items, sketches) in [(100_000, 10 * sketches), (10_000_000, sketches)] {
        distinct(bench, items, sketches)?;
    }
    Ok(())
}

/// A million addresses of web pages, in an exact set and in filters of ten bits per address.
fn addresses(bench: &mut Bench<'_>) -> Outcome {
    let (items, mut stream) = (ADDRESSES as u64, urls(1));
    let mut take = || stream.by_ref().take(ADDRESSES).collect::<Vec<String>>();
    let (stored, absent) = (take(), take());
    // Addresses arrive one after the other. The strings of the set lie in another order, so a hit has to fetch one.
    let mut sorted: Vec<&String> = stored.iter().collect();
    sorted.sort_unstable();
    let set: HashSet<String> = sorted.into_iter().cloned().collect();
    let mut bloom = BloomFilter::builder().bits(BITS * items).expected_items(items).build()?;
    let blocks = (BITS * items).div_ceil(512);
    let mut blocked = BlockedBloomFilter::builder().blocks(blocks).expected_items(items).build()?;
    for address in &stored {
        bloom.insert(address);
        blocked.insert(address);
    }
    let cases = ["HashSet<String>", "BloomFilter", "BlockedBloomFilter"]
        .map(|name| format!("10^6 addresses, {name}"));
    let pairs = bench.effort().pairs();
    let mut published = |case: &str, operation, unit, figures| {
        bench.add(Row::exact([case, operation], PUBLISHED, unit, figures));
    };
    for (operation, addresses) in [("hit", &stored), ("miss", &absent)] {
        let next = Cell::new(0);
        let address = || addresses[next.replace((next.get() + 1) % ADDRESSES)].as_str();
        let exact = &mut each(|_| u64::from(set.contains(address())));
        let standard = &mut each(|_| u64::from(bloom.contains(address())));
        let line = &mut each(|_| u64::from(blocked.contains(address())));
        let times = contest(pairs, (BLOCK, Keys::absent()), [exact, standard, line]);
        for ((case, times), figure) in cases.iter().zip(times).zip([150.0, 375.0, 45.0]) {
            published(case, operation, Unit::Nanoseconds, [Median::of(times).value, figure]);
        }
    }
    // The table of a set has a slot and a control byte per place. Its strings are owned.
    let table = set.capacity() * (size_of::<String>() + 1);
    let exact = (table + set.iter().map(String::capacity).sum::<usize>()) as u64;
    let bytes = [exact, bloom.size_in_bytes(), blocked.size_in_bytes()];
    for ((case, bytes), figure) in cases.iter().zip(bytes).zip([128e6, 1.2e6, 1.2e6]) {
        published(case, "memory", Unit::Bytes, [bytes as f64, figure]);
    }
    let rate = |contains: &dyn Fn(&String) -> bool| {
        absent.iter().filter(|address| contains(address)).count() as f64 / ADDRESSES as f64
    };
    let rates =
        [rate(&|address| bloom.contains(address)), rate(&|address| blocked.contains(address))];
    for (case, rate) in cases[1..].iter().zip(rates) {
        published(case, "false positives", Unit::Error, [rate, 0.008]);
    }
    Ok(())
}

/// Blocked and cuckoo filters of 1 % against a textbook's Bloom filter and ours.
fn lookups(bench: &mut Bench<'_>, items: u64) -> Outcome {
    const RATE: f64 = 0.01;
    let mut bloom = BloomFilter::new(items, RATE)?;
    let mut textbook = Textbook::new(bloom.num_bits(), bloom.num_hashes())?;
    let mut blocked = BlockedBloomFilter::new(items, RATE)?;
    let mut cuckoo = CuckooFilter::new(items, RATE)?;
    for filter in [&mut textbook as &mut dyn Filter, &mut bloom, &mut blocked, &mut cuckoo] {
        filter.fill(0..items);
    }
    let block = BLOCK.min(usize::try_from(items)?);
    for (operation, keys) in [("hit", Keys::stored(items)), ("miss", Keys::absent())] {
        let naive = &mut each(|key| u64::from(textbook.contains(key)));
        let standard = &mut each(|key| u64::from(bloom.contains(&key)));
        let line = &mut each(|key| u64::from(blocked.contains(&key)));
        let pair = &mut each(|key| u64::from(cuckoo.contains(&key)));
        let pairs = bench.effort().pairs();
        let [naive, standard, line, pair] =
            contest(pairs, (block, keys), [naive, standard, line, pair]);
        for (name, ours) in [("blocked", line), ("cuckoo", pair)] {
            let case = format!("{name}, {} keys", HumanCount(items));
            bench.add(Row::timed([&case, operation], "textbook", &ours, &naive));
            bench.add(Row::timed([&case, operation], "bloom", &ours, &standard));
        }
    }
    Ok(())
}

/// The errors of HyperLogLog in its two best-known sizes.
fn distinct(bench: &mut Bench<'_>, items: u64, sketches: u64) -> Outcome {
    let sources = [
        (14, 0.0081, "Redis, documentation of the command PFCOUNT (12 KB)."),
        (11, 0.02, "Flajolet, Fusy, Gandouet, Meunier, \"HyperLogLog\", 2007, abstract (1.5 KB)."),
    ];
    for (precision, figure, source) in sources {
        let squares = (0..sketches)
            .map(|seed| Ok((estimate(precision, items, seed)? / items as f64 - 1.0).powi(2)));
        let error = (squares.sum::<Fallible<f64>>()? / sketches as f64).sqrt();
        let bytes = HllParams::new(precision)?.packed_bytes();
        let case = format!("{} keys, {} bytes", HumanCount(items), HumanCount(bytes));
        let row = Row::exact([&case, "error"], PUBLISHED, Unit::Error, [error, figure]);
        // The root mean square of n normal errors has a relative standard deviation of 1 / sqrt(2 n).
        let spread = 100.0 / (2.0 * sketches as f64).sqrt();
        bench.add(row.note(source).note(format!(
            "A measured error of {sketches} sketches is itself within {spread:.0} %."
        )));
    }
    Ok(())
}

fn estimate(precision: u32, items: u64, seed: u64) -> Fallible<f64> {
    let mut sketch = HyperLogLog::new(precision)?;
    let mut keys = random(seed).take(usize::try_from(items)?).peekable();
    while keys.peek().is_some() {
        sketch.insert_batch(&keys.by_ref().take(1 << 12).collect::<Vec<_>>());
    }
    Ok(sketch.estimate())
}

/// The Bloom filter of textbooks: `k` hash functions of `k` seeds, each reduced by a division.
struct Textbook {
    words: Vec<u64>,
    bits: u64,
    hashers: Vec<DefaultHashBuilder>,
}

impl Textbook {
    fn new(bits: u64, hashes: u32) -> Fallible<Self> {
        let words = vec![0; usize::try_from(bits.div_ceil(64))?];
        let hashers = (0..u64::from(hashes)).map(DefaultHashBuilder::with_seed).collect();
        Ok(Self { words, bits, hashers })
    }
}

filter!(Textbook => {
    insert(filter, key) => {
        for hasher in &filter.hashers {
            let bit = hasher.hash_one(key) % filter.bits;
            filter.words[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        true
    },
    // It stops at the first bit that is not set.
    contains(filter, key) => filter.hashers.iter().all(|hasher| {
        let bit = hasher.hash_one(key) % filter.bits;
        filter.words[(bit / 64) as usize] & 1 << (bit % 64) != 0
    }),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_filter_keeps_the_rate_of_the_formula() {
        let mut filter = Textbook::new(95_851, 7).unwrap();
        (0..10_000).for_each(|key| _ = filter.insert(key));
        assert!((0..10_000).all(|key| filter.contains(key)));
        let wrong = (10_000..1_010_000).filter(|&key| filter.contains(key)).count();
        assert!((9_000..11_000).contains(&wrong), "{wrong} of a million, 10,000 expected");
    }

    #[test]
    fn errors_of_sketches_are_near_the_published_ones() {
        let mut rows = Vec::new();
        let mut take = |row| rows.push(row);
        distinct(&mut Bench::new("headline", Effort::Quick, &mut take), 50_000, 30).unwrap();
        assert!(rows.iter().all(|row| (0.6..1.8).contains(&row.ratio.value)), "{rows:?}");
    }
}
