//! The constructors of cuckoo filters.

use crate::validate::blocked::exactly;
use crate::validate::constructors::{Constructor, ITEMS, RATE, calculated, constructor, filled};
use pds::CuckooFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::CuckooParams;
use pds::registry::CUCKOO;

/// All constructors.
pub(super) fn all() -> Vec<Constructor> {
    let mut all = cuckoo();
    all.extend(calculated(&CUCKOO, |candidate, random, items| {
        let &params = candidate.params::<CuckooParams>().expect("its own parameters");
        let filter = CuckooFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| exactly(params.rate_at(items)))
    }));
    all
}

fn cuckoo() -> Vec<Constructor> {
    let of = |name: &str, promise: Option<f64>, build: fn() -> CuckooFilter| {
        constructor(name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    let of_bits = || {
        let builder = CuckooFilter::builder().expected_items(ITEMS).fingerprint_bits(9);
        builder.build().expect("sound")
    };
    vec![
        of("new(1000, 0.01)", Some(RATE), || CuckooFilter::new(ITEMS, RATE).expect("sound")),
        of("builder: items", Some(RATE), || {
            CuckooFilter::builder().expected_items(ITEMS).build().expect("sound")
        }),
        of("builder: items and bits", of_bits().promised_rate(), of_bits),
        of("builder: buckets and bits", None, || {
            CuckooFilter::builder().buckets(300).fingerprint_bits(8).build().expect("sound")
        }),
    ]
}
