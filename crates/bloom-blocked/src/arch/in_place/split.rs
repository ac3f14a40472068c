//! The same for split blocks, which have half the size.

use core::arch::asm;

use pds_core::internal::{Avx2, Avx512, StoredWord};

use super::{InPlace, truth};
use crate::split_block::{BLOCK_WORDS, Block, LANES, SALTS, low};

impl InPlace {
    /// Returns whether `block` has the bits of a hash, one in every lane.
    #[inline(always)]
    pub(in crate::arch) fn contains_split<W: StoredWord>(
        self,
        hash: u64,
        block: &[W; BLOCK_WORDS],
    ) -> bool {
        const { assert!(size_of::<[W; BLOCK_WORDS]>() == size_of::<Block>()) };
        assert!(W::IS_PLAIN, "threads may change the block");
        match self {
            Self::Avx512(proof) => contains_avx512(proof, hash, block),
            Self::Avx2(proof) => contains_avx2(proof, hash, block),
        }
    }

    /// Sets the bits of a hash in `block`, one in every lane. Returns whether any was clear.
    #[inline(always)]
    pub(in crate::arch) fn insert_split(self, hash: u64, block: &mut Block) -> bool {
        match self {
            Self::Avx512(proof) => insert_avx512(proof, hash, block),
            Self::Avx2(proof) => insert_avx2(proof, hash, block),
        }
    }
}

/// Constants at one address, in one cache line.
#[repr(C, align(64))]
struct Constants {
    /// At 0.
    salts: [u32; LANES],
    /// At 32.
    ones: [u32; LANES],
}

const CONSTANTS: &Constants = &Constants { salts: SALTS, ones: [1; LANES] };

#[inline(always)]
fn contains_avx512<W: StoredWord>(_: Avx512, hash: u64, block: &[W; BLOCK_WORDS]) -> bool {
    debug_assert!(Avx512::is_available());
    let covered: u8;
    // SAFETY: `Avx512` is the proof that the processor has the instructions. They read the constants and a block that
    // nobody changes meanwhile, as wholes, and change nothing but the registers named and the flags.
    unsafe {
        asm!(
            "vpbroadcastd ymm16, {low:e}",
            "vpbroadcastd ymm17, dword ptr [{constants} + 32]",
            "vpmulld ymm16, ymm16, ymmword ptr [{constants}]",
            "vpsrld ymm16, ymm16, 27",
            "vpsllvd ymm16, ymm17, ymm16",
            "vptestnmd k1, ymm16, ymmword ptr [{block}]",
            "kortestb k1, k1",
            "setz {covered}",
            low = in(reg) low(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, covered = lateout(reg_byte) covered,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(covered) }
}

#[inline(always)]
fn insert_avx512(_: Avx512, hash: u64, block: &mut Block) -> bool {
    debug_assert!(Avx512::is_available());
    let new: u8;
    // SAFETY: as in `contains_avx512`; the block is exclusive, and is written as a whole.
    unsafe {
        asm!(
            "vpbroadcastd ymm16, {low:e}",
            "vpbroadcastd ymm17, dword ptr [{constants} + 32]",
            "vpmulld ymm16, ymm16, ymmword ptr [{constants}]",
            "vpsrld ymm16, ymm16, 27",
            "vpsllvd ymm16, ymm17, ymm16",
            "vmovdqu64 ymm17, ymmword ptr [{block}]",
            "vptestnmd k1, ymm16, ymm17",
            "vporq ymm16, ymm16, ymm17",
            "vmovdqu64 ymmword ptr [{block}], ymm16",
            "kortestb k1, k1",
            "setnz {new}",
            low = in(reg) low(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, new = lateout(reg_byte) new,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(new) }
}

// All registers are named for the reason that the parent module gives.
#[inline(always)]
fn contains_avx2<W: StoredWord>(_: Avx2, hash: u64, block: &[W; BLOCK_WORDS]) -> bool {
    debug_assert!(Avx2::is_available());
    let covered: u8;
    // SAFETY: `Avx2` is the proof that the processor has the instructions. They read the constants and a block that
    // nobody changes meanwhile, as wholes, and change nothing but the registers named and the flags.
    unsafe {
        asm!(
            "vmovd xmm0, {low:e}",
            "vpbroadcastd ymm0, xmm0",
            "vmovdqa ymm1, ymmword ptr [{constants} + 32]",
            "vpmulld ymm0, ymm0, ymmword ptr [{constants}]",
            "vmovdqu ymm2, ymmword ptr [{block}]",
            "vpsrld ymm0, ymm0, 27",
            "vpsllvd ymm0, ymm1, ymm0",
            "vptest ymm2, ymm0",
            "setc {covered}",
            "vzeroupper",
            low = in(reg) low(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, covered = lateout(reg_byte) covered,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(covered) }
}

#[inline(always)]
fn insert_avx2(_: Avx2, hash: u64, block: &mut Block) -> bool {
    debug_assert!(Avx2::is_available());
    let new: u8;
    // SAFETY: as in `contains_avx2`; the block is exclusive, and is written as a whole.
    unsafe {
        asm!(
            "vmovd xmm0, {low:e}",
            "vpbroadcastd ymm0, xmm0",
            "vmovdqa ymm1, ymmword ptr [{constants} + 32]",
            "vpmulld ymm0, ymm0, ymmword ptr [{constants}]",
            "vmovdqu ymm2, ymmword ptr [{block}]",
            "vpsrld ymm0, ymm0, 27",
            "vpsllvd ymm0, ymm1, ymm0",
            "vptest ymm2, ymm0",
            "setnc {new}",
            "vpor ymm0, ymm0, ymm2",
            "vmovdqu ymmword ptr [{block}], ymm0",
            "vzeroupper",
            low = in(reg) low(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, new = out(reg_byte) new,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(new) }
}

#[cfg(test)]
mod tests {
    use pds_core::internal::Backend;
    use pds_testkit::keys;
    use quickcheck::quickcheck;

    use super::*;
    use crate::split_block::{covers, insert};

    /// The instructions of every backend of this processor.
    fn kernels() -> impl Iterator<Item = InPlace> {
        Backend::all().filter_map(InPlace::new)
    }

    /// Compares one question and one insert with the definition.
    fn agrees(kernel: InPlace, block: Block, hash: u64) {
        assert_eq!(kernel.contains_split(hash, &block), covers(&block, hash), "{hash:#x}");
        let (mut expected, mut found) = (block, block);
        assert_eq!(kernel.insert_split(hash, &mut found), insert(&mut expected, hash), "{hash:#x}");
        assert_eq!(found, expected, "{hash:#x}");
        assert!(kernel.contains_split(hash, &found) && !kernel.insert_split(hash, &mut found));
    }

    /// Each lane alone lacks its bit, in a block that is full or empty otherwise.
    #[test]
    fn every_bit_of_every_lane_counts() {
        for (kernel, hash) in
            kernels().flat_map(|kernel| keys::random(1).take(1_000).map(move |hash| (kernel, hash)))
        {
            let mut masks = [0; BLOCK_WORDS];
            insert(&mut masks, hash);
            agrees(kernel, masks, hash);
            agrees(kernel, masks.map(|mask| !mask), hash);
            for word in 0..BLOCK_WORDS {
                for half in [u64::from(u32::MAX), !u64::from(u32::MAX)] {
                    let mut full = [u64::MAX; BLOCK_WORDS];
                    full[word] &= !(masks[word] & half);
                    assert!(!kernel.contains_split(hash, &full));
                    agrees(kernel, full, hash);
                }
            }
        }
    }

    quickcheck! {
        fn all_backends_agree_on_any_block(words: (u64, u64, u64, u64), hash: u64) -> bool {
            let block = [words.0, words.1, words.2, words.3];
            kernels().for_each(|kernel| agrees(kernel, block, hash));
            true
        }
    }
}
