//! Many filters that are asked for one key, as the tables of a storage engine are.

use pds::bloom::{BloomFilter, FilterBank};
use pds::hash::{DefaultHashBuilder, KeyHasher};

use crate::contest::{Contender, each};
use crate::filter::Filter;
use crate::keys::Keys;
use crate::suite::{Bench, Fallible, Outcome};

/// Number of filters, and their keys: 120 KB each, 120 MB together.
const FILTERS: u64 = 1_000;
const ITEMS: u64 = 100_000;

/// Keys per block. Each is asked of every filter.
const BLOCK: usize = 64;

const NOTE: &str = "Absent keys. Times are those of all filters for one key. The peer has no such method, and is asked in a loop.";

/// Adds the rows.
pub(super) fn run(bench: &mut Bench<'_>) -> Outcome {
    let filters = (0..FILTERS).map(ours).collect::<Fallible<Vec<_>>>()?;
    let peers: Vec<_> = filters.iter().map(peer).collect();
    let hasher = DefaultHashBuilder::default();
    let mut theirs = each(|key| {
        let hash = hasher.hash_key(&key);
        peers.iter().map(|filter| u64::from(filter.contains_hash(hash))).sum()
    });
    let mut one_by_one = each(|key| {
        let hash = hasher.hash_key(&key);
        filters.iter().map(|filter| u64::from(filter.contains_hash(hash))).sum()
    });
    let mut answers = vec![false; filters.len()];
    let mut together = each(|key| {
        BloomFilter::contains_hash_in(&filters, hasher.hash_key(&key), &mut answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    });
    let mut bank = FilterBank::new(ITEMS, 0.01)?;
    bank.extend_from(&filters)?;
    let mut in_bank = each(|key| bank.sets_with_hash(hasher.hash_key(&key)).count() as u64);
    let ways: [(&str, &mut dyn Contender); 3] = [
        ("hash, in a loop", &mut one_by_one),
        ("hash, together", &mut together),
        ("hash, in a bank", &mut in_bank),
    ];
    for (operation, ours) in ways {
        let (labels, block) = (["1,000 of 120 KB", operation], (BLOCK, Keys::absent()));
        bench.add(bench.duel(labels, "fastbloom", block, [ours, &mut theirs]).note(NOTE));
    }
    Ok(())
}

/// Returns the filter with this number.
fn ours(number: u64) -> Fallible<BloomFilter> {
    let mut filter = BloomFilter::new(ITEMS, 0.01)?;
    filter.fill(number * ITEMS..(number + 1) * ITEMS);
    Ok(filter)
}

/// Returns a filter with as many set bits as ours has.
// It sets other bits for the same keys, but absent keys find as many of them set.
fn peer(ours: &BloomFilter) -> fastbloom::BloomFilter<DefaultHashBuilder> {
    let words = ours.bits().words().to_vec();
    fastbloom::BloomFilter::from_vec(words).hasher(DefaultHashBuilder::default()).hashes(7)
}
