//! What the calculator says is what the structures take.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "heavy-hitters",
    feature = "hll"
))]

use pds::params::compare::{
    Ability, Against, Candidate, CountNeeds, DistinctNeeds, Needs, Shape, Sketch,
    SketchRecommendation, Structure, compare, recommend, recommend_counts, recommend_distinct,
};
use pds::{
    BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, BuildError, CountMinSketch,
    CountSketch, CountingBloomFilter, CuckooFilter, HeavyHitters, HyperLogLog,
    SplitBlockBloomFilter, UltraLogLog,
};

fn built(candidate: &Candidate, rate: f64) -> Result<u64, BuildError> {
    // `new` takes the powers of two that Arrow takes; the calculator the least that keeps the promise.
    if let Shape::SplitBlock { blocks } = candidate.shape() {
        return Ok(SplitBlockBloomFilter::with_blocks(*blocks)?.size_in_bytes());
    }
    let items = candidate.items();
    Ok(match candidate.structure() {
        Structure::Bloom => BloomFilter::new(items, rate)?.size_in_bytes(),
        Structure::BlockedBloom => BlockedBloomFilter::new(items, rate)?.size_in_bytes(),
        Structure::Cuckoo => CuckooFilter::new(items, rate)?.size_in_bytes(),
        Structure::CountingBloom => CountingBloomFilter::new(items, rate)?.size_in_bytes(),
        Structure::BlockedCountingBloom => {
            BlockedCountingBloomFilter::new(items, rate)?.size_in_bytes()
        }
        other => panic!("{other} is not built here"),
    })
}

#[test]
fn filters_take_what_the_calculator_says() {
    for (items, rate) in [(1, 0.5), (100, 0.03), (12_345, 0.01), (1_000_000, 1e-4)] {
        let comparison = compare(items, rate).unwrap();
        let filters = comparison.candidates().filter(|one| one.structure() != Structure::HashSet);
        let mut seen = 0;
        for candidate in filters {
            let taken = built(candidate, rate).unwrap();
            assert_eq!(candidate.size_in_bytes(), taken, "{}", candidate.structure());
            seen += 1;
        }
        assert_eq!(seen, 6);
    }
}

/// The bytes of one structure, chosen or not.
fn said(recommendation: &SketchRecommendation, sketch: Sketch) -> u64 {
    if recommendation.choice() == sketch {
        return recommendation.size_in_bytes();
    }
    let row = recommendation.reasons().find(|(other, _)| *other == sketch);
    match row.expect("a structure of this question").1 {
        Against::Larger { bytes, .. } => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sketches_take_what_the_calculator_says() {
    let (epsilon, delta) = (0.01, 0.02);
    let counts = recommend_counts(&CountNeeds::new(1 << 40, 1 << 20, epsilon, delta));
    let counts = counts.unwrap().unwrap();
    let count_min: CountMinSketch = CountMinSketch::new(epsilon, delta).unwrap();
    assert_eq!(said(&counts, Sketch::CountMin), count_min.size_in_bytes());
    let signed = CountSketch::new(epsilon, delta).unwrap();
    assert_eq!(said(&counts, Sketch::CountSketch), signed.size_in_bytes());

    let distinct = recommend_distinct(&DistinctNeeds::new(1 << 40, 0.02)).unwrap().unwrap();
    let mut sketch = HyperLogLog::new(12).unwrap();
    sketch.make_dense();
    assert_eq!(said(&distinct, Sketch::HyperLogLog), sketch.size_in_bytes());
    assert_eq!(said(&distinct, Sketch::UltraLogLog), UltraLogLog::new(11).unwrap().size_in_bytes());
}

/// About, as the calculator says itself: slots, the table and the heap each have room to spare.
#[test]
fn heavy_hitters_take_about_what_the_calculator_says() {
    for epsilon in [0.1, 0.003, 0.0001] {
        let needs = CountNeeds { list: true, ..CountNeeds::new(1 << 40, 1 << 20, epsilon, 0.01) };
        let recommendation = recommend_counts(&needs).unwrap().unwrap();
        assert_eq!(recommendation.choice(), Sketch::HeavyHitters);
        let mut heavy = HeavyHitters::<u64>::new(epsilon).unwrap();
        (0..2 * heavy.capacity()).for_each(|key| {
            heavy.insert(&key);
        });
        let ratio = heavy.size_in_bytes() as f64 / recommendation.size_in_bytes() as f64;
        println!("{epsilon}: {} bytes a key", heavy.size_in_bytes() / heavy.capacity());
        assert!((0.6..1.7).contains(&ratio), "{ratio}: {} bytes", heavy.size_in_bytes());
    }
}

#[test]
fn what_is_recommended_can_do_what_is_needed() {
    let mut needs = Needs::new(10_000, 0.01);
    needs.abilities.remove = Ability::Yes;
    let choice = *recommend(&needs).unwrap().unwrap().choice();
    assert_eq!(choice.structure(), Structure::Cuckoo);
    let mut filter = CuckooFilter::new(choice.items(), 0.01).unwrap();
    filter.insert("here").unwrap();
    assert!(filter.remove("here") && !filter.contains("here"));
}
