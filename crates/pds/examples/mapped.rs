//! Queries of a filter on disk through a memory map. It is opened at once, and only the queried pages are read.
//!
//! `cargo run --release -p pds --example mapped -- 1024` builds a filter of 1024 MiB (default 64), saves it, maps the
//! file and queries 1,000,000 keys.
//!
//! A file must not be truncated while it is mapped: the system ends a process that touches a missing page (`SIGBUS`),
//! and no library can prevent this. Replace such a file by renaming, as `save` does. The map then keeps the old file.

use core::error::Error;
use pds::bytes::ByteOptions;
use std::fs::File;
use std::path::Path;
use std::time::Instant;
use std::{env, fs, process};

use memmap2::Mmap;
use pds::BloomFilter;
use pds::bloom::BloomFilterView;

/// Number of queried items, and of queried other keys.
const HALF: usize = 500_000;
/// The design of the filter: a rate of 0.8 %.
const BITS_PER_ITEM: u64 = 10;
/// The greatest number of stored items, so that a large filter is built in seconds.
const MOST_ITEMS: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mebibytes: u64 = env::args().nth(1).map_or(Ok(64), |size| size.parse())?;
    let path = env::temp_dir().join(format!("pds-mapped-{}.pds", process::id()));
    let result = build(mebibytes, &path).and_then(|items| ask(&path, items));
    fs::remove_file(&path)?;
    result
}

/// Saves a filter of this number of MiB. Returns its number of items, which are the integers below that number.
fn build(mebibytes: u64, path: &Path) -> Result<u64, Box<dyn Error>> {
    let bits = mebibytes << 23;
    let designed = bits / BITS_PER_ITEM;
    let items = designed.min(MOST_ITEMS);
    let start = Instant::now();
    let mut filter = BloomFilter::builder().bits(bits).expected_items(designed).build()?;
    let mut batch = Vec::new();
    for first in (0..items).step_by(1 << 16) {
        batch.clear();
        batch.extend(first..items.min(first + (1 << 16)));
        filter.insert_batch(&batch);
    }
    println!("built:    {items} items in {mebibytes} MiB, {:.1?}", start.elapsed());
    let start = Instant::now();
    ByteOptions::new().save(&filter, path)?;
    println!("saved:    {:.1?}", start.elapsed());
    Ok(items)
}

/// Maps the file, and queries half of the keys among the items and half beyond them.
fn ask(path: &Path, items: u64) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let file = File::open(path)?;
    // SAFETY: the file is our own and no one writes to it or truncates it while it is mapped.
    let map = unsafe { Mmap::map(&file)? };
    let view = BloomFilterView::open(&map)?;
    println!("opened:   {:.1?} for {} bytes, the header verified", start.elapsed(), map.len());

    let start = Instant::now();
    let step = usize::try_from(items)? / HALF;
    let present = (0..items).step_by(step.max(1)).take(HALF);
    assert!(present.clone().all(|key| view.contains(&key)), "an item is always found");
    let wrong = (items..).take(HALF).filter(|key| view.contains(key)).count();
    let asked = present.count() + HALF;
    println!(
        "asked:    {asked} keys in {:.1?}; {wrong} of {HALF} absent ones possible",
        start.elapsed()
    );

    let start = Instant::now();
    view.verify()?;
    println!("verified: the payload in {:.1?}", start.elapsed());
    Ok(())
}
