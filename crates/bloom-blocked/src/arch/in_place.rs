//! One block read or changed by AVX2 or AVX-512, inlined into code that is compiled for any x86-64 processor.
//!
//! The compiler cannot inline code for newer processors there. A call saves registers and reloads constants, which
//! takes as long as the block itself. Therefore the instructions of the usual case, keys with one position in every
//! lane, are written by hand here.
#![expect(unsafe_code, reason = "instructions that the compiler does not know to be there")]

mod split;

use core::arch::asm;

use pds_core::internal::{Avx2, Avx512, Backend, StoredWord};

use crate::layout::{Block, LANES, field_start, first_fields};

/// The processor whose instructions are used.
#[derive(Clone, Copy)]
pub(super) enum InPlace {
    Avx2(Avx2),
    Avx512(Avx512),
}

impl InPlace {
    /// Chooses the instructions for a backend. `None` if it has none.
    pub(super) fn new(backend: Backend) -> Option<Self> {
        // Addresses of 32 bits would need other instructions.
        if cfg!(not(target_pointer_width = "64")) {
            return None;
        }
        // On Windows every caller would have to save ten registers, whose upper halves are cleared.
        let avx2 = backend.avx2().filter(|_| cfg!(not(windows)));
        backend.avx512().map(Self::Avx512).or(avx2.map(Self::Avx2))
    }

    /// Returns whether `block` has the bits of a hash, one in every lane.
    #[inline(always)]
    pub(super) fn contains<W: StoredWord>(self, hash: u64, block: &[W; LANES]) -> bool {
        const { assert!(size_of::<[W; LANES]>() == size_of::<Block>()) };
        assert!(W::IS_PLAIN, "threads may change the block");
        match self {
            Self::Avx512(proof) => contains_avx512(proof, hash, block),
            Self::Avx2(proof) => contains_avx2(proof, hash, block),
        }
    }

    /// Sets the bits of a hash in `block`, one in every lane. Returns whether any was clear.
    #[inline(always)]
    pub(super) fn insert(self, hash: u64, block: &mut Block) -> bool {
        match self {
            Self::Avx512(proof) => insert_avx512(proof, hash, block),
            Self::Avx2(proof) => insert_avx2(proof, hash, block),
        }
    }
}

/// Constants at one address. Each has a cache line of its own, which is read at once.
#[repr(C, align(64))]
struct Constants {
    /// At 0: by how many bits the field of each lane is shifted down to the lowest bits.
    down: Block,
    /// At 64: by how many bits it is shifted up to the highest bits.
    up: Block,
    /// At 128.
    ones: Block,
}

const CONSTANTS: &Constants = &Constants {
    down: [58, 52, 46, 40, 34, 28, 22, 16],
    up: [0, 6, 12, 18, 24, 30, 36, 42],
    ones: [1; 8],
};

const _: () = {
    assert!(align_of::<Constants>() == size_of::<Block>());
    let mut lane = 0;
    while lane < 8 {
        let start = field_start(lane) as u64;
        assert!(CONSTANTS.down[lane] == start && CONSTANTS.up[lane] == 58 - start);
        assert!(CONSTANTS.ones[lane] == 1);
        lane += 1;
    }
};

/// # Safety
/// The byte is 0 or 1.
#[inline(always)]
unsafe fn truth(byte: u8) -> bool {
    debug_assert!(byte < 2);
    // SAFETY: the caller says that it is 0 or 1.
    unsafe { core::hint::assert_unchecked(byte < 2) };
    byte != 0
}

#[inline(always)]
fn contains_avx512<W: StoredWord>(_: Avx512, hash: u64, block: &[W; LANES]) -> bool {
    debug_assert!(Avx512::is_available());
    let covered: u8;
    // SAFETY: `Avx512` is the proof that the processor has the instructions. They read whole lines, of
    // constants and of a block that nobody changes meanwhile, and change nothing but the registers named and
    // the flags.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {fields}",
            "vpbroadcastq zmm17, qword ptr [{constants} + 128]",
            "vpsrlvq zmm16, zmm16, zmmword ptr [{constants}]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, zmmword ptr [{block}]",
            "kortestb k1, k1",
            "setz {covered}",
            fields = in(reg) first_fields(hash), constants = in(reg) CONSTANTS,
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
            "vpbroadcastq zmm16, {fields}",
            "vpbroadcastq zmm17, qword ptr [{constants} + 128]",
            "vpsrlvq zmm16, zmm16, zmmword ptr [{constants}]",
            "vprolvq zmm16, zmm17, zmm16",
            "vmovdqu64 zmm17, zmmword ptr [{block}]",
            "vptestnmq k1, zmm16, zmm17",
            "vporq zmm16, zmm16, zmm17",
            "vmovdqu64 zmmword ptr [{block}], zmm16",
            "kortestb k1, k1",
            "setnz {new}",
            fields = in(reg) first_fields(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, new = lateout(reg_byte) new,
            out("zmm16") _, out("zmm17") _, out("k1") _,
            options(nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(new) }
}

// Both functions end with `vzeroupper`: otherwise SSE code that follows would wait for the upper halves of the
// registers. It clears the upper halves of all sixteen registers. A caller that is compiled for AVX may hold values
// there, so all registers are named.
#[inline(always)]
fn contains_avx2<W: StoredWord>(_: Avx2, hash: u64, block: &[W; LANES]) -> bool {
    debug_assert!(Avx2::is_available());
    let covered: u8;
    // SAFETY: `Avx2` is the proof that the processor has the instructions. They read whole lines, of
    // constants and of a block that nobody changes meanwhile, and change nothing but the registers named and
    // the flags.
    unsafe {
        asm!(
            "vmovq xmm0, {fields}",
            "vpbroadcastq ymm0, xmm0",
            "vpsllvq ymm1, ymm0, ymmword ptr [{constants} + 64]",
            "vpsllvq ymm0, ymm0, ymmword ptr [{constants} + 96]",
            "vmovdqu ymm2, ymmword ptr [{block}]",
            "vmovdqu ymm3, ymmword ptr [{block} + 32]",
            "vpsrlq ymm1, ymm1, 58",
            "vpsrlq ymm0, ymm0, 58",
            "vpsrlvq ymm1, ymm2, ymm1",
            "vpsrlvq ymm0, ymm3, ymm0",
            "vpand ymm0, ymm0, ymm1",
            "vptest ymm0, ymmword ptr [{constants} + 128]",
            "setc {covered}",
            "vzeroupper",
            fields = in(reg) first_fields(hash), constants = in(reg) CONSTANTS,
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
    // SAFETY: as in `contains_avx512`; the block is exclusive, and is written as a whole.
    unsafe {
        asm!(
            "vmovq xmm0, {fields}",
            "vpbroadcastq ymm0, xmm0",
            "vmovdqa ymm4, ymmword ptr [{constants} + 128]",
            "vpsllvq ymm1, ymm0, ymmword ptr [{constants} + 64]",
            "vpsllvq ymm0, ymm0, ymmword ptr [{constants} + 96]",
            "vmovdqu ymm2, ymmword ptr [{block}]",
            "vmovdqu ymm3, ymmword ptr [{block} + 32]",
            "vpsrlq ymm1, ymm1, 58",
            "vpsrlq ymm0, ymm0, 58",
            "vpsllvq ymm1, ymm4, ymm1",
            "vpsllvq ymm0, ymm4, ymm0",
            "vpandn ymm4, ymm2, ymm1",
            "vpandn ymm5, ymm3, ymm0",
            "vpor ymm1, ymm1, ymm2",
            "vpor ymm0, ymm0, ymm3",
            "vmovdqu ymmword ptr [{block}], ymm1",
            "vmovdqu ymmword ptr [{block} + 32], ymm0",
            "vpor ymm4, ymm4, ymm5",
            "vptest ymm4, ymm4",
            "setnz {new}",
            "vzeroupper",
            fields = in(reg) first_fields(hash), constants = in(reg) CONSTANTS,
            block = in(reg) block, new = lateout(reg_byte) new,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
    // SAFETY: a flag, as 0 or 1.
    unsafe { truth(new) }
}

#[cfg(all(test, not(windows)))]
mod tests {
    use core::arch::x86_64::{__m256d, _mm256_add_pd, _mm256_set1_pd, _mm256_storeu_pd};

    use super::*;

    /// A caller compiled for AVX, with as many values in registers as there are.
    #[target_feature(enable = "avx")]
    fn count(kernel: InPlace, blocks: &mut [Block], hashes: &[u64], sums: &mut [[f64; 4]; 12]) {
        let mut values: [__m256d; 12] = core::array::from_fn(|index| _mm256_set1_pd(index as f64));
        for (block, &hash) in blocks.iter_mut().zip(hashes) {
            let new = f64::from(u8::from(kernel.insert(hash, block)));
            let found = f64::from(u8::from(kernel.contains(hash, block)));
            values = values.map(|value| _mm256_add_pd(value, _mm256_set1_pd(new + found)));
        }
        for (sum, value) in sums.iter_mut().zip(values) {
            // SAFETY: there is room for four numbers.
            unsafe { _mm256_storeu_pd(sum.as_mut_ptr(), value) };
        }
    }

    /// Debug assertions are calls, and a caller saves its registers around calls. Only a build without them can fail.
    #[test]
    fn the_registers_of_the_caller_are_left_alone() {
        let avx2 = Backend::by_name("avx2");
        let Some(kernel) = avx2.and_then(InPlace::new) else {
            return;
        };
        let (mut blocks, mut sums) = ([[0; 8]; 50], [[0.0; 4]; 12]);
        let hashes: [u64; 50] =
            core::array::from_fn(|index| pds_core::hash::finalize(index as u64));
        // SAFETY: a processor with AVX2 has AVX.
        unsafe { count(kernel, &mut blocks, &hashes, &mut sums) };
        assert_eq!(sums, core::array::from_fn(|index| [index as f64 + 100.0; 4]));
    }
}
