//! Measured rates against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with a probability of 10^-6 at most.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of keys")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of keys")]

use bloom_blocked::BlockedBloomFilter;
use bloom_core::BloomFilter;
use bloom_scalable::hash::DefaultHashBuilder;
use bloom_scalable::{
    HealthStatus, LayeredBloomFilter, LayeredParams, OwnedLayer, ScalableBloomFilter,
    ScalableParams, Schedule,
};
use pds_params::BloomParams;
use pds_params::layered::answer_at_least;
use pds_params::scalable::compound_rate;
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 410;

fn level() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// The limit of a sum of many trials in standard deviations.
fn limit() -> f64 {
    normal_quantile(level() / 2.0)
}

/// Judges a number of events in independent trials, two-sided.
fn judge(name: &str, events: u64, trials: u64, rate: f64) {
    let accepted = Binomial::new(trials, rate).acceptance(level());
    assert!(accepted.contains(&events), "{name}: {events} of {trials}, accepted {accepted:?}");
}

fn judge_mean(name: &str, values: &[f64], expected: f64) {
    pds_testkit::stats::judge_mean(name, values, expected, level());
}

fn filter<F: OwnedLayer<Hasher = DefaultHashBuilder>>(
    items: u64,
    rate: f64,
    growth: u32,
    schedule: Schedule,
) -> ScalableBloomFilter<F> {
    let params = ScalableParams::new(items, rate, growth, schedule).unwrap();
    ScalableBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap()
}

/// Twelve layers, 100 moments in equal steps of the logarithm: the rate is that of the bits, and at most the promised one.
fn keeps_the_promise<F: OwnedLayer<Hasher = DefaultHashBuilder>>(name: &str, schedule: Schedule) {
    const QUERIES: u64 = 20_000;
    let (first, promised) = (100_u64, 0.01);
    let mut filter = filter::<F>(first, promised, 2, schedule);
    let last = first * ((1 << 12) - 1);
    let (mut inserted, mut absent) = (keys::random(1), keys::random(2));
    let (mut new, mut events, mut above, mut full) = (0, 0, 0, 0.0);
    for moment in 1..=100_i32 {
        let until = (last as f64).powf(f64::from(moment) / 100.0).round() as u64;
        while new < until {
            new += u64::from(filter.insert_hash(inserted.next().unwrap()).unwrap());
        }
        assert_eq!(filter.capacity() - filter.room(), new);
        let found =
            (0..QUERIES).filter(|_| filter.contains_hash(absent.next().unwrap())).count() as u64;
        let rate = filter.false_positive_rate();
        judge(&format!("{name} at {new}"), found, QUERIES, rate);
        let health = filter.health();
        assert_eq!(health.status, HealthStatus::Ok, "{name} at {new}: {health}");
        // The promise for so many layers, which is nearer than that for any number of them.
        let layers = filter.params().compound_rate(u32::try_from(filter.num_layers()).unwrap());
        assert!(rate <= 1.05 * layers, "{name} at {new}: {rate} of at most {layers}");
        full = rate / layers;
        events += found;
        above += u32::from(rate > promised);
    }
    assert_eq!((filter.num_layers(), filter.room()), (12, 0));
    assert!(full > 0.85, "{name}: {full} of the rate of full layers");
    assert!(
        events > 2_000 && above == 0,
        "{name}: {events} events, {above} moments above the promise"
    );
}

#[test]
fn the_compound_rate_keeps_the_promise_at_every_moment() {
    keeps_the_promise::<BloomFilter>("standard", Schedule::DEFAULT);
    keeps_the_promise::<BlockedBloomFilter>("blocked", Schedule::DEFAULT);
}

/// Returns the mean rate of a layer when as many keys as it is designed for were new to it. More keys came: those that it answered `true`
/// falsely were not new.
fn rate_when_full(params: &ScalableParams, index: u32) -> f64 {
    let design = params.layer(index).unwrap();
    let size = BloomParams::for_double_hashing(design.offered().items, design.rate).unwrap();
    let (mut new, mut came) = (0.0, 0);
    while new < design.items as f64 {
        new += 1.0 - size.rate_at(came);
        came += 1;
    }
    size.rate_at(came)
}

#[test]
fn full_layers_have_the_rates_of_their_schedule() {
    for (name, schedule) in [
        ("ratio", Schedule::Ratio(0.7)),
        ("halving", Schedule::Halving),
        ("likely", Schedule::Likely(5_000)),
    ] {
        let params = ScalableParams::new(1_000, 0.05, 2, schedule).unwrap();
        let mut rates = vec![Vec::new(); 4];
        for seed in 0..20 {
            let mut filter = filter::<BloomFilter>(1_000, 0.05, 2, schedule);
            let mut inserted = keys::random(seed);
            let mut new = 0;
            while new < 7_000 {
                new += u32::from(filter.insert_hash(inserted.next().unwrap()).unwrap());
            }
            assert_eq!((filter.num_layers(), filter.room()), (3, 0));
            for (rates, layer) in rates.iter_mut().zip(filter.layers()) {
                rates.push(layer.false_positive_rate());
            }
            rates[3].push(filter.false_positive_rate());
        }
        for (index, rates) in rates.iter().enumerate() {
            let expected = match index {
                3 => compound_rate((0..3).map(|index| rate_when_full(&params, index))),
                _ => rate_when_full(&params, u32::try_from(index).unwrap()),
            };
            judge_mean(&format!("{name}, layer {index}"), rates, expected);
            let most = match index {
                3 => params.compound_rate(3),
                _ => params.layer(u32::try_from(index).unwrap()).unwrap().rate,
            };
            assert!(expected <= most && expected > 0.9 * most, "{name}, layer {index}: {expected}");
        }
    }
}

/// Layers answer falsely independently of each other, though the keys of each are those that the layers before it did not contain. With
/// one hash for all layers the rates of these filters are 2 to 8 % higher.
#[test]
fn layers_are_independent_and_keep_even_a_high_rate() {
    fn check<F: OwnedLayer<Hasher = DefaultHashBuilder>>(name: &str, growth: u32, ratio: f64) {
        const QUERIES: u64 = 20_000;
        let params = ScalableParams::new(2_000, 0.6, growth, Schedule::Ratio(ratio)).unwrap();
        let (mut ratios, mut rates) = (Vec::new(), Vec::new());
        for seed in 0..24 {
            let mut filter = filter::<F>(2_000, 0.6, growth, Schedule::Ratio(ratio));
            let mut inserted = keys::random(seed);
            while filter.num_layers() < 4 || filter.room() > 0 {
                filter.insert_hash(inserted.next().unwrap()).unwrap();
            }
            let found = keys::random(seed + 100).take(usize::try_from(QUERIES).unwrap());
            let found =
                found.filter(|&hash| filter.contains_hash(hash)).count() as f64 / QUERIES as f64;
            ratios.push(found / filter.false_positive_rate());
            rates.push(found);
        }
        let name = format!("{name}, growth {growth}, ratio {ratio}");
        judge_mean(&name, &ratios, 1.0);
        let mean = rates.iter().sum::<f64>() / 24.0;
        let most = params.compound_rate(4);
        let noise = limit() * (most / (24 * QUERIES) as f64).sqrt();
        assert!(mean <= most + noise && mean > 0.65 * most, "{name}: {mean} of at most {most}");
    }
    // Equal rates make sizes that divide each other.
    for (growth, ratio) in [(1, 0.85), (2, 0.85), (2, 0.5), (3, 0.999)] {
        check::<BloomFilter>("standard", growth, ratio);
        check::<BlockedBloomFilter>("blocked", growth, ratio);
    }
}

#[test]
fn approximate_numbers_of_items_are_those_that_were_new() {
    let errors: Vec<f64> = (0..40)
        .map(|seed| {
            let mut filter = filter::<BloomFilter>(500, 0.02, 2, Schedule::DEFAULT);
            let mut inserted = keys::random(seed);
            (0..9_000).for_each(|_| _ = filter.insert_hash(inserted.next().unwrap()));
            let new = (filter.capacity() - filter.room()) as f64;
            let items = filter.approx_len();
            (items.value - new) / items.standard_error
        })
        .collect();
    judge_mean("items", &errors, 0.0);
    let variance = errors.iter().map(|error| error * error).sum::<f64>() / 40.0;
    assert!((0.3..2.5).contains(&variance), "{variance}");
}

/// At a high rate it matters which keys are counted: all that came to a layer, whether they were new to it or not.
#[test]
fn approximate_numbers_of_items_leave_out_keys_that_an_older_layer_answered_falsely() {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for seed in 0..40 {
        let mut filter = filter::<BloomFilter>(2_000, 0.6, 1, Schedule::Ratio(0.3));
        let mut inserted = keys::random(seed);
        inserted.by_ref().take(2_000).for_each(|hash| _ = filter.insert_hash(hash));
        assert!((100..1_000).contains(&filter.room()), "{}", filter.room());
        let items = filter.approx_len();
        first.push((items.value - 2_000.0) / items.standard_error);
        while filter.room() > 0 {
            filter.insert_hash(inserted.next().unwrap()).unwrap();
        }
        let (rate, before) = (filter.false_positive_rate(), filter.approx_len().value);
        inserted.take(1_500).for_each(|hash| _ = filter.insert_hash(hash));
        assert_eq!(filter.num_layers(), 2);
        let (items, expected) = (filter.layers()[1].approx_len(), 1_500.0 * (1.0 - rate));
        assert_eq!(filter.approx_len().value, before + items.value);
        let error = (items.standard_error.powi(2) + expected * rate).sqrt();
        second.push((items.value - expected) / error);
    }
    judge_mean("items of one layer", &first, 0.0);
    judge_mean("items of the second layer", &second, 0.0);
}

/// An absent key is counted at least a with the product of the rates of the first a layers.
#[test]
fn layers_of_counts_are_independent_though_each_holds_keys_of_the_one_before() {
    const QUERIES: u64 = 100_000;
    // Layers of one size that hold the same keys: with one hash for all they would be equal.
    let params = LayeredParams::new(&[2_000, 2_000, 2_000], 0.9).unwrap();
    let mut ratios = vec![Vec::new(); 2];
    for seed in 0..20 {
        let mut filter =
            LayeredBloomFilter::<BloomFilter>::from_params(params, DefaultHashBuilder::default())
                .unwrap();
        for _ in 0..3 {
            keys::random(seed).take(2_000).for_each(|hash| _ = filter.insert_hash(hash));
        }
        let mut counts = [0_u64; 4];
        for hash in keys::random(seed + 100).take(usize::try_from(QUERIES).unwrap()) {
            counts[filter.count_hash(hash) as usize] += 1;
        }
        let at_least = |count: usize| counts[count..].iter().sum::<u64>();
        let rates: Vec<f64> =
            filter.layers().iter().map(BloomFilter::false_positive_rate).collect();
        judge(&format!("seed {seed}"), at_least(1), QUERIES, rates[0]);
        for (ratios, count) in ratios.iter_mut().zip([2, 3]) {
            let expected: f64 = rates[..count].iter().product();
            assert!(QUERIES as f64 * expected > 500.0, "{rates:?}");
            ratios.push(at_least(count) as f64 / (QUERIES as f64 * expected));
        }
    }
    judge_mean("counted at least 2", &ratios[0], 1.0);
    judge_mean("counted at least 3", &ratios[1], 1.0);
}

/// Keys with the multiplicities of the design, inserted in a random order.
#[test]
fn counts_are_too_high_at_most_as_often_as_promised_and_layers_hold_what_they_were_designed_for() {
    let keys = [20_000_u64, 3_000, 500];
    let params = LayeredParams::new(&keys, 0.05).unwrap();
    let mut too_high = vec![Vec::new(); 3];
    let mut stored = vec![Vec::new(); 3];
    for seed in 0..20 {
        let mut filter =
            LayeredBloomFilter::<BloomFilter>::from_params(params, DefaultHashBuilder::default())
                .unwrap();
        let distinct: Vec<u64> = keys::random(seed).take(20_000).collect();
        let times = |index: u64| keys.iter().filter(|&&keys| index < keys).count();
        let mut inserts: Vec<u64> = (0..20_000)
            .flat_map(|index| {
                core::iter::repeat_n(distinct[usize::try_from(index).unwrap()], times(index))
            })
            .collect();
        let mut order = keys::random(seed + 500);
        inserts.sort_by_cached_key(|_| order.next());
        inserts.iter().for_each(|&hash| _ = filter.insert_hash(hash));
        let mut counted = [(0_u32, 0_u32); 3];
        for (index, &hash) in (0..).zip(&distinct) {
            let (times, count) = (times(index), filter.count_hash(hash) as usize);
            assert!(count >= times, "too low");
            counted[times - 1].0 += u32::from(count > times);
            counted[times - 1].1 += 1;
        }
        for (too_high, (found, of)) in too_high.iter_mut().zip(counted) {
            too_high.push(f64::from(found) / f64::from(of));
        }
        for (stored, layer) in stored.iter_mut().zip(filter.layers()) {
            stored.push(layer.approx_len().value);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for (times, too_high) in too_high.iter().enumerate() {
        let (found, most) = (mean(too_high), params.rate_above(times + 1));
        assert!(found <= most, "{}: {found} of at most {most}", times + 1);
        // Most inserts come while the layers are not yet full.
        assert!(times == 2 || found > 0.05 * most, "{}: {found} of at most {most}", times + 1);
    }
    for (index, stored) in stored.iter().enumerate() {
        let (found, design) = (mean(stored), params.layer(index).unwrap().items as f64);
        assert!(found <= design * 1.01, "{index}: {found} in {design}");
        assert!(found > keys[index] as f64 * 0.97, "{index}: {found}");
    }
}

/// The law of full layers, which `pds-params` holds against an independent table: a key that is in the first c layers is counted at
/// least c + 1 with the rate of the next layer, and exactly c + 1 if the one behind that denies it.
#[test]
fn full_layers_count_one_too_many_as_often_as_the_exact_law_says() {
    const SEEDS: u64 = 20;
    let keys = [6_000_u64, 4_000, 3_000];
    let params = LayeredParams::new(&keys, 0.4).unwrap();
    // By the true count: keys asked for, those counted one more or higher, those counted one more; both also as expected.
    let mut found = [[0.0_f64; 3]; 3];
    let mut expected = [[0.0_f64; 2]; 3];
    let mut ratios = vec![Vec::new(); 3];
    for seed in 0..SEEDS {
        let mut filter =
            LayeredBloomFilter::<BloomFilter>::from_params(params, DefaultHashBuilder::default())
                .unwrap();
        let distinct: Vec<u64> = keys::random(seed).take(6_000).collect();
        let times = |index: usize| keys.iter().filter(|&&keys| (index as u64) < keys).count();
        let mut inserts: Vec<usize> =
            (0..6_000).flat_map(|index| core::iter::repeat_n(index, times(index))).collect();
        let mut order = keys::random(seed + 500);
        inserts.sort_by_cached_key(|_| order.next());
        // The layer to which the last insert of each key went, from 1 on: layers behind it were not asked.
        let mut reached = vec![0; 6_000];
        for index in inserts {
            reached[index] = filter.count_hash(distinct[index]) as usize + 1;
            filter.insert_hash(distinct[index]);
        }
        let rates: Vec<f64> =
            filter.layers().iter().map(BloomFilter::false_positive_rate).collect();
        let mut ask = |hash, truth: usize| {
            let count = filter.count_hash(hash) as usize;
            assert!(count >= truth);
            let [more, exactly] = [count > truth, count == truth + 1].map(f64::from);
            let found = &mut found[truth];
            *found = [found[0] + 1.0, found[1] + more, found[2] + exactly];
            let at_least = |answer| answer_at_least(&rates, truth, answer);
            expected[truth][0] += at_least(truth + 1);
            expected[truth][1] += at_least(truth + 1) - at_least(truth + 2);
        };
        keys::random(seed + 100).take(6_000).for_each(|hash| ask(hash, 0));
        for (index, &hash) in distinct.iter().enumerate() {
            if times(index) < 3 && reached[index] == times(index) {
                ask(hash, times(index));
            }
        }
        for (layer, ratios) in ratios.iter_mut().enumerate() {
            let stored = reached.iter().filter(|&&reached| reached > layer).count() as u64;
            let exact = filter.layers()[layer].params().rate_at(stored);
            ratios.push(rates[layer] / exact);
        }
    }
    for (truth, ([asked, more, exactly], expected)) in found.into_iter().zip(expected).enumerate() {
        assert!(more > 1_000.0, "{truth}: few events");
        for (name, events, expected) in
            [("or higher", more, expected[0]), ("exactly", exactly, expected[1])]
        {
            judge(
                &format!("{truth}: one more, {name}"),
                events as u64,
                asked as u64,
                expected / asked,
            );
        }
    }
    for (layer, ratios) in ratios.iter().enumerate() {
        judge_mean(&format!("the rate of layer {layer}"), ratios, 1.0);
    }
}

/// A layer that takes keys after a merge answers independently of the merged ones, because no merged layer mixes hashes as it
/// does. With one hash for both the rates would be about 20 % higher.
#[test]
fn layers_that_are_filled_after_a_merge_are_independent_of_the_merged_ones() {
    const QUERIES: u64 = 30_000;
    let params = ScalableParams::new(2_000, 0.4, 1, Schedule::Ratio(1e-6)).unwrap();
    let design = params.layer(0).unwrap();
    let full = |seed| {
        let mut filter = filter::<BloomFilter>(2_000, 0.4, 1, Schedule::Ratio(1e-6));
        let mut inserted = keys::random(seed);
        while filter.room() > 0 {
            filter.insert_hash(inserted.next().unwrap()).unwrap();
        }
        filter
    };
    // The newest layer has so many keys at the time of the merge.
    for (before, layers) in [(0, 3), (200, 4)] {
        let (mut ratios, mut rates) = (Vec::new(), Vec::new());
        for seed in 0..20 {
            let mut filter = filter::<BloomFilter>(2_000, 0.4, 1, Schedule::Ratio(1e-6));
            let mut inserted = keys::random(seed);
            for _ in 0..before {
                filter.insert_hash(inserted.next().unwrap()).unwrap();
            }
            filter.merge(&full(seed + 1_000)).unwrap();
            let promised = filter.merge(&full(seed + 2_000)).unwrap();
            assert_eq!(promised, compound_rate([design.rate, design.rate, 0.4]));
            while filter.num_layers() < layers || filter.room() > 0 {
                filter.insert_hash(inserted.next().unwrap()).unwrap();
            }
            let found = keys::random(seed + 100).take(usize::try_from(QUERIES).unwrap());
            let found =
                found.filter(|&hash| filter.contains_hash(hash)).count() as f64 / QUERIES as f64;
            ratios.push(found / filter.false_positive_rate());
            rates.push(found / promised);
        }
        let mean = rates.iter().sum::<f64>() / 20.0;
        judge_mean(&format!("{before} keys before the merge"), &ratios, 1.0);
        assert!(mean <= 1.0 + limit() / ((20 * QUERIES) as f64).sqrt(), "{mean}");
    }
}
