//! Packets by source in an endless stream, and the source that sends most *now*.
//!
//! ```text
//! cargo run --release --example traffic
//! ```
//!
//! A counter that only grows shows who has sent most since the start. Here all counts are halved after every interval,
//! so that a packet from h intervals ago has the weight 2^-h. The sketch has a fixed size for any number of sources and
//! any length of the stream, and its counters never saturate.

mod shared;

use core::error::Error;

use pds::TopK;
use shared::{grouped, random};

const INTERVALS: u64 = 12;
const PACKETS: usize = 200_000;
/// Background traffic comes from this many sources.
const SOURCES: u64 = 50_000;
/// A flood sends one packet in this number.
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
        // It leads as soon as it begins. Two intervals after its end a quarter of it remains, which is less than the
        // traffic of the busiest other source.
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

/// Returns packets of an occasional flood from one source, and of skewed background traffic.
fn source(interval: u64, random: u64) -> u32 {
    if FLOODED.contains(&interval) && random.is_multiple_of(FLOOD) {
        return address(SOURCES);
    }
    // An exponential of a uniform number: the n-th source sends nearly in proportion to 1 / n.
    let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
    let number = (uniform * (SOURCES as f64).ln()).exp();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    address(number as u64 - 1)
}

/// Returns an address of the range that is reserved for benchmarks, 198.18.0.0/15.
fn address(number: u64) -> u32 {
    u32::from_be_bytes([198, 18, 0, 0]) + u32::try_from(number).expect("fewer than 2^17 sources")
}

fn spelled(address: u32) -> String {
    address.to_be_bytes().map(|byte| byte.to_string()).join(".")
}
