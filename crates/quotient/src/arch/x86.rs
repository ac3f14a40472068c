//! Instructions of BMI2, inlined into code that is compiled for any x86-64 processor.
//!
//! The compiler cannot inline code for newer processors there, and a call takes as long as a lookup.
#![expect(unsafe_code, reason = "instructions that the compiler does not know to be there")]

use core::arch::asm;

use super::Bits;

/// Proof that the processor deposits bits, and counts ones, leading and trailing zeros, by one instruction each.
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
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt");
        #[cfg(not(feature = "std"))]
        let has_features = cfg!(all(
            target_feature = "bmi1",
            target_feature = "bmi2",
            target_feature = "lzcnt",
            target_feature = "popcnt"
        ));
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
    fn nth(self, word: u64, rank: usize) -> u64 {
        debug_assert!(Self::is_available() && rank < 64);
        let nth: u64;
        // SAFETY: `self` is the proof that the processor has the instruction, which changes a register.
        unsafe {
            asm!(
                "pdep {one}, {one}, {word}",
                one = inlateout(reg) 1_u64 << (rank % 64) => nth, word = in(reg) word,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        nth
    }

    #[inline(always)]
    fn len(self, word: u64) -> usize {
        debug_assert!(Self::is_available());
        let zeros: usize;
        // SAFETY: `self` is the proof that the processor has the instruction, which changes a register and the flags.
        unsafe {
            asm!(
                "lzcnt {zeros}, {word}",
                word = in(reg) word, zeros = lateout(reg) zeros,
                options(pure, nomem, nostack),
            );
        }
        64 - zeros
    }

    #[inline(always)]
    fn select(self, word: u64, rank: usize) -> usize {
        if rank >= 64 {
            return 64;
        }
        let nth = self.nth(word, rank);
        let position: usize;
        // SAFETY: `self` is the proof that the processor has the instruction, which changes a register and the flags.
        unsafe {
            asm!(
                "tzcnt {position}, {nth}",
                nth = in(reg) nth, position = lateout(reg) position,
                options(pure, nomem, nostack),
            );
        }
        position
    }
}
