//! What a filter can tell of itself, from its bits.

use bloom_core::Health;
use pds_core::Incompatible;
use pds_params::BlockedBloomParams;

use crate::blocks::BlockSource;
use crate::layout::{Block, Layout, Positions};

/// How many standard deviations a filter may be above its promise by chance.
const TOLERATED_DEVIATIONS: f64 = 3.0;

pub(crate) fn count_ones(blocks: &impl BlockSource) -> u64 {
    blocks.blocks().iter().map(|block| ones_of(&block)).sum()
}

pub(crate) fn count_union_ones(left: &impl BlockSource, right: &impl BlockSource) -> u64 {
    let union = |(left, right): (Block, Block)| core::array::from_fn(|i| left[i] | right[i]);
    left.blocks().iter().zip(right.blocks().iter()).map(|pair| ones_of(&union(pair))).sum()
}

fn ones_of(block: &Block) -> u64 {
    block.iter().map(|lane| u64::from(lane.count_ones())).sum()
}

/// The fraction of absent keys that these very bits answer `true`: the mean over all blocks and choices
/// of lanes of the product of the lanes' fills.
pub(crate) fn rate(params: &BlockedBloomParams, blocks: &impl BlockSource) -> f64 {
    let blocks = blocks.blocks();
    let sum: f64 = blocks.iter().map(|block| rate_of(blocks.layout, &block)).sum();
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    let mean = sum / params.num_blocks() as f64;
    mean.min(1.0)
}

/// The halves of a block choose their lanes apart, so that their rates multiply.
fn rate_of(layout: &Layout, block: &Block) -> f64 {
    let fills = block.map(|lane| f64::from(lane.count_ones()) / 64.0);
    fills.as_chunks::<4>().0.iter().map(|half| rate_of_half(layout, half)).product()
}

fn rate_of_half(layout: &Layout, fills: &[f64; 4]) -> f64 {
    let every: f64 = fills.iter().product();
    let chosen = || {
        let of = |lanes: u8| {
            (0..4).filter(|lane| lanes >> lane & 1 == 1).map(|lane| fills[lane]).product::<f64>()
        };
        layout.rotations().map(of).iter().sum::<f64>() / 4.0
    };
    match layout.positions() {
        Positions::Chosen => chosen(),
        Positions::Every => every,
        Positions::Second => every * chosen(),
    }
}

pub(crate) fn health(params: &BlockedBloomParams, blocks: &impl BlockSource) -> Health {
    let items = params.cardinality(count_ones(blocks));
    let design = (params.expected_items(), params.promised_rate());
    Health::judge(items, rate(params, blocks), design, limit(params))
}

/// The rate up to which a filter is well.
fn limit(params: &BlockedBloomParams) -> f64 {
    match (params.expected_items(), params.promised_rate()) {
        (Some(items), Some(promised)) => {
            promised * (1.0 + TOLERATED_DEVIATIONS * params.relative_spread_at(items))
        }
        _ => params.rate_at(items_at_half_fill(params)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number of items is wanted")]
#[expect(clippy::cast_sign_loss, reason = "an estimate is never negative")]
fn items_at_half_fill(params: &BlockedBloomParams) -> u64 {
    params.cardinality(params.num_bits() / 2).value as u64
}

/// What filters ask before they are combined.
pub(crate) fn check_compatible<S: crate::KeyHasher>(
    (left, left_hasher): (&BlockedBloomParams, &S),
    (right, right_hasher): (&BlockedBloomParams, &S),
) -> Result<(), Incompatible> {
    let hashes = |params: &BlockedBloomParams| u64::from(params.num_hashes());
    Incompatible::check_shape("number of blocks", left.num_blocks(), right.num_blocks())?;
    Incompatible::check_shape("number of hashes", hashes(left), hashes(right))?;
    Incompatible::check_hasher(left_hasher, right_hasher)
}
