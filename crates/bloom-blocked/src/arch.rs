//! Reading and changing of blocks on each kind of processor.
//!
//! [`kernel`](crate::kernel) is the definition. Batches run it through the dispatcher of `pds-core`. Single keys do the
//! same, with one exception: keys with one position in every lane, the usual case. Their instructions are written by
//! hand ([`in_place`]). So are those for split blocks ([`in_place::split`]).

#[cfg(target_arch = "x86_64")]
mod in_place;

#[cfg(target_arch = "x86_64")]
use in_place::InPlace;
use pds_core::internal::{Backend, StoredWord, Work};

use crate::kernel::{covers, insert, load, masks};
use crate::layout::{Block, LANES, Layout, Positions};
use crate::split_block;

/// Lists the names of the backends that filters of this build can use on this processor, the fastest first.
///
/// For tests and benches, which compare them.
pub fn backends() -> impl Iterator<Item = &'static str> {
    Backend::all().map(Backend::name)
}

/// The code with which a filter reads and changes its blocks.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    backend: Backend,
    /// The instructions for single keys. `None` if they go through the backend.
    #[cfg(target_arch = "x86_64")]
    in_place: Option<InPlace>,
}

impl Choice {
    /// Chooses the code of a backend, for keys with these positions.
    pub(crate) fn new(backend: Backend, positions: Positions) -> Self {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = positions;
        Self {
            backend,
            #[cfg(target_arch = "x86_64")]
            in_place: InPlace::new(backend).filter(|_| positions == Positions::Every),
        }
    }

    /// Returns the backend for batches.
    #[inline(always)]
    pub(crate) fn backend(self) -> Backend {
        self.backend
    }

    /// Returns whether `block` has all bits of a hash.
    #[inline(always)]
    pub(crate) fn contains<W: StoredWord>(
        self,
        layout: &Layout,
        hash: u64,
        block: &[W; LANES],
    ) -> bool {
        let work = Contains { layout, hash, block };
        // A build with one backend inlines its code. Words that threads change are loaded one by one.
        if Backend::IS_FIXED || !W::IS_PLAIN {
            return work.run();
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(in_place) = self.in_place {
            return in_place.contains(hash, block);
        }
        run_by_call(self.backend, work)
    }

    /// Sets all bits of a hash in `block`. Returns whether any was clear.
    #[inline(always)]
    pub(crate) fn insert(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        if Backend::IS_FIXED {
            return Insert { layout, hash, block }.run();
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(in_place) = self.in_place {
            return in_place.insert(hash, block);
        }
        run_by_call(self.backend, Insert { layout, hash, block })
    }
}

/// The code with which a split-block filter reads and changes its blocks.
#[derive(Clone, Copy)]
pub(crate) struct SplitChoice {
    #[cfg(target_arch = "x86_64")]
    in_place: Option<InPlace>,
}

impl SplitChoice {
    /// Chooses the code of a backend.
    pub(crate) fn new(backend: Backend) -> Self {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = backend;
        Self {
            #[cfg(target_arch = "x86_64")]
            in_place: InPlace::new(backend),
        }
    }

    /// Returns whether `block` has all bits of a hash.
    #[inline(always)]
    pub(crate) fn contains<W: StoredWord>(
        self,
        hash: u64,
        block: &[W; split_block::BLOCK_WORDS],
    ) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(in_place) = self.in_place.filter(|_| !Backend::IS_FIXED && W::IS_PLAIN) {
            return in_place.contains_split(hash, block);
        }
        split_block::covers(block, hash)
    }

    /// Sets all bits of a hash in `block`. Returns whether any was clear.
    #[inline(always)]
    pub(crate) fn insert(self, hash: u64, block: &mut split_block::Block) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(in_place) = self.in_place.filter(|_| !Backend::IS_FIXED) {
            return in_place.insert_split(hash, block);
        }
        split_block::insert(block, hash)
    }
}

// One call for all backends, so that they take no room in the caller's loop.
#[inline(never)]
fn run_by_call<W: Work>(backend: Backend, work: W) -> W::Output {
    backend.run(work)
}

struct Contains<'a, W> {
    layout: &'a Layout,
    hash: u64,
    block: &'a [W; LANES],
}

impl<W: StoredWord> Work for Contains<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        covers(&load(self.block), &masks::<false>(self.layout, self.hash))
    }

    #[inline(always)]
    fn run_wide(self) -> bool {
        covers(&load(self.block), &masks::<true>(self.layout, self.hash))
    }
}

struct Insert<'a> {
    layout: &'a Layout,
    hash: u64,
    block: &'a mut Block,
}

impl Work for Insert<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        insert(self.block, &masks::<false>(self.layout, self.hash))
    }

    #[inline(always)]
    fn run_wide(self) -> bool {
        insert(self.block, &masks::<true>(self.layout, self.hash))
    }
}
