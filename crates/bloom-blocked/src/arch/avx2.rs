//! AVX2: a block is two vectors of four lanes.
#![expect(unsafe_code, reason = "intrinsics")]

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_storeu_si256,
    _mm256_testc_si256,
};

use super::{Kernel, Work};
use crate::batch::Hashing;
use crate::layout::{Block, Layout, Pattern, Positions, field_start, first_fields, second_fields};

/// The proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns whether the processor has AVX2.
    pub(crate) fn is_available() -> bool {
        #[cfg(feature = "std")]
        return std::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        return cfg!(target_feature = "avx2");
    }

    /// Returns the kernel where the processor has AVX2.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: `is_available` has just said so.
        Self::is_available().then(|| unsafe { Self::new_unchecked() })
    }

    /// Returns the kernel.
    ///
    /// # Safety
    /// The processor has AVX2.
    pub(crate) unsafe fn new_unchecked() -> Self {
        debug_assert!(Self::is_available());
        Self(())
    }
}

#[target_feature(enable = "avx2")]
fn run_with_avx2<P: Pattern, W: Work>(kernel: Avx2, work: W) -> W::Output {
    work.run::<P>(kernel)
}

/// The two halves of a block.
type Halves = [__m256i; 2];

/// The bits of a hash in its block.
#[inline]
#[target_feature(enable = "avx2")]
fn masks<P: Pattern>(layout: &Layout, hash: u64) -> Halves {
    let first = first_fields(hash);
    let every = [_mm256_set1_epi64x(1); 2];
    match P::POSITIONS {
        Positions::Chosen => bits_of(first, ones_in(layout.chosen(first))),
        Positions::Every => bits_of(first, every),
        Positions::Second => {
            let [low, high] = bits_of(first, every);
            let [some_low, some_high] =
                bits_of(second_fields(first), ones_in(layout.chosen(first)));
            [_mm256_or_si256(low, some_low), _mm256_or_si256(high, some_high)]
        }
    }
}

/// Shifts a bit to the place that the field of its lane gives.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(fields: u64, ones: Halves) -> Halves {
    const { assert!(field_start(0) == 58 && field_start(7) == 16) };
    let fields = _mm256_set1_epi64x(fields.cast_signed());
    let in_lane = _mm256_set1_epi64x(63);
    let low = _mm256_srlv_epi64(fields, _mm256_setr_epi64x(58, 52, 46, 40));
    let high = _mm256_srlv_epi64(fields, _mm256_setr_epi64x(34, 28, 22, 16));
    [
        _mm256_sllv_epi64(ones[0], _mm256_and_si256(low, in_lane)),
        _mm256_sllv_epi64(ones[1], _mm256_and_si256(high, in_lane)),
    ]
}

/// 1 in each of the given lanes, 0 in the others.
#[inline]
#[target_feature(enable = "avx2")]
fn ones_in(lanes: u8) -> Halves {
    let lanes = _mm256_set1_epi64x(i64::from(lanes));
    let one = _mm256_set1_epi64x(1);
    let low = _mm256_srlv_epi64(lanes, _mm256_setr_epi64x(0, 1, 2, 3));
    let high = _mm256_srlv_epi64(lanes, _mm256_setr_epi64x(4, 5, 6, 7));
    [_mm256_and_si256(low, one), _mm256_and_si256(high, one)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &Block) -> Halves {
    let start = block.as_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 bytes, and the loads need no alignment.
    unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(block: &mut Block, [low, high]: Halves) {
    let start = block.as_mut_ptr().cast::<__m256i>();
    // SAFETY: a block is 64 bytes, and the stores need no alignment.
    unsafe {
        _mm256_storeu_si256(start, low);
        _mm256_storeu_si256(start.add(1), high);
    }
}

/// Whether `block` has all bits of `masks`.
#[inline]
#[target_feature(enable = "avx2")]
fn covers(block: Halves, masks: Halves) -> bool {
    let (low, high) =
        (_mm256_testc_si256(block[0], masks[0]), _mm256_testc_si256(block[1], masks[1]));
    low & high != 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn contains<P: Pattern>(layout: &Layout, hash: u64, block: &Block) -> bool {
    covers(load(block), masks::<P>(layout, hash))
}

#[inline]
#[target_feature(enable = "avx2")]
fn insert<P: Pattern>(layout: &Layout, hash: u64, block: &mut Block) -> bool {
    let (masks, before) = (masks::<P>(layout, hash), load(block));
    let after = [_mm256_or_si256(before[0], masks[0]), _mm256_or_si256(before[1], masks[1])];
    store(block, after);
    !covers(before, masks)
}

impl Kernel for Avx2 {
    const HASHING: Hashing = Hashing::Vectors;

    #[inline(always)]
    fn contains<P: Pattern>(self, layout: &Layout, hash: u64, block: &Block) -> bool {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX2.
        unsafe { contains::<P>(layout, hash, block) }
    }

    #[inline(always)]
    fn insert<P: Pattern>(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX2.
        unsafe { insert::<P>(layout, hash, block) }
    }

    #[inline(always)]
    fn run<P: Pattern, W: Work>(self, work: W) -> W::Output {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX2.
        unsafe { run_with_avx2::<P, W>(self, work) }
    }
}
