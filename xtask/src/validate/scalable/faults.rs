//! Faults of filters of several layers.

use super::{
    COUNTED_ABOVE, COUNTS, Counting, SCALABLE, built, counts, growing, history, of, standard,
};
use crate::validate::prelude::*;
use crate::validate::removal::Ways;
use pds::ScalableBloomFilter;
use pds::bloom::BloomFilter;
use pds::params::{ScalableParams, Schedule};

pub(super) const FAULTS: [Fault; 4] = [
    fault(
        "not-tightened",
        "every layer of a scalable filter has the promised rate",
        &[PROMISE, MEAN_RATE],
        |run| vec![history(run, SCALABLE, design(), standard, (Loose::new, LOOSE))],
    ),
    fault(
        "drops-oldest",
        "a scalable filter forgets its oldest layer when it opens the fourth",
        &[LOST_KEYS],
        |run| vec![history(run, SCALABLE, design(), standard, (built::<BloomFilter>, FORGETFUL))],
    ),
    fault(
        "layer-skipped",
        "a count of a layered filter leaves out the second layer",
        &[LOST_KEYS],
        |run| vec![counts(run, COUNTS[0], SKIPPING)],
    ),
    fault(
        "goes-too-far",
        "one insert in 64 into a layered filter goes one layer too far",
        &[COUNTED_ABOVE],
        |run| vec![counts(run, COUNTS[0], TOO_FAR)],
    ),
];

fn design() -> ScalableParams {
    of((50, 0.01, 2, Schedule::DEFAULT))
}

/// Counts all layers but the second.
const SKIPPING: Counting = Counting {
    count: |filter, hash| match filter.count_hash(hash) {
        count @ 2.. => count - 1,
        count => count,
    },
    ..Counting::OWN
};

/// Inserts one key in 64 twice.
const TOO_FAR: Counting = Counting {
    insert: |filter, hash| {
        if hash.is_multiple_of(64) {
            filter.sight_hash(hash);
        }
        filter.sight_hash(hash);
    },
    ..Counting::OWN
};

/// Layers of one rate.
struct Loose {
    params: ScalableParams,
    layers: Vec<BloomFilter>,
    room: u64,
}

impl Loose {
    fn new(params: ScalableParams) -> Self {
        Self { params, layers: Vec::new(), room: 0 }
    }
}

const LOOSE: Ways<Loose> = Ways {
    insert: |filter, hash| {
        if (LOOSE.contains)(filter, hash) {
            return false;
        }
        if filter.room == 0 {
            let index = u32::try_from(filter.layers.len()).expect("few layers");
            filter.room = filter.params.layer(index).expect("sound").items;
            let rate = filter.params.promised_rate();
            filter.layers.push(BloomFilter::new(filter.room, rate).expect("memory"));
        }
        filter.room -= 1;
        filter.layers.last_mut().is_some_and(|layer| layer.insert_hash(hash))
    },
    remove: |_, _| false,
    contains: |filter, hash| filter.layers.iter().any(|layer| layer.contains_hash(hash)),
};

/// Answers from all layers but the first, once there are four.
const FORGETFUL: Ways<ScalableBloomFilter> = Ways {
    contains: |filter, hash| {
        // The first layer takes hashes as they are.
        let is_forgotten = filter.num_layers() == 4 && filter.layers()[0].contains_hash(hash);
        filter.contains_hash(hash) && !is_forgotten
    },
    ..growing()
};
