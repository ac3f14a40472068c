//! The number of distinct clients of a web server, per hour and per day.
//!
//! ```text
//! cargo run --release --example unique_visitors                # 400,000 requests, made up
//! cargo run --release --example unique_visitors -- access.log  # your own, in the common log format
//! ```
//!
//! Only one sketch per hour is kept. The sketch of a day is merged from those of its hours. Adding up their counts
//! would be wrong, because many clients return. Exact counts, from sets of all addresses, are shown beside.

#![expect(clippy::std_instead_of_alloc, reason = "an example has the standard library")]

mod shared;

use core::error::Error;
use std::collections::{BTreeMap, HashSet};

use pds::HyperLogLog;
use pds::error::{Incompatible, ParamError};
use shared::access_log::{Request, given_or_made_up};
use shared::{grouped, percent, size};

const PRECISION: u32 = 12;

/// The sketch of an hour, and the set that the exact answer needs.
struct Hour<'a> {
    sketch: HyperLogLog,
    exact: HashSet<&'a str>,
}

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let requests = given_or_made_up(400_000)?;
    if requests.is_empty() {
        return Err("a log needs at least one request".into());
    }
    println!("{} requests, a sketch of precision {PRECISION} an hour.\n", grouped(requests.len()));
    println!("hour                estimated      exact     error     sketch");
    let hours = count(&requests)?;
    for ((day, hour), counted) in &hours {
        row(&format!("{day} {hour:02}:00"), &counted.sketch, counted.exact.len());
    }
    println!();
    let mut days: Vec<_> = hours.keys().map(|&(day, _)| day).collect();
    days.dedup();
    for day in days {
        let of_day = || hours.iter().filter(|((d, _), _)| *d == day).map(|(_, hour)| hour);
        day_row(day, &of_day().collect::<Vec<_>>())?;
    }
    Ok(())
}

fn count(requests: &[Request]) -> Result<BTreeMap<(&str, u8), Hour<'_>>, ParamError> {
    let empty = HyperLogLog::new(PRECISION)?;
    let mut hours = BTreeMap::new();
    for Request { client, day, hour } in requests {
        let new = || Hour { sketch: empty.clone(), exact: HashSet::new() };
        let counted = hours.entry((day.as_str(), *hour)).or_insert_with(new);
        counted.sketch.insert(client);
        counted.exact.insert(client);
    }
    Ok(hours)
}

/// Prints the union of the hours, and the sum of their counts.
fn day_row(day: &str, hours: &[&Hour<'_>]) -> Result<(), Incompatible> {
    let mut merged = hours[0].sketch.clone();
    hours.iter().try_for_each(|hour| merged.merge(&hour.sketch))?;
    let exact: HashSet<_> = hours.iter().flat_map(|hour| &hour.exact).collect();
    row(day, &merged, exact.len());
    let sum: f64 = hours.iter().map(|hour| hour.sketch.estimate()).sum();
    println!("  the hours added up: {sum:.0}");
    Ok(())
}

fn row(name: &str, sketch: &HyperLogLog, exact: usize) {
    let estimate = sketch.estimate_with_error();
    let error = estimate.value / exact as f64 - 1.0;
    println!(
        "{name:<18} {:>10.0} {:>10} {:>9} {:>10}",
        estimate.value,
        grouped(exact),
        percent(error),
        size(sketch.size_in_bytes())
    );
    // Five standard errors. A sparse sketch may be off by one if two clients share 26 bits.
    let allowed = 5.0 * estimate.standard_error + 1.5;
    assert!((estimate.value - exact as f64).abs() <= allowed, "{estimate}, exactly {exact}");
}
