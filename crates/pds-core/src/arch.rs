//! The same code, compiled for each kind of processor.
//!
//! There is one definition of everything, in portable code; where its steps are independent, the compiler makes
//! vectors of them that are as wide as the processor's. So results cannot differ.
//!
//! A structure keeps its [`Backend`], chosen once when it is built. `--cfg pds_backend="portable"` (or `avx2`, `avx512`)
//! confines a build to one of them; the portable one takes over where the processor lacks it.

mod backend;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use backend::Backend;

/// What is done for one key, or for many: the code that is compiled several times.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does the work. Implementations are `inline(always)`, and so is what they call.
    fn run(self) -> Self::Output;
}
