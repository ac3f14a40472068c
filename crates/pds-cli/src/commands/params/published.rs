//! Well-known figures of the field, right and wrong, and what they should be.

use super::Answer;
use super::show::{left_table, share};
use core::error::Error;
use pds::params::hll::CardinalityEstimator::Improved;
use pds::params::{BloomParams, HllParams, counting};

/// A statement, and what is computed here.
type Row = Result<[String; 2], Box<dyn Error>>;

/// The table of all statements; `crates/pds-params/tests/it/published.rs` holds the same figures.
pub(super) fn table() -> Answer {
    let rows = [
        bits_an_address(),
        gigabytes("10^9 addresses at 0.1 % take 1.2 GB", 1_000_000_000, 0.001),
        gigabytes("10^9 addresses at 1 % take 1.2 GB", 1_000_000_000, 0.01),
        gigabytes("10^10 addresses at 0.1 % take 18 GB", 10_000_000_000, 0.001),
        textbook_size(),
        overfilled("9.585 bits per key, k = 7", 9_585_059),
        overfilled("the least size for 1 %", BloomParams::new(MILLION, 0.01)?.num_bits()),
        registers("HyperLogLog in 12 KB errs by 0.81 %", 14),
        registers("HyperLogLog in 1.5 KB errs by 2 %", 11),
        overflow(),
    ];
    let rows: Vec<_> = rows.into_iter().collect::<Result<_, _>>()?;
    Ok(left_table(&["statement", "computed"], rows) + "\n")
}

const MILLION: u64 = 1_000_000;

fn bits_an_address() -> Row {
    let rate = BloomParams::from_bits_and_items(10 * MILLION, MILLION)?.rate_at(MILLION);
    Ok(["10 bits an address give 0.1 %".to_owned(), share(rate)])
}

fn gigabytes(statement: &str, items: u64, rate: f64) -> Row {
    let bytes = BloomParams::new(items, rate)?.size_in_bytes();
    Ok([statement.to_owned(), format!("{:.2} GB", bytes as f64 / 1e9)])
}

fn textbook_size() -> Row {
    let rate = BloomParams::from_bits_and_hashes(9_585_059, 7)?.rate_at(MILLION);
    let computed = format!("{:.4} %; 9,592,957 bits keep it", 100.0 * rate);
    Ok(["10^6 keys in -n ln p / (ln 2)^2 bits keep 1 %".to_owned(), computed])
}

fn overfilled(design: &str, bits: u64) -> Row {
    let params = BloomParams::from_bits_and_hashes(bits, 7)?;
    let rates = [3, 4, 6].map(|halves| share(params.rate_at(halves * MILLION / 2)));
    let statement = format!("1.5, 2, 3 times the keys give 5, 14, 37 % ({design})");
    Ok([statement, rates.join(", ")])
}

fn registers(statement: &str, precision: u32) -> Row {
    let params = HllParams::new(precision)?;
    let error = share(params.standard_error(Improved));
    Ok([statement.to_owned(), format!("{error} in {} bytes", params.packed_bytes())])
}

fn overflow() -> Row {
    let of_load = |load: f64| counting::overflow_probability(load * core::f64::consts::LN_2, 16);
    let [one, three] = [1.0, 3.0].map(of_load);
    let computed = format!("{one:.1e} a counter; at three times the load {three:.1e}");
    Ok(["4-bit counters hardly ever overflow".to_owned(), computed])
}
