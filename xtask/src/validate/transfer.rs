//! Compressed filters and deltas as subjects: what was sent comes back bit for bit, in no more bytes than promised.

use super::prelude::*;
use pds::BloomFilter;
use pds::bytes::{Compressed, Delta};
use pds::error::{ApplyError, DecodeError};
use pds_testkit::envelope::forged;

/// Entropy-coded filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: TRANSFER,
    title: "Compressed filters and deltas",
    variants: &[],
    jobs: |run| jobs(run, |filter| Compressed::new(filter).to_bytes()),
    faults: &[fault(
        "chunk-cut",
        "the index of a compressed filter ends the first chunk one byte early",
        &[RETURN],
        |run| jobs(run, cut),
    )],
};

const TRANSFER: &str = "transfer";

const RETURN: Check = Check::new(
    "filters that do not come back",
    "A compressed filter is read back bit for bit, in whole and by chunk. A delta turns the older filter into the newer one, and \
     refuses a third one.",
);

const LENGTH: Check = Check::new(
    "compressed filters that are too long",
    "Beyond its heads, a compressed filter is at most 0.1 % longer than its bits, and at most 1 % longer than their entropy \
     if 5 to 95 % are set.",
);

/// Bits of a filter: no whole number of chunks or words.
const BITS: u64 = 100_003;
/// Offset of the index: heads and a checksum.
const INDEX: usize = 64 + 128 + 8;
/// Heads and checksums.
const FIXED: usize = INDEX + 8;

/// Shares of bits that are set.
const FILLS: [f64; 7] = [0.0, 0.001, 0.05, 0.2, 0.5, 0.8, 0.95];

fn jobs(run: &Run, send: fn(&BloomFilter) -> Vec<u8>) -> Vec<Job<'_>> {
    FILLS.into_iter().map(|fill| job(run, fill, send)).collect()
}

/// Sends many filters of one fill.
fn job(run: &Run, fill: f64, send: fn(&BloomFilter) -> Vec<u8>) -> Job<'_> {
    let instances = run.effort.choose([20, 100, 1_000]);
    let items = whole((-real(BITS) * (-fill).ln_1p()).round());
    let seed = run.seed ^ fill.to_bits();
    Job::new(instances * (items + BITS), move || {
        let mut hashes = keys::random(seed);
        let (mut lost, mut long) = (0, 0);
        for _ in 0..instances {
            let mut filter = built();
            first(items, &mut hashes).for_each(|hash| _ = filter.insert_hash(hash));
            let sent = send(&filter);
            lost += u64::from(!comes_back(&filter, &sent).unwrap_or(false));
            lost += u64::from(!patches(&filter, &mut hashes));
            long += u64::from(!is_short(&filter, sent.len() - FIXED));
        }
        let case = Case::random(TRANSFER, items, 0.0, format!("m={BITS}, fill {fill}"));
        let case = case.of(instances);
        vec![case.none(RETURN, lost), case.none(LENGTH, long)]
    })
}

fn built() -> BloomFilter {
    BloomFilter::builder().bits(BITS).hashes(1).build().expect("a sound shape")
}

/// Returns whether bytes hold exactly this filter, in whole and by chunk.
fn comes_back(filter: &BloomFilter, sent: &[u8]) -> Result<bool, DecodeError> {
    let compressed = Compressed::from_bytes(sent)?;
    let chunks = (0..compressed.num_chunks()).map(|index| compressed.chunk(index));
    let payload = chunks.collect::<Result<Vec<_>, _>>()?.concat();
    let bytes = filter.to_bytes();
    let whole = compressed.decompress::<BloomFilter>()?.to_bytes() == bytes;
    Ok(whole && bytes[128..bytes.len() - 8] == payload)
}

/// Returns whether a delta leads to a newer filter, and from the filter only.
fn patches(filter: &BloomFilter, hashes: &mut impl Iterator<Item = u64>) -> bool {
    let mut newer = filter.clone();
    hashes.take(100).for_each(|hash| _ = newer.insert_hash(hash));
    let delta = Delta::between(filter, &newer).expect("one shape").to_bytes();
    let delta = Delta::from_bytes(&delta).expect("bytes that were just written");
    let (mut copy, mut third) = (filter.clone(), newer.clone());
    hashes.take(1_000).for_each(|hash| _ = third.insert_hash(hash));
    let before = third.clone();
    let refused = matches!(delta.apply(&mut third), Err(ApplyError::Other { .. }));
    let is_third = third != newer && third != *filter;
    delta.apply(&mut copy).is_ok() && copy == newer && third == before && (refused || !is_third)
}

fn is_short(filter: &BloomFilter, length: usize) -> bool {
    let (length, fill) = (real(length as u64), real(filter.count_ones()) / real(BITS));
    let raw = real(filter.size_in_bytes());
    let entropy = -(fill * fill.log2() + (1.0 - fill) * (1.0 - fill).log2()) * real(BITS) / 8.0;
    let promised = (0.05..=0.95).contains(&fill);
    length <= 1.001 * raw && (!promised || length <= 1.01 * entropy)
}

/// The fault: the first chunk ends one byte early, with valid checksums.
fn cut(filter: &BloomFilter) -> Vec<u8> {
    let sent = Compressed::new(filter).to_bytes();
    let length = |at: usize| u16::from_le_bytes([sent[at], sent[at + 1]]);
    let (first, second) = (length(INDEX), length(INDEX + 2));
    if first == 0 || second == 4096 {
        return sent;
    }
    let lie = forged(&sent, INDEX, &(first - 1).to_le_bytes());
    forged(&lie, INDEX + 2, &(second + 1).to_le_bytes())
}
