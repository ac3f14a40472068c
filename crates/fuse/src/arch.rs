//! Sums of the slots of an equation, on each kind of processor.

#[cfg(target_arch = "x86_64")]
mod x86;

use pds_core::internal::{Backend, StoredWord};

/// Greatest number of columns that are summed at once.
pub(crate) const COLUMNS: u32 = 8;

/// Two neighbouring groups of [`COLUMNS`] columns.
pub(crate) type Pair<W> = [W; 2 * COLUMNS as usize];

/// Columns of two groups of 64 slots, to sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    /// Index of the word of the first column in the first group.
    pub(crate) near: usize,
    /// The same in the second group.
    pub(crate) far: usize,
    /// Number of columns, at most [`COLUMNS`].
    pub(crate) columns: u32,
    /// A 1 for each slot that is summed, in either group.
    pub(crate) coefficients: [u64; 2],
}

/// Lists the names of the backends that structures of this build can use on this processor, the fastest first.
///
/// For tests and benches, which compare them.
pub fn backends() -> impl Iterator<Item = &'static str> {
    Backend::all().map(Backend::name)
}

/// The code that sums slots.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Counts(x86::Counts),
    #[cfg(target_arch = "x86_64")]
    Vectors(x86::Vectors),
}

impl Kernel {
    /// Chooses the code of a backend.
    pub(crate) fn new(backend: Backend) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            // A build for one kind of processor has one backend, which may have the instructions.
            let any = Backend::IS_FIXED && cfg!(not(pds_backend = "portable"));
            let wide = any || backend.avx512().is_some();
            if let Some(vectors) = x86::Vectors::new().filter(|_| wide) {
                return Self::Vectors(vectors);
            }
            let counts = x86::Counts::new().filter(|_| wide || backend.avx2().is_some());
            counts.map_or(Self::Portable, Self::Counts)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = backend;
            Self::Portable
        }
    }

    /// Returns the sums of some columns over GF(2), that of column `j` in bit `j`.
    ///
    /// # Panics
    /// If one of the words is not there.
    #[inline(always)]
    pub(crate) fn sums<W: StoredWord>(self, words: &[W], sums: &Sums) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if W::IS_PLAIN {
            if let Self::Vectors(vectors) = self {
                return vectors.sums(words, sums);
            }
            if let Self::Counts(counts) = self {
                return parities(counts, products(words, sums));
            }
        }
        portable_sums(words, sums)
    }

    /// Returns the sums of all columns of two neighbouring groups, as [`sums`](Self::sums).
    // Constants instead of numbers of columns and of words halve the time of a lookup.
    #[inline(always)]
    pub(crate) fn pair<W: StoredWord>(self, groups: &Pair<W>, coefficients: [u64; 2]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if W::IS_PLAIN {
            if let Self::Vectors(vectors) = self {
                return vectors.pair(groups, coefficients);
            }
            if let Self::Counts(counts) = self {
                let [of_near, of_far] = coefficients;
                let (near, far) = groups.split_at(COLUMNS as usize);
                let products = near.iter().zip(far);
                return parities(
                    counts,
                    products.map(|(near, far)| near.value() & of_near ^ far.value() & of_far),
                );
            }
        }
        let far = COLUMNS as usize;
        portable_sums(groups, &Sums { near: 0, far, columns: COLUMNS, coefficients })
    }
}

/// Returns the parities of words as bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn parities(counts: x86::Counts, products: impl Iterator<Item = u64>) -> u64 {
    let columns = products.enumerate();
    columns.fold(0, |sums, (column, product)| sums | counts.parity(product) << column)
}

/// Returns the slots that are summed in each column.
#[inline(always)]
fn products<W: StoredWord>(words: &[W], sums: &Sums) -> impl Iterator<Item = u64> {
    let columns = sums.columns as usize;
    let (near, far) = (&words[sums.near..][..columns], &words[sums.far..][..columns]);
    let [of_near, of_far] = sums.coefficients;
    let pairs = near.iter().zip(far);
    pairs.map(move |(near, far)| near.value() & of_near ^ far.value() & of_far)
}

/// The definition.
// Eight words are folded to a byte each, side by side in one word, and these bytes to a bit each. Not inlined where another
// code is likely to be used: it would take the registers of the caller's loop.
#[cfg_attr(target_arch = "x86_64", inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline)]
fn portable_sums<W: StoredWord>(words: &[W], sums: &Sums) -> u64 {
    let mut columns = [0; COLUMNS as usize];
    columns.iter_mut().zip(products(words, sums)).for_each(|(column, product)| *column = product);
    let [a, b, c, d, e, f, g, h] = columns;
    let fold = |low: u64, high: u64, bits: u32, mask: u64| {
        (low ^ low >> bits) & mask | (high ^ high << bits) & !mask
    };
    const HALVES: u64 = 0x0000_0000_ffff_ffff;
    const QUARTERS: u64 = 0x0000_ffff_0000_ffff;
    const BYTES: u64 = 0x00ff_00ff_00ff_00ff;
    // The byte of column j comes to lie at byte j.
    let even = fold(fold(a, e, 32, HALVES), fold(c, g, 32, HALVES), 16, QUARTERS);
    let odd = fold(fold(b, f, 32, HALVES), fold(d, h, 32, HALVES), 16, QUARTERS);
    let mut bytes = fold(even, odd, 8, BYTES);
    bytes ^= bytes >> 4;
    bytes ^= bytes >> 2;
    bytes ^= bytes >> 1;
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use pds_testkit::keys;

    fn expected_sums(words: &[u64], at: [usize; 2], columns: u32, coefficients: [u64; 2]) -> u64 {
        (0..columns).fold(0, |sums, column| {
            let [near, far] = at.map(|group| words[group + column as usize]);
            let ones = (near & coefficients[0]).count_ones() + (far & coefficients[1]).count_ones();
            sums | u64::from(ones % 2) << column
        })
    }

    #[test]
    fn all_backends_sum_what_the_definition_says() {
        let words: Vec<u64> = keys::random(5).take(1_000).collect();
        let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        let mut ones = 0;
        for ((round, pair), columns) in words.windows(2).enumerate().zip((0..=COLUMNS).cycle()) {
            let (near, far, coefficients) = (round % 900, round % 900 + 50, [pair[0], pair[1]]);
            let expected = expected_sums(&words, [near, far], columns, coefficients);
            ones += expected.count_ones();
            let what = Sums { near, far, columns, coefficients };
            let pair: &Pair<u64> = words[near..].first_chunk().unwrap();
            let byte_pair: &Pair<[u8; 8]> = bytes[near..].first_chunk().unwrap();
            let far_of_pair = near + COLUMNS as usize;
            let expected_of_pair =
                expected_sums(&words, [near, far_of_pair], COLUMNS, coefficients);
            for backend in Backend::all() {
                let kernel = Kernel::new(backend);
                let sums = [kernel.sums(&words, &what), kernel.sums(&bytes, &what)];
                assert_eq!(sums, [expected; 2], "{backend:?}, {columns} columns");
                let sums = [kernel.pair(pair, coefficients), kernel.pair(byte_pair, coefficients)];
                assert_eq!(sums, [expected_of_pair; 2], "{backend:?}");
            }
        }
        assert!((1_800..2_200).contains(&ones), "half of 4,000 sums: {ones}");
    }
}
