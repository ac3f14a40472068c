//! A filter in front of a slow store. Most requests are for keys that do not exist, and the filter answers them.
//!
//! ```text
//! cargo run --release --example cache_guard
//! ```
//!
//! The store is real: a sorted file, searched by seeking. Here it is in the page cache. With a colder or more distant
//! store, each avoided call saves more.

mod shared;

use core::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Instant;
use std::{env, process};

use pds::{BloomFilter, Typed};
use shared::{
    ExactSet, MEMORY_OF_SETS, assert_rate, grouped, percent, pick, random, size, table_bytes,
};

const ACCOUNTS: usize = 100_000;
const REQUESTS: usize = 200_000;
const PROMISE: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let accounts: ExactSet<u64> = random(1).take(ACCOUNTS).collect();
    let mut store = Store::create(&accounts)?;
    let requests = requests(&accounts);
    // Fixes the key type: for a `u32`, the filter would refuse every customer.
    let mut filter = Typed::<_, u64>::new(BloomFilter::new(ACCOUNTS as u64, PROMISE)?);
    filter.extend(&accounts);

    introduce();
    let open = store.serve(&requests, |_| true)?;
    open.print("none", 0);
    let exact = store.serve(&requests, |key| accounts.contains(key))?;
    exact.print("HashSet<u64>", table_bytes(&accounts));
    let guarded = store.serve(&requests, |key| filter.contains(key))?;
    guarded.print("BloomFilter", filter.get_ref().size_in_bytes());
    check(&open, &exact, &guarded, filter.get_ref());
    conclude(&open, &guarded);
    Ok(())
}

/// One request in ten is for an account that exists. The others are guesses.
fn requests(accounts: &ExactSet<u64>) -> Vec<u64> {
    let known = accounts_in_order(accounts);
    let choose = |(number, random): (usize, u64)| match number % 10 {
        0 => *pick(&known, random),
        _ => random,
    };
    random(2).enumerate().take(REQUESTS).map(choose).collect()
}

fn accounts_in_order(accounts: &ExactSet<u64>) -> Vec<u64> {
    let mut keys: Vec<_> = accounts.iter().copied().collect();
    keys.sort_unstable();
    keys
}

/// A file of sorted records (key, balance) of eight bytes each, searched by bisection.
struct Store {
    file: File,
    path: PathBuf,
    records: u64,
}

impl Store {
    fn create(accounts: &ExactSet<u64>) -> io::Result<Self> {
        let path = env::temp_dir().join(format!("pds-cache-guard-{}", process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let records = accounts_in_order(accounts).into_iter().flat_map(|key| [key, key % 10_000]);
        let bytes: Vec<u8> = records.flat_map(u64::to_le_bytes).collect();
        file.write_all(&bytes)?;
        Ok(Self { file, path, records: accounts.len() as u64 })
    }

    /// Looks up a balance with about seventeen reads, whether the account exists or not.
    fn balance(&mut self, key: u64) -> io::Result<Option<u64>> {
        let (mut low, mut high) = (0, self.records);
        while low < high {
            let middle = low.midpoint(high);
            match self.record(middle)? {
                [found, balance] if found == key => return Ok(Some(balance)),
                [found, _] if found < key => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(None)
    }

    fn record(&mut self, index: u64) -> io::Result<[u64; 2]> {
        let (mut key, mut balance) = ([0; 8], [0; 8]);
        self.file.seek(SeekFrom::Start(16 * index))?;
        self.file.read_exact(&mut key)?;
        self.file.read_exact(&mut balance)?;
        Ok([key, balance].map(u64::from_le_bytes))
    }

    /// Answers all requests. Only keys that pass `guard` cost a call.
    fn serve(&mut self, requests: &[u64], guard: impl Fn(&u64) -> bool) -> io::Result<Served> {
        let start = Instant::now();
        let mut served = Served::default();
        for key in requests.iter().filter(|key| guard(key)) {
            served.calls += 1;
            if let Some(balance) = self.balance(*key)? {
                served.found += 1;
                served.total += balance;
            }
        }
        served.microseconds = start.elapsed().as_micros() as f64 / requests.len() as f64;
        Ok(served)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A file that remains in the folder for temporary files is no reason to panic.
        let _ = fs::remove_file(&self.path);
    }
}

/// The outcome of the requests.
#[derive(Default)]
struct Served {
    calls: usize,
    found: usize,
    total: u64,
    microseconds: f64,
}

impl Served {
    fn needless(&self) -> usize {
        self.calls - self.found
    }

    fn print(&self, guard: &str, bytes: u64) {
        println!(
            "{guard:<14} {:>10} {:>9} {:>12} {:>9.2} µs",
            size(bytes),
            grouped(self.calls),
            grouped(self.needless()),
            self.microseconds
        );
    }
}

fn introduce() {
    println!(
        "{} accounts in a file; {} requests, nine in ten for accounts that do not exist.\n",
        grouped(ACCOUNTS),
        grouped(REQUESTS)
    );
    println!("guard              memory     calls      in vain    a request");
}

fn check(open: &Served, exact: &Served, guarded: &Served, filter: &BloomFilter) {
    let answers = |served: &Served| (served.found, served.total);
    assert_eq!(answers(open), answers(exact));
    assert_eq!(answers(open), answers(guarded), "a guard changes no answer");
    assert_eq!(exact.needless(), 0);
    assert_rate(filter, guarded.needless(), open.needless());
}

fn conclude(open: &Served, guarded: &Served) {
    println!(
        "\nThe same answers each time. The filter saved {} of {} vain calls; {} came through, {} were promised.",
        grouped(open.needless() - guarded.needless()),
        grouped(open.needless()),
        percent(guarded.needless() as f64 / open.needless() as f64),
        percent(PROMISE)
    );
    println!("The exact set saves those too, if its memory can be spared.\n{MEMORY_OF_SETS}");
}
