//! Faults of filters of several layers.

use super::{
    COUNTED_ABOVE, COUNTS, Counting, Growing, SCALABLE, built, counts, history, layered, of,
    standard,
};
use crate::validate::effort::Effort;
use crate::validate::measure::{LOST_KEYS, MEAN_RATE, PROMISE};
use crate::validate::structures::Fault;
use pds::bloom::BloomFilter;
use pds::params::{LayeredParams, ScalableParams, Schedule};
use pds::scalable::Sighting;
use pds::{LayeredBloomFilter, ScalableBloomFilter};

pub(super) const FAULTS: [Fault; 4] = [
    Fault {
        name: "not-tightened",
        effect: "every layer of a scalable filter has the promised rate",
        breaks: &[PROMISE, MEAN_RATE],
        effort: Effort::Quick,
        jobs: |run| vec![history(run, SCALABLE, design(), standard, || Loose::new(design()))],
    },
    Fault {
        name: "drops-oldest",
        effect: "a scalable filter forgets its oldest layer when it opens the fourth",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| vec![history(run, SCALABLE, design(), standard, || Forgetful(built(design())))],
    },
    Fault {
        name: "layer-skipped",
        effect: "a count of a layered filter leaves out the second layer",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let (keys, params) = counted();
            vec![counts(run, keys, params, move || Skipping(layered(params)))]
        },
    },
    Fault {
        name: "goes-too-far",
        effect: "one insert in 64 into a layered filter goes one layer too far",
        breaks: &[COUNTED_ABOVE],
        effort: Effort::Quick,
        jobs: |run| {
            let (keys, params) = counted();
            vec![counts(run, keys, params, move || TooFar(layered(params)))]
        },
    },
];

fn design() -> ScalableParams {
    of((50, 0.01, 2, Schedule::DEFAULT))
}

fn counted() -> (&'static [u64], LayeredParams) {
    let (keys, rate) = COUNTS[0];
    (keys, LayeredParams::new(keys, rate).expect("a sound design"))
}

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

impl Growing for Loose {
    fn insert(&mut self, hash: u64) -> bool {
        if self.contains(hash) {
            return false;
        }
        if self.room == 0 {
            let index = u32::try_from(self.layers.len()).expect("few layers");
            self.room = self.params.layer(index).expect("sound").items;
            let rate = self.params.promised_rate();
            self.layers.push(BloomFilter::new(self.room, rate).expect("memory"));
        }
        self.room -= 1;
        self.layers.last_mut().is_some_and(|layer| layer.insert_hash(hash))
    }

    fn contains(&self, hash: u64) -> bool {
        self.layers.iter().any(|layer| layer.contains_hash(hash))
    }
}

/// Answers from all layers but the first, once there are four.
struct Forgetful(ScalableBloomFilter);

impl Growing for Forgetful {
    fn insert(&mut self, hash: u64) -> bool {
        Growing::insert(&mut self.0, hash)
    }

    fn contains(&self, hash: u64) -> bool {
        // The first layer takes hashes as they are.
        self.0.contains_hash(hash)
            && !(self.0.num_layers() == 4 && self.0.layers()[0].contains_hash(hash))
    }
}

/// Counts all layers but the second.
#[derive(Clone)]
struct Skipping(LayeredBloomFilter);

impl Counting for Skipping {
    fn sight(&mut self, hash: u64) -> Sighting {
        Counting::sight(&mut self.0, hash)
    }

    fn count(&self, hash: u64) -> u32 {
        let count = Counting::count(&self.0, hash);
        if count >= 2 { count - 1 } else { count }
    }

    fn rate(&self) -> f64 {
        Counting::rate(&self.0)
    }
}

/// Inserts one key in 64 twice.
#[derive(Clone)]
struct TooFar(LayeredBloomFilter);

impl Counting for TooFar {
    fn sight(&mut self, hash: u64) -> Sighting {
        if hash.is_multiple_of(64) {
            Counting::sight(&mut self.0, hash);
        }
        Counting::sight(&mut self.0, hash)
    }

    fn count(&self, hash: u64) -> u32 {
        Counting::count(&self.0, hash)
    }

    fn rate(&self) -> f64 {
        Counting::rate(&self.0)
    }
}
