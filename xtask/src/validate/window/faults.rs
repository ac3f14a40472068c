//! Faults of window filters.

use super::{Aging, OF_KEYS, OF_TIME, Subject, history, of_params, of_time};
use crate::validate::prelude::*;
use pds::TimedBloomFilter;
use pds::params::{TimedParams, WindowParams};

pub(super) const FAULTS: [Fault; 3] = [
    fault(
        "forgets-early",
        "a column of a window filter is cleared one generation early",
        &[LOST_KEYS],
        |run| {
            let window = design().window() - design().generation_items();
            misshapen(run, window, design().generations() - 1, design().num_hashes())
        },
    ),
    fault(
        "row-too-few",
        "a window filter has one row per key too few",
        &[PROMISE, MEAN_RATE],
        |run| {
            let (window, generations) = (design().window(), design().generations());
            misshapen(run, window, generations, design().num_hashes() - 1)
        },
    ),
    fault(
        "clock-set-back",
        "a timed filter starts over when its clock runs backwards",
        &[LOST_KEYS],
        |run| {
            let params = TimedParams::new(300, 300, 0.01, 0.1).expect("a sound design");
            let subject = Subject::of_timed(&params, "slack 0.1".to_owned());
            // Accepts an earlier time, and forgets everything.
            let set_back = |filter: &mut _| {
                let earlier = TimedBloomFilter::now(filter) / 2;
                *filter = of_time(filter.params());
                filter.advance(earlier).expect("the first time");
            };
            vec![history(run, subject, move || of_time(params), Aging { set_back, ..OF_TIME })]
        },
    ),
];

fn design() -> WindowParams {
    WindowParams::new(300, 0.01, 0.1).expect("a sound design")
}

/// A history of a filter of another shape than the design that it is said to have.
fn misshapen(run: &Run, window: u64, generations: u32, hashes: u32) -> Vec<Job<'_>> {
    let words = design().grid().num_words();
    let params = WindowParams::from_shape(window, generations, words, hashes);
    let params = params.expect("a sound shape");
    let subject = Subject::of(&design(), "slack 0.1".to_owned());
    vec![history(run, subject, move || of_params(params), OF_KEYS)]
}
