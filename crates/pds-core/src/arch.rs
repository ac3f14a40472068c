//! The SIMD dispatcher of the family: the same portable code, compiled for several kinds of processors.
//!
//! All code is portable and has one definition, so results cannot differ. Where its steps are independent, the compiler
//! turns them into vectors as wide as those of the processor.
//!
//! A structure keeps the [`Backend`] that was chosen when it was built. `--cfg pds_backend="portable"` (or `avx2`,
//! `avx512`) restricts a build to one backend. The portable one replaces it on a processor that lacks it.

mod backend;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use backend::Backend;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

/// Work for one key or for many, as code that is compiled once per backend.
pub trait Work {
    /// The result.
    type Output;

    /// Does the work.
    ///
    /// Implementations are `inline(always)`, and so are all functions that they call in a loop. Closures are not: the
    /// compiler may leave a long one as a function of its own, without the instructions of the backend.
    fn run(self) -> Self::Output;

    /// Does the same work where vectors have shifts by their own distances, and multiplications.
    ///
    /// Implement it if another form of the same code is faster there. The result is the same.
    #[inline(always)]
    fn run_wide(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }

    /// Does the same work where vectors count leading zeros, too, and fill 64 bytes.
    ///
    /// Implement it if yet another form of the same code is faster there. The result is the same.
    #[inline(always)]
    fn run_widest(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run_wide()
    }
}
