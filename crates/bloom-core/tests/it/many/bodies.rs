//! The body of a fuzz target, which an ordinary test runs, too.

use bloom_core::BloomFilter;
use pds_core::many::{AllOf, AnyOf};
use pds_testkit::mutate::Choices;

/// Combines filters of any shapes and hashers. The answers are those of the filters one by one.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let filters: Vec<BloomFilter> = (0..choices.below(6)).map(|_| built(&mut choices)).collect();
    let (any, all) = (AnyOf::new(&filters), AllOf::new(&filters));
    // More than a chunk of a batch, with keys that filters hold among them.
    let keys: Vec<u8> = (0..=255).chain((0..choices.below(90)).map(|_| choices.byte())).collect();
    let mut answers = [vec![false; keys.len()], vec![true; keys.len()]];
    any.contains_batch(&keys, &mut answers[0]);
    all.contains_batch(&keys, &mut answers[1]);
    for (index, key) in keys.iter().enumerate() {
        let expected = [
            filters.iter().any(|filter| filter.contains(key)),
            filters.iter().all(|filter| filter.contains(key)),
        ];
        assert_eq!([any.contains(key), all.contains(key)], expected);
        assert_eq!([answers[0][index], answers[1][index]], expected);
    }
    let rates: Vec<f64> = filters.iter().map(BloomFilter::false_positive_rate).collect();
    let [any, all] = [
        any.false_positive_rate(|filter| filter.false_positive_rate()),
        all.false_positive_rate(|filter| filter.false_positive_rate()),
    ];
    let sum: f64 = rates.iter().sum();
    assert!(any <= sum * (1.0 + 1e-12) && (0.0..=1.0).contains(&all));
    for rate in rates {
        assert!(all <= rate && rate <= any * (1.0 + 1e-12), "{all} {rate} {any}");
    }
}

/// Returns a small filter with one of three seeds.
fn built(choices: &mut Choices<'_>) -> BloomFilter {
    let bits = 1 + choices.below(400) as u64;
    let builder = BloomFilter::builder().bits(bits).hashes(1 + u32::from(choices.byte() % 4));
    let mut filter = builder.seed(u64::from(choices.byte() % 3)).build().unwrap();
    (0..choices.below(40)).for_each(|_| _ = filter.insert(&choices.byte()));
    filter
}
