//! Packets by source, in a stream that never ends: who sends most *now*?
//!
//! ```text
//! cargo run --release --example traffic
//! ```
//!
//! A counter that only grows says who has sent most since the start. Here all counts are halved after every
//! interval, so that what was sent h intervals ago weighs 2^-h of itself. The sketch has a fixed size, however
//! many sources there are and however long the stream runs, and its counters never fill up.

mod shared;

use core::error::Error;

use pds::TopK;
use shared::{grouped, random};

const INTERVALS: u64 = 12;
const PACKETS: usize = 200_000;
/// Background traffic comes from this many sources.
const SOURCES: u64 = 50_000;
/// Share of all packets that a flood sends, one in so many.
const FLOOD: u64 = 5;
/// The flood begins and ends before these intervals.
const FLOODED: core::ops::Range<u64> = 3..6;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut traffic = TopK::<u32>::new(3)?;
    println!(
        "{INTERVALS} intervals of {} packets from {} sources, {} kB of counters.",
        grouped(PACKETS),
        grouped(usize::try_from(SOURCES)?),
        traffic.size_in_bytes() / 1000
    );
    println!("A flood runs from interval {} to {}.\n", FLOODED.start, FLOODED.end - 1);
    let flooding = address(SOURCES);
    for interval in 0..INTERVALS {
        for random in random(interval).take(PACKETS) {
            traffic.insert(&source(interval, random));
        }
        let top = traffic.top();
        let shares = top.iter().map(|hitter| {
            let share = 100.0 * hitter.estimate.value() as f64 / traffic.total() as f64;
            format!("{} {share:.1} %", spelled(*hitter.key))
        });
        println!("interval {interval:>2}: {}", shares.collect::<Vec<_>>().join(", "));
        // It leads as soon as it begins. Two intervals after its end a quarter is left of it, which is less than
        // what the busiest of the others sends.
        if FLOODED.contains(&interval) {
            assert_eq!(*top[0].key, flooding, "the flood is seen at once");
        }
        if interval > FLOODED.end + 1 {
            assert_ne!(*top[0].key, flooding, "and no longer leads when it is over");
        }
        traffic.halve();
    }
    Ok(())
}

/// A flood from one source now and then, and skewed background traffic.
fn source(interval: u64, random: u64) -> u32 {
    if FLOODED.contains(&interval) && random.is_multiple_of(FLOOD) {
        return address(SOURCES);
    }
    // An exponential of a uniform number: the n-th source sends in proportion to 1 / n, nearly.
    let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
    let number = (uniform * (SOURCES as f64).ln()).exp();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    address(number as u64 - 1)
}

/// An address of the range that is set aside for benchmarks, 198.18.0.0/15.
fn address(number: u64) -> u32 {
    u32::from_be_bytes([198, 18, 0, 0]) + u32::try_from(number).expect("fewer than 2^17 sources")
}

fn spelled(address: u32) -> String {
    address.to_be_bytes().map(|byte| byte.to_string()).join(".")
}
