//! A list of breached passwords as a file that is asked without being loaded.
//!
//! ```text
//! cargo run --release -p fuse --all-features --example breached_passwords -- 10000000
//! ```
//!
//! Such lists contain hundreds of millions of SHA-1 digests. A ribbon filter of them at a rate of 1e-6 needs 20 bits for
//! each, an eighth of the digest. A sign-up form maps the file and refuses what it contains; one good password in a million is
//! refused, too. The digests here are random.

use core::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::Instant;
use std::{env, fs, process};

use fuse::bytes::ByteOptions;
use fuse::{RibbonFilter, RibbonFilterView};
use memmap2::Mmap;
use pds_testkit::keys;

const RATE: f64 = 1e-6;
const QUERIES: usize = 100_000;

/// A SHA-1 digest.
type Digest = [u8; 20];

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let digests: usize = env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let path = env::temp_dir().join(format!("fuse-breached-{}.pds", process::id()));
    let result = build(digests, &path).and_then(|()| ask(digests, &path));
    // If the build failed, there is no file, and its error is the one to tell.
    let removed = fs::remove_file(&path);
    result?;
    Ok(removed?)
}

/// Returns an endless list of digests.
fn digests(seed: u64) -> impl Iterator<Item = Digest> {
    let mut words = keys::random(seed);
    core::iter::repeat_with(move || {
        let mut digest = [0; 20];
        let words = [(); 3].map(|()| words.next().expect("endless").to_le_bytes());
        digest.copy_from_slice(&words.as_flattened()[..20]);
        digest
    })
}

/// Builds the filter on all processors and saves it.
fn build(count: usize, path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let builder = RibbonFilter::builder().false_positive_rate(RATE).parallel(true);
    let filter = builder.build(digests(1).take(count))?;
    let bits = filter.bits_per_key();
    println!("built:  {count} digests, {bits:.2} bits for each, {:.1?}", start.elapsed());
    assert!(count < 10_000 || bits < 1.01 * -RATE.log2() + 0.1, "1 % above the bound at most");
    ByteOptions::new().save(&filter, path)?;
    println!("saved:  {} KiB", fs::metadata(path)?.len() >> 10);
    Ok(())
}

/// Maps the file, and asks for breached and for other passwords.
fn ask(count: usize, path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let file = File::open(path)?;
    // SAFETY: the file is our own and no one writes to it or truncates it while it is mapped.
    let map = unsafe { Mmap::map(&file)? };
    let breached = RibbonFilterView::open(map)?;
    println!("opened: {:.1?}", start.elapsed());
    let start = Instant::now();
    let queries = QUERIES.min(count);
    assert!(digests(1).take(queries).all(|digest| breached.contains(&digest)), "none is missed");
    let refused = digests(2).take(QUERIES).filter(|digest| breached.contains(digest)).count();
    println!("asked:  {queries} breached passwords, none is missed");
    println!("        {QUERIES} others, {refused} refused; {:.1?}", start.elapsed());
    assert!(refused <= 4, "0.1 are expected; five or more happen once in ten million runs");
    Ok(())
}
