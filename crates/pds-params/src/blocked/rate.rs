//! The false-positive rate, its limit for many blocks, and its spread over filters.

use super::assert_hashes;
use super::half::{Coverage, positions};
use super::load::Load;

/// The load from which each bit is clear with a probability below e^-45. The rate is then 1 in any arithmetic.
const FULL: f64 = 45.0;

/// Returns the mean false-positive rate, a fraction in \[0, 1\].
///
/// The result is exact: loads of blocks are binomial. The relative error is below 10^-13 / √rate: 10^-9 at a rate of
/// 10^-8.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
///
/// # Complexity
/// O(√load) for a load of items / blocks, some microseconds at usual loads. No allocation.
///
/// # References
/// Felix Putze, Peter Sanders and Johannes Singler, "Cache-, Hash- and Space-Efficient Bloom
/// Filters", WEA 2007, section 3, for the mixture over loads.
///
/// # Examples
/// ```
/// use pds_params::blocked::rate;
/// // 10.1 bits for each of a million items.
/// assert_eq!(format!("{:.5}", rate(19_727, 1_000_000, 8)), "0.01000");
/// // At the same size, six hashes have a lower rate.
/// assert_eq!(format!("{:.5}", rate(19_727, 1_000_000, 6)), "0.00932");
/// ```
#[must_use]
pub fn rate(blocks: u64, items: u64, hashes: u32) -> f64 {
    assert_hashes(hashes);
    match (blocks, items) {
        (_, 0) => 0.0,
        (0, _) => 1.0,
        _ => rate_at(&Load::binomial(blocks, items), hashes / 2),
    }
}

/// Returns the mean false-positive rate of a filter of very many blocks with this number of bits per item.
///
/// Loads are then Poisson. At 10 bits per item and 1,000 blocks, the finite rate is 0.02 % lower. The rate is 1 if
/// `bits_per_item` is 0, negative or NaN.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
#[must_use]
pub fn rate_asymptotic(bits_per_item: f64, hashes: u32) -> f64 {
    assert_hashes(hashes);
    let mean = super::BLOCK_BITS as f64 / bits_per_item;
    if mean == 0.0 {
        return 0.0;
    }
    // Without bits, or for a negative number or NaN, the filter counts as full.
    if mean > 0.0 && mean.is_finite() { rate_at(&Load::poisson(mean), hashes / 2) } else { 1.0 }
}

/// Returns the mean false-positive rate of Parquet's split-block filter.
///
/// Its blocks of 256 bits have eight lanes of 32 bits. A key has one bit in each lane.
///
/// # References
/// Jim Apple, "Split block Bloom filters", arXiv:2101.01719, 2021, section 2.
///
/// # Examples
/// ```
/// use pds_params::blocked::split_block_rate;
/// // 10.5 bits for each of a million items.
/// assert_eq!(format!("{:.4}", split_block_rate(41_096, 1_000_000)), "0.0100");
/// ```
#[must_use]
pub fn split_block_rate(blocks: u64, items: u64) -> f64 {
    if items == 0 || blocks == 0 {
        return if items == 0 { 0.0 } else { 1.0 };
    }
    let load = Load::binomial(blocks, items);
    let mut keys = load.first();
    if keys / 32.0 > FULL {
        return 1.0;
    }
    load.average(|| {
        let fill = -libm::expm1(keys * libm::log1p(-1.0 / 32.0));
        keys += 1.0;
        libm::pow(fill, 8.0)
    })
}

/// Returns the number of bits that writers of Parquet use for a split-block filter, before rounding.
///
/// This is -8n / ln(1 - p^(1/8)).
///
/// The formula assumes equally full blocks, so the filter misses the rate. At 1 %, 8 % of the bits are missing. The
/// result is 0 for rates of 1 and above. It is infinite for NaN and for rates up to 10^-128, where 1 - p^(1/8) rounds
/// to 1.
#[must_use]
pub fn split_block_bits(items: u64, rate: f64) -> f64 {
    if items == 0 || rate >= 1.0 {
        return 0.0;
    }
    let clear = libm::log(1.0 - libm::pow(rate.max(0.0), 1.0 / 8.0));
    if clear < 0.0 { -8.0 * items as f64 / clear } else { f64::INFINITY }
}

/// Returns the mean rate of a split-block filter, including collisions of half hashes.
///
/// All positions in a block follow from 32 bits of the hash. Keys with the same 32 bits cannot be told apart in a
/// block.
///
/// # Examples
/// ```
/// use pds_params::blocked::{split_block_rate, split_block_rate_with_collisions};
/// let rates = [split_block_rate(1 << 22, 1_000), split_block_rate_with_collisions(1 << 22, 1_000)];
/// assert!(rates[0] < 3e-16 && rates[1] > 5e-14);
/// ```
#[must_use]
pub fn split_block_rate_with_collisions(blocks: u64, items: u64) -> f64 {
    const HALF_HASH_COLLISION: f64 = 1.0 / (u32::MAX as f64 + 1.0);
    if items == 0 {
        return 0.0;
    }
    let collisions = items as f64 / blocks as f64 * HALF_HASH_COLLISION;
    (split_block_rate(blocks, items) + collisions).min(1.0)
}

/// Returns the relative spread of the rates of single filters: standard deviation over mean.
///
/// Blocks differ in load and in the bits that their keys set. A filter of few blocks may therefore err more or less
/// often than the mean.
///
/// Given the number of items, the variance of the rate of one block's queries is E\[g²\] - q² - λ q'(λ)². Here g is the
/// rate within a block, q its mean, and λ the mean load. g² is the probability that two independent queries both find
/// all bits. The last term accounts for the fixed sum of the loads.
///
/// # Panics
/// If `hashes` is odd, 0, or above [`MAX_HASHES`](super::MAX_HASHES).
///
/// # Complexity
/// Up to 30 times that of [`rate`].
#[must_use]
pub fn instance_rate_relative_spread(blocks: u64, items: u64, hashes: u32) -> f64 {
    assert_hashes(hashes);
    if blocks == 0 || items == 0 {
        return 0.0;
    }
    let load = Load::poisson(items as f64 / blocks as f64);
    let probes = hashes / 2;
    let mean = rate_at(&load, probes);
    let slope = rate_after(&load, probes, 1.0) - mean;
    let both = rate_of_both(&load, probes);
    let variance = both - mean * mean - load.mean() * slope * slope;
    libm::sqrt(variance.max(0.0) / blocks as f64) / mean
}

fn rate_at(load: &Load, probes: u32) -> f64 {
    rate_after(load, probes, 0.0)
}

/// Returns the rate if every block holds `more` keys above its load.
fn rate_after(load: &Load, probes: u32, more: f64) -> f64 {
    let first = load.first() + more;
    if is_full(first, probes) {
        return 1.0;
    }
    let mut half = Coverage::new(positions(probes, 0), probes, first);
    load.average(|| {
        let covered = half.probability();
        half.add_key();
        covered * covered
    })
}

/// Returns the probability that two independent queries of one block both find all of their bits.
fn rate_of_both(load: &Load, probes: u32) -> f64 {
    let first = load.first();
    if is_full(first, probes) {
        return 1.0;
    }
    let own = positions(probes, 0);
    let mut halves = [0, 1, 2, 3].map(|rotation| {
        let other = positions(probes, rotation);
        Coverage::new(core::array::from_fn(|lane| own[lane] + other[lane]), probes, first)
    });
    load.average(|| {
        let covered = halves.iter().map(Coverage::probability).sum::<f64>() / 4.0;
        halves.iter_mut().for_each(Coverage::add_key);
        covered * covered
    })
}

/// Returns `true` if blocks of at least `keys` keys are full within the precision of the arithmetic.
fn is_full(keys: f64, probes: u32) -> bool {
    keys * f64::from(probes) / 256.0 > FULL
}
