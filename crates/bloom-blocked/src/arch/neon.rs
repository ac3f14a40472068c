//! NEON: a block is four vectors of two lanes. Every `AArch64` processor has it.
#![expect(unsafe_code, reason = "intrinsics")]

use core::arch::aarch64::{
    int64x2_t, uint64x2_t, vandq_u64, vbicq_u64, vcombine_s64, vcreate_s64, vdupq_n_u64,
    vgetq_lane_u64, vld1q_u64, vorrq_u64, vreinterpretq_s64_u64, vshlq_u64, vst1q_u64,
};

use super::Kernel;
use crate::batch::Hashing;
use crate::layout::{Block, Layout, Pattern, Positions, field_start, first_fields, second_fields};

/// The kernel of every `AArch64` processor.
#[derive(Clone, Copy)]
pub(crate) struct Neon;

/// The four pairs of lanes of a block.
type Pairs = [uint64x2_t; 4];

/// The bits of a hash in its block.
#[inline]
#[target_feature(enable = "neon")]
fn masks<P: Pattern>(layout: &Layout, hash: u64) -> Pairs {
    let first = first_fields(hash);
    let every = [vdupq_n_u64(1); 4];
    match P::POSITIONS {
        Positions::Chosen => bits_of(first, ones_in(layout.chosen(first))),
        Positions::Every => bits_of(first, every),
        Positions::Second => {
            or(bits_of(first, every), bits_of(second_fields(first), ones_in(layout.chosen(first))))
        }
    }
}

/// Shifts a bit to the place that the field of its lane gives.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(fields: u64, ones: Pairs) -> Pairs {
    let fields = vdupq_n_u64(fields);
    let in_lane = vdupq_n_u64(63);
    let mut bits = ones;
    for (pair, bits) in bits.iter_mut().enumerate() {
        let right = shifts(field_start(2 * pair), field_start(2 * pair + 1));
        let position = vandq_u64(vshlq_u64(fields, right), in_lane);
        *bits = vshlq_u64(*bits, vreinterpretq_s64_u64(position));
    }
    bits
}

/// 1 in each of the given lanes, 0 in the others.
#[inline]
#[target_feature(enable = "neon")]
fn ones_in(lanes: u8) -> Pairs {
    let lanes = vdupq_n_u64(u64::from(lanes));
    let mut ones = [vdupq_n_u64(1); 4];
    for (right, ones) in (0..).step_by(2).zip(&mut ones) {
        *ones = vandq_u64(vshlq_u64(lanes, shifts(right, right + 1)), *ones);
    }
    ones
}

/// Counts for `vshlq`, which shifts to the left, by negative counts to the right.
#[inline]
#[target_feature(enable = "neon")]
fn shifts(right_first: u32, right_second: u32) -> int64x2_t {
    let count = |right: u32| vcreate_s64((-i64::from(right)).cast_unsigned());
    vcombine_s64(count(right_first), count(right_second))
}

#[inline]
#[target_feature(enable = "neon")]
fn or(left: Pairs, right: Pairs) -> Pairs {
    let mut both = left;
    for (both, right) in both.iter_mut().zip(right) {
        *both = vorrq_u64(*both, right);
    }
    both
}

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &Block) -> Pairs {
    let mut pairs = [vdupq_n_u64(0); 4];
    for (pair, lanes) in pairs.iter_mut().zip(block.as_chunks::<2>().0) {
        // SAFETY: two lanes are 16 bytes, and the load needs the alignment of a lane only.
        *pair = unsafe { vld1q_u64(lanes.as_ptr()) };
    }
    pairs
}

#[inline]
#[target_feature(enable = "neon")]
fn store(block: &mut Block, pairs: Pairs) {
    for (pair, lanes) in pairs.into_iter().zip(block.as_chunks_mut::<2>().0) {
        // SAFETY: two lanes are 16 bytes, and the store needs the alignment of a lane only.
        unsafe { vst1q_u64(lanes.as_mut_ptr(), pair) };
    }
}

/// Whether `block` has all bits of `masks`.
#[inline]
#[target_feature(enable = "neon")]
fn covers(block: Pairs, masks: Pairs) -> bool {
    let mut missing = vdupq_n_u64(0);
    for (mask, block) in masks.into_iter().zip(block) {
        missing = vorrq_u64(missing, vbicq_u64(mask, block));
    }
    vgetq_lane_u64::<0>(missing) | vgetq_lane_u64::<1>(missing) == 0
}

#[inline]
#[target_feature(enable = "neon")]
fn contains<P: Pattern>(layout: &Layout, hash: u64, block: &Block) -> bool {
    covers(load(block), masks::<P>(layout, hash))
}

#[inline]
#[target_feature(enable = "neon")]
fn insert<P: Pattern>(layout: &Layout, hash: u64, block: &mut Block) -> bool {
    let (masks, before) = (masks::<P>(layout, hash), load(block));
    store(block, or(before, masks));
    !covers(before, masks)
}

const _: () = assert!(cfg!(target_feature = "neon"), "every AArch64 processor has NEON");

impl Kernel for Neon {
    const HASHING: Hashing = Hashing::OneByOne;

    #[inline(always)]
    fn contains<P: Pattern>(self, layout: &Layout, hash: u64, block: &Block) -> bool {
        // SAFETY: the build is for processors that have NEON, which the assertion above checks.
        unsafe { contains::<P>(layout, hash, block) }
    }

    #[inline(always)]
    fn insert<P: Pattern>(self, layout: &Layout, hash: u64, block: &mut Block) -> bool {
        // SAFETY: the build is for processors that have NEON, which the assertion above checks.
        unsafe { insert::<P>(layout, hash, block) }
    }
}
