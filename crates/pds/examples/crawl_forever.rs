//! A crawl without an end: which pages were seen, when nobody knows how many there will be.
//!
//! ```text
//! cargo run --release -p pds --example crawl_forever -- 20000000
//! ```
//!
//! Two filters grow with the crawl: a scalable Bloom filter, which opens a layer whenever one is full, and a quotient filter, which
//! doubles its table. Both promise the same rate at every size. The quotient filter was told a bound; the scalable one was not.

use core::error::Error;
use core::hint::black_box;
use core::time::Duration;
use std::env;
use std::time::Instant;

use pds::{QuotientFilter, ScalableBloomFilter};
use pds_testkit::keys;

const PROMISE: f64 = 0.01;
/// Pages that both filters start with room for.
const START: u64 = 1_000;
/// The bound that the quotient filter is told.
const BOUND: u64 = START << 20;
/// Pages that were not crawled, at each step.
const ABSENT: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let pages = env::args().nth(1).map_or(Ok(300_000), |pages| pages.parse())?;
    let mut scalable = ScalableBloomFilter::new(START, PROMISE)?;
    let mut quotient = QuotientFilter::builder().expected_items(START).grows_to(BOUND).build()?;

    println!("scalable Bloom filter | quotient filter");
    println!(
        "{:>11} | {:>6} {:>9} {:>7} {:>9} {:>9} | {:>9} {:>7} {:>9} {:>9}",
        "pages",
        "layers",
        "bits/page",
        "rate",
        "insert",
        "absent",
        "bits/page",
        "rate",
        "insert",
        "absent"
    );
    let (mut crawled, mut other) = (keys::random(1), keys::random(2));
    let (mut count, mut until) = (0, START / 2);
    while count < pages {
        until = (until * 2).min(pages);
        let new: Vec<u64> = crawled.by_ref().take(usize::try_from(until - count)?).collect();
        let absent: Vec<u64> = other.by_ref().take(usize::try_from(ABSENT)?).collect();
        count = until;

        let inserted = timed(&new, |page| scalable.insert_hash(page).map(drop))?;
        let (found, asked) = asked(&absent, |page| scalable.contains_hash(page));
        let ours = Row { bytes: scalable.size_in_bytes(), found, inserted, asked };
        assert!(new.iter().all(|&page| scalable.contains_hash(page)), "a page was forgotten");

        let inserted = timed(&new, |page| quotient.insert_hash_if_absent(page).map(drop))?;
        let (found, asked) = self::asked(&absent, |page| quotient.contains_hash(page));
        let theirs = Row { bytes: quotient.size_in_bytes(), found, inserted, asked };
        println!(
            "{count:>11} | {:>6} {} | {}",
            scalable.num_layers(),
            ours.text(count, new.len()),
            theirs.text(count, new.len())
        );
    }
    println!(
        "\nrate: of {ABSENT} pages that were not crawled, for a promise of {} %",
        100.0 * PROMISE
    );
    println!("insert, absent: nanoseconds per page since the row before, growth included");
    Ok(())
}

/// Memory and findings of a filter for its pages.
struct Row {
    bytes: u64,
    found: u64,
    inserted: Duration,
    asked: Duration,
}

impl Row {
    fn text(&self, pages: u64, new: usize) -> String {
        let rate = self.found as f64 / ABSENT as f64;
        assert!(rate < 1.3 * PROMISE, "the promise was broken: {rate}");
        let nanoseconds = |time: Duration, pages: f64| time.as_secs_f64() * 1e9 / pages;
        format!(
            "{:>9.1} {:>5.2} % {:>6.0} ns {:>6.0} ns",
            8.0 * self.bytes as f64 / pages as f64,
            100.0 * rate,
            nanoseconds(self.inserted, new as f64),
            nanoseconds(self.asked, ABSENT as f64),
        )
    }
}

fn timed<E>(pages: &[u64], insert: impl FnMut(u64) -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    pages.iter().copied().try_for_each(insert)?;
    Ok(start.elapsed())
}

fn asked(pages: &[u64], contains: impl Fn(u64) -> bool) -> (u64, Duration) {
    let start = Instant::now();
    let found = pages.iter().filter(|&&page| black_box(contains(page))).count();
    (found as u64, start.elapsed())
}
