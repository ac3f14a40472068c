//! Sums by vectors, inlined into code that is compiled for any x86-64 processor.
//!
//! The compiler cannot inline code for newer processors there, and a call takes as long as the sums.
#![expect(unsafe_code, reason = "instructions that the compiler does not know to be there")]

use core::arch::asm;

use pds_core::internal::StoredWord;

use super::GROUP;

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
    /// Proof that the processor has vectors of four words.
    Avx2, ["avx2"]
}

proof! {
    /// Proof that the processor counts the ones of eight words by one instruction.
    Avx512, ["avx512f", "avx512bw", "avx512dq", "avx512vpopcntdq"]
}

impl Avx2 {
    /// Returns the sums of two groups, as [`Kernel::sums_of`](super::Kernel::sums_of).
    // There is no instruction that counts ones. Both halves of each word are added, which leaves eight lanes of 32 bits, in the
    // order of the columns after `vpermq`. The sum of all bits of a lane comes to lie in its highest bit.
    //
    // Without `vzeroupper` SSE code that follows would wait for the upper halves of the registers. It clears those of all sixteen
    // registers. A caller that is compiled for AVX may hold values there, so all registers are named.
    #[inline(always)]
    pub(super) fn sums<const WORDS: usize, W: StoredWord>(
        self,
        near: &[W; WORDS],
        far: &[W; WORDS],
        [of_near, of_far]: [u64; 2],
    ) -> u64 {
        const { assert!(size_of::<W>() == 8 && WORDS >= GROUP) };
        assert!(W::IS_PLAIN, "threads may change the words");
        debug_assert!(Self::is_available());
        // The instruction that writes the lower half clears the upper one.
        let sums: u64;
        // SAFETY: `self` is the proof that the processor has the instructions. The sixteen words are borrowed, and nobody
        // changes them meanwhile. Nothing but the registers named is changed.
        unsafe {
            asm!(
                "vmovq xmm0, {of_near}",
                "vmovq xmm1, {of_far}",
                "vpbroadcastq ymm0, xmm0",
                "vpbroadcastq ymm1, xmm1",
                "vpand ymm2, ymm0, ymmword ptr [{near}]",
                "vpand ymm0, ymm0, ymmword ptr [{near} + 32]",
                "vpand ymm3, ymm1, ymmword ptr [{far} + {last}]",
                "vpand ymm1, ymm1, ymmword ptr [{far} + {last} + 32]",
                "vpxor ymm2, ymm2, ymm3",
                "vpxor ymm0, ymm0, ymm1",
                "vshufps ymm1, ymm2, ymm0, 0x88",
                "vshufps ymm2, ymm2, ymm0, 0xdd",
                "vpxor ymm0, ymm1, ymm2",
                "vpermq ymm0, ymm0, 0xd8",
                "vpslld ymm1, ymm0, 16",
                "vpxor ymm0, ymm0, ymm1",
                "vpslld ymm1, ymm0, 8",
                "vpxor ymm0, ymm0, ymm1",
                "vpslld ymm1, ymm0, 4",
                "vpxor ymm0, ymm0, ymm1",
                "vpslld ymm1, ymm0, 2",
                "vpxor ymm0, ymm0, ymm1",
                "vpslld ymm1, ymm0, 1",
                "vpxor ymm0, ymm0, ymm1",
                "vmovmskps {sums:e}, ymm0",
                "vzeroupper",
                of_near = in(reg) of_near, of_far = in(reg) of_far, near = in(reg) near,
                far = in(reg) far, last = const 8 * (WORDS - GROUP), sums = lateout(reg) sums,
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
                out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _,
                out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        sums
    }
}

impl Avx512 {
    /// Returns the sums of two groups, as [`Kernel::sums_of`](super::Kernel::sums_of).
    #[inline(always)]
    pub(super) fn sums<const WORDS: usize, W: StoredWord>(
        self,
        near: &[W; WORDS],
        far: &[W; WORDS],
        [of_near, of_far]: [u64; 2],
    ) -> u64 {
        const { assert!(size_of::<W>() == 8 && WORDS >= GROUP) };
        assert!(W::IS_PLAIN, "threads may change the words");
        debug_assert!(Self::is_available());
        // The instruction that writes the lower half clears the upper one.
        let sums: u64;
        // SAFETY: `self` is the proof that the processor has the instructions. The sixteen words are borrowed, and nobody
        // changes them meanwhile. Nothing but the registers named is changed.
        unsafe {
            asm!(
                "vpbroadcastq zmm16, {of_near}",
                "vpbroadcastq zmm17, {of_far}",
                "vpandq zmm16, zmm16, zmmword ptr [{near}]",
                // The exclusive or with the second group, where it has a coefficient.
                "vpternlogq zmm16, zmm17, zmmword ptr [{far} + {last}], 0x78",
                "vpopcntq zmm16, zmm16",
                "vpsllq zmm16, zmm16, 63",
                "vpmovq2m k1, zmm16",
                "kmovd {sums:e}, k1",
                of_near = in(reg) of_near, of_far = in(reg) of_far, near = in(reg) near,
                far = in(reg) far, last = const 8 * (WORDS - GROUP), sums = lateout(reg) sums,
                out("zmm16") _, out("zmm17") _, out("k1") _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        sums
    }
}
