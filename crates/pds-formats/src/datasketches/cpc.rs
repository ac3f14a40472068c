//! The CPC sketches of DataSketches: their preamble, which holds what an estimate needs.

use alloc::format;
use alloc::vec::Vec;
use core::f64::consts::LN_2;

use pds_core::error::AllocError;
use pds_params::Estimate;

use super::preamble::{self, BIG_ENDIAN};
use crate::FormatError;
use crate::reader::Reader;

const FORMAT: &str = "DataSketches CPC sketch";

const FAMILY: u8 = 16;
const VERSION: u8 = 1;

/// The bits of the flags.
const COMPRESSED: u8 = 2;
const HIP: u8 = 4;
const TABLE: u8 = 8;
const WINDOW: u8 = 16;

/// Logarithms of the number of rows.
const LG_K: core::ops::RangeInclusive<u8> = 4..=26;
/// Columns of the bit matrix. The last one of a row stands for all beyond.
const COLUMNS: u32 = 64;

/// A CPC sketch of distinct keys, as bytes: its estimate, and nothing else.
///
/// Reads the preamble. Its fields hold the estimate of a sketch that saw all of its keys, and the number of coupons of a
/// merged one. The compressed coupons behind it are neither read nor changed: decoding takes long tables of codes. So a sketch is
/// not extended or merged here.
///
/// # Examples
/// ```
/// use pds_formats::datasketches::DataSketchesCpc;
///
/// let empty = DataSketchesCpc::from_bytes(&[2, 1, 16, 11, 0, 6, 0xcc, 0x93])?;
/// assert_eq!((empty.estimate().value, empty.lg_k()), (0.0, 11));
/// # Ok::<(), pds_formats::FormatError>(())
/// ```
///
/// # References
/// Apache DataSketches C++ 5.2, `cpc/include/cpc_sketch.hpp`. Kevin J. Lang, "Back to the future: an even more nearly
/// optimal cardinality estimation algorithm", arXiv:1708.06839, 2017, sections 4 (HIP) and 5 (ICON).
#[derive(Clone, Debug, PartialEq)]
pub struct DataSketchesCpc {
    bytes: Vec<u8>,
    lg_k: u8,
    num_coupons: u32,
    hip: Option<f64>,
}

impl DataSketchesCpc {
    /// Reads the bytes of a sketch of the default seed, 9001.
    ///
    /// # Errors
    /// As [`from_bytes_with_seed`](Self::from_bytes_with_seed).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with_seed(bytes, preamble::DEFAULT_SEED)
    }

    /// Reads the bytes of a sketch of this seed.
    ///
    /// # Errors
    /// [`FormatError`] if the preamble is anything else, or contradicts the length. Its kind is
    /// [`Hasher`](pds_core::error::DecodeErrorKind::Hasher) if they state the hash of another seed.
    pub fn from_bytes_with_seed(bytes: &[u8], seed: u64) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let size = preamble::read(&mut reader, VERSION, FAMILY)?;
        let lg_k = reader.u8("lg_k")?.within(LG_K)?;
        reader.u8("first interesting column")?.within(0..=63)?;
        let flags = preamble::flags(&mut reader, COMPRESSED | HIP | TABLE | WINDOW)?;
        debug_assert_eq!(flags & BIG_ENDIAN, 0);
        preamble::seed_hash(&mut reader, seed)?;
        let [has_hip, has_table, has_window] = [HIP, TABLE, WINDOW].map(|bit| flags & bit != 0);
        let is_empty = !(has_table || has_window);
        // The fields that follow, in words of 4 bytes.
        let words = match is_empty {
            true => 2,
            false => {
                let both = has_table && has_window;
                3 + u8::from(both)
                    + u8::from(has_table)
                    + u8::from(has_window)
                    + if has_hip { 4 } else { 0 }
            }
        };
        size.equals(words)?;
        let (mut num_coupons, mut hip) = (0, has_hip.then_some(0.0));
        if !is_empty {
            let coupons = reader.u32_le("number of coupons")?;
            num_coupons = coupons.value;
            if num_coupons == 0 || u64::from(num_coupons) > u64::from(COLUMNS) << lg_k {
                return Err(coupons.invalid(format!("from 1 to {}", u64::from(COLUMNS) << lg_k)));
            }
            let has_both = has_table && has_window;
            if has_both {
                reader.u32_le("entries of the table")?.within(0..=num_coupons)?;
                if has_hip {
                    hip = Some(read_hip(&mut reader, lg_k, num_coupons)?);
                }
            }
            let mut length = 0;
            for (has, field) in
                [(has_table, "words of the table"), (has_window, "words of the window")]
            {
                if has {
                    length += u64::from(reader.u32_le(field)?.value);
                }
            }
            if has_hip && !has_both {
                hip = Some(read_hip(&mut reader, lg_k, num_coupons)?);
            }
            reader.bytes("compressed coupons", 4 * length)?;
        }
        reader.end()?;
        let refused = AllocError { bytes: bytes.len() as u64 };
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len()).map_err(|_| FormatError::alloc(FORMAT, refused))?;
        copy.extend_from_slice(bytes);
        Ok(Self { bytes: copy, lg_k, num_coupons, hip })
    }

    /// Returns the bytes that were read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Estimates the number of distinct keys.
    ///
    /// The value is the library's, to the last digit, for a sketch that saw all of its keys: its HIP estimate. For a merged
    /// one it is the number of keys for which as many coupons are expected (ICON), by its exact equation; the library
    /// approximates it by a polynomial.
    ///
    /// # Complexity
    /// O(1); some thousand operations for a merged sketch.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let k = f64::from(1u32 << self.lg_k);
        // The standard errors are sqrt(ln 2 / 2) for HIP, ln 2 for ICON, over the root of k.
        let (value, constant) = match self.hip {
            Some(hip) => (hip, libm::sqrt(LN_2 / 2.0)),
            None => (icon(f64::from(self.num_coupons), k), LN_2),
        };
        Estimate { value, standard_error: value * constant / libm::sqrt(k) }
    }

    /// Returns the number of coupons: pairs of row and column.
    #[must_use]
    pub const fn num_coupons(&self) -> u32 {
        self.num_coupons
    }

    /// Returns the logarithm of the number of rows.
    #[must_use]
    pub const fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Returns whether keys of several sketches were merged, so that the estimate is less exact.
    #[must_use]
    pub const fn is_merged(&self) -> bool {
        self.hip.is_none()
    }
}

/// Reads the sum of the probabilities of new coupons, and the estimate.
fn read_hip(reader: &mut Reader<'_>, lg_k: u8, num_coupons: u32) -> Result<f64, FormatError> {
    let sum = reader.f64_le("kxp")?;
    if !(sum.value > 0.0 && sum.value <= f64::from(1u32 << lg_k)) {
        return Err(sum.invalid("above 0 and at most the number of rows"));
    }
    let hip = reader.f64_le("HIP estimate")?;
    // Every coupon counts for one key or more. Sums of many are rounded.
    if !(hip.value.is_finite() && hip.value >= f64::from(num_coupons) * (1.0 - 1e-9)) {
        return Err(hip.invalid("finite and at least the number of coupons"));
    }
    Ok(hip.value)
}

/// Returns the number of keys for which `coupons` coupons are expected in `k` rows.
fn icon(coupons: f64, k: f64) -> f64 {
    // A key sets column c of its row with probability 2^-(c + 1), the last column with that of all beyond.
    let expected = |keys: f64| {
        let columns = (1..=COLUMNS).map(|c| libm::ldexp(1.0, -(c.min(COLUMNS - 1)).cast_signed()));
        let clear = |share: f64| libm::expm1(keys * libm::log1p(-share / k));
        columns.map(|share| -k * clear(share)).sum::<f64>()
    };
    if coupons <= 1.0 || expected(f64::MAX / 4.0) <= coupons {
        return if coupons <= 1.0 { coupons } else { f64::INFINITY };
    }
    let (mut low, mut high) = (coupons, coupons * 2.0);
    while expected(high) < coupons {
        (low, high) = (high, high * 2.0);
    }
    // Bisection ends when the interval has no number inside.
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if expected(middle) < coupons { low = middle } else { high = middle }
    }
}
