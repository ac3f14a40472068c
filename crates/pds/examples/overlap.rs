//! The number of clients that come on both of two days.
//!
//! ```text
//! cargo run --release --example overlap                # 400,000 requests, made up
//! cargo run --release --example overlap -- access.log  # your own, in the common log format
//! ```
//!
//! Two sketches replace two whole sets. The usual estimate, |A| + |B| - |A or B|, subtracts three estimates. If the
//! overlap is small, their errors are as large as the overlap. The joint likelihood of both sketches gives a smaller
//! error, and states it.

#![expect(clippy::std_instead_of_alloc, reason = "an example has the standard library")]

mod shared;

use core::error::Error;
use std::collections::{BTreeMap, HashSet};

use pds::error::ParamError;
use pds::{Estimate, HyperLogLog};
use shared::access_log::{Request, given_or_made_up};
use shared::grouped;

const PRECISION: u32 = 12;

struct Day<'a> {
    sketch: HyperLogLog,
    exact: HashSet<&'a str>,
}

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let requests = given_or_made_up(400_000)?;
    let days: Vec<_> = count(&requests)?.into_iter().collect();
    if days.len() < 2 {
        return Err("an overlap needs requests of two days".into());
    }
    println!("{} requests, a sketch of precision {PRECISION} a day.", grouped(requests.len()));
    for pair in days.windows(2) {
        let [(first, left), (second, right)] = pair else { unreachable!("windows of two") };
        println!("\n{first} and {second}");
        compare(left, right)?;
    }
    Ok(())
}

fn count(requests: &[Request]) -> Result<BTreeMap<&str, Day<'_>>, ParamError> {
    let empty = HyperLogLog::new(PRECISION)?;
    let mut days = BTreeMap::new();
    for Request { client, day, .. } in requests {
        let new = || Day { sketch: empty.clone(), exact: HashSet::new() };
        let counted = days.entry(day.as_str()).or_insert_with(new);
        counted.sketch.insert(client);
        counted.exact.insert(client);
    }
    Ok(days)
}

fn compare(left: &Day<'_>, right: &Day<'_>) -> Result<(), Box<dyn Error>> {
    let overlap = left.sketch.overlap(&right.sketch)?;
    let both = left.exact.intersection(&right.exact).count();
    line("first day only", overlap.only_left, left.exact.len() - both);
    line("second day only", overlap.only_right, right.exact.len() - both);
    line("both days", overlap.both, both);
    let union = HyperLogLog::union_estimate(&[&left.sketch, &right.sketch])?;
    let excluded = left.sketch.estimate() + right.sketch.estimate() - union;
    println!("  both days, by |A| + |B| - |A or B|: {excluded:.0}");
    println!("  Jaccard index: {:.4}", overlap.jaccard());
    Ok(())
}

fn line(name: &str, estimate: Estimate, exact: usize) {
    let error = (estimate.value - exact as f64).abs();
    println!("  {name:<16} {estimate:>9.0}, exactly {:>8}", grouped(exact));
    let allowed = 5.0 * estimate.standard_error + 2.0;
    assert!(error <= allowed, "{name}: {estimate}, exactly {exact}");
}
