//! The comparison: every structure for one promise, from any two of items, rate and memory.
#![cfg(feature = "std")]

use core::time::Duration;

use pds::compare::{
    Abilities, Ability, Against, Candidate, CountAbilities, CountNeeds, DistinctNeeds, Needs,
    Priority, compare, compare_in_memory, compare_most_items, recommend, recommend_counts,
    recommend_distinct,
};
use pds::error::ParamError;
use pds::params::{BloomParams, HashTableParams};
use pds::registry::{
    BLOCKED_BLOOM, BLOCKED_COUNTING_BLOOM, BLOOM, COUNT_MIN, COUNT_SKETCH, COUNTING_BLOOM,
    COUNTING_QUOTIENT, CUCKOO, FUSE, HASH_MAP, HASH_SET, HEAVY_HITTERS, HYPER_LOG_LOG, QUOTIENT,
    RIBBON, SPLIT_BLOCK_BLOOM, ULTRA_LOG_LOG, filters,
};
use pds_params::internal::ParamFault;
use pds_testkit::ThreadTime;

const RATES: [f64; 5] = [0.3, 0.03, 0.01, 1e-3, 1e-6];

/// Filters of all sizes and rates, except those that a structure refuses. The first seven refuse none.
fn every_size() -> Vec<(Candidate, f64)> {
    let sizes = [1, 3, 100, 4_097, 1_000_000, 3_000_000_001];
    let pairs = sizes.into_iter().flat_map(|items| RATES.map(|rate| (items, rate)));
    let sized = |(items, rate)| {
        let sized = move |structure| Some((Candidate::new(structure, items, rate).ok()?, rate));
        filters().filter_map(sized)
    };
    let all: Vec<_> = pairs.flat_map(sized).collect();
    assert!(all.len() >= 7 * 30, "{}", all.len());
    all
}

#[test]
fn every_structure_keeps_the_promise() {
    for (candidate, rate) in every_size() {
        let (structure, items, reached) =
            (candidate.structure(), candidate.items(), candidate.rate());
        assert!(0.0 < reached && reached <= rate, "{structure}, {items}, {rate}: {reached}");
        let bits = candidate.size_in_bytes() as f64 * 8.0;
        assert_eq!(candidate.bits_per_item(), bits / items as f64);
    }
}

/// Returns a budget that the filter keeps. Sizes of ribbon filters depend on the keys, so they need 5 % more than expected.
fn budget(candidate: &Candidate) -> u64 {
    let size = candidate.size_in_bytes();
    let room = if candidate.structure() == &RIBBON { size / 20 + 1 } else { 0 };
    (size + room).max(8)
}

/// A budget of exactly the least size gives at most the rate of that size.
#[test]
fn memory_and_items_give_the_rate_back() {
    for (sized, rate) in every_size() {
        let (structure, items, budget) = (sized.structure(), sized.items(), budget(&sized));
        let back = Candidate::for_memory(structure, budget, items).unwrap();
        assert!(back.size_in_bytes() <= budget, "{structure}, {items}, {rate}");
        // Sizes include the excess of double hashing and collisions. Rates do not.
        assert!(back.rate() <= rate, "{structure}, {items}, {rate}: {}", back.rate());
    }
}

#[test]
fn memory_and_rate_give_the_items_back() {
    let mut found = 0;
    for structure in filters() {
        for rate in RATES {
            let Ok(most) = Candidate::of_most_items(structure, 1_000_000, rate) else { continue };
            assert!(most.size_in_bytes() <= 1_000_000 && most.rate() <= rate);
            let more = Candidate::new(structure, most.items() + 1, rate);
            let fits = more.is_ok_and(|more| more.size_in_bytes() <= 1_000_000);
            assert!(!fits, "{structure} at {rate}: {}", most.items());
            found += 1;
        }
    }
    assert!(found >= 35, "{found}");
    // The Bloom filter's own inverse agrees.
    let most = Candidate::of_most_items(&BLOOM, 1_000_000, 0.01).unwrap();
    let inverse = BloomParams::for_double_hashing_in(8_000_000, 0.01).unwrap();
    assert_eq!(Some(most.items()), inverse.expected_items());
}

/// The blocked ones by the Poisson mixture, the cuckoo filter by 10 bits and the quotient filter by 9.125 at a
/// load of 0.95, computed apart.
#[test]
fn a_million_items_at_one_percent() {
    let comparison = compare(1_000_000, 0.01).unwrap();
    let mut rows: Vec<_> = comparison
        .candidates()
        .map(|one| (one.structure(), format!("{:.2}", one.bits_per_item())))
        .collect();
    let expected = [
        (&BLOOM, "9.59"),
        (&QUOTIENT, "9.61"),
        (&BLOCKED_BLOOM, "10.10"),
        (&CUCKOO, "10.53"),
        (&SPLIT_BLOCK_BLOOM, "10.53"),
        (&COUNTING_BLOOM, "38.37"),
        (&BLOCKED_COUNTING_BLOOM, "45.72"),
        (&HASH_SET, "150.99"),
    ];
    let expected = expected.map(|(structure, bits)| (structure, bits.to_owned()));
    rows.retain(|(structure, _)| expected.iter().any(|(other, _)| other == structure));
    assert_eq!(rows, expected);
}

/// Slots and bytes of the standard library's table, as it is.
#[test]
fn the_exact_set_is_counted_as_it_is() {
    for items in [4, 7, 100, 1_000, 28_672, 28_673, 1_000_000_u32] {
        let mut set = std::collections::HashSet::new();
        set.extend(0..u64::from(items));
        let candidate = Candidate::new(&HASH_SET, items.into(), 0.5).unwrap();
        let slots = candidate.params::<HashTableParams>().unwrap().num_slots();
        let capacity = if slots < 8 { slots - 1 } else { slots / 8 * 7 };
        assert_eq!(set.capacity() as u64, capacity, "{items}");
    }
}

#[test]
fn what_a_structure_cannot_hold_is_left_out_with_the_reason() {
    // A cuckoo filter has 2^32 buckets of four.
    let comparison = compare(20_000_000_000, 0.01).unwrap();
    let reason = comparison.impossible().find(|(structure, _)| **structure == CUCKOO).unwrap().1;
    assert!(
        matches!(reason, ParamError(ParamFault::TooLarge { parameter: "buckets", .. })),
        "{reason}"
    );
    assert_eq!(comparison.get(&CUCKOO).map(Candidate::items), Err(reason));
    let (can, cannot) = (comparison.candidates().count(), comparison.impossible().count());
    assert_eq!(can + cannot, filters().count());
    assert!(can >= 6, "{can}");
    // Ten bits per item are no room for a set of hashes.
    let comparison = compare_in_memory(1_250_000, 1_000_000).unwrap();
    let error = comparison.get(&HASH_SET).map(Candidate::items);
    assert!(matches!(error, Err(ParamError(ParamFault::OutOfRange { parameter: "bytes", .. }))));
}

#[test]
fn what_no_structure_can_keep_is_an_error() {
    for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = compare(1_000, rate).unwrap_err();
        assert!(matches!(error, ParamError(ParamFault::NotAProbability { .. })), "{error}");
        assert!(compare_most_items(1_000, rate).is_err());
        assert!(recommend(&Needs::new(1_000, rate)).is_err());
    }
    assert!(matches!(compare(0, 0.01), Err(ParamError(ParamFault::OutOfRange { value: 0, .. }))));
    assert!(matches!(
        compare_in_memory(1_000, 0),
        Err(ParamError(ParamFault::OutOfRange { value: 0, .. }))
    ));
    for bytes in [0, 7, u64::MAX] {
        assert!(compare_in_memory(bytes, 1).is_err(), "{bytes}");
    }
    assert!(compare_most_items(0, 0.01).is_err());
    assert!(compare(u64::MAX, 1e-9).is_err(), "64-bit hashes collide more often");
}

/// Fingerprints are smaller at low rates, and bits at high rates, as `docs/choosing.md` states.
#[test]
fn the_smallest_changes_with_the_rate() {
    let smallest = |rate, insert| {
        let comparison = compare(1_000_000, rate).unwrap();
        let mut able = comparison.candidates().filter(|one| one.abilities().insert >= insert);
        able.next().unwrap().structure()
    };
    let dynamic = |rate| smallest(rate, Ability::Yes);
    assert_eq!([0.1, 0.01, 1e-3].map(dynamic), [&BLOOM, &BLOOM, &QUOTIENT]);
    assert_eq!([5e-4, 1e-4, 1e-6].map(dynamic), [&QUOTIENT; 3]);
    let any = |rate| smallest(rate, Ability::No);
    assert_eq!([0.5, 0.01, 1e-3, 1e-6].map(any), [&RIBBON; 4]);
}

#[test]
fn a_static_filter_is_recommended_to_those_who_know_all_keys() {
    let chosen = |insert| {
        recommend(&needs(|abilities| abilities.insert = insert, Priority::Memory)).unwrap().unwrap()
    };
    assert_eq!(chosen(Ability::Yes).choice().structure(), &BLOOM);
    let reasons = chosen(Ability::Yes).to_string();
    assert!(reasons.contains("ribbon filter (RibbonFilter): cannot take keys one at a time"));
    let text = chosen(Ability::No).to_string();
    assert!(text.contains("    let filter = pds::RibbonFilter::new(keys, 0.01)?;"), "{text}");
}

#[test]
fn past_the_design_load_rates_rise_or_the_filter_is_full() {
    for candidate in compare(1_000_000, 0.01).unwrap().candidates() {
        let rates = [1_000_000, 1_100_000, 2_000_000].map(|items| candidate.rate_at(items));
        let structure = candidate.structure();
        if [&CUCKOO, &FUSE, &QUOTIENT, &RIBBON].contains(&structure) {
            assert_eq!(rates[1..], [None, None]);
        } else {
            assert!(rates[0] < rates[1] && rates[1] < rates[2], "{structure}");
        }
    }
}

fn needs(change: impl Fn(&mut Abilities), priority: Priority) -> Needs {
    let mut needs = Needs { priority, ..Needs::new(1_000_000, 0.01) };
    change(&mut needs.abilities);
    needs
}

#[test]
fn the_choice_does_what_is_needed() {
    use Ability::{Limited, Yes};
    use Priority::{Memory, Speed};
    let cases = [
        (needs(|_| (), Memory), Some(&BLOOM)),
        (needs(|_| (), Speed), Some(&BLOCKED_BLOOM)),
        (needs(|a| a.remove = Yes, Memory), Some(&QUOTIENT)),
        (needs(|a| a.remove = Yes, Speed), Some(&BLOCKED_COUNTING_BLOOM)),
        (needs(|a| (a.remove, a.merge) = (Yes, Limited), Memory), Some(&QUOTIENT)),
        (needs(|a| (a.remove, a.grow) = (Yes, Limited), Memory), Some(&QUOTIENT)),
        (needs(|a| (a.remove, a.merge) = (Yes, Yes), Memory), Some(&COUNTING_BLOOM)),
        (needs(|a| a.count = Limited, Memory), Some(&COUNTING_BLOOM)),
        (needs(|a| (a.remove, a.grow) = (Yes, Yes), Memory), Some(&HASH_SET)),
        (needs(|a| (a.count, a.grow) = (Limited, Yes), Memory), None),
    ];
    for (needs, expected) in cases {
        let recommendation = recommend(&needs).unwrap();
        assert_eq!(recommendation.map(|it| it.choice().structure()), expected, "{needs:?}");
    }
}

#[test]
fn every_other_structure_has_a_reason() {
    let recommendation =
        recommend(&needs(|abilities| abilities.remove = Ability::Yes, Priority::Speed));
    let recommendation = recommendation.unwrap().unwrap();
    let text = recommendation.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "blocked counting Bloom filter (BlockedCountingBloomFilter), 5.45 MiB: the fewest cache lines \
             per lookup of those that do what is needed.",
            "    let mut filter = pds::BlockedCountingBloomFilter::new(1_000_000, 0.01)?;",
            "Note: It counts up to 15; never remove a key that was not inserted.",
            "- standard Bloom filter (BloomFilter): cannot remove keys",
        ]
    );
    assert_eq!(recommendation.reasons().count(), filters().count() - 1);
    let slower = recommendation.reasons().filter(|it| matches!(it.against, Against::Slower { .. }));
    let slower: Vec<_> = slower.map(|reason| reason.structure).collect();
    assert_eq!(slower, [&CUCKOO, &QUOTIENT, &COUNTING_BLOOM, &HASH_SET]);
}

#[test]
fn reasons_are_in_words_and_hold_their_numbers() {
    let recommendation = recommend(&needs(|it| it.merge = Ability::Yes, Priority::Memory));
    let text = recommendation.unwrap().unwrap().to_string();
    for line in [
        "- blocked Bloom filter (BlockedBloomFilter): 1.20 MiB, 1.05 times as much",
        "- cuckoo filter (CuckooFilter): can be merged up to a limit only",
        "- hash set of 64-bit hashes (HashSet<u64>): 18.0 MiB, 15.74 times as much",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let needs = Needs::new(20_000_000_000, 0.01);
    let text = recommend(&needs).unwrap().unwrap().to_string();
    assert!(
        text.contains("- cuckoo filter (CuckooFilter): buckets would have to be 5.2"),
        "{text}"
    );
}

/// No structure tells keys apart whose 64-bit hashes are equal, at any size.
#[test]
fn rates_below_collisions_are_refused_by_every_structure() {
    for (items, rate) in [(1_000_000, 5e-14), (1, 5e-20), (1 << 40, 5e-8)] {
        for structure in filters() {
            let error = Candidate::new(structure, items, rate).unwrap_err();
            let refused = matches!(
                error,
                ParamError(ParamFault::BelowCollisions { .. })
                    | ParamError(ParamFault::TooLarge { .. })
                    | ParamError(ParamFault::TooLow { .. })
            );
            assert!(refused, "{structure}: {error}");
        }
        assert!(recommend(&Needs::new(items, rate)).is_err());
    }
}

/// Its blocks are told by 32 bits and its bits by 32 more: more blocks would not be reached, and no fewer keys collide.
#[test]
fn split_blocks_are_no_more_and_no_better_than_halves_of_a_hash_can_be() {
    let most = Candidate::for_memory(&SPLIT_BLOCK_BLOOM, 1 << 37, 1_000_000_000).unwrap();
    assert_eq!(most.size_in_bytes(), 1 << 37);
    let more = Candidate::for_memory(&SPLIT_BLOCK_BLOOM, (1 << 37) + 32, 1_000_000_000).unwrap();
    assert_eq!(more.size_in_bytes(), most.size_in_bytes());
    // One key per block: its 32 bits equal those of another key with probability 2^-32.
    let rate = Candidate::for_memory(&SPLIT_BLOCK_BLOOM, 32, 1).unwrap().rate();
    assert!(rate > 1.0 / 4_294_967_296.0, "{rate:e}");
    assert!(Candidate::new(&SPLIT_BLOCK_BLOOM, 1, 2.3e-10).is_ok_and(|one| one.rate() <= 2.3e-10));
}

#[test]
fn the_best_comes_first() {
    let by_size = compare(50_000, 1e-4).unwrap();
    assert!(by_size.candidates().is_sorted_by_key(Candidate::size_in_bytes));
    let by_rate = compare_in_memory(200_000, 50_000).unwrap();
    assert!(by_rate.candidates().is_sorted_by(|one, next| one.rate() <= next.rate()));
    let by_items = compare_most_items(200_000, 1e-4).unwrap();
    assert!(by_items.candidates().is_sorted_by(|one, next| one.items() >= next.items()));
    for comparison in [by_size, by_rate, by_items] {
        assert!(comparison.candidates().count() > 5);
    }
}

/// The figures by hand: e / 0.001 columns in 5 rows of 4 bytes, in whole words; 2^24 slots of a hash, a count and a control byte.
#[test]
fn counts_by_the_least_memory_that_does_what_is_needed() {
    let needs = CountNeeds::new(10_000_000, 4_000_000_000, 0.001, 0.01);
    let recommendation = recommend_counts(&needs).unwrap().unwrap();
    assert_eq!(recommendation.choice(), &COUNT_MIN);
    assert_eq!(recommendation.size_in_bytes(), 54_384);
    let exact = recommendation.reasons().find(|reason| *reason.structure == HASH_MAP).unwrap();
    let Against::Larger { bytes, .. } = exact.against else { panic!("{exact:?}") };
    assert_eq!(bytes, (1 << 24) * 17);
    assert_eq!(recommendation.reasons().count(), 4);

    // Counters of 32 bits would be full: they are twice as wide from there on, and tracked keys take less.
    let wide = recommend_counts(&CountNeeds { total: 5_000_000_000, ..needs }).unwrap().unwrap();
    assert_eq!(wide.choice(), &HEAVY_HITTERS);
    let against = wide.reasons().find(|reason| *reason.structure == COUNT_MIN).unwrap().against;
    assert!(
        matches!(against, Against::Larger { bytes, .. } if bytes == 2_719 * 5 * 8),
        "{against}"
    );

    let chosen = |needs: CountNeeds| recommend_counts(&needs).unwrap().map(|one| one.choice());
    let [list, remove, unbiased] = [0, 1, 2].map(|which| CountAbilities {
        list: which == 0,
        remove: which == 1,
        unbiased: which == 2,
    });
    assert_eq!(chosen(CountNeeds { abilities: list, ..needs }), Some(&HEAVY_HITTERS));
    assert_eq!(
        chosen(CountNeeds { abilities: CountAbilities { remove: true, ..list }, ..needs }),
        Some(&HASH_MAP)
    );
    assert_eq!(chosen(CountNeeds { abilities: remove, ..needs }), Some(&COUNTING_QUOTIENT));
    let coarse = CountNeeds { epsilon: 0.02, ..needs };
    assert_eq!(chosen(CountNeeds { abilities: remove, ..coarse }), Some(&COUNT_SKETCH));
    assert_eq!(chosen(CountNeeds { abilities: unbiased, ..coarse }), Some(&COUNT_SKETCH));
    // Few keys are counted each, and exactly if need be.
    let few = CountNeeds { keys: 1_000, ..needs };
    assert_eq!(chosen(few), Some(&COUNTING_QUOTIENT));
    assert_eq!(chosen(CountNeeds { abilities: unbiased, ..few }), Some(&HASH_MAP));
    let words = recommendation.to_string();
    assert!(
        words.starts_with("count-min sketch (CountMinSketch), 53.1 KiB: the smallest"),
        "{words}"
    );
    assert!(words.contains("- hash map of counts (HashMap<u64, u64>): 272 MiB"), "{words}");
}

#[test]
fn distinct_keys_by_the_least_memory_that_does_what_is_needed() {
    let needs = DistinctNeeds::new(1_000_000_000, 0.01);
    let chosen = |needs: DistinctNeeds| {
        let one = recommend_distinct(&needs).unwrap().unwrap();
        (one.choice(), one.size_in_bytes())
    };
    assert_eq!(chosen(needs), (&ULTRA_LOG_LOG, 1 << 13));
    assert_eq!(chosen(DistinctNeeds { overlap: true, ..needs }), (&HYPER_LOG_LOG, 1 << 14));
    assert_eq!(chosen(DistinctNeeds { keys: 100, ..needs }), (&HASH_SET, 128 * 9));
    let words = recommend_distinct(&DistinctNeeds { overlap: true, ..needs }).unwrap().unwrap();
    let reason = "- UltraLogLog: cannot estimate the overlap of two sets";
    assert!(words.to_string().contains(reason), "{words}");
}

/// A sketch that cannot be had at any size leaves the exact ones; an error that is none is an error.
#[test]
fn impossible_errors_leave_the_exact_structures() {
    let needs = DistinctNeeds::new(1_000, 1e-9);
    let exact = recommend_distinct(&needs).unwrap().unwrap();
    assert_eq!(exact.choice(), &HASH_SET);
    assert!(exact.reasons().all(|reason| matches!(reason.against, Against::Impossible(_))));
    let keys = u64::MAX;
    assert!(recommend_counts(&CountNeeds::new(keys, keys, 0.0, 0.5)).is_err());
}

/// Also where an exact set could be had.
#[test]
fn case_26_a_standard_error_that_is_none_is_refused() {
    for keys in [1, 1_000, u64::MAX] {
        for standard_error in [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
            let error = recommend_distinct(&DistinctNeeds::new(keys, standard_error)).unwrap_err();
            let expected =
                format!("standard_error is {standard_error:?}, but must be above 0 and below 1");
            assert_eq!(error.to_string(), expected);
        }
    }
}

/// Every stated rate includes the share of double hashing and of collisions.
#[test]
fn case_25_every_candidate_states_a_rate_that_counts_all_that_adds_to_it() {
    for items in [1, 2, 3, 10, 1_000, 1_000_000, 1 << 40] {
        let collisions = items as f64 / 2f64.powi(64);
        for structure in filters() {
            for rate in [0.999, 0.9, 0.5, 0.01, 1e-3, 1e-6, 1e-9] {
                let Ok(candidate) = Candidate::new(structure, items, rate) else { continue };
                let stated = candidate.rate();
                // Collisions of less than a millionth of the rate are left out of the size of a static filter.
                let most = rate * (1.0 + 1e-6);
                assert!(collisions <= stated && stated <= most, "{structure}: {items} at {rate}");
                let bytes = budget(&candidate);
                let lowest = Candidate::for_memory(structure, bytes, items).unwrap().rate();
                assert!(collisions <= lowest && lowest <= most, "{structure}: {items} at {rate}");
            }
        }
    }
}

/// Numbers at both ends of the scale have an answer: 150 of them within 2 s.
#[test]
fn case_47_every_comparison_ends_at_once() {
    let numbers = [0, 1, 2, 17, 1_000, 1 << 32, 1 << 53, 1 << 63, u64::MAX];
    let shares = [f64::NAN, -1.0, 0.0, 1e-300, 1e-9, 0.5, 1.0 - f64::EPSILON / 2.0, 2.5];
    let is_probability = |share: f64| share > 0.0 && share < 1.0;
    for a in numbers {
        let start = ThreadTime::now();
        for structure in filters() {
            for b in numbers {
                let candidate = Candidate::for_memory(structure, a, b);
                assert!(candidate.is_err() || candidate.is_ok_and(|it| it.rate() <= 1.0));
            }
            let sized = Candidate::new(structure, 1_000, 0.01);
            let rate = sized.ok().and_then(|sized| sized.rate_at(a));
            assert!(rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)), "{a}");
        }
        for share in shares {
            assert!(compare(a, share).is_err() || is_probability(share));
            for other in shares {
                let counts = recommend_counts(&CountNeeds::new(a, a, share, other));
                assert!(counts.is_err() || is_probability(share) && is_probability(other));
            }
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{a}: {:?}", start.elapsed());
    }
}

/// The structures that no comparison ranks have the sizes that are told.
#[test]
fn sizes_of_the_others_are_those_of_the_structures() {
    use pds::compare::{aging_and_growing, grown, similar_sets, theta_sketch};
    use pds::theta::ThetaSet;
    use pds::{
        LshIndex, MinHash, ScalableBloomFilter, ThetaSketch, TimedBloomFilter, WindowBloomFilter,
    };

    for (items, rate) in [(1_000, 0.01), (77, 1e-6), (50_000, 0.2)] {
        let [scalable, window, timed] = aging_and_growing(items, rate).unwrap();
        let mut filter = ScalableBloomFilter::new(items, rate).unwrap();
        assert_eq!(scalable.size_in_bytes(), filter.size_in_bytes());
        (0..7 * items).for_each(|key| _ = filter.insert(&key).unwrap());
        let later = grown(items, rate, 3).unwrap();
        // Keys that look present open no layer, so that the third may not be full.
        assert_eq!(filter.size_in_bytes(), later);
        assert_eq!(
            window.size_in_bytes(),
            WindowBloomFilter::new(items, rate).unwrap().size_in_bytes()
        );
        let native = TimedBloomFilter::new(3_600_000, items, rate).unwrap();
        assert_eq!(timed.size_in_bytes(), native.size_in_bytes());
    }
    let theta = theta_sketch(0.03).unwrap();
    let mut sketch = ThetaSketch::new(2_048).unwrap();
    let longest = (0..40_000_u64).map(|key| {
        sketch.insert(&key);
        if key % 64 == 0 { sketch.to_compact().to_bytes().len() as u64 } else { 0 }
    });
    let longest = longest.max().unwrap();
    assert_eq!(theta.expression(), "pds::ThetaSketch::new(2_048)?");
    assert!(longest <= theta.size_in_bytes() && longest > theta.size_in_bytes() * 9 / 10);
    assert!(sketch.estimate() > 0.0);
    let [min_hash, index] = similar_sets(0.05, 300, 0.8, 0.95).unwrap();
    let mut native = LshIndex::new(128, 0.8, 0.95).unwrap();
    let sketches = (0..300_u32).map(|document| {
        let mut sketch = MinHash::new(128).unwrap();
        sketch.insert(&document);
        (document, sketch)
    });
    native.insert_batch(sketches).unwrap();
    assert_eq!(index.size_in_bytes(), native.size_in_bytes());
    assert_eq!(min_hash.size_in_bytes(), MinHash::new(128).unwrap().size_in_bytes());
}
