//! Duplicates in two streams: each machine drops those it has seen, then the machines put together what they know.
//!
//! ```text
//! cargo run --release -p quotient --example dedup_stream -- 10000000
//! ```
//!
//! The argument is the greatest number of distinct events of a day on all machines.

use core::error::Error;
use std::{env, thread};

use pds_testkit::keys;
use quotient::QuotientFilter;
use quotient::error::InsertError;

const RATE: f64 = 0.001;
/// Greatest number of distinct events without an argument.
const MOST: u64 = 400_000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let most = env::args().nth(1).map_or(Ok(MOST), |most| most.parse())?;
    let events_of_first = usize::try_from(most / 10 * 3)?;
    // Every machine builds its filter for the same greatest number, so that all of them can be merged at any size.
    let builder = QuotientFilter::builder().expected_items(1_000).grows_to(most);
    let empty = builder.false_positive_rate(RATE).build()?;

    let streams: [Vec<u64>; 2] = [events(1, events_of_first), events(2, events_of_first / 10)];
    let distinct = streams.each_ref().map(|stream| count_distinct(stream));
    let (mut first, second) = thread::scope(|scope| {
        let passed = streams.each_ref().map(|stream| {
            let mut seen = empty.clone();
            scope.spawn(move || pass_new(&mut seen, stream).map(|passed| (seen, passed)))
        });
        let [first, second] = passed.map(|machine| machine.join().expect("no panic"));
        Ok::<_, InsertError>((first?, second?))
    })?;
    for ((seen, passed), distinct) in [&first, &second].into_iter().zip(distinct) {
        println!(
            "{passed} events passed, {distinct} were distinct; {} bytes",
            seen.size_in_bytes()
        );
        // A false positive drops an event that is new. Nothing passes twice.
        assert!(*passed <= distinct && distinct - passed <= distinct / 500);
    }

    first.0.merge(&second.0)?;
    let both = first.0;
    println!("together: {} fingerprints in {} bytes", both.len(), both.size_in_bytes());
    for event in streams.iter().flatten() {
        assert!(both.contains(event), "what a machine has seen, both have");
    }
    assert!(both.false_positive_rate() <= RATE);
    Ok(())
}

/// Passes the events that were not seen before. Returns their number.
fn pass_new(seen: &mut QuotientFilter, stream: &[u64]) -> Result<usize, InsertError> {
    let mut passed = 0;
    for event in stream {
        passed += usize::from(seen.insert_if_absent(event)?);
    }
    Ok(passed)
}

/// Returns events, a third of which come again.
fn events(seed: u64, count: usize) -> Vec<u64> {
    let fresh: Vec<u64> = keys::random(seed).take(count).collect();
    fresh.iter().chain(fresh.iter().step_by(3)).copied().collect()
}

fn count_distinct(stream: &[u64]) -> usize {
    let mut sorted = stream.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}
