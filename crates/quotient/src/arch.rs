//! Counting and finding ones of a word, on each kind of processor.

#[cfg(target_arch = "x86_64")]
mod x86;

use pds_core::internal::Backend;

/// Code for bits of a word. All answer the same.
pub(crate) trait Bits: Copy {
    /// Returns the number of ones.
    fn count(self, word: u64) -> usize;

    /// Returns the one with `rank` ones below it, where it stands, or 0 if there are not as many. `rank` is below 64.
    fn nth(self, word: u64, rank: usize) -> u64;

    /// Returns the number of bits up to the highest one, 0 if there is none.
    fn len(self, word: u64) -> usize;

    /// Returns the position of the one with `rank` ones below it, or 64 if there are not as many.
    fn select(self, word: u64, rank: usize) -> usize;
}

/// The code that the processor can run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Bmi2(x86::Bmi2),
}

impl Kernel {
    /// Returns the code of the fastest backend.
    pub(crate) fn best() -> Self {
        Self::new(Backend::best())
    }

    /// Returns the code of a backend.
    pub(crate) fn new(backend: Backend) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bmi2 = x86::Bmi2::new().filter(|_| backend.allows_avx2());
            bmi2.map_or(Self::Portable, Self::Bmi2)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = backend;
            Self::Portable
        }
    }
}

/// Evaluates an expression with the [`Bits`] of a kernel.
macro_rules! with_bits {
    ($kernel:expr, |$bits:ident| $what:expr) => {
        match $kernel {
            $crate::arch::Kernel::Portable => $crate::arch::apart(|| {
                let $bits = $crate::arch::Portable;
                $what
            }),
            #[cfg(target_arch = "x86_64")]
            $crate::arch::Kernel::Bmi2($bits) => $what,
        }
    };
}
pub(crate) use with_bits;

/// Runs the portable code.
// Not inlined where another code is likely to be used: it would take the registers of the caller's loop.
#[cfg_attr(target_arch = "x86_64", inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(crate) fn apart<R>(portable: impl FnOnce() -> R) -> R {
    portable()
}

/// The definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Bits for Portable {
    #[inline(always)]
    fn count(self, word: u64) -> usize {
        word.count_ones() as usize
    }

    #[inline(always)]
    fn nth(self, word: u64, rank: usize) -> u64 {
        match self.select(word, rank) {
            64 => 0,
            position => 1 << position,
        }
    }

    #[inline(always)]
    fn len(self, word: u64) -> usize {
        64 - word.leading_zeros() as usize
    }

    // Sebastiano Vigna, "Broadword Implementation of Rank/Select Queries", WEA 2008, section 3: the sums of the bytes side
    // by side in one word, of which those at most `rank` are counted at once.
    #[inline]
    fn select(self, word: u64, rank: usize) -> usize {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const TOPS: u64 = ONES << 7;
        let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
        let nibbles = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
        let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        let sums = bytes.wrapping_mul(ONES);
        if rank >= (sums >> 56) as usize {
            return 64;
        }
        let below = (((rank as u64 * ONES) | TOPS) - sums) & TOPS;
        let first = 8 * below.count_ones() as usize;
        let mut byte = word >> first & 0xff;
        let skipped = (sums << 8) >> first & 0xff;
        for _ in skipped..rank as u64 {
            byte &= byte - 1;
        }
        first + byte.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    fn check(word: u64) {
        let mut ones = (0..64).filter(|bit| word >> bit & 1 == 1);
        for rank in 0..=64 {
            let expected = ones.next().unwrap_or(64);
            for backend in Backend::all() {
                with_bits!(Kernel::new(backend), |bits| {
                    assert_eq!(bits.select(word, rank), expected, "{word:x}, {rank}, {backend:?}");
                    let nth = if expected < 64 { 1 << expected } else { 0 };
                    assert!(rank == 64 || bits.nth(word, rank) == nth, "{word:x}, {rank}");
                    assert_eq!(bits.count(word), word.count_ones() as usize);
                    assert_eq!(bits.len(word), 64 - word.leading_zeros() as usize);
                });
            }
        }
    }

    #[test]
    fn all_backends_find_the_ones_of_a_word() {
        let edges = [0, 1, u64::MAX, 1 << 63, 1 << 63 | 1, 0x8080_8080_8080_8080];
        edges.into_iter().for_each(check);
        let words = keys::random(11).take(600);
        for (shape, word) in words.enumerate() {
            let other = word.rotate_left(23);
            check([word, word & other, word | other][shape % 3]);
        }
    }
}
