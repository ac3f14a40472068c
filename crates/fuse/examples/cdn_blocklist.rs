//! A blocklist that makes no error on the domains that a network serves, without the domains themselves.
//!
//! ```text
//! cargo run --release -p fuse --example cdn_blocklist
//! ```
//!
//! Each edge server knows the same customers. A list of the blocked ones must neither pass a blocked domain nor stop another
//! one. Browsers have the same task with revoked certificates, and solved it by a cascade of Bloom filters: J. Larisch,
//! D. Choffnes, D. Levin, B. M. Maggs, A. Mislove and C. Wilson, "CRLite: A Scalable System for Pushing All TLS Revocations to
//! All Browsers", IEEE Symposium on Security and Privacy 2017.

use core::error::Error;
use std::time::Instant;

use fuse::{ExactFilter, ExactFilterView};

const BLOCKED: u64 = 5_000;
const SERVED: u64 = 500_000;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let start = Instant::now();
    let filter = ExactFilter::new(domains(0, BLOCKED), domains(BLOCKED, SERVED))?;
    println!("{BLOCKED} domains blocked, {SERVED} served: built in {:.1?}", start.elapsed());

    // The bytes that an edge server receives.
    let view = ExactFilterView::open(filter.to_bytes())?;
    view.verify()?;
    assert!(domains(0, BLOCKED).all(|domain| view.contains(&domain)), "each is blocked");
    assert!(!domains(BLOCKED, SERVED).any(|domain| view.contains(&domain)), "each is served");
    let unknown = domains(BLOCKED + SERVED, 100_000).filter(|domain| view.contains(domain)).count();
    println!("no error among them; {unknown} of 100000 unknown domains are answered \"blocked\"");

    let bits = filter.size_in_bytes() as f64 * 8.0;
    let (bound, cascade) = (ExactFilter::least_bits(BLOCKED, SERVED), cascade_bits());
    for (name, bits) in
        [("exact filter", bits), ("Bloom cascade", cascade), ("least possible", bound)]
    {
        println!(
            "{name:14} {:6.1} KiB, {:5.2} bits per blocked domain",
            bits / 8192.0,
            bits / BLOCKED as f64
        );
    }
    assert!(bits < 1.12 * bound && bits < 0.7 * cascade);
    Ok(())
}

fn domains(first: u64, count: u64) -> impl Iterator<Item = String> {
    (first..first + count).map(|number| format!("shop-{number}.example"))
}

/// Computes the size of a Bloom cascade.
///
/// Its first filter holds the n blocked domains at the rate p = n / (m sqrt 2) for m others. Each further filter holds what
/// passes the one before wrongly, at a rate of 1/2, so that every second one is half as long. A key of a Bloom filter at the
/// rate r takes log2(1/r) / ln 2 bits.
fn cascade_bits() -> f64 {
    let (blocked, served) = (BLOCKED as f64, SERVED as f64);
    let rate = blocked / (served * 2f64.sqrt());
    let (passed, half) = (2.0 * served * rate, blocked);
    (blocked * -rate.log2() + passed + half) / core::f64::consts::LN_2
}
