//! Filters with removal: their size for a promise, insertions from one load to the next, and removals.

use pds::{
    BlockedCountingBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, QuotientFilter,
};

use crate::allocation;
use crate::arena::{Build, Design, Peer};
use crate::contest::{Block, time};
use crate::filter::{Filter, Operation, Task};
use crate::keys::{Keys, key};
use crate::report::{Row, Unit, size};
use crate::suite::{Bench, Fallible, Outcome};

/// Filters of ours for the keys and the rate of a design, on huge pages if it is huge.
pub(crate) const BLOOM: Build = |design, _| {
    let builder = BloomFilter::builder().expected_items(design.items);
    Ok(Box::new(builder.false_positive_rate(design.rate).huge_pages(design.is_huge()).build()?))
};
pub(crate) const COUNTING: Build = |design, _| {
    let builder = CountingBloomFilter::builder().expected_items(design.items);
    Ok(Box::new(builder.false_positive_rate(design.rate).huge_pages(design.is_huge()).build()?))
};
pub(crate) const BLOCKED_COUNTING: Build =
    |design, _| Ok(Box::new(BlockedCountingBloomFilter::new(design.items, design.rate)?));
pub(crate) const CUCKOO: Build =
    |design, _| Ok(Box::new(CuckooFilter::new(design.items, design.rate)?));
pub(crate) const QUOTIENT: Build =
    |design, _| Ok(Box::new(QuotientFilter::new(design.items, design.rate)?));

/// The loads between which insertions into slots are timed. Insertions slow down as the slots fill.
pub(crate) const SLOTS: &[(f64, &str)] =
    &[(0.5, "insert to 50 %"), (0.9, "insert to 90 %"), (0.95, "insert to 95 %")];
/// The design load of a structure whose speed does not depend on its load.
pub(crate) const WHOLE: &[(f64, &str)] = &[(1.0, "insert to the design")];

/// The keys of a promise, and the name of its cases.
const ITEMS: u64 = 1_000_000;
pub(crate) const OF_A_MILLION: &str = " of 1000000 keys";

/// The number of absent keys for the measurement of a rate. It measures a rate of 0.1 % to 1 % of itself.
const ABSENT: usize = 10_000_000;

/// Fills each filter with as many items as it is built for. Adds rows with the bits per item of ours and of each rival,
/// and their measured rates.
///
/// # Errors
/// The error of a filter that cannot be built.
///
/// # Panics
/// If a filter breaks the promise by more than five standard errors.
pub(crate) fn memory(
    bench: &mut Bench<'_>,
    (rates, case): (&[f64], &str),
    ours: Build,
    rivals: &[Peer],
) -> Outcome {
    for &rate in rates {
        let promise = Design { bytes: 0, items: ITEMS, rate, backend: None, hash_in: false };
        let (bytes, our_rate) = measure(&promise, "ours", ours)?;
        for rival in rivals {
            let (their_bytes, their_rate) = measure(&promise, rival.name, rival.build)?;
            let bits = [bytes, their_bytes].map(|bytes| 8.0 * bytes as f64 / ITEMS as f64);
            let labels = [&*format!("{} %{case}", 100.0 * rate), "memory"];
            let row = Row::exact(labels, rival.name, Unit::BitsPerItem, bits).bytes(bytes);
            let row = row.rates([our_rate, their_rate], ABSENT as u64);
            bench.add(row.difference(rival.name, rival.note));
        }
    }
    Ok(())
}

/// Fills a filter with as many items as it is built for. Returns its bytes and its rate.
fn measure(promise: &Design, name: &str, build: Build) -> Fallible<(u64, f64)> {
    let (mut filter, bytes) = allocation::measured(|| build(promise, None))?;
    let items: Vec<u64> = (0..promise.items).map(key).collect();
    filter.insert_batch(&items);
    assert_eq!(filter.contains_each(&items), promise.items, "{name}: false negatives");
    let mut absent = vec![0; ABSENT];
    Keys::absent().fill(&mut absent);
    let rate = filter.contains_each(&absent) as f64 / ABSENT as f64;
    let error = (promise.rate / ABSENT as f64).sqrt();
    assert!(rate < promise.rate + 5.0 * error, "{name}: a rate of {rate}, not {}", promise.rate);
    Ok((bytes, rate))
}

/// Fills two filters in turn from empty, load by load, and empties them again.
///
/// `whole` keys are a load of 1. Each round times all keys from one load to the next, so a block is as long as that.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number")]
pub(crate) fn changes(
    bench: &mut Bench<'_>,
    design: &Design,
    peer: &'static str,
    (whole, loads): (u64, &[(f64, &str)]),
    filters: [&mut dyn Filter; 2],
) {
    let (mut stages, mut keys) = (Vec::new(), Keys::stored(whole));
    let mut taken = 0;
    for &(load, name) in loads {
        let end = (whole as f64 * load) as usize;
        let mut block = Block::new(end - core::mem::replace(&mut taken, end));
        block.fill(&mut keys);
        stages.push((name, Operation::Insert, block, [Vec::new(), Vec::new()]));
    }
    let mut all = Block::new(taken);
    all.fill(&mut Keys::stored(whole));
    stages.push(("remove", Operation::Remove, all, [Vec::new(), Vec::new()]));
    for round in 0..=bench.effort().pairs() {
        for turn in [round % 2, (round + 1) % 2] {
            for (_, operation, block, times) in &mut stages {
                let taken = time(&mut Task::new(&mut *filters[turn], *operation), block);
                if round > 0 {
                    times[turn].push(taken.as_secs_f64() * 1e9 / block.keys.len() as f64);
                }
            }
        }
    }
    for (name, _, _, [ours, theirs]) in stages {
        let row = Row::timed([&size(design.bytes), name], peer, &ours, &theirs);
        bench.add(Row { backend: design.backend, ..row.bytes(design.bytes) });
    }
}
