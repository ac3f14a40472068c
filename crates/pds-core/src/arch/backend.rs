//! The choice of a backend.

use super::Work;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512};

/// Whether all code of the build is compiled for AVX2 or more. There is no choice then, and all code is inlined.
const EVERYWHERE: bool = cfg!(target_feature = "avx2");

/// Whether all code of the build is compiled for AVX-512.
const WIDEST_EVERYWHERE: bool = cfg!(all(
    target_feature = "avx512bw",
    target_feature = "avx512cd",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
));

/// A kind of processor for which code is compiled, and proof that the present processor is of that kind.
#[derive(Clone, Copy, Debug)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Backend {
    /// Whether all code of the build is compiled for one kind of processor: every backend runs the same work.
    pub const IS_FIXED: bool =
        EVERYWHERE || cfg!(any(not(target_arch = "x86_64"), pds_backend = "portable"));

    /// The backend that every processor has.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// Returns the fastest backend.
    #[must_use]
    pub fn best() -> Self {
        Self::all().next().unwrap_or(Self::PORTABLE)
    }

    /// Returns the backend of this name. `None` if the build or the processor lacks it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|backend| backend.name() == name)
    }

    /// Lists the backends of the build that the processor supports, the fastest first.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            Avx512::new().map(Kind::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2::new().map(Kind::Avx2),
            #[cfg(target_arch = "aarch64")]
            cfg!(target_feature = "neon").then_some(Kind::Neon),
            Some(Kind::Portable),
        ];
        all.into_iter().flatten().filter(|kind| kind.is_allowed()).map(Self)
    }

    /// Returns the name that [`by_name`](Self::by_name) takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "neon",
        }
    }

    /// Returns the proof that the processor has AVX2. `None` if this is another backend.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub const fn avx2(self) -> Option<Avx2> {
        if let Kind::Avx2(proof) = self.0 { Some(proof) } else { None }
    }

    /// Returns the proof that the processor has AVX-512. `None` if this is another backend.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub const fn avx512(self) -> Option<Avx512> {
        if let Kind::Avx512(proof) = self.0 { Some(proof) } else { None }
    }

    /// Returns whether inline assembly for AVX2 and its time may be used, if the processor has it.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub const fn allows_avx2(self) -> bool {
        self.allows_avx512() || self.avx2().is_some()
    }

    /// Returns whether inline assembly for AVX-512 may be used, if the processor has it.
    // A build for one kind of processor has one backend, which may have the instructions.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub const fn allows_avx512(self) -> bool {
        Self::IS_FIXED && cfg!(not(pds_backend = "portable")) || self.avx512().is_some()
    }

    /// Returns whether the vectors of `AArch64` are to be used by hand. Its compiled code has them in any case.
    #[cfg(target_arch = "aarch64")]
    #[must_use]
    pub const fn is_neon(self) -> bool {
        matches!(self.0, Kind::Neon)
    }

    /// Does `work` with the instructions of this backend.
    // Only comparisons and calls are inlined, so the caller's loop over single keys stays small. Work of two words is passed
    // in registers, larger work through memory.
    #[inline(always)]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        if Self::IS_FIXED {
            return if WIDEST_EVERYWHERE {
                work.run_widest()
            } else if EVERYWHERE {
                work.run_wide()
            } else {
                work.run()
            };
        }
        // One `if` after the other, because a `match` compares with all others before it reaches the best.
        #[cfg(target_arch = "x86_64")]
        if let Kind::Avx512(proof) = self.0 {
            return proof.run(work);
        }
        #[cfg(target_arch = "x86_64")]
        if let Kind::Avx2(proof) = self.0 {
            return proof.run(work);
        }
        run_portably(work)
    }
}

#[inline(never)]
fn run_portably<W: Work>(work: W) -> W::Output {
    work.run()
}

impl Kind {
    /// Returns whether the build may choose this backend.
    fn is_allowed(self) -> bool {
        match self {
            Self::Portable => {
                EVERYWHERE || cfg!(not(any(pds_backend = "avx2", pds_backend = "avx512")))
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => {
                cfg!(not(any(
                    pds_backend = "portable",
                    pds_backend = "avx2",
                    pds_backend = "avx512"
                )))
            }
            #[cfg(target_arch = "x86_64")]
            _ if EVERYWHERE => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => cfg!(not(any(pds_backend = "portable", pds_backend = "avx512"))),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => cfg!(not(any(pds_backend = "portable", pds_backend = "avx2"))),
        }
    }
}
