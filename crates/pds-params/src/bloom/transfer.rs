//! Filters that are sent in entropy code: fewer set bits in more memory.

use super::MAX_BITS;
use super::fill::expected_fill;
use super::params::{BloomParams, check_bits};
use super::sizing::Positions;
use crate::ParamError;
use crate::check::{check_items, check_probability, check_range};
use crate::design::Design;
use crate::search::first;

impl BloomParams {
    /// Computes the filter with the lowest mean rate that has at most `max_bits` bits in memory and takes `sent_bits`
    /// bits in entropy code when it holds the expected items.
    ///
    /// More memory with fewer hashes gives filters that are less full and shorter in code, at a lower rate. If
    /// `sent_bits` is not below `max_bits`, the result is that of
    /// [`for_double_hashing_of`](Self::for_double_hashing_of): a half-full filter has no shorter code. The promised
    /// rate is the mean rate for double-hashed positions.
    ///
    /// Filters that are more than half full have short codes, too, but many times the hashes. They are not considered: there are no
    /// more hashes than are best for `sent_bits` bits in memory.
    ///
    /// The number of bits sent is the [entropy](Self::entropy_at): code and index of `pds_core::bytes::Compressed` take up to 1 %
    /// more (1.3 % if 1 % of the bits are set), and its heads 208 bytes. With unlimited memory one hash is best, which is a Golomb-coded set.
    ///
    /// | memory, bits per item | hashes | rate with 8 bits per item sent |
    /// |---|---|---|
    /// | 8 | 6 | 2.16 % |
    /// | 9.5 | 3 | 1.99 % |
    /// | 14.3 | 2 | 1.70 % |
    /// | 96.9 | 1 | 1.03 % |
    ///
    /// # Errors
    /// If there are no items, if a number of bits is 0 or above 2^63, or if the filter would answer `true` to every key.
    ///
    /// # Examples
    /// ```
    /// use pds_params::BloomParams;
    /// let params = BloomParams::for_transfer(100_000, 800_000, 1_500_000)?;
    /// assert_eq!(params.num_hashes(), 2);
    /// assert!(params.promised_rate() < Some(0.0177));
    /// assert!(params.entropy_at(100_000) <= 800_000.0);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    ///
    /// # References
    /// Michael Mitzenmacher, "Compressed Bloom Filters", IEEE/ACM Transactions on Networking 10(5), 2002, sections II and III.
    pub fn for_transfer(
        expected_items: u64,
        sent_bits: u64,
        max_bits: u64,
    ) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_range("sent_bits", sent_bits, 1, MAX_BITS)?;
        check_bits(max_bits)?;
        if sent_bits >= max_bits {
            let params = Self::for_double_hashing_of(max_bits, expected_items)?;
            check_probability("promised_rate", params.promised_rate().unwrap_or(1.0))?;
            return Ok(params);
        }
        let of_hashes = |hashes| {
            let bits = most_bits(expected_items, hashes, sent_bits, max_bits);
            (bits, hashes, Positions::DoubleHashed.rate(bits, expected_items, hashes))
        };
        let half_full = Positions::DoubleHashed.best_hashes(sent_bits, expected_items);
        let lower = |best: (u64, u32, f64), hashes| {
            let next = of_hashes(hashes);
            if next.2 < best.2 { next } else { best }
        };
        let best = (2..=half_full).fold(of_hashes(1), lower);
        let (num_bits, num_hashes, rate) = best;
        check_probability("promised_rate", rate)?;
        Ok(Self::designed(num_bits, num_hashes, Design::new(expected_items, rate)))
    }

    /// Predicts the bits that a filter with `items` items needs in entropy code: m H(fill), at most m.
    ///
    /// H is the entropy of one bit, -p log2 p - (1 - p) log2 (1 - p) for the share p of set bits.
    #[must_use]
    pub fn entropy_at(&self, items: u64) -> f64 {
        entropy_of(self.num_bits(), items, self.num_hashes())
    }
}

/// Returns the most bits, up to `max_bits`, with which a filter takes `sent_bits` in entropy code.
fn most_bits(items: u64, hashes: u32, sent_bits: u64, max_bits: u64) -> u64 {
    let exceeds = |bits| bits > max_bits || entropy_of(bits, items, hashes) > sent_bits as f64;
    // The entropy increases with the bits, and a filter of one bit has at most that one.
    (first(1, exceeds) - 1).max(1)
}

fn entropy_of(bits: u64, items: u64, hashes: u32) -> f64 {
    let fill = expected_fill(bits, items, hashes);
    let term = |share: f64| if share > 0.0 { -share * libm::log2(share) } else { 0.0 };
    bits as f64 * (term(fill) + term(1.0 - fill))
}
