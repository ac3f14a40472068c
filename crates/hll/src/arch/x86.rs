//! AVX-512: eight hashes at a time are multiplied and their zeros counted, which earlier processors cannot.
#![expect(unsafe_code, reason = "calls of code that was compiled for AVX-512")]

use super::Work;

/// The proof that the processor has AVX-512 with its instructions for 64-bit numbers.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the proof where the processor has it.
    #[inline]
    pub(crate) fn new() -> Option<Self> {
        Self::is_available().then_some(Self(()))
    }

    #[inline]
    fn is_available() -> bool {
        if cfg!(pds_backend = "portable") {
            return false;
        }
        #[cfg(feature = "std")]
        return std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512cd")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl");
        #[cfg(not(feature = "std"))]
        return cfg!(all(
            target_feature = "avx512f",
            target_feature = "avx512bw",
            target_feature = "avx512cd",
            target_feature = "avx512dq",
            target_feature = "avx512vl"
        ));
    }

    /// Does the work with AVX-512.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        debug_assert!(Self::is_available());
        // SAFETY: `self` is the proof that the processor has these features.
        unsafe { run_with_avx512(work) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn run_with_avx512<W: Work>(work: W) -> W::Output {
    work.run()
}
