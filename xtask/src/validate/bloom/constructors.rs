//! The constructors of Bloom filters, and the methods that make one filter from another.

use crate::validate::constructors::{
    Constructor, Filled, ITEMS, RATE, Random, asked, calculated, constructor, double_hashed,
    filled, insert_all,
};
use pds::bloom::BloomParams;
use pds::error::BuildError;
use pds::hash::DefaultHashBuilder;
use pds::registry::BLOOM;
use pds::{AtomicBloomFilter, BloomFilter};

/// All constructors.
pub(super) fn all() -> Vec<Constructor> {
    let mut all = blooms();
    all.extend(calculated(&BLOOM, |candidate, random, items| {
        of_params(*candidate.params().expect("its own parameters"))(random, items)
    }));
    all
}

fn blooms() -> Vec<Constructor> {
    type Build = fn() -> Result<BloomFilter, BuildError>;
    let of = |name: &str, promise: Option<f64>, items, build: Build| {
        constructor(name, promise, items, move |random, items| {
            let filter = build().expect("a sound design");
            filled(filter, random, items, |filter| double_hashed(&filter.params(), items))
        })
    };
    // Made from a filled filter by one of its methods.
    let from = |name: &str, promise: Option<f64>, convert: fn(BloomFilter) -> BloomFilter| {
        constructor(name, promise, ITEMS, move |random, items| {
            let mut filter = BloomFilter::builder().bits(9_600).hashes(7).build().expect("sound");
            insert_all(&mut filter, random, items);
            let filter = convert(filter);
            let rate = double_hashed(&filter.params(), items);
            asked(filter, rate)
        })
    };
    let in_bits = || BloomFilter::builder().bits(9_600).false_positive_rate(RATE).build();
    let capacity = in_bits().expect("sound").expected_items().expect("a design");
    let best = || BloomFilter::builder().bits(9_600).expected_items(ITEMS).build();
    let best_rate = best().expect("sound").promised_rate();
    vec![
        of("new(1000, 0.01)", Some(RATE), ITEMS, || BloomFilter::new(ITEMS, RATE)),
        of("new(50, 0.1)", Some(0.1), 50, || BloomFilter::new(50, 0.1)),
        of("builder: items and rate", Some(0.05), ITEMS, || {
            BloomFilter::builder().expected_items(ITEMS).false_positive_rate(0.05).build()
        }),
        of("builder: items", Some(RATE), ITEMS, || {
            BloomFilter::builder().expected_items(ITEMS).build()
        }),
        of("builder: bits and rate", Some(RATE), capacity, in_bits),
        of("builder: bits and items", best_rate, ITEMS, best),
        of("builder: bits and hashes", None, ITEMS, || {
            BloomFilter::builder().bits(9_600).hashes(4).build()
        }),
        from("fold(2)", None, |filter| filter.fold(2).expect("an even number of bits")),
        from("fold(3)", None, |filter| filter.fold(3).expect("a multiple of three")),
        from("atomic, and back", None, |filter| {
            AtomicBloomFilter::from(filter).to_plain().expect("memory")
        }),
    ]
}

/// Fills a filter of these parameters.
fn of_params(params: BloomParams) -> impl Fn(Random<'_>, u64) -> Filled + Send {
    move |random, items| {
        let filter = BloomFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items, |_| double_hashed(&params, items))
    }
}

/// A constructor that takes 3 % of the bits too few, or none.
pub(super) fn bits_short(is_faulty: bool) -> Constructor {
    let bits = BloomParams::for_double_hashing(ITEMS, RATE).expect("sound").num_bits();
    let bits = if is_faulty { bits - bits * 3 / 100 } else { bits };
    let params = BloomParams::from_bits_and_hashes(bits, 7).expect("sound");
    constructor("new(1000, 0.01)", RATE, ITEMS, of_params(params))
}

#[cfg(test)]
mod tests {
    use super::super::faults::FAULTY;
    use super::*;
    use crate::validate::measure::PROMISE;
    use crate::validate::tests::broken;

    #[test]
    fn the_promise_alone_finds_too_few_bits() {
        let broken = |is_faulty| broken(vec![bits_short(is_faulty).job(FAULTY, 1)]);
        assert_eq!(broken(false), []);
        assert_eq!(broken(true), [PROMISE]);
    }
}
