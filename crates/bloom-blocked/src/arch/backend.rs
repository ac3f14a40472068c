//! The choice of a kernel: once for a filter, or once and for all for a build.

use super::{Kernel, PlainBlock, Portable, Work};
use crate::blocks::BlockSlice;
use crate::layout::{Block, Chosen, Every, Layout, Pattern, Positions, Second};

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

/// How a filter asks and changes its blocks.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    backend: Backend,
    in_place: InPlace,
}

/// The kernel whose instructions are written out for single keys, if there is one.
#[derive(Clone, Copy)]
enum InPlace {
    None,
    #[cfg(all(target_arch = "x86_64", not(windows)))]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Choice {
    /// The fastest for keys of so many positions.
    pub(crate) fn best(positions: Positions) -> Self {
        Self::new(Backend::best(), positions)
    }

    pub(crate) fn new(backend: Backend, positions: Positions) -> Self {
        let in_place = match (backend, positions) {
            // Addresses of 32 bits would need other instructions.
            _ if cfg!(not(target_pointer_width = "64")) => InPlace::None,
            // On Windows every caller would have to save ten registers, whose upper halves are cleared.
            #[cfg(all(target_arch = "x86_64", not(windows)))]
            (Backend::Avx2(kernel), Positions::Every) => InPlace::Avx2(kernel),
            #[cfg(target_arch = "x86_64")]
            (Backend::Avx512(kernel), Positions::Every) => InPlace::Avx512(kernel),
            _ => InPlace::None,
        };
        Self { backend, in_place }
    }

    /// The kernel for many keys.
    #[inline(always)]
    pub(crate) fn backend(self) -> Backend {
        self.backend
    }

    /// Whether all bits of a hash are set in its block.
    #[inline(always)]
    pub(crate) fn contains<B: PlainBlock>(self, blocks: BlockSlice<'_, B>, hash: u64) -> bool {
        let (layout, block) = (blocks.layout, blocks.stored(hash));
        if Backend::inlines() {
            return self.backend.contains(layout, hash, block);
        }
        // First and apart: a `match` compares with all others before.
        #[cfg(target_arch = "x86_64")]
        if let InPlace::Avx512(kernel) = self.in_place {
            return kernel.contains_in_place(hash, block);
        }
        match self.in_place {
            #[cfg(all(target_arch = "x86_64", not(windows)))]
            InPlace::Avx2(kernel) => kernel.contains_in_place(hash, block),
            _ => contains_by_call(self.backend, layout, hash, block),
        }
    }

    /// Sets all bits of a hash in `block`. Returns whether any was clear.
    #[inline(always)]
    pub(crate) fn insert(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        if Backend::inlines() {
            return self.backend.insert(layout, hash, block);
        }
        #[cfg(target_arch = "x86_64")]
        if let InPlace::Avx512(kernel) = self.in_place {
            return kernel.insert_in_place(hash, block);
        }
        match self.in_place {
            #[cfg(all(target_arch = "x86_64", not(windows)))]
            InPlace::Avx2(kernel) => kernel.insert_in_place(hash, block),
            _ => insert_by_call(self.backend, layout, hash, block),
        }
    }
}

/// One call for all other kernels, so that they take no room in the caller's loop.
#[inline(never)]
fn contains_by_call<B: PlainBlock>(
    backend: Backend,
    layout: &Layout,
    hash: u64,
    block: &B,
) -> bool {
    backend.contains(layout, hash, block)
}

/// As [`contains_by_call`].
#[inline(never)]
fn insert_by_call(backend: Backend, layout: &Layout, hash: u64, block: &mut Block) -> bool {
    backend.insert(layout, hash, block)
}

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
        if cfg!(all(target_feature = "avx512f", target_feature = "avx512dq"))
            && FORCED.is_none_or(|name| name == "avx512")
        {
            return Avx512::new().map(Self::Avx512);
        }
        #[cfg(target_arch = "x86_64")]
        if cfg!(target_feature = "avx2") && FORCED.is_none_or(|name| name == "avx2") {
            return Avx2::new().map(Self::Avx2);
        }
        None
    }

    /// Whether all kernels there can be are inlined everywhere.
    #[inline(always)]
    fn inlines() -> bool {
        cfg!(not(target_arch = "x86_64")) || Self::fixed().is_some()
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

    #[inline(always)]
    fn contains(self, layout: &Layout, hash: u64, block: &impl PlainBlock) -> bool {
        self.run(layout.positions(), Contains { layout, hash, block })
    }

    #[inline(always)]
    fn insert(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        self.run(layout.positions(), Insert { layout, hash, block })
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

/// Asks one block.
struct Contains<'a, B> {
    layout: &'a Layout,
    hash: u64,
    block: &'a B,
}

impl<B: PlainBlock> Work for Contains<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run<P: Pattern>(self, kernel: impl Kernel) -> bool {
        kernel.contains::<P>(self.layout, self.hash, &self.block.load())
    }
}

/// Changes one block.
struct Insert<'a> {
    layout: &'a Layout,
    hash: u64,
    block: &'a mut Block,
}

impl Work for Insert<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<P: Pattern>(self, kernel: impl Kernel) -> bool {
        kernel.insert::<P>(self.layout, self.hash, self.block)
    }
}
