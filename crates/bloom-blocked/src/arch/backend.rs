//! The choice of a kernel: once for a filter, or once and for all for a build.

use super::{Portable, Work};
use crate::layout::{Chosen, Every, Pattern, Positions, Second};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon::Neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2::Avx2, avx512::Avx512};

/// The backend that a build is confined to.
const FORCED: Option<&str> = if cfg!(pds_backend = "portable") {
    Some("portable")
} else if cfg!(pds_backend = "avx2") {
    Some("avx2")
} else if cfg!(pds_backend = "avx512") {
    Some("avx512")
} else if cfg!(pds_backend = "neon") {
    Some("neon")
} else {
    None
};

/// A kernel that the processor has.
#[derive(Clone, Copy)]
pub(crate) enum Backend {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(Neon),
}

/// The names of the backends that filters of this build can have on this processor, the best first.
///
/// For tests and benches, which hold them against each other.
pub fn backends() -> impl Iterator<Item = &'static str> {
    Backend::all().map(Backend::name)
}

impl Backend {
    /// The fastest.
    pub(crate) fn best() -> Self {
        Self::all().next().unwrap_or(Self::Portable(Portable))
    }

    /// The one of this name, where it is there.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|backend| backend.name() == name)
    }

    /// All that a filter of this build can have.
    fn all() -> impl Iterator<Item = Self> {
        let fixed = Self::fixed();
        let detected = Self::detected().filter(move |_| fixed.is_none());
        fixed.into_iter().chain(detected)
    }

    /// What the processor has and the build allows, the fastest first.
    fn detected() -> impl Iterator<Item = Self> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            Avx512::new().map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2::new().map(Self::Avx2),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Some(Self::Neon(Neon)),
            Some(Self::Portable(Portable)),
        ];
        all.into_iter().flatten().filter(|backend| FORCED.is_none_or(|name| name == backend.name()))
    }

    /// The only one that a filter of this build can have, known to the compiler: it then leaves out the
    /// choice, and inlines.
    #[inline(always)]
    fn fixed() -> Option<Self> {
        if FORCED == Some("portable") {
            return Some(Self::Portable(Portable));
        }
        #[cfg(target_arch = "x86_64")]
        if cfg!(target_feature = "avx512f") && FORCED.is_none_or(|name| name == "avx512") {
            return Avx512::new().map(Self::Avx512);
        }
        #[cfg(target_arch = "x86_64")]
        if cfg!(target_feature = "avx2") && FORCED.is_none_or(|name| name == "avx2") {
            return Avx2::new().map(Self::Avx2);
        }
        None
    }

    fn name(self) -> &'static str {
        match self {
            Self::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon(_) => "neon",
        }
    }

    /// Does some work with this kernel, for keys of this many positions.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, positions: Positions, work: W) -> W::Output {
        match positions {
            Positions::Chosen => self.run_for::<Chosen, W>(work),
            Positions::Every => self.run_for::<Every, W>(work),
            Positions::Second => self.run_for::<Second, W>(work),
        }
    }

    #[inline(always)]
    fn run_for<P: Pattern, W: Work>(self, work: W) -> W::Output {
        match Self::fixed().unwrap_or(self) {
            Self::Portable(kernel) => kernel.run::<P, W>(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(kernel) => kernel.run::<P, W>(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(kernel) => kernel.run::<P, W>(work),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon(kernel) => kernel.run::<P, W>(work),
        }
    }
}
