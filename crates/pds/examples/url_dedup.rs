//! The visited set of a crawler: whether a link was fetched already.
//!
//! ```text
//! cargo run --release --example url_dedup              # 1,000,000 addresses of about 80 bytes
//! cargo run --release --example url_dedup -- urls.txt  # your own, one a line
//! ```
//!
//! With a Bloom filter, no page is fetched twice, but a few new pages are skipped. Whether that is a good trade-off
//! depends on the numbers. The example prints them beside those of exact sets.
//!
//! Addresses come from strangers. Who knows the hash function can craft an address that hides another. To prevent this,
//! use a secret key: `BloomFilter::builder().hasher(SipHashBuilder::random())`.

mod shared;

use core::error::Error;
use core::hash::BuildHasher;
use std::collections::HashSet;
use std::hash::RandomState;
use std::time::Instant;
use std::{env, fs};

use pds::BloomFilter;
use pds::error::BuildError;
use pds::hash::DefaultHashBuilder;
use shared::{
    MEMORY_OF_SETS, ask, assert_rate, grouped, percent, pick, random, shuffled, size,
    string_set_bytes, table_bytes,
};

const GENERATED: usize = 1_000_000;
const STRANGERS: usize = 1_000_000;
const PROMISE: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let visited = match env::args_os().nth(1) {
        Some(path) => distinct(fs::read_to_string(path)?.lines()),
        None => (0..GENERATED).zip(random(1)).map(|(page, random)| address(page, random)).collect(),
    };
    if visited.is_empty() {
        return Err("a crawl needs at least one address".into());
    }
    let crawl = Crawl { links: shuffled(&visited, 2), strangers: strangers(&visited), visited };
    crawl.introduce();
    exact_rows(&crawl);
    filter_row(&crawl)?;
    Ok(())
}

/// Pages in the order of the crawl, links back to them, and links to new pages.
struct Crawl {
    visited: Vec<String>,
    links: Vec<String>,
    strangers: Vec<String>,
}

impl Crawl {
    fn introduce(&self) {
        let bytes: usize = self.visited.iter().map(String::len).sum();
        println!(
            "{} pages visited, {} bytes an address; then a link to each, and {} links to other pages.\n",
            grouped(self.visited.len()),
            bytes / self.visited.len(),
            grouped(self.strangers.len())
        );
        println!(
            "visited set                     memory  a page    insert     known       new  taken for known"
        );
    }

    /// Prints a row. Returns for how many new pages `contains` returns `true`.
    fn row(
        &self,
        name: &str,
        bytes: u64,
        insert: f64,
        contains: impl Fn(&String) -> bool,
    ) -> usize {
        let (known, new) = (ask(&self.links, &contains), ask(&self.strangers, &contains));
        assert_eq!(known.yes, self.links.len(), "a visited page is never forgotten");
        println!(
            "{name:<27} {:>10} {:>5.1} B {insert:>6.0} ns {:>6.0} ns {:>6.0} ns  {:>15}",
            size(bytes),
            bytes as f64 / self.visited.len() as f64,
            known.nanoseconds,
            new.nanoseconds,
            grouped(new.yes),
        );
        new.yes
    }
}

fn exact_rows(crawl: &Crawl) {
    string_set_row(crawl, "HashSet<String>", RandomState::new());
    string_set_row(crawl, "  with the filter's hasher", DefaultHashBuilder::default());
    hash_set_row(crawl);
}

/// A set that owns the addresses. It has its capacity from the start, as the filter has.
fn string_set_row(crawl: &Crawl, name: &str, hasher: impl BuildHasher) {
    let set = HashSet::with_capacity_and_hasher(crawl.visited.len(), hasher);
    let (set, insert) = timed(&crawl.visited, set, |set, page| set.insert(page.clone()));
    let wrong = crawl.row(name, string_set_bytes(&set), insert, |page| set.contains(page));
    assert_eq!(wrong, 0, "an exact set errs never");
}

/// The usual way to save memory: a set of 64-bit hashes. It answers `true` for one in 2^64 / n new pages.
fn hash_set_row(crawl: &Crawl) {
    let hasher = DefaultHashBuilder::default();
    let set = HashSet::with_capacity_and_hasher(crawl.visited.len(), hasher);
    let (set, insert) = timed(&crawl.visited, set, |set, page| set.insert(hasher.hash_one(page)));
    let contains = |page: &String| set.contains(&hasher.hash_one(page));
    crawl.row("HashSet<u64> of hashes", table_bytes(&set), insert, contains);
}

fn filter_row(crawl: &Crawl) -> Result<(), BuildError> {
    let filter = BloomFilter::new(crawl.visited.len() as u64, PROMISE)?;
    let mut fetched = 0;
    let fetch =
        |filter: &mut BloomFilter, page: &String| fetched += usize::from(filter.insert(page));
    let (filter, insert) = timed(&crawl.visited, filter, fetch);
    let bytes = filter.size_in_bytes();
    let wrong = crawl.row("BloomFilter", bytes, insert, |page| filter.contains(page));
    assert_rate(&filter, wrong, crawl.strangers.len());
    conclude(crawl, &filter, wrong, crawl.visited.len() - fetched);
    Ok(())
}

/// `wrong` new links were answered `true` at the end. `skipped` pages were answered `true` while the filter filled.
fn conclude(crawl: &Crawl, filter: &BloomFilter, wrong: usize, skipped: usize) {
    let pages = crawl.visited.len();
    let allowed = pages as f64 * PROMISE + 5.0;
    assert!(skipped as f64 <= allowed, "a filter that is still filling errs less");
    println!(
        "\nPromised {}, measured {}, told by the filter's own fill {}.",
        percent(PROMISE),
        percent(wrong as f64 / crawl.strangers.len() as f64),
        percent(filter.false_positive_rate())
    );
    println!(
        "During the crawl, {} of {} pages were passed over.",
        grouped(skipped),
        grouped(pages)
    );
    println!("It counts {} pages, from its bits alone.", filter.approx_len());
    println!("\n{MEMORY_OF_SETS}");
    println!(
        "An insert into a set of strings includes the copy of the text, which the set has to own."
    );
}

/// Passes every page to `state`. Returns it with the time per page in nanoseconds.
fn timed<T, R>(
    pages: &[String],
    mut state: T,
    mut step: impl FnMut(&mut T, &String) -> R,
) -> (T, f64) {
    let start = Instant::now();
    for page in pages {
        step(&mut state, page);
    }
    let elapsed = start.elapsed().as_nanos() as f64;
    (state, elapsed / pages.len() as f64)
}

/// Keeps the first of equal lines, in order.
fn distinct<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(*line)).map(String::from).collect()
}

/// Returns an address of about 80 bytes. `number` makes it unique.
fn address(number: usize, random: u64) -> String {
    let section = |bits| pick(&["articles", "archive", "products", "reviews", "library"], bits);
    let (site, session) = (random >> 52, (random >> 16) & 0xFFFF_FFFF);
    format!(
        "https://www.site-{site:04}.example/{}/{}/{number:08}.html?session={session:08x}",
        section(random),
        section(random >> 8)
    )
}

/// Makes links that look like visited ones, but are new: the next pages of the same articles.
fn strangers(visited: &[String]) -> Vec<String> {
    let known: HashSet<_> = visited.iter().collect();
    let next =
        visited.iter().cycle().zip(2..).map(|(address, page)| format!("{address}&page={page}"));
    next.filter(|address| !known.contains(address)).take(STRANGERS).collect()
}
