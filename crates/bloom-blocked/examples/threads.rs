//! Batched lookups by one thread and by two threads, each with half of the keys.
//!
//! ```text
//! cargo run --release -p bloom-blocked --example threads
//! ```
//!
//! `--quick` queries a filter of 5 MB once, to check that it runs. It does not measure.

use core::error::Error;
use core::time::Duration;
use std::time::Instant;

use bloom_blocked::BlockedBloomFilter;

/// 50,000,000 keys at 1 %: 63 MB, more than the caches near a processor hold.
const STORED: u64 = 50_000_000;
const ASKED: u64 = 1 << 22;
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let (stored, rounds) = if is_quick { (ASKED, 1) } else { (STORED, ROUNDS) };
    let mut filter = BlockedBloomFilter::new(stored, 0.01)?;
    filter.insert_batch(&(0..stored).collect::<Vec<_>>());

    let keys: Vec<u64> = (stored - ASKED / 2..stored + ASKED / 2).collect();
    let mut answers = vec![false; keys.len()];
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        one.push(ask(&filter, &keys, &mut answers, 1));
        two.push(ask(&filter, &keys, &mut answers, 2));
    }
    let positive = answers.iter().filter(|&&answer| answer).count();
    let (one, two) = (median(one), median(two));
    println!(
        "{} MB, {positive} of {} keys possibly contained",
        filter.size_in_bytes() / 1_000_000,
        keys.len()
    );
    println!("one thread:  {:.1} ns per key", per_key(one));
    println!(
        "two threads: {:.1} ns per key, {:.2} times as fast",
        per_key(two),
        one.as_secs_f64() / two.as_secs_f64()
    );
    Ok(())
}

/// A filter that is only read needs no lock: any number of threads may share it.
fn ask(
    filter: &BlockedBloomFilter,
    keys: &[u64],
    answers: &mut [bool],
    threads: usize,
) -> Duration {
    let each = keys.len().div_ceil(threads);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for (keys, answers) in keys.chunks(each).zip(answers.chunks_mut(each)) {
            scope.spawn(|| filter.contains_batch(keys, answers));
        }
    });
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn per_key(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9 / ASKED as f64
}
