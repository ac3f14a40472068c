//! Sums of the slots of an equation, on each kind of processor.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use pds_core::internal::{Backend, StoredWord};

use crate::system::ones;

/// Greatest number of columns that are summed at once.
pub(crate) const COLUMNS: u32 = 8;

/// Words of a group that are summed at once.
pub(crate) const GROUP: usize = COLUMNS as usize;

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
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(neon::Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Kernel {
    /// Chooses the code of a backend.
    pub(crate) fn new(backend: Backend) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = x86::Avx512::new().filter(|_| backend.allows_avx512()) {
                return Self::Avx512(avx512);
            }
            let avx2 = x86::Avx2::new().filter(|_| backend.allows_avx2());
            avx2.map_or(Self::Portable, Self::Avx2)
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        {
            let neon = neon::Neon::new().filter(|_| backend.is_neon());
            neon.map_or(Self::Portable, Self::Neon)
        }
        #[cfg(not(any(
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_endian = "little")
        )))]
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
        let Sums { near, far, columns, coefficients } = *sums;
        // Words of other columns are summed, too, if there are so many.
        let group = |at: usize| words.get(at..)?.first_chunk();
        if let (Some(near), Some(far)) = (group(near), group(far)) {
            return self.sums_of::<GROUP, _>(near, far, coefficients) & ones(columns.into());
        }
        let group = |at: usize| &words[at..][..columns as usize];
        portable_sums(group(near), group(far), coefficients[0], coefficients[1])
    }

    /// Returns the sums of all columns of two groups, as [`sums`](Self::sums): that of the first words of `near`, and that of
    /// the last words of `far`.
    // Constants instead of numbers of columns and of words halve the time of a lookup. Two neighbouring groups are one array:
    // one address is a register less, and 3 % of the time.
    #[inline(always)]
    pub(crate) fn sums_of<const WORDS: usize, W: StoredWord>(
        self,
        near: &[W; WORDS],
        far: &[W; WORDS],
        coefficients: [u64; 2],
    ) -> u64 {
        if W::IS_PLAIN {
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            if let Self::Neon(neon) = self {
                return neon.sums(near, far, coefficients);
            }
            #[cfg(target_arch = "x86_64")]
            if let Self::Avx512(avx512) = self {
                return avx512.sums(near, far, coefficients);
            }
            #[cfg(target_arch = "x86_64")]
            if let Self::Avx2(avx2) = self {
                return avx2.sums(near, far, coefficients);
            }
        }
        portable_sums(&near[..GROUP], &far[WORDS - GROUP..], coefficients[0], coefficients[1])
    }
}

/// The definition.
// Eight words are folded to a byte each, side by side in one word, and these bytes to a bit each. Not inlined where another
// code is likely to be used: it would take the registers of the caller's loop. Nor would those be left to it if the
// coefficients were one argument, which is passed in memory.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline)]
fn portable_sums<W: StoredWord>(near: &[W], far: &[W], of_near: u64, of_far: u64) -> u64 {
    let mut columns = [0; COLUMNS as usize];
    let products =
        near.iter().zip(far).map(|(near, far)| near.value() & of_near ^ far.value() & of_far);
    columns.iter_mut().zip(products).for_each(|(column, product)| *column = product);
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
            let (near, coefficients) = (round % 900, [pair[0], pair[1]]);
            // One in four has its second group at the end of the words.
            let far = if round % 4 == 0 { 1_000 - columns as usize } else { near + 50 };
            let expected = expected_sums(&words, [near, far], columns, coefficients);
            ones += expected.count_ones();
            let what = Sums { near, far, columns, coefficients };
            let at = [near, near + 17];
            let group = |at: usize| words[at..].first_chunk::<GROUP>().unwrap();
            let of_groups = expected_sums(&words, at, COLUMNS, coefficients);
            let pair = bytes[near..].first_chunk::<{ 2 * GROUP }>().unwrap();
            let of_pair = expected_sums(&words, [near, near + GROUP], COLUMNS, coefficients);
            for backend in Backend::all() {
                let kernel = Kernel::new(backend);
                let sums = [kernel.sums(&words, &what), kernel.sums(&bytes, &what)];
                assert_eq!(sums, [expected; 2], "{backend:?}, {columns} columns");
                let sums = kernel.sums_of(group(at[0]), group(at[1]), coefficients);
                assert_eq!(sums, of_groups, "{backend:?}");
                assert_eq!(kernel.sums_of(pair, pair, coefficients), of_pair, "{backend:?}");
            }
        }
        assert!((1_800..2_200).contains(&ones), "half of 4,000 sums: {ones}");
    }
}
