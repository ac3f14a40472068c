//! The memory that the structures take.

use super::wide;
use crate::validate::structures;
use core::fmt::Write;
use pds::compare::{Candidate, HumanBytes};
use pds::error::{BuildError, ParamError};
use pds::params::bloom::information_bound;
use pds::registry;

/// Keys that every filter is sized for.
const ITEMS: u64 = 1_000_000;
const RATES: [f64; 3] = [0.1, 0.01, 0.001];

/// Returns the tables of filters and of sketches.
///
/// # Errors
/// When a structure cannot be sized or built.
pub(super) fn section() -> Result<String, BuildError> {
    Ok(format!(
        "<section id=\"memory\">\n<h2>Memory</h2>\n<p>Filters for 1,000,000 keys, in bits per key and in bytes.</p>\n\
         {}<p>Sketches, whose size does not depend on the number of keys.</p>\n{}</section>\n",
        filters()?,
        sketches()?
    ))
}

/// The filters of the registry, without those of the standard library.
fn filters() -> Result<String, ParamError> {
    let mut table =
        String::from("<table><thead><tr><th>structure<th>10 %<th>1 %<th>0.1 %</thead>\n");
    let filters = registry::ALL.iter().filter(|one| one.feature.is_some());
    for filter in filters.filter(|one| one.abilities().is_some()) {
        let _ = write!(table, "<tr><td>{}", filter.type_name);
        for rate in RATES {
            let filter = Candidate::new(filter, ITEMS, rate)?;
            let (bits, bytes) = (filter.bits_per_item(), HumanBytes(filter.size_in_bytes()));
            let _ = write!(table, "<td>{bits:.2} ({bytes})");
        }
        table.push('\n');
    }
    table += "<tr><td>least possible";
    for rate in RATES {
        let _ = write!(table, "<td>{:.2}", information_bound(ITEMS, rate) / ITEMS as f64);
    }
    Ok(wide(&(table + "</table>")))
}

fn sketches() -> Result<String, BuildError> {
    let mut table = String::from("<table><thead><tr><th>structure<th>promise<th>memory</thead>\n");
    for sketch in structures::ALL.iter().flat_map(|structure| structure.sketches) {
        let (name, promise, bytes) = (sketch.type_name, sketch.promise, (sketch.bytes)()?);
        let _ = writeln!(table, "<tr><td>{name}<td>{promise}<td>{}", HumanBytes(bytes));
    }
    Ok(wide(&(table + "</table>")))
}
