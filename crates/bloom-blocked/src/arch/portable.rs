//! The definition of the bits, for every processor.

use super::Kernel;
use crate::batch::Hashing;
use crate::layout::{
    Block, Chosen, Every, LANES, Layout, Pattern, Positions, Second, field_start, first_fields,
    second_fields,
};

/// The kernel that needs nothing.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// The bits of a hash in its block, for keys of whichever number of positions.
#[inline(always)]
pub(crate) fn masks(layout: &Layout, hash: u64) -> Block {
    match layout.positions() {
        Positions::Chosen => masks_of::<Chosen>(layout, hash),
        Positions::Every => masks_of::<Every>(layout, hash),
        Positions::Second => masks_of::<Second>(layout, hash),
    }
}

/// The bits of a hash in its block.
#[inline(always)]
fn masks_of<P: Pattern>(layout: &Layout, hash: u64) -> Block {
    let first = first_fields(hash);
    match P::POSITIONS {
        Positions::Chosen => bits_of(first, layout.chosen(first)),
        Positions::Every => bits_of(first, u8::MAX),
        Positions::Second => {
            let (every, some) =
                (bits_of(first, u8::MAX), bits_of(second_fields(first), layout.chosen(first)));
            core::array::from_fn(|lane| every[lane] | some[lane])
        }
    }
}

/// One bit in each of the given lanes, by the fields of a word.
#[inline(always)]
fn bits_of(fields: u64, lanes: u8) -> Block {
    core::array::from_fn(|lane| {
        let one = u64::from(lanes >> lane & 1);
        one << (fields >> field_start(lane) & 63)
    })
}

/// Whether `block` has all bits of `masks`.
#[inline(always)]
pub(crate) fn covers(block: &Block, masks: &Block) -> bool {
    (0..LANES).fold(0, |missing, lane| missing | masks[lane] & !block[lane]) == 0
}

impl Kernel for Portable {
    const HASHING: Hashing = Hashing::OneByOne;

    #[inline(always)]
    fn contains<P: Pattern>(self, layout: &Layout, hash: u64, block: &Block) -> bool {
        covers(block, &masks_of::<P>(layout, hash))
    }

    #[inline(always)]
    fn insert<P: Pattern>(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        let mut missing = 0;
        for (word, mask) in block.iter_mut().zip(masks_of::<P>(layout, hash)) {
            missing |= mask & !*word;
            *word |= mask;
        }
        missing != 0
    }
}
