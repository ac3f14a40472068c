//! Instructions of BMI2, inlined into code that is compiled for any x86-64 processor.
//!
//! The compiler cannot inline code for newer processors there, and a call takes as long as a lookup.
#![expect(unsafe_code, reason = "instructions that the compiler does not know to be there")]

use core::arch::asm;

use super::Bits;

/// Proof that the processor deposits bits, and counts ones and trailing zeros, by one instruction each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bmi2(());

impl Bmi2 {
    /// Returns the proof. `None` if the processor lacks an instruction.
    pub(super) fn new() -> Option<Self> {
        Self::is_available().then_some(Self(()))
    }

    fn is_available() -> bool {
        #[cfg(feature = "std")]
        let has_features = std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("popcnt");
        #[cfg(not(feature = "std"))]
        let has_features =
            cfg!(all(target_feature = "bmi1", target_feature = "bmi2", target_feature = "popcnt"));
        // Addresses of 32 bits would need other instructions.
        has_features && cfg!(target_pointer_width = "64")
    }
}

impl Bits for Bmi2 {
    #[inline(always)]
    fn count(self, word: u64) -> usize {
        debug_assert!(Self::is_available());
        let count: usize;
        // SAFETY: `self` is the proof that the processor has the instruction, which changes a register and the flags.
        unsafe {
            asm!(
                "popcnt {count}, {word}",
                word = in(reg) word, count = lateout(reg) count,
                options(pure, nomem, nostack),
            );
        }
        count
    }

    // Deposits a single one at the place of the one with this rank.
    #[inline(always)]
    fn select(self, word: u64, rank: usize) -> usize {
        debug_assert!(Self::is_available());
        if rank >= 64 {
            return 64;
        }
        let position: usize;
        // SAFETY: `self` is the proof that the processor has the instructions, which change registers and the flags.
        unsafe {
            asm!(
                "pdep {one}, {one}, {word}",
                "tzcnt {one}, {one}",
                one = inlateout(reg) 1_u64 << rank => position, word = in(reg) word,
                options(pure, nomem, nostack),
            );
        }
        position
    }
}
