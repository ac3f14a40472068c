//! Lookups in filters with a rate of 1 %, compared with Bloom filters, one key at a time.

use super::contest::{BLOCK, Lookups, ROUNDS, contest, each};
use super::textbook::Textbook;
use super::{Figure, Row, Rows};
use pds::compare::HumanCount;
use pds::{BlockedBloomFilter, BloomFilter, CuckooFilter};
use pds_testkit::keys::random;

const RATE: f64 = 0.01;

/// Measures the speed of blocked and cuckoo filters in multiples of either Bloom filter.
pub(super) fn rows(items: u64) -> Rows {
    let filters = Filters::of(items)?;
    let keys = |skipped: u64| -> Vec<u64> {
        let stream = random(1).skip(usize::try_from(skipped).unwrap_or(usize::MAX));
        stream.take((ROUNDS + 1) * BLOCK).collect()
    };
    // Few stored keys are repeated.
    let stored: Vec<u64> = keys(0).into_iter().take(usize::try_from(items)?).collect();
    let hits: Vec<u64> = stored.iter().copied().cycle().take((ROUNDS + 1) * BLOCK).collect();
    let (hits, misses) = (filters.contest("hit", &hits), filters.contest("miss", &keys(items)));
    Ok(hits.into_iter().chain(misses).collect())
}

struct Filters {
    items: u64,
    naive: Textbook,
    bloom: BloomFilter,
    blocked: BlockedBloomFilter,
    cuckoo: CuckooFilter,
}

impl Filters {
    fn of(items: u64) -> Result<Self, Box<dyn core::error::Error>> {
        let bloom = BloomFilter::new(items, RATE)?;
        let mut filters = Self {
            items,
            naive: Textbook::new(bloom.num_bits(), u64::from(bloom.num_hashes())),
            bloom,
            blocked: BlockedBloomFilter::new(items, RATE)?,
            cuckoo: CuckooFilter::new(items, RATE)?,
        };
        let mut keys = random(1).take(usize::try_from(items)?).peekable();
        while keys.peek().is_some() {
            let block: Vec<u64> = keys.by_ref().take(BLOCK).collect();
            block.iter().for_each(|key| filters.naive.insert(key));
            filters.bloom.insert_batch(&block);
            filters.blocked.insert_batch(&block);
            filters.cuckoo.insert_batch(&block)?;
        }
        Ok(filters)
    }

    fn contest(&self, kind: &str, keys: &[u64]) -> Vec<Row> {
        let naive = each(|key: &u64| self.naive.contains(key));
        let bloom = each(|key: &u64| self.bloom.contains(key));
        let blocked = each(|key: &u64| self.blocked.contains(key));
        let cuckoo = each(|key: &u64| self.cuckoo.contains(key));
        let structures: [Lookups<'_, u64>; 4] = [&naive, &bloom, &blocked, &cuckoo];
        let (times, found) = contest(keys, structures);
        assert!(kind != "hit" || found == [1.0; 4], "a stored key is never denied");
        assert!(kind == "hit" || found.iter().all(|rate| rate / RATE < 1.3), "rates of {found:?}");

        let pairs = [("blocked", 2, "5.3x"), ("cuckoo", 3, "2.3x")];
        let pairs = pairs.iter().flat_map(|fast| {
            [("a textbook's Bloom filter", 0), ("BloomFilter", 1)].map(|slow| (fast, slow))
        });
        let row = |(&(fast, ours, published), (slow, theirs))| Row {
            case: format!(
                "{} keys, {fast} against {slow}, k = {}: {kind}",
                HumanCount(self.items),
                self.bloom.num_hashes()
            ),
            published,
            source: None,
            measured: Figure::TimesAsFast(times.ratio(ours, theirs)),
        };
        pairs.map(row).collect()
    }
}
