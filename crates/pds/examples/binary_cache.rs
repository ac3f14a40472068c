//! A filter of all paths of a binary cache: sent in full once, then a patch each day.
//!
//! ```text
//! cargo run --release -p pds --example binary_cache           # 200,000 paths, 2,000 more each day
//! cargo run --release -p pds --example binary_cache -- 50000  # of that many paths
//! ```
//!
//! A client asks the filter before it asks the cache. The server publishes a delta from each day to the next. A client that
//! missed days applies the deltas in their order. A delta that does not fit is refused, and the copy stays as it was.

mod shared;

use core::error::Error;
use std::env;

use pds::bytes::{Compressed, Delta};
use pds::error::ApplyError;
use pds::{BloomFilter, RibbonFilter};
use shared::{grouped, random};

const PATHS: usize = 200_000;
const DAYS: usize = 14;
const RATE: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let first = env::args().nth(1).map_or(Ok(PATHS), |number| number.parse())?;
    if first < 100 {
        return Err(format!("{first} paths: at least 100, as 1 % more come each day").into());
    }
    let daily = first / 100;
    let names = random(1).take(first + DAYS * daily);
    let paths: Vec<String> = names.map(|hash| format!("{hash:016x}-package")).collect();

    // Room for the paths of the next two weeks.
    let mut server = BloomFilter::new(paths.len() as u64, RATE)?;
    server.extend(&paths[..first]);
    let full = Compressed::new(&server).to_bytes();
    let mut client: BloomFilter = Compressed::from_bytes(&full)?.decompress()?;

    println!(
        "{:>4} {:>9} {:>12} {:>12} {:>10} {:>12}",
        "day", "paths", "in full", "compressed", "patch", "ribbon"
    );
    print_row(0, &paths[..first], &server, None)?;
    let mut patches = Vec::new();
    for day in 1..=DAYS {
        let yesterday = server.clone();
        let known = first + day * daily;
        server.extend(&paths[known - daily..known]);
        let patch = Delta::between(&yesterday, &server)?.to_bytes();
        print_row(day, &paths[..known], &server, Some(patch.len()))?;
        patches.push(patch);
    }

    // The client was away: the patch of the last day does not fit yet.
    let last = Delta::from_bytes(&patches[DAYS - 1])?;
    let refused = last.apply(&mut client);
    assert!(matches!(refused, Err(ApplyError::Other { .. })), "{refused:?}");
    for patch in &patches {
        Delta::from_bytes(patch)?.apply(&mut client)?;
    }
    assert_eq!(last.apply(&mut client), Err(ApplyError::Applied), "a patch that comes twice");
    assert!(client == server, "bit for bit");
    assert!(paths.iter().all(|path| client.contains(path)));

    let sent: usize = patches.iter().map(Vec::len).sum();
    let each_day = DAYS * Compressed::new(&server).to_bytes().len();
    println!(
        "\n{DAYS} patches: {} bytes. The compressed filter each day: {} bytes, {:.1} times as many.",
        grouped(sent),
        grouped(each_day),
        each_day as f64 / sent as f64
    );
    println!(
        "A client that only asks and starts anew each day gets fewer bytes as a ribbon filter, but no patches."
    );
    assert!(each_day > 5 * sent);
    Ok(())
}

/// Prints the bytes of every way to send the paths.
fn print_row(
    day: usize,
    paths: &[String],
    filter: &BloomFilter,
    patch: Option<usize>,
) -> Result<(), Box<dyn Error>> {
    let ribbon = RibbonFilter::builder().false_positive_rate(RATE).build(paths)?;
    println!(
        "{day:>4} {:>9} {:>12} {:>12} {:>10} {:>12}",
        grouped(paths.len()),
        grouped(filter.to_bytes().len()),
        grouped(Compressed::new(filter).to_bytes().len()),
        patch.map_or("-".into(), grouped),
        grouped(ribbon.to_bytes().len())
    );
    Ok(())
}
