//! The constructors of counting filters, and the methods that make one filter from another.

use crate::validate::blocked::exactly;
use crate::validate::constructors::{
    Constructor, ITEMS, RATE, asked, calculated, constructor, double_hashed, filled, insert_all,
};
use pds::hash::DefaultHashBuilder;
use pds::params::{BlockedCountingParams, BloomParams};
use pds::registry::{BLOCKED_COUNTING_BLOOM, COUNTING_BLOOM};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};

/// All constructors.
pub(super) fn all() -> Vec<Constructor> {
    let mut all = counting();
    all.extend(calculated(&COUNTING_BLOOM, |candidate, random, items| {
        let &params = candidate.params::<BloomParams>().expect("its own parameters");
        let filter = CountingBloomFilter::<_>::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| double_hashed(&params, items))
    }));
    all.extend(calculated(&BLOCKED_COUNTING_BLOOM, |candidate, random, items| {
        let &params = candidate.params::<BlockedCountingParams>().expect("its own parameters");
        let filter = BlockedCountingBloomFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| exactly(params.rate_at(items)))
    }));
    all
}

fn counting() -> Vec<Constructor> {
    let of = |name: &str, promise: Option<f64>, build: fn() -> CountingBloomFilter| {
        constructor(name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| double_hashed(&filter.params(), items))
        })
    };
    let in_lines = |name: &str, promise, build: fn() -> BlockedCountingBloomFilter| {
        constructor(name, promise, ITEMS, move |random, items| {
            filled(build(), random, items, |filter| exactly(filter.params().rate_at(items)))
        })
    };
    vec![
        of("new(1000, 0.01)", Some(RATE), || CountingBloomFilter::new(ITEMS, RATE).expect("sound")),
        of("builder: counters and hashes", None, || {
            CountingBloomFilter::builder().counters(9_600).hashes(5).build().expect("sound")
        }),
        constructor("builder: wide counters", RATE, ITEMS, |random, items| {
            let builder = CountingBloomFilter::builder().expected_items(items).wide_counters();
            let filter = builder.build().expect("sound");
            filled(filter, random, items, |filter| double_hashed(&filter.params(), items))
        }),
        constructor("to_bloom_filter", RATE, ITEMS, |random, items| {
            let mut filter = CountingBloomFilter::new(items, RATE).expect("sound");
            insert_all(&mut filter, random, items);
            let rate = double_hashed(&filter.params(), items);
            asked(filter.to_bloom_filter().expect("memory"), rate)
        }),
        in_lines("blocked new(1000, 0.01)", Some(RATE), || {
            BlockedCountingBloomFilter::new(ITEMS, RATE).expect("sound")
        }),
        in_lines("blocked builder: lines", None, || {
            BlockedCountingBloomFilter::builder().lines(100).build().expect("sound")
        }),
    ]
}
