//! The same loops, compiled for each kind of processor.
//!
//! There is one definition of every loop, in portable code; with wider instructions, the compiler makes more of it.
//! Results cannot differ. `--cfg pds_backend="portable"` leaves out the choice.

#[cfg(target_arch = "x86_64")]
mod x86;

/// A loop over many hashes or registers, long enough to make up for a call that is not inlined.
pub(crate) trait Work {
    type Output;

    /// Does the work. Implementations are `inline(always)`.
    fn run(self) -> Self::Output;
}

/// Does the work with the widest instructions that the processor has.
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(proof) = x86::Avx512::new() {
        return proof.run(work);
    }
    work.run()
}
