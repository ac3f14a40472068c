//! Which block and which bits of it a hash stands for: `docs/hashing.md`, section 4.

use pds_core::internal::GOLDEN_RATIO;
use pds_params::BlockedBloomParams;

/// Eight lanes of 64 bits: one cache line.
pub(crate) type Block = [u64; LANES];

/// Lanes of a block.
pub(crate) const LANES: usize = 8;

/// Lane `j` has the field that starts at this bit, less 6 `j`.
const FIRST_FIELD: usize = 58;

/// The bit at which the four bits start that choose lanes: below all fields.
const CHOICE: u32 = 12;

/// An odd constant with bits in no regular pattern, from XXH64; second positions come from the product.
const SECOND: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// The shape of a filter, in the form in which its kernels use it.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    positions: Positions,
    /// The lanes that are chosen, a bit each, by the four bits that choose.
    chosen: [u8; 16],
}

/// How many positions a key has in the lanes.
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

    /// The lanes that `fields` choose, a bit each.
    #[inline(always)]
    pub(crate) fn chosen(&self, fields: u64) -> u8 {
        self.chosen[(fields >> CHOICE) as usize % 16]
    }

    /// All sets of lanes that a key can choose, the one of its lower four lanes by itself.
    pub(crate) fn rotations(&self) -> [u8; 4] {
        core::array::from_fn(|rotation| self.chosen[rotation] & 15)
    }
}

/// The lanes chosen by each value of the choosing bits: in each half as many neighbours as there are
/// positions beyond a multiple of four, from a start that two of the bits give.
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

/// The word whose fields are the first positions of a hash.
#[inline(always)]
pub(crate) fn first_fields(hash: u64) -> u64 {
    hash.wrapping_mul(GOLDEN_RATIO)
}

/// The word whose fields are the second positions.
#[inline(always)]
pub(crate) fn second_fields(first: u64) -> u64 {
    first.wrapping_mul(SECOND)
}

/// The bit at which the field of a lane starts.
#[expect(clippy::cast_possible_truncation, reason = "a place in a word of 64 bits")]
pub(crate) const fn field_start(lane: usize) -> u32 {
    (FIRST_FIELD - 6 * lane) as u32
}
