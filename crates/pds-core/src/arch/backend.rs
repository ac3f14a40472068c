//! The choice of a kind of processor, once for a filter.

use super::Work;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512};

/// Whether all code of the build is compiled for AVX2 or more: then there is nothing to choose, and all of it inlines.
const EVERYWHERE: bool = cfg!(target_feature = "avx2");

/// Whether there is one kind only.
const FIXED: bool = EVERYWHERE || cfg!(any(not(target_arch = "x86_64"), pds_backend = "portable"));

/// A kind of processor that this one is.
#[derive(Clone, Copy, Debug)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Backend {
    /// The fastest.
    #[must_use]
    pub fn best() -> Self {
        Self::all().next().unwrap_or(Self(Kind::Portable))
    }

    /// The one of this name, where it is there.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|backend| backend.name() == name)
    }

    /// What the processor has and the build allows, the fastest first.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            Avx512::new().map(Kind::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2::new().map(Kind::Avx2),
            Some(Kind::Portable),
        ];
        all.into_iter().flatten().filter(|kind| kind.is_allowed()).map(Self)
    }

    /// The name that [`by_name`](Self::by_name) takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512",
        }
    }

    /// Does some work with the instructions of this kind.
    ///
    /// All that is compiled into the caller are comparisons and calls, so that it is small enough to be inlined where
    /// one key is worked on. Work of two words goes through registers, what is larger through memory.
    #[inline(always)]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        if FIXED {
            return work.run();
        }
        // One after the other: a `match` compares with all others before the best.
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
    /// Whether the build is confined to this one, or to none.
    fn is_allowed(self) -> bool {
        match self {
            Self::Portable => {
                EVERYWHERE || cfg!(not(any(pds_backend = "avx2", pds_backend = "avx512")))
            }
            #[cfg(target_arch = "x86_64")]
            _ if EVERYWHERE => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => {
                cfg!(not(any(
                    pds_backend = "portable",
                    pds_backend = "avx512",
                    pds_backend = "neon"
                )))
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => {
                cfg!(not(any(pds_backend = "portable", pds_backend = "avx2", pds_backend = "neon")))
            }
        }
    }
}
