//! Instructions that count ones, inlined into code that is compiled for any x86-64 processor.
//!
//! The compiler cannot inline code for newer processors there, and a call takes as long as the sums.
#![expect(unsafe_code, reason = "instructions that the compiler does not know to be there")]

use core::arch::asm;

use pds_core::internal::StoredWord;

use super::{COLUMNS, Pair, Sums};

/// Defines the proof that the processor has some features.
macro_rules! proof {
    ($(#[$docs:meta])* $proof:ident, [$($feature:tt),*]) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $proof(());

        impl $proof {
            /// Returns the proof. `None` if the processor lacks a feature.
            pub(super) fn new() -> Option<Self> {
                Self::is_available().then_some(Self(()))
            }

            fn is_available() -> bool {
                // Addresses of 32 bits would need other instructions.
                #[cfg(feature = "std")]
                let has_features = true $(&& std::is_x86_feature_detected!($feature))*;
                #[cfg(not(feature = "std"))]
                let has_features = cfg!(all($(target_feature = $feature),*));
                has_features && cfg!(target_pointer_width = "64")
            }
        }
    };
}

proof! {
    /// Proof that the processor counts the ones of a word by one instruction.
    Counts, ["popcnt"]
}

proof! {
    /// Proof that the processor counts the ones of eight words by one instruction.
    Vectors, ["avx512f", "avx512bw", "avx512dq", "avx512vpopcntdq"]
}

impl Counts {
    /// Returns the parity of a number of ones.
    #[inline(always)]
    pub(super) fn parity(self, word: u64) -> u64 {
        debug_assert!(Self::is_available());
        let count: u64;
        // SAFETY: `self` is the proof that the processor has the instruction, which changes a register and the flags.
        unsafe {
            asm!(
                "popcnt {count}, {word}",
                word = in(reg) word, count = lateout(reg) count,
                options(pure, nomem, nostack),
            );
        }
        count & 1
    }
}

impl Vectors {
    /// Returns the sums of two neighbouring groups, as [`Kernel::pair`](super::Kernel::pair).
    #[inline(always)]
    pub(super) fn pair<W: StoredWord>(self, groups: &Pair<W>, [of_near, of_far]: [u64; 2]) -> u64 {
        const { assert!(size_of::<W>() == 8) };
        assert!(W::IS_PLAIN, "threads may change the words");
        debug_assert!(Self::is_available());
        let sums: u32;
        // SAFETY: `self` is the proof that the processor has the instructions. The sixteen words are borrowed, and nobody
        // changes them meanwhile. Nothing but the registers named is changed.
        unsafe {
            asm!(
                "vpbroadcastq zmm16, {of_near}",
                "vpbroadcastq zmm17, {of_far}",
                "vpandq zmm16, zmm16, zmmword ptr [{groups}]",
                // The exclusive or with the second group, where it has a coefficient.
                "vpternlogq zmm16, zmm17, zmmword ptr [{groups} + 64], 0x78",
                "vpopcntq zmm16, zmm16",
                "vpsllq zmm16, zmm16, 63",
                "vpmovq2m k1, zmm16",
                "kmovd {sums:e}, k1",
                of_near = in(reg) of_near, of_far = in(reg) of_far, groups = in(reg) groups,
                sums = lateout(reg) sums, out("zmm16") _, out("zmm17") _, out("k1") _,
                options(pure, readonly, nostack),
            );
        }
        u64::from(sums)
    }

    /// Returns the sums of some columns, as [`Kernel::sums`](super::Kernel::sums).
    #[inline(always)]
    pub(super) fn sums<W: StoredWord>(self, words: &[W], sums: &Sums) -> u64 {
        const { assert!(size_of::<W>() == 8) };
        assert!(W::IS_PLAIN, "threads may change the words");
        let Sums { near, far, columns, coefficients: [of_near, of_far] } = *sums;
        let last = near.max(far);
        let is_there = last <= words.len() && columns as usize <= words.len() - last;
        assert!(is_there && columns <= COLUMNS, "no such columns");
        debug_assert!(Self::is_available());
        let (near, far) = (words.as_ptr().wrapping_add(near), words.as_ptr().wrapping_add(far));
        let sums: u32;
        // SAFETY: `self` is the proof that the processor has the instructions. The mask has a bit for each of the
        // words that were found to be there: only these are read, and nobody changes them meanwhile. Nothing but the registers named is changed.
        unsafe {
            asm!(
                "kmovd k1, {columns:e}",
                "vpbroadcastq zmm16, {of_near}",
                "vpbroadcastq zmm17, {of_far}",
                "vpandq zmm16 {{k1}}{{z}}, zmm16, zmmword ptr [{near}]",
                "vpandq zmm17 {{k1}}{{z}}, zmm17, zmmword ptr [{far}]",
                "vpxorq zmm16, zmm16, zmm17",
                "vpopcntq zmm16, zmm16",
                "vpsllq zmm16, zmm16, 63",
                "vpmovq2m k1, zmm16",
                "kmovd {sums:e}, k1",
                columns = in(reg) (1_u32 << columns) - 1, of_near = in(reg) of_near,
                of_far = in(reg) of_far, near = in(reg) near, far = in(reg) far,
                sums = lateout(reg) sums, out("zmm16") _, out("zmm17") _, out("k1") _,
                options(pure, readonly, nostack),
            );
        }
        u64::from(sums)
    }
}
