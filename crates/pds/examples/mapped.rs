//! Asks a filter on disk through a memory map: opened at once, read only where it is asked.
//!
//! `cargo run --release -p pds --example mapped -- 1024` builds a filter of so many MiB (64 unless given), saves
//! it, maps the file and asks it 1,000,000 keys.
//!
//! A mapped file must not be truncated while it is mapped: the system ends the process that touches a page
//! which is no longer there (`SIGBUS`), and no library can prevent it. Replace such a file by renaming, as
//! `save` does; the map then keeps the old one.

use core::error::Error;
use pds::bytes::ByteOptions;
use std::fs::File;
use std::path::Path;
use std::time::Instant;
use std::{env, fs, process};

use memmap2::Mmap;
use pds::BloomFilter;
use pds::bloom::BloomFilterView;

/// How many of the items are asked, and as many others.
const HALF: usize = 500_000;
/// What the filter is designed for: a rate of 0.8 %.
const BITS_PER_ITEM: u64 = 10;
/// No more items than this are stored, so that a large filter is built in seconds.
const MOST_ITEMS: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mebibytes: u64 = env::args().nth(1).map_or(Ok(64), |size| size.parse())?;
    let path = env::temp_dir().join(format!("pds-mapped-{}.pds", process::id()));
    let result = build(mebibytes, &path).and_then(|items| ask(&path, items));
    fs::remove_file(&path)?;
    result
}

/// Saves a filter of so many MiB. Returns how many items it has: the integers below.
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

/// Maps the file and asks half of the keys among the items and half beyond them.
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
