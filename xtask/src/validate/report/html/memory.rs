//! What the structures take, from structures that are built for it.

use super::wide;
use core::fmt::Write;
use pds::compare::HumanBytes;
use pds::params::HllParams;
use pds::params::bloom::information_bound;
use pds::params::hll::CardinalityEstimator::{self, Improved, UltraFgra};
use pds::{
    BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, BuildError, CountMinSketch,
    CountSketch, CountingBloomFilter, CuckooFilter, HyperLogLog, ParamError, SplitBlockBloomFilter,
    UltraLogLog,
};

/// Keys that every filter is built for.
const ITEMS: u64 = 1_000_000;
const RATES: [f64; 3] = [0.1, 0.01, 0.001];

/// The name of a structure, and the bytes that it takes for a promise.
type Sized = (&'static str, fn(f64) -> Result<u64, BuildError>);

const FILTERS: [Sized; 6] = [
    ("BloomFilter", |rate| Ok(BloomFilter::new(ITEMS, rate)?.size_in_bytes())),
    ("BlockedBloomFilter", |rate| Ok(BlockedBloomFilter::new(ITEMS, rate)?.size_in_bytes())),
    ("SplitBlockBloomFilter, as Arrow sizes it", |rate| {
        Ok(SplitBlockBloomFilter::new(ITEMS, rate)?.size_in_bytes())
    }),
    ("CuckooFilter", |rate| Ok(CuckooFilter::new(ITEMS, rate)?.size_in_bytes())),
    ("CountingBloomFilter", |rate| Ok(CountingBloomFilter::new(ITEMS, rate)?.size_in_bytes())),
    ("BlockedCountingBloomFilter", |rate| {
        Ok(BlockedCountingBloomFilter::new(ITEMS, rate)?.size_in_bytes())
    }),
];

/// The tables of filters and of sketches.
///
/// # Errors
/// When a structure cannot be built.
pub(super) fn section() -> Result<String, BuildError> {
    Ok(format!(
        "<section id=\"memory\">\n<h2>Memory</h2>\n<p>Filters built for 1,000,000 keys, in bits a key and in bytes.</p>\n\
         {}<p>Sketches, whose size does not depend on the number of keys.</p>\n{}</section>\n",
        filters()?,
        sketches()?
    ))
}

fn filters() -> Result<String, BuildError> {
    let mut table =
        String::from("<table><thead><tr><th>structure<th>10 %<th>1 %<th>0.1 %</thead>\n");
    for (name, size) in FILTERS {
        let _ = write!(table, "<tr><td>{name}");
        for rate in RATES {
            let bytes = size(rate)?;
            let bits = 8.0 * bytes as f64 / ITEMS as f64;
            let _ = write!(table, "<td>{bits:.2} ({})", HumanBytes(bytes));
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
    for (name, promise, bytes) in sized_sketches()? {
        let _ = writeln!(table, "<tr><td>{name}<td>{promise}<td>{}", HumanBytes(bytes));
    }
    Ok(wide(&(table + "</table>")))
}

fn sized_sketches() -> Result<[(&'static str, &'static str, u64); 4], BuildError> {
    let mut distinct = HyperLogLog::new(precision(Improved)?)?;
    distinct.make_dense();
    let ultra = UltraLogLog::new(precision(UltraFgra)?)?;
    let counts = "counts off by 0.1 % of the total, but for 1 % of the keys";
    let error = "a standard error of at most 1 %";
    Ok([
        ("CountMinSketch", counts, CountMinSketch::new(0.001, 0.01)?.size_in_bytes()),
        (
            "CountSketch",
            "counts off by 3 % of the norm, but for 1 % of the keys",
            CountSketch::new(0.03, 0.01)?.size_in_bytes(),
        ),
        ("HyperLogLog", error, distinct.size_in_bytes()),
        ("UltraLogLog", error, ultra.size_in_bytes()),
    ])
}

fn precision(estimator: CardinalityEstimator) -> Result<u32, ParamError> {
    Ok(HllParams::for_standard_error(estimator, 0.01)?.precision())
}
