//! A million addresses of web pages, in an exact set and in filters of ten bits per address.

use super::contest::{BLOCK, Lookups, ROUNDS, contest, each};
use super::{Figure, NONE, Row, Rows};
use pds::compare::HumanCount;
use pds::{BlockedBloomFilter, BloomFilter};
use pds_testkit::keys::urls;
use std::collections::HashSet;

/// Bits per address. The 1.2 MB of the published figure hold a million addresses.
const BITS: u64 = 10;

/// Measures memory, lookups and rates of all three structures.
pub(super) fn rows(items: u64) -> Rows {
    let mut stream = urls(1);
    let stored: Vec<String> = stream.by_ref().take(usize::try_from(items)?).collect();
    let set: HashSet<String> = stored.iter().cloned().collect();
    let mut bloom = BloomFilter::builder().bits(BITS * items).expected_items(items).build()?;
    let blocks = (BITS * items).div_ceil(512);
    let builder = BlockedBloomFilter::builder().blocks(blocks).expected_items(items);
    let mut blocked = builder.build()?;
    for address in &stored {
        bloom.insert(address);
        blocked.insert(address);
    }
    let (known, new) = questions(&stored, stream);
    let (exact, standard, line) = (
        each(|address: &String| set.contains(address)),
        each(|address: &String| bloom.contains(address)),
        each(|address: &String| blocked.contains(address)),
    );
    let structures: [Lookups<'_, String>; 3] = [&exact, &standard, &line];
    let ((hits, found), (misses, rates)) = (contest(&known, structures), contest(&new, structures));
    assert_eq!(found, [1.0; 3], "a stored address is never denied");

    let stories = [
        ("HashSet<String>", set_bytes(&set), ["128 MB", "150 ns", NONE]),
        ("BloomFilter", bloom.size_in_bytes(), ["1.2 MB", "375 ns", "0.8 %"]),
        ("BlockedBloomFilter", blocked.size_in_bytes(), ["1.2 MB", "45 ns", "0.8 %"]),
    ];
    let mut rows = Vec::new();
    for (index, (name, bytes, [size, time, rate])) in stories.into_iter().enumerate() {
        let mut row = |what: &str, published, measured| {
            // The published figure is for a million.
            let published = if items == 1_000_000 { published } else { NONE };
            let case = format!("{} addresses, {name}: {what}", HumanCount(items));
            rows.push(Row { case, published, source: None, measured });
        };
        row("memory", size, Figure::Bytes(bytes));
        row("hit", time, Figure::Nanoseconds(hits.median(index)));
        row("miss", time, Figure::Nanoseconds(misses.median(index)));
        row("false positives", rate, Figure::Rate(rates[index]));
    }
    Ok(rows)
}

/// Returns stored addresses in another order than that of memory, and addresses that were never stored.
fn questions(
    stored: &[String],
    absent: impl Iterator<Item = String>,
) -> (Vec<String>, Vec<String>) {
    // A prime that divides no number of addresses in use: every address is queried equally often.
    const STEP: usize = 7_368_787;
    let asked = (ROUNDS + 1) * BLOCK;
    let known = (0..asked).map(|question| stored[question * STEP % stored.len()].clone());
    (known.collect(), absent.take(asked).collect())
}

/// Returns the size of a set: its table, with a slot and a control byte per place, and the text that it owns. The
/// overhead of the allocator is not included.
fn set_bytes(set: &HashSet<String>) -> u64 {
    let table = set.capacity() * (size_of::<String>() + 1);
    (table + set.iter().map(String::capacity).sum::<usize>()) as u64
}
