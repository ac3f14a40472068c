//! The sizes of the comparison are those of the structures.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "fuse",
    feature = "heavy-hitters",
    feature = "hll",
    feature = "quotient"
))]

use core::error::Error;

use pds::bytes::{Header, Kind};
use pds::compare::{
    Ability, Against, Candidate, CountAbilities, CountNeeds, DistinctNeeds, Needs,
    SketchRecommendation, recommend, recommend_counts, recommend_distinct,
};
use pds::hash::DefaultHashBuilder;
use pds::params::{CountMinParams, QuotientParams};
use pds::registry::{self, Structure};
use pds::{
    CountMinSketch, CountSketch, CountingQuotientFilter, HeavyHitters, HyperLogLog, QuotientFilter,
    UltraLogLog,
};
use pds_testkit::envelope::forged;
use pds_testkit::keys;

/// Compares a built expression with the printed expression and its stated size.
macro_rules! built {
    ($candidate:expr, $built:expr) => {
        let (candidate, built) = ($candidate, $built);
        assert_eq!(candidate.expression(), stringify!($built));
        assert_eq!(candidate.size_in_bytes(), built.size_in_bytes(), stringify!($built));
    };
}

/// The line that is printed builds a filter of the size that is stated, from a promise and from memory.
#[test]
fn filters_take_what_the_calculator_says() -> Result<(), Box<dyn Error>> {
    use pds::registry::{
        BLOCKED_BLOOM, BLOCKED_COUNTING_BLOOM, BLOOM, COUNTING_BLOOM, CUCKOO, QUOTIENT,
        SPLIT_BLOCK_BLOOM,
    };
    let promised = |structure| Candidate::new(structure, 12_345, 0.001);
    built!(promised(&BLOOM)?, pds::BloomFilter::new(12_345, 0.001)?);
    built!(promised(&BLOCKED_BLOOM)?, pds::BlockedBloomFilter::new(12_345, 0.001)?);
    built!(promised(&SPLIT_BLOCK_BLOOM)?, pds::SplitBlockBloomFilter::with_blocks(815)?);
    built!(promised(&CUCKOO)?, pds::CuckooFilter::new(12_345, 0.001)?);
    built!(promised(&QUOTIENT)?, pds::QuotientFilter::new(12_345, 0.001)?);
    built!(promised(&COUNTING_BLOOM)?, pds::CountingBloomFilter::new(12_345, 0.001)?);
    built!(
        promised(&BLOCKED_COUNTING_BLOOM)?,
        pds::BlockedCountingBloomFilter::new(12_345, 0.001)?
    );

    let in_memory = |structure| Candidate::for_memory(structure, 1_000_000, 500_000);
    built!(
        in_memory(&BLOOM)?,
        pds::BloomFilter::builder().bits(8_000_000).expected_items(500_000).build()?
    );
    built!(
        in_memory(&BLOCKED_BLOOM)?,
        pds::BlockedBloomFilter::builder().blocks(15_625).expected_items(500_000).build()?
    );
    built!(in_memory(&SPLIT_BLOCK_BLOOM)?, pds::SplitBlockBloomFilter::with_blocks(31_250)?);
    built!(
        in_memory(&CUCKOO)?,
        pds::CuckooFilter::builder().buckets(133_333).fingerprint_bits(15).build()?
    );
    built!(
        in_memory(&QUOTIENT)?,
        pds::QuotientFilter::builder().slots(528_920).remainder_bits(13).build()?
    );
    built!(
        in_memory(&COUNTING_BLOOM)?,
        pds::CountingBloomFilter::builder().counters(2_000_000).hashes(3).build()?
    );
    built!(
        in_memory(&BLOCKED_COUNTING_BLOOM)?,
        pds::BlockedCountingBloomFilter::builder().lines(15_625).build()?
    );
    let set = promised(&registry::HASH_SET)?;
    let built: std::collections::HashSet<u64> =
        std::collections::HashSet::<u64>::with_capacity(12_345);
    assert_eq!(set.expression(), "std::collections::HashSet::<u64>::with_capacity(12_345)");
    assert_eq!(set.size_in_bytes() / 9 / 8 * 7, built.capacity() as u64);
    Ok(())
}

/// The recommended line builds a sketch of the size that is stated.
#[test]
fn sketches_are_built_by_the_line_that_is_printed() -> Result<(), Box<dyn Error>> {
    let counts = |total, abilities| {
        let needs = CountNeeds { abilities, ..CountNeeds::new(1 << 40, total, 0.01, 0.02) };
        Ok::<_, Box<dyn Error>>(recommend_counts(&needs)?.expect("one that does all of it"))
    };
    let any = CountAbilities::default();
    built!(counts(1 << 20, any)?, pds::CountMinSketch::new(0.01, 0.02)?);
    let wide = CountMinSketch::builder().params(CountMinParams::new(0.01, 0.02)?).counters::<u64>();
    let needs = CountNeeds { abilities: any, ..CountNeeds::new(1 << 40, 1 << 40, 0.01, 0.02) };
    let recommendation = recommend_counts(&needs)?.expect("one");
    let said = said(&recommendation, &registry::COUNT_MIN);
    assert_eq!(said, wide.build()?.size_in_bytes());
    let unbiased = CountAbilities { unbiased: true, ..any };
    built!(counts(1 << 20, unbiased)?, pds::CountSketch::new(0.01, 0.02)?);
    let listed = counts(1 << 20, CountAbilities { list: true, ..any })?;
    let _: HeavyHitters<u64> = pds::HeavyHitters::new(0.01)?;
    assert_eq!(listed.expression(), "pds::HeavyHitters::new(0.01)?");

    let remove = CountAbilities { remove: true, ..any };
    let few = CountNeeds { abilities: remove, ..CountNeeds::new(10_000, 1_000_000, 1e-4, 1e-3) };
    let recommendation = recommend_counts(&few)?.expect("one");
    let built = pds::CountingQuotientFilter::builder()
        .expected_items(10_000)
        .false_positive_rate(0.001)
        .slots_per_item(2.2)
        .build()?;
    let printed =
        "builder().expected_items(10_000).false_positive_rate(0.001).slots_per_item(2.2).build()?";
    assert_eq!(recommendation.expression(), format!("pds::CountingQuotientFilter::{printed}"));
    assert_eq!(recommendation.size_in_bytes(), built.size_in_bytes());

    let distinct = |overlap| {
        let needs = DistinctNeeds { overlap, ..DistinctNeeds::new(1 << 40, 0.02) };
        Ok::<_, Box<dyn Error>>(recommend_distinct(&needs)?.expect("one"))
    };
    built!(distinct(false)?, pds::UltraLogLog::new(11)?);
    assert_eq!(distinct(true)?.expression(), "pds::HyperLogLog::new(12)?");
    Ok(())
}

/// Counts of the sum that was stated fit into a counting quotient filter of the size that was computed, however they are spread.
#[test]
fn counts_of_any_spread_fit_into_the_quotient_filter_that_is_recommended() {
    for (keys, total, delta) in
        [(1_000_u64, 100_000_u64, 0.02_f64), (3_000, 3_500, 0.3), (500, 1 << 40, 0.6), (1, 7, 0.5)]
    {
        let recommendation = recommend_counts(&CountNeeds::new(keys, total, 1e-9, delta)).unwrap();
        let recommendation = recommendation.unwrap();
        assert_eq!(recommendation.choice(), &registry::COUNTING_QUOTIENT);
        let expression = recommendation.expression();
        let slots = expression.split("slots_per_item(").nth(1).unwrap();
        let slots = slots.split(')').next().unwrap().parse().unwrap();
        let builder = CountingQuotientFilter::builder().expected_items(keys).slots_per_item(slots);
        let empty = builder.false_positive_rate(delta).build().unwrap();
        assert_eq!(empty.size_in_bytes(), recommendation.size_in_bytes());
        // As many keys as possible have just one digit more, and the others come once.
        let bits = empty.remainder_bits();
        let just_above = (0..40).step_by(bits as usize).map(|shift| (1_u64 << shift) + 1);
        for count in just_above.chain([total / keys]).filter(|&count| count >= 2) {
            let mut filter = empty.clone();
            let mut left = total;
            for (hash, others) in keys::random(count).zip((0..keys).rev()) {
                let times = if left >= count + others { count } else { 1 };
                filter.insert_many_hash(hash, times).unwrap();
                left -= times;
            }
            assert!(filter.used_slots() <= filter.capacity());
        }
    }
}

/// Each kind of the family is that of one structure, and each structure has its own names.
#[test]
fn every_kind_is_registered_once() {
    let kinds: Vec<Kind> = registry::ALL.iter().filter_map(|one| one.kind).collect();
    for (index, &kind) in kinds.iter().enumerate() {
        assert!(!kinds[..index].contains(&kind), "{kind} is that of two");
        assert_eq!(registry::of_kind(kind).and_then(|one| one.kind), Some(kind), "{kind}");
    }
    // The kinds in an envelope's head: every kind but the forms of other structures.
    let forms = [Kind::COMPRESSED, Kind::DELTA, Kind::MIN_HASH_SIGNATURE];
    let filter = pds::BloomFilter::new(1, 0.5).unwrap().to_bytes();
    for id in 1..1_000u16 {
        let kind = Header::peek(&forged(&filter, 10, &id.to_le_bytes())).unwrap().kind;
        let is_structure = !kind.to_string().starts_with("kind ") && !forms.contains(&kind);
        assert_eq!(registry::of_kind(kind).is_some(), is_structure, "{kind}");
    }
    for (index, one) in registry::ALL.iter().enumerate() {
        assert!(!registry::ALL[..index].contains(one), "{one} is listed twice");
        let names = [one.name, one.type_name, one.crate_name, one.caution];
        assert!(names.iter().all(|name| !name.is_empty()), "{one:?}");
    }
}

/// The bytes of one structure, chosen or not.
fn said(recommendation: &SketchRecommendation, sketch: &Structure) -> u64 {
    if recommendation.choice() == sketch {
        return recommendation.size_in_bytes();
    }
    let row = recommendation.reasons().find(|reason| reason.structure == sketch);
    match row.expect("a structure of this question").against {
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
    assert_eq!(said(&counts, &registry::COUNT_MIN), count_min.size_in_bytes());
    let signed = CountSketch::new(epsilon, delta).unwrap();
    assert_eq!(said(&counts, &registry::COUNT_SKETCH), signed.size_in_bytes());

    let distinct = recommend_distinct(&DistinctNeeds::new(1 << 40, 0.02)).unwrap().unwrap();
    let mut sketch = HyperLogLog::new(12).unwrap();
    sketch.make_dense();
    assert_eq!(said(&distinct, &registry::HYPER_LOG_LOG), sketch.size_in_bytes());
    assert_eq!(
        said(&distinct, &registry::ULTRA_LOG_LOG),
        UltraLogLog::new(11).unwrap().size_in_bytes()
    );
}

/// The sizes are approximate, as documented: slots, the table and the heap each have spare room.
#[test]
fn heavy_hitters_take_about_what_the_calculator_says() {
    for epsilon in [0.1, 0.003, 0.0001] {
        let needs = CountNeeds {
            abilities: CountAbilities { list: true, ..CountAbilities::default() },
            ..CountNeeds::new(1 << 40, 1 << 20, epsilon, 0.01)
        };
        let recommendation = recommend_counts(&needs).unwrap().unwrap();
        assert_eq!(recommendation.choice(), &registry::HEAVY_HITTERS);
        let mut heavy = HeavyHitters::<u64>::new(epsilon).unwrap();
        (0..2 * heavy.capacity()).for_each(|key| {
            heavy.insert(&key);
        });
        let ratio = heavy.size_in_bytes() as f64 / recommendation.size_in_bytes() as f64;
        println!("{epsilon}: {} bytes per key", heavy.size_in_bytes() / heavy.capacity());
        assert!((0.6..1.7).contains(&ratio), "{ratio}: {} bytes", heavy.size_in_bytes());
    }
}

#[test]
fn what_is_recommended_can_do_what_is_needed() {
    let mut needs = Needs::new(10_000, 0.01);
    needs.abilities.remove = Ability::Yes;
    let choice = recommend(&needs).unwrap().unwrap().choice().clone();
    assert_eq!(choice.structure(), &registry::QUOTIENT);
    let params = *choice.params::<QuotientParams>().expect("those of a quotient filter");
    let mut filter = QuotientFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    filter.insert("here").unwrap();
    assert!(filter.remove("here") && !filter.contains("here"));
}
