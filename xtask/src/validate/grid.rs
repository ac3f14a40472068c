//! The cases of a run: a covering sample of the parameters, at three levels of effort.

use super::corpus::{Corpus, Text};
use super::covering;
use super::effort::{Effort, rare_queries};
use super::keys::{HasherKind, KeyKind};
use super::measure::{Plan, Work};
use super::subject::{Design, Size};
use crate::numbers::{real, whole};

/// Kinds of sizes at which filters have failed.
const SIZES: [Size; 5] =
    [Size::Promised, Size::PowerOfTwo(0), Size::PowerOfTwo(-1), Size::PowerOfTwo(1), Size::Prime];

/// Sizes around one, two and many words, and below one.
const SMALL_SIZES: [u64; 12] = [7, 31, 63, 64, 65, 127, 128, 129, 251, 255, 256, 257];

/// Numbers of keys at which the mean rate over many instances is compared with the promise.
const SMALL_ITEMS: [u64; 9] = [1, 2, 3, 5, 10, 30, 100, 300, 1_000];

/// Keys inserted, as multiples of the design load.
const LOADS: [f64; 6] = [0.5, 0.75, 1.5, 2.0, 3.0, 5.0];

/// The grid of a membership structure.
pub(crate) struct Grid<'a> {
    pub(crate) effort: Effort,
    pub(crate) corpus: &'a Corpus,
    /// Returns the predicted false-positive rate of a design with this number of keys.
    pub(crate) rate: &'a dyn Fn(&Design, u64) -> f64,
}

impl Grid<'_> {
    /// Returns all cases.
    pub(crate) fn plans(&self) -> Vec<Plan> {
        let (covering, rare) = (self.covering(), self.rare());
        [covering, rare, self.overfill(), self.small(), self.real_keys(), self.large()].concat()
    }

    /// Returns cases that cover all pairs of items, rates, kinds of sizes, keys and hashers.
    pub(crate) fn covering(&self) -> Vec<Plan> {
        let (items, rates) = (self.items(), self.rates());
        let made_up = KeyKind::MADE_UP;
        let lengths = [items.len(), rates.len(), SIZES.len(), made_up.len(), HasherKind::ALL.len()];
        let affordable =
            |levels: &[usize]| self.affords(items[levels[0]], rates[levels[1]], made_up[levels[3]]);
        let plan = |levels: Vec<usize>| {
            let (items, rate) = (items[levels[0]], rates[levels[1]]);
            let design = Design { items, rate, size: SIZES[levels[2]] };
            self.instance(design, 1.0, made_up[levels[3]], HasherKind::ALL[levels[4]])
        };
        covering::pairs(&lengths, affordable).into_iter().map(plan).collect()
    }

    /// Returns whether a case is worth its time. Rare events are not if keys are slow to make, or if the filter exceeds
    /// the cache.
    fn affords(&self, items: u64, rate: f64, keys: KeyKind) -> bool {
        let least_rate_of_texts = self.effort.choose([0.01, 0.01, 1e-3]);
        let slow = keys.is_text() && (rate < least_rate_of_texts || items > 1_000_000);
        let rare = rate < 1e-4 && items > 100_000;
        !slow && !rare
    }

    fn items(&self) -> &'static [u64] {
        self.effort.choose([
            &[2_000, 10_000, 100_000, 1_000_000],
            &[2_000, 10_000, 100_000, 1_000_000, 2_000_000],
            &[2_000, 5_000, 10_000, 100_000, 1_000_000, 10_000_000],
        ])
    }

    fn rates(&self) -> &'static [f64] {
        self.effort.choose([
            &[0.3, 0.1, 0.01, 1e-3, 1e-4],
            &[0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4],
            &[0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5],
        ])
    }

    /// Returns cases of very low rates. Few are affordable.
    fn rare(&self) -> Vec<Plan> {
        const CASES: [(KeyKind, HasherKind); 2] =
            [(KeyKind::Random, HasherKind::Default), (KeyKind::Consecutive, HasherKind::Identity)];
        let (rate, cases) =
            self.effort.choose([(1.0, &[][..]), (1e-5, &CASES[..1]), (1e-6, &CASES)]);
        let plan = |&(keys, hasher)| {
            let design = Design { items: 10_000, rate, size: Size::Promised };
            let work = Work::Instance { stored: design.items, queries: rare_queries(rate) };
            Plan { design, keys, hasher, work }
        };
        cases.iter().map(plan).collect()
    }

    /// Returns filters below and far above their design load.
    fn overfill(&self) -> Vec<Plan> {
        let plan = |(rate, load)| {
            let design = Design { items: 100_000, rate, size: Size::Promised };
            self.instance(design, load, KeyKind::Random, HasherKind::Default)
        };
        [0.03, 0.01].into_iter().flat_map(|rate| LOADS.map(|load| (rate, load))).map(plan).collect()
    }

    /// Returns filters of up to a thousand keys, and of sizes near one or a few words.
    fn small(&self) -> Vec<Plan> {
        let rates: &[f64] = self.effort.choose([
            &[0.5, 0.1, 0.01],
            &[0.9, 0.5, 0.1, 0.01, 1e-3],
            &[0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4],
        ]);
        let promised = SMALL_ITEMS.into_iter().flat_map(|items| {
            rates.iter().map(move |&rate| Design { items, rate, size: Size::Promised })
        });
        let sized = SMALL_SIZES.into_iter().map(|bits| {
            let items = bits.div_ceil(10);
            Design { items, rate: 0.01, size: Size::Bits(bits) }
        });
        promised.chain(sized).map(|design| self.pool(design)).collect()
    }

    /// Returns many small instances of one design.
    ///
    /// Instances with fewer keys differ more from each other. Their number is so large that the standard deviation of
    /// their mean stays below the deviation to be detected.
    fn pool(&self, design: Design) -> Plan {
        let instances = (200_000 / design.items).clamp(5_000, 50_000);
        let queries = (3 * self.queries(&design, design.items)).div_ceil(instances).max(200);
        let work = Work::Pool { instances, stored: design.items, queries };
        Plan { design, keys: KeyKind::Random, hasher: HasherKind::Default, work }
    }

    /// Returns cases of real keys: one half is stored, the other half is queried. The number of seeds gives enough
    /// events.
    fn real_keys(&self) -> Vec<Plan> {
        let rates = [(HasherKind::Default, 0.1), (HasherKind::Default, 0.01)];
        let others = HasherKind::ALL[1..].iter().map(|&hasher| (hasher, 0.03));
        let cases = rates.into_iter().chain(others);
        let plans =
            |text| cases.clone().map(move |(hasher, rate)| self.held_out(text, hasher, rate));
        self.corpus.kinds().flat_map(plans).collect()
    }

    fn held_out(&self, text: Text, hasher: HasherKind, rate: f64) -> Plan {
        let stored = self.corpus.len(text) / 2;
        let held_out = self.corpus.len(text) - stored;
        let design = Design { items: stored, rate, size: Size::Promised };
        let instances = self.queries(&design, stored).div_ceil(held_out);
        let work = Work::Pool { instances, stored, queries: held_out };
        Plan { design, keys: KeyKind::Real(text), hasher, work }
    }

    /// Returns large arrays. The set bits of their parts show whether positions are spread evenly, which no rate does.
    pub(crate) fn large(&self) -> Vec<Plan> {
        let bits: &[u64] = self.effort.choose([
            &[1 << 27],
            &[1 << 27, 200_000_000],
            &[200_000_000, 400_000_000, 5_000_000_000],
        ]);
        let plan = |&bits: &u64| {
            let design = Design { items: bits / 10, rate: 0.01, size: Size::Bits(bits) };
            self.instance(design, 1.0, KeyKind::Consecutive, HasherKind::Default)
        };
        bits.iter().map(plan).collect()
    }

    /// Returns the designs whose unions and counts are checked.
    pub(crate) fn sets(&self) -> Vec<Plan> {
        let items = self.effort.choose([300_000, 3_000_000, 30_000_000]);
        let plan = |(rate, keys)| {
            let design = Design { items, rate, size: Size::Promised };
            let work = Work::Instance { stored: items, queries: 0 };
            Plan { design, keys, hasher: HasherKind::Default, work }
        };
        let kinds =
            [(0.1, KeyKind::Random), (0.01, KeyKind::Consecutive), (1e-4, KeyKind::Strided)];
        kinds.map(plan).to_vec()
    }

    /// Returns integers 2^20 apart, hashed by the identity. Without mixing, 8 % of absent keys are answered `true` on
    /// average.
    pub(crate) fn weak(&self) -> Plan {
        let design = Design { items: 10_000, rate: 0.01, size: Size::Promised };
        self.instance(design, 1.0, KeyKind::Strided, HasherKind::Identity)
    }

    fn instance(&self, design: Design, load: f64, keys: KeyKind, hasher: HasherKind) -> Plan {
        let stored = whole(real(design.items) * load);
        let work = Work::Instance { stored, queries: self.queries(&design, stored) };
        Plan { design, keys, hasher, work }
    }

    fn queries(&self, design: &Design, stored: u64) -> u64 {
        self.effort.queries((self.rate)(design, stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hasher_meets_each_kind_of_keys() {
        let corpus = Corpus::sample();
        let rate = |design: &Design, _| design.rate;
        let plans = Grid { effort: Effort::Quick, corpus: &corpus, rate: &rate }.covering();
        for hasher in HasherKind::ALL {
            for keys in KeyKind::MADE_UP {
                let met = plans.iter().any(|plan| plan.hasher == hasher && plan.keys == keys);
                assert!(met, "{} with {}", hasher.name(), keys.name());
            }
        }
    }
}
