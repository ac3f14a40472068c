//! AVX-512: a block is one vector.
#![expect(unsafe_code, reason = "intrinsics")]

use core::arch::x86_64::{
    __m512i, _mm512_andnot_si512, _mm512_loadu_si512, _mm512_maskz_rolv_epi64, _mm512_or_si512,
    _mm512_rolv_epi64, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_test_epi64_mask,
};

use super::{Kernel, Work};
use crate::batch::Hashing;
use crate::layout::{Block, Layout, Pattern, Positions, field_start, first_fields, second_fields};

/// The proof that the processor has AVX-512 (its foundation is enough).
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns whether the processor has AVX-512.
    pub(crate) fn is_available() -> bool {
        #[cfg(feature = "std")]
        return std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512dq");
        #[cfg(not(feature = "std"))]
        return cfg!(all(target_feature = "avx512f", target_feature = "avx512dq"));
    }

    /// Returns the kernel where the processor has AVX-512.
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: `is_available` has just said so.
        Self::is_available().then(|| unsafe { Self::new_unchecked() })
    }

    /// Returns the kernel.
    ///
    /// # Safety
    /// The processor has AVX-512.
    pub(crate) unsafe fn new_unchecked() -> Self {
        debug_assert!(Self::is_available());
        Self(())
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn run_with_avx512<P: Pattern, W: Work>(kernel: Avx512, work: W) -> W::Output {
    work.run::<P>(kernel)
}

/// The bits of a hash in its block.
///
/// Rotations take their count modulo 64, so that the fields need not be cut out.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn masks<P: Pattern>(layout: &Layout, hash: u64) -> __m512i {
    let first = first_fields(hash);
    let one = _mm512_set1_epi64(1);
    match P::POSITIONS {
        Positions::Chosen => {
            _mm512_maskz_rolv_epi64(layout.chosen(first), one, positions_of(first))
        }
        Positions::Every => _mm512_rolv_epi64(one, positions_of(first)),
        Positions::Second => {
            let second = positions_of(second_fields(first));
            _mm512_or_si512(
                _mm512_rolv_epi64(one, positions_of(first)),
                _mm512_maskz_rolv_epi64(layout.chosen(first), one, second),
            )
        }
    }
}

/// The field of each lane in its lowest six bits, others above.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn positions_of(fields: u64) -> __m512i {
    const { assert!(field_start(0) == 58 && field_start(7) == 16) };
    let starts = _mm512_setr_epi64(58, 52, 46, 40, 34, 28, 22, 16);
    _mm512_srlv_epi64(_mm512_set1_epi64(fields.cast_signed()), starts)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Whether `block` has all bits of `masks`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn covers(block: __m512i, masks: __m512i) -> bool {
    let missing = _mm512_andnot_si512(block, masks);
    _mm512_test_epi64_mask(missing, missing) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn contains<P: Pattern>(layout: &Layout, hash: u64, block: &Block) -> bool {
    covers(load(block), masks::<P>(layout, hash))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn insert<P: Pattern>(layout: &Layout, hash: u64, block: &mut Block) -> bool {
    let (masks, before) = (masks::<P>(layout, hash), load(block));
    // SAFETY: a block is 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_or_si512(before, masks)) };
    !covers(before, masks)
}

impl Kernel for Avx512 {
    const HASHING: Hashing = Hashing::Vectors;

    #[inline(always)]
    fn contains<P: Pattern>(self, layout: &Layout, hash: u64, block: &Block) -> bool {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX-512.
        unsafe { contains::<P>(layout, hash, block) }
    }

    #[inline(always)]
    fn insert<P: Pattern>(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX-512.
        unsafe { insert::<P>(layout, hash, block) }
    }

    #[inline(always)]
    fn run<P: Pattern, W: Work>(self, work: W) -> W::Output {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has AVX-512.
        unsafe { run_with_avx512::<P, W>(self, work) }
    }
}
