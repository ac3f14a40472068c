//! Kernels: what is done to one block, for each kind of processor.
//!
//! [`portable`] is the definition. The others set and ask the same bits, and are held against it by
//! `tests/backends.rs`. A value of a kernel's type is the proof that the processor has what it needs.
//!
//! A filter keeps its [`Choice`], made once when it is built: AVX-512, else AVX2, else the portable
//! kernel on x86-64; NEON on `AArch64`. A batch goes through one call that is not inlined, since code
//! with other target features cannot be; so do single keys, but for the usual ones, whose instructions are
//! written out ([`in_place`]). Where the whole build has these features already, there is
//! one backend only, and all of it inlines. `--cfg pds_backend="portable"` (or `avx2`, `avx512`, `neon`)
//! confines a build to one of them; the portable one takes over where the processor lacks it.

mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

#[cfg(target_arch = "x86_64")]
mod in_place;

mod backend;
mod plain;

pub use backend::backends;
pub(crate) use backend::{Backend, Choice};
pub(crate) use plain::PlainBlock;
pub(crate) use portable::{Portable, covers, masks};

use crate::batch::Hashing;
use crate::layout::{Block, Layout, Pattern};

/// What is done to one block.
pub(crate) trait Kernel: Copy {
    /// How the keys of a batch are hashed.
    const HASHING: Hashing;

    /// Whether all bits of a hash are set.
    fn contains<P: Pattern>(self, layout: &Layout, hash: u64, block: &Block) -> bool;

    /// Sets all bits of a hash. Returns whether any was clear.
    fn insert<P: Pattern>(self, layout: &Layout, hash: u64, block: &mut Block) -> bool;

    /// Does some work in code that is compiled for this kernel's processors.
    #[inline(always)]
    fn run<P: Pattern, W: Work>(self, work: W) -> W::Output {
        work.run::<P>(self)
    }
}

/// Work that takes a kernel, so that it is compiled for each kind of processor.
pub(crate) trait Work {
    type Output;

    /// Does the work. Implementations are `inline(always)`.
    fn run<P: Pattern>(self, kernel: impl Kernel) -> Self::Output;
}
