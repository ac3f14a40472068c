//! The bits of a hash in its block: the definition, which the compiler vectorises for each backend.

use core::array;
use core::hint::black_box;

use pds_core::internal::StoredWord;

use crate::layout::{Block, LANES, Layout, Positions, field_start, first_fields, second_fields};

/// Loads a block from any storage.
#[inline(always)]
pub(crate) fn load<W: StoredWord>(block: &[W; LANES]) -> Block {
    array::from_fn(|lane| block[lane].value())
}

/// Constants of the lanes, from memory.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    starts: Block,
    numbers: Block,
}

impl Lanes {
    /// Returns the constants. Code with vectors (`WIDE`) gets them from memory. A loop calls this once, before it
    /// starts.
    // If the compiler knew the constants, it would omit an instruction in the first or the last lane: the mask of a
    // field that ends at bit 63, or the shift by 0. The lanes would then differ, and would be collected for a vector
    // one by one.
    #[inline(always)]
    pub(crate) fn load<const WIDE: bool>() -> Self {
        let starts = array::from_fn(|lane| u64::from(field_start(lane)));
        let known = Self { starts, numbers: array::from_fn(|lane| lane as u64) };
        if WIDE { black_box(known) } else { known }
    }

    /// Returns the bits of a hash in its block.
    // `positions` are those of the layout. They are an argument so that a loop can pass them as a constant.
    #[inline(always)]
    pub(crate) fn masks(&self, layout: &Layout, positions: Positions, hash: u64) -> Block {
        let first = first_fields(hash);
        let chosen = || self.ones_in(layout.chosen(first));
        match positions {
            Positions::Chosen => self.bits_of(first, chosen()),
            Positions::Every => self.bits_of(first, [1; LANES]),
            Positions::Second => {
                let every = self.bits_of(first, [1; LANES]);
                let some = self.bits_of(second_fields(first), chosen());
                array::from_fn(|lane| every[lane] | some[lane])
            }
        }
    }

    /// Shifts a bit in each lane to the position that the field of the lane states.
    #[inline(always)]
    fn bits_of(&self, fields: u64, ones: Block) -> Block {
        array::from_fn(|lane| ones[lane] << (fields >> (self.starts[lane] & 63) & 63))
    }

    /// Returns 1 in each of the given lanes, 0 in the others.
    #[inline(always)]
    fn ones_in(&self, lanes: u8) -> Block {
        array::from_fn(|lane| u64::from(lanes) >> (self.numbers[lane] & 63) & 1)
    }
}

/// Returns the bits of a hash in its block.
#[inline(always)]
pub(crate) fn masks<const WIDE: bool>(layout: &Layout, hash: u64) -> Block {
    Lanes::load::<WIDE>().masks(layout, layout.positions(), hash)
}

/// Returns whether `block` has all bits of `masks`.
#[inline(always)]
pub(crate) fn covers(block: &Block, masks: &Block) -> bool {
    (0..LANES).fold(0, |missing, lane| missing | masks[lane] & !block[lane]) == 0
}

/// Sets all bits of `masks`. Returns whether any was clear.
#[inline(always)]
pub(crate) fn insert(block: &mut Block, masks: &Block) -> bool {
    let before = *block;
    let after: Block = array::from_fn(|lane| before[lane] | masks[lane]);
    *block = after;
    // Not `covers`: with one position in every lane the compiler would make tests of single bits of it, one after the other,
    // for AVX2 (7 to 13 ns per key instead of 3).
    (0..LANES).fold(0, |changed, lane| changed | after[lane] ^ before[lane]) != 0
}
