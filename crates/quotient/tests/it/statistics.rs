//! Measured rates against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability [`FALSE_ALARM`] at most.

use pds_testkit::keys;
use pds_testkit::stats::{Positives, normal_quantile, split_budget};
use quotient::QuotientFilter;

use crate::shaped;

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 60;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// The mean rate over many filters is the predicted one, at every load and after every doubling.
#[test]
fn rates_are_the_exact_ones_and_growth_keeps_them() {
    const FILTERS: u32 = 60;
    const QUERIES: u32 = 10_000;
    for (seed, (bits, load)) in (1..).zip([(5, 0.1), (5, 0.5), (5, 0.95), (8, 0.9), (10, 0.95)]) {
        let mut hashes = keys::random(seed);
        let mut rates = vec![vec![]; 5];
        let mut expected = 0.0;
        for _ in 0..FILTERS {
            let mut filter = shaped(1_001, bits);
            while filter.load_factor() < load - 0.001 {
                filter.insert_hash(hashes.next().unwrap()).unwrap();
            }
            expected = filter.false_positive_rate();
            for rates in &mut rates {
                let asked = hashes.by_ref().take(QUERIES as usize);
                let found = asked.filter(|&hash| filter.contains_hash(hash)).count();
                rates.push(found as f64 / f64::from(QUERIES));
                assert!((filter.false_positive_rate() / expected - 1.0).abs() < 1e-9);
                let _ = filter.grow();
            }
        }
        for (doublings, rates) in rates.iter().enumerate() {
            let mean = rates.iter().sum::<f64>() / f64::from(FILTERS);
            let spread = rates.iter().map(|rate| (rate - expected).powi(2)).sum::<f64>();
            let error = spread.sqrt() / f64::from(FILTERS);
            assert!(
                ((mean - expected) / error).abs() < normal_quantile(alpha() / 2.0),
                "{bits} bits, load {load}, {doublings} doublings: {mean} for {expected}"
            );
            assert!(error < 0.06 * expected, "too few events: {error} of {expected}");
        }
    }
}

/// The rate at the expected items is at most the promised one, and close to it.
#[test]
fn promised_rates_are_kept_and_used_up() {
    for (seed, (items, rate)) in (11..).zip([(1_000, 0.1), (10_000, 0.01), (50_000, 0.001)]) {
        let mut filter = QuotientFilter::new(items, rate).unwrap();
        let mut keys = keys::random(seed);
        keys.by_ref()
            .take(usize::try_from(items).unwrap())
            .for_each(|key| filter.insert(&key).unwrap());
        let predicted = filter.false_positive_rate();
        assert!(predicted <= rate && predicted > 0.5 * rate, "{predicted}");
        // One filter, whose rate is within some percent of the mean.
        let positives = Positives::of(&filter, keys.take(400_000));
        positives.judge_between("promise", 0.9 * predicted..=1.1 * predicted, alpha());
    }
}
