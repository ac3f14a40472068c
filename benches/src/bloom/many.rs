//! Many filters that are asked for one key, as the tables of a storage engine are.

use core::error::Error;

use pds::bloom::{BloomFilter, FilterBank};
use pds::hash::{DefaultHashBuilder, KeyHasher};

use crate::contest::{Contender, Each};
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome};

/// Number of filters, and their keys: 120 KB each, 120 MB together.
const FILTERS: u64 = 1_000;
const ITEMS: u64 = 100_000;

/// Keys per block. Each is asked of every filter.
const BLOCK: usize = 64;

/// The name of the rows.
pub(super) const CASE: &str = "1,000 of 120 KB";

/// The operations of the rows.
pub(super) const LOOP: &str = "hash, in a loop";
pub(super) const TOGETHER: &str = "hash, together";
pub(super) const BANK: &str = "hash, in a bank";

/// Adds the rows.
pub(super) fn run(bench: &mut Bench<'_>) -> Outcome {
    let filters = (0..FILTERS).map(ours).collect::<Result<Vec<_>, _>>()?;
    let peers: Vec<_> = filters.iter().map(peer).collect();
    let hasher = DefaultHashBuilder::default();
    let count = |answers: &[bool]| answers.iter().map(|&answer| u64::from(answer)).sum::<u64>();
    let mut theirs = Each(|key| {
        let hash = hasher.hash_key(&key);
        peers.iter().map(|filter| u64::from(filter.contains_hash(hash))).sum()
    });
    let mut one_by_one = Each(|key| {
        let hash = hasher.hash_key(&key);
        filters.iter().map(|filter| u64::from(filter.contains_hash(hash))).sum()
    });
    let mut answers = vec![false; filters.len()];
    let mut together = Each(|key| {
        BloomFilter::contains_hash_in(&filters, hasher.hash_key(&key), &mut answers);
        count(&answers)
    });
    let mut bank = FilterBank::new(ITEMS, 0.01)?;
    bank.extend_from(&filters)?;
    let mut in_bank = Each(|key| bank.sets_with_hash(hasher.hash_key(&key)).count() as u64);
    let note = "Absent keys. Times are those of all filters for one key. The peer has no such method, and is asked in a loop.";
    for (operation, ours) in [
        (LOOP, &mut one_by_one as &mut dyn Contender),
        (TOGETHER, &mut together),
        (BANK, &mut in_bank),
    ] {
        let row = bench.duel(
            [CASE, operation],
            "fastbloom",
            (BLOCK, Keys::absent()),
            [ours, &mut theirs],
        );
        bench.add(row.note(note));
    }
    Ok(())
}

/// Returns the filter with this number.
fn ours(number: u64) -> Result<BloomFilter, Box<dyn Error>> {
    let mut filter = BloomFilter::new(ITEMS, 0.01)?;
    let keys: Vec<u64> = (number * ITEMS..(number + 1) * ITEMS).map(key).collect();
    filter.insert_batch(&keys);
    Ok(filter)
}

/// Returns a filter with as many set bits as ours has.
// It sets other bits for the same keys, but absent keys find as many of them set.
fn peer(ours: &BloomFilter) -> fastbloom::BloomFilter<DefaultHashBuilder> {
    let words = ours.bits().words().to_vec();
    fastbloom::BloomFilter::from_vec(words).hasher(DefaultHashBuilder::default()).hashes(7)
}
