//! Sums by the vectors of `AArch64`.
#![expect(unsafe_code, reason = "vectors are read by address")]

use core::arch::aarch64::{
    vaddv_u8, vand_u8, vandq_u64, vcntq_u8, vcreate_u8, vdup_n_u8, vdupq_n_u64, veorq_u64,
    vget_low_u8, vld1q_u64, vpaddq_u8, vreinterpret_s8_u8, vreinterpretq_u8_u64, vshl_u8,
};

use pds_core::internal::StoredWord;

use super::GROUP;

/// Proof that the build has the vectors, as those for almost all targets have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// Returns the proof. `None` if the build lacks them.
    pub(super) fn new() -> Option<Self> {
        Self::is_available().then_some(Self(()))
    }

    const fn is_available() -> bool {
        cfg!(target_feature = "neon")
    }

    /// Returns the sums of two groups, as [`Kernel::sums_of`](super::Kernel::sums_of).
    // The ones of each byte are counted. Three additions of neighbours leave one byte for each word, in the order of the
    // columns, whose lowest bit is shifted to its place.
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
        let [near, far] =
            [&near[..GROUP], &far[WORDS - GROUP..]].map(|group| group.as_ptr().cast::<u64>());
        // SAFETY: `self` is the proof that there are such vectors. The eight words at either address are borrowed, and
        // nobody changes them meanwhile. They are read two at a time, at addresses that need no alignment.
        let sums = unsafe {
            let (of_near, of_far) = (vdupq_n_u64(of_near), vdupq_n_u64(of_far));
            let ones = |first: usize| {
                let near = vandq_u64(vld1q_u64(near.add(first)), of_near);
                let far = vandq_u64(vld1q_u64(far.add(first)), of_far);
                vcntq_u8(vreinterpretq_u8_u64(veorq_u64(near, far)))
            };
            let (first, last) = (vpaddq_u8(ones(0), ones(2)), vpaddq_u8(ones(4), ones(6)));
            let pairs = vpaddq_u8(first, last);
            let parities = vand_u8(vget_low_u8(vpaddq_u8(pairs, pairs)), vdup_n_u8(1));
            let places = vreinterpret_s8_u8(vcreate_u8(0x0706_0504_0302_0100));
            vaddv_u8(vshl_u8(parities, places))
        };
        sums.into()
    }
}
