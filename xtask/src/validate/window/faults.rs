//! Faults of window filters.

use super::{Aging, Subject, history, of_params, of_time};
use crate::validate::Run;
use crate::validate::effort::Effort;
use crate::validate::measure::{LOST_KEYS, MEAN_RATE, PROMISE};
use crate::validate::schedule::Job;
use crate::validate::structures::Fault;
use pds::TimedBloomFilter;
use pds::params::{TimedParams, WindowParams};

pub(super) const FAULTS: [Fault; 3] = [
    Fault {
        name: "forgets-early",
        effect: "a column of a window filter is cleared one generation early",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let design = design();
            let (window, generations) = (design.window(), design.generations() - 1);
            let window = window - design.generation_items();
            window_job(run, move || of_params(shape(window, generations, design.num_hashes())))
        },
    },
    Fault {
        name: "row-too-few",
        effect: "a window filter has one row per key too few",
        breaks: &[PROMISE, MEAN_RATE],
        effort: Effort::Quick,
        jobs: |run| {
            let design = design();
            let (window, generations) = (design.window(), design.generations());
            window_job(run, move || of_params(shape(window, generations, design.num_hashes() - 1)))
        },
    },
    Fault {
        name: "clock-set-back",
        effect: "a timed filter starts over when its clock runs backwards",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let params = TimedParams::new(300, 300, 0.01, 0.1).expect("a sound design");
            let subject = Subject::of_timed(&params, "slack 0.1".to_owned());
            vec![history(run, subject, move || SetBack(of_time(params)))]
        },
    },
];

fn design() -> WindowParams {
    WindowParams::new(300, 0.01, 0.1).expect("a sound design")
}

fn shape(window: u64, generations: u32, hashes: u32) -> WindowParams {
    let words = design().grid().num_words();
    WindowParams::from_shape(window, generations, words, hashes).expect("a sound shape")
}

/// A history of a filter that is said to have the design.
fn window_job<F: Aging>(run: &Run, build: impl Fn() -> F + Send + 'static) -> Vec<Job<'_>> {
    vec![history(run, Subject::of(&design(), "slack 0.1".to_owned()), build)]
}

/// Accepts an earlier time, and forgets everything.
struct SetBack(TimedBloomFilter);

impl Aging for SetBack {
    fn insert(&mut self, hash: u64) {
        Aging::insert(&mut self.0, hash);
    }

    fn contains(&self, hash: u64) -> bool {
        Aging::contains(&self.0, hash)
    }

    fn set_back(&mut self) {
        let earlier = self.0.now() / 2;
        self.0 = of_time(self.0.params());
        self.0.advance(earlier).expect("the first time");
    }
}
