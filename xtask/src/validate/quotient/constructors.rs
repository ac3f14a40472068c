//! The constructors of quotient filters.

use crate::validate::blocked::exactly;
use crate::validate::constructors::{Constructor, ITEMS, RATE, calculated, constructor, filled};
use pds::QuotientFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::QuotientParams;
use pds::registry::QUOTIENT;

/// All constructors.
pub(super) fn all() -> Vec<Constructor> {
    let mut all = quotient();
    all.extend(calculated(&QUOTIENT, |candidate, random, items| {
        let &params = candidate.params::<QuotientParams>().expect("its own parameters");
        let filter = QuotientFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| exactly(params.rate_at(items)))
    }));
    all
}

fn quotient() -> Vec<Constructor> {
    let of = |name: &str, promise: Option<f64>, build: fn() -> QuotientFilter| {
        constructor(name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    vec![
        of("new(1000, 0.01)", Some(RATE), || QuotientFilter::new(ITEMS, RATE).expect("sound")),
        of("builder: items", Some(RATE), || {
            QuotientFilter::builder().expected_items(ITEMS).build().expect("sound")
        }),
        of("builder: slots and bits", None, || {
            QuotientFilter::builder().slots(1_200).remainder_bits(6).build().expect("sound")
        }),
    ]
}
