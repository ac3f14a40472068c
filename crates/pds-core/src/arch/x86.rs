//! AVX2 and AVX-512: vectors of four or eight 64-bit numbers, each shifted by its own distance.
#![expect(unsafe_code, reason = "calls of code that was compiled for other processors")]

use super::Work;

/// Defines the proof that the processor has some features, and the function that is compiled for them.
macro_rules! processor {
    ($(#[$docs:meta])* $proof:ident, $run:ident, $form:ident, [$($feature:tt),*]) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug)]
        pub struct $proof(());

        impl $proof {
            /// Returns the proof. `None` if the processor lacks a feature.
            pub(super) fn new() -> Option<Self> {
                Self::is_available().then_some(Self(()))
            }

            /// Returns whether the processor has the features.
            #[must_use]
            pub fn is_available() -> bool {
                #[cfg(feature = "std")]
                return true $(&& std::is_x86_feature_detected!($feature))*;
                #[cfg(not(feature = "std"))]
                return cfg!(all($(target_feature = $feature),*));
            }

            #[inline(always)]
            pub(super) fn run<W: Work>(self, work: W) -> W::Output {
                debug_assert!(Self::is_available());
                // SAFETY: `self` is the proof that the processor has these features.
                unsafe { $run(work) }
            }
        }

        #[target_feature($(enable = $feature),*)]
        fn $run<W: Work>(work: W) -> W::Output {
            work.$form()
        }
    };
}

processor! {
    /// Proof that the processor has AVX2, and the instructions for numbers that came with it.
    Avx2, run_with_avx2, run_wide, ["avx2", "bmi1", "bmi2", "lzcnt"]
}

processor! {
    /// Proof that the processor has AVX-512 with its instructions for 64-bit numbers, their leading zeros and bytes.
    Avx512, run_with_avx512, run_widest,
    ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "bmi1", "bmi2", "lzcnt"]
}
