//! Each alert passes once an hour.
//!
//! Machines send alerts, most of them again and again. A filter of the last hour lets an alert pass if it was not passed within
//! that time. Only passed alerts are inserted, so one that never stops passes every hour or so.
//!
//! `cargo run --release -p bloom-window --example alerts -- MACHINES`

use core::error::Error;
use std::collections::HashMap;
use std::env;

use bloom_window::TimedBloomFilter;

const HOUR: u64 = 3_600;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let machines = env::args().nth(1).map_or(Ok(2_000), |number| number.parse())?;
    // All machines may pass within ten minutes, so the filter is built for as many in each ten minutes of an hour.
    let mut passed_lately = TimedBloomFilter::new(HOUR, 6 * machines, 0.001)?;
    let mut passed_at: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut alerts = 0_u64;

    // Eight hours. Each machine complains every ten minutes.
    for now in 0..8 * HOUR {
        passed_lately.advance(now)?;
        for machine in (0..machines).filter(|machine| (now + 7 * machine).is_multiple_of(600)) {
            let alert = (machine, "disk full");
            alerts += 1;
            if !passed_lately.contains(&alert) {
                passed_lately.insert(&alert);
                passed_at.entry(machine).or_default().push(now);
            }
        }
    }

    let passed: usize = passed_at.values().map(Vec::len).sum();
    println!("{passed} of {alerts} alerts passed; {}", passed_lately.health());
    println!("the filter has {} bytes", passed_lately.size_in_bytes());

    // No alert passed twice within an hour.
    let apart = passed_at.values().flat_map(|times| times.windows(2)).map(|pair| pair[1] - pair[0]);
    assert!(apart.clone().all(|time| time > HOUR));
    // 66 minutes are the most, so an alert passes with the seventh, 70 minutes later, unless it is a false positive.
    let late = apart.filter(|&time| time > 7 * 600).count();
    assert!(late <= passed / 50, "{late} alerts passed late");
    Ok(())
}
