//! The layout: the block of a hash and its bits in the block, by `docs/hashing.md`, section 4.

use pds_core::internal::GOLDEN_RATIO;
use pds_params::BlockedBloomParams;

/// Eight lanes of 64 bits: one cache line.
pub(crate) type Block = [u64; LANES];

/// Lanes of a block.
pub(crate) const LANES: usize = 8;

/// The field of lane `j` starts at this bit less 6 `j`.
const FIRST_FIELD: usize = 58;

/// The first of the four bits that choose lanes. They are below all fields.
const CHOICE: u32 = 12;

/// An odd constant without a regular pattern of bits, from XXH64. The product with it gives the second positions.
const SECOND: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// The shape of a filter, in the form that the kernel uses.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    positions: Positions,
    /// The chosen lanes for each value of the four choosing bits, one bit per lane.
    chosen: [u8; 16],
}

/// The number of positions of a key in the lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Positions {
    /// One in the chosen lanes.
    Chosen,
    /// One in every lane.
    Every,
    /// One in every lane, and a second in the chosen ones.
    Second,
}

impl Layout {
    pub(crate) fn new(params: &BlockedBloomParams) -> Self {
        let hashes = params.num_hashes();
        let positions = match hashes {
            0..8 => Positions::Chosen,
            8 => Positions::Every,
            _ => Positions::Second,
        };
        Self { positions, chosen: choices(hashes) }
    }

    #[inline(always)]
    pub(crate) fn positions(&self) -> Positions {
        self.positions
    }

    /// Returns the lanes that `fields` choose, one bit per lane.
    #[inline(always)]
    pub(crate) fn chosen(&self, fields: u64) -> u8 {
        self.chosen[(fields >> CHOICE) as usize % 16]
    }

    /// Returns all sets of lanes that a key can choose in one half of a block.
    pub(crate) fn rotations(&self) -> [u8; 4] {
        core::array::from_fn(|rotation| self.chosen[rotation] & 15)
    }
}

/// Returns the chosen lanes for each value of the choosing bits. In each half they are neighbours, from a start that
/// two of the bits give. Their number is that of the positions beyond a multiple of four.
fn choices(hashes: u32) -> [u8; 16] {
    let in_half = match hashes / 2 % 4 {
        0 => 4,
        some => some as usize,
    };
    let half = |rotation: usize| {
        (0..4).filter(|lane| (lane + rotation) % 4 < in_half).fold(0, |set, lane| set | 1 << lane)
    };
    core::array::from_fn(|choice| half(choice % 4) | half(choice / 4) << 4)
}

/// Returns the word whose fields are the first positions of a hash.
#[inline(always)]
pub(crate) fn first_fields(hash: u64) -> u64 {
    hash.wrapping_mul(GOLDEN_RATIO)
}

/// Returns the word whose fields are the second positions.
#[inline(always)]
pub(crate) fn second_fields(first: u64) -> u64 {
    first.wrapping_mul(SECOND)
}

/// Returns the bit at which the field of a lane starts.
#[expect(clippy::cast_possible_truncation, reason = "a place in a word of 64 bits")]
pub(crate) const fn field_start(lane: usize) -> u32 {
    (FIRST_FIELD - 6 * lane) as u32
}
