//! Histories of a structure that counts, and the exact counts beside it. The tests of `heavy-hitters` use them, too.

use std::collections::HashMap;

use cms::{Count, CountInterval};
use quickcheck::{Arbitrary, Gen};

/// A weight: mostly small, and sometimes so great that counters of every width saturate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight(pub(crate) u64);

impl Arbitrary for Weight {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = u64::from(u8::arbitrary(g)) % 9;
        let choices =
            [0, 1, small, small, small, small, small, 1 << 32, 1 << 40, 1 << 63, u64::MAX];
        Self(*g.choose(&choices).unwrap())
    }
}

/// A step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Insert(u8, Weight),
    /// Merges another structure of such a stream.
    Merge(Vec<(u8, Weight)>),
    MergeEmpty,
    MergeItself,
    /// Halves the counts, if the structure supports it.
    Halve,
    Clear,
    /// Writes the structure and reads it again.
    Bytes,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 16 {
            0 => Self::Merge(Vec::arbitrary(g)),
            1 => Self::MergeEmpty,
            2 => Self::MergeItself,
            3 => Self::Halve,
            4 if bool::arbitrary(g) => Self::Clear,
            5 => Self::Bytes,
            _ => Self::Insert(u8::arbitrary(g) % 12, Weight::arbitrary(g)),
        }
    }
}

/// The exact counts beside a structure.
#[derive(Default)]
pub(crate) struct Exact(pub(crate) HashMap<u8, u128>);

impl Exact {
    pub(crate) fn add(&mut self, stream: &[(u8, Weight)]) {
        for &(key, Weight(count)) in stream {
            *self.0.entry(key % 12).or_default() += u128::from(count);
        }
    }

    pub(crate) fn count(&self, key: u8) -> u128 {
        self.0.get(&key).copied().unwrap_or_default()
    }

    /// Checks that the certain bounds of an interval hold, and contradict neither each other nor the estimate.
    pub(crate) fn is_bounded(
        &self,
        key: u8,
        estimate: Count,
        interval: CountInterval,
        both: bool,
    ) -> bool {
        let (truth, least) = (self.count(key), interval.truth_at_least);
        let most = interval.truth_at_most.map(u128::from);
        most.is_none_or(|most| truth <= most && u128::from(least) <= most)
            && (!both || u128::from(least) <= truth)
            && most == (!estimate.is_saturated()).then_some(estimate.value().into())
            && least <= estimate.value()
    }
}

/// Applies a history to a structure, and to the counts beside it.
macro_rules! follow {
    ($steps:expr, $build:expr, $read:expr, $halve:expr) => {{
        use $crate::histories::{Exact, Step, Weight};
        let (mut it, mut exact) = ($build, Exact::default());
        for step in &$steps {
            match step {
                Step::Insert(key, Weight(count)) => {
                    it.insert_many(key, *count);
                    exact.add(&[(*key, Weight(*count))]);
                }
                Step::Merge(stream) => {
                    let mut other = $build;
                    stream.iter().for_each(|(key, count)| {
                        other.insert_many(&(key % 12), count.0);
                    });
                    it.merge(&other).unwrap();
                    exact.add(stream);
                }
                Step::MergeEmpty => {
                    let (before, mut empty) = (it.to_bytes(), $build);
                    empty.merge(&it).unwrap();
                    it.merge(&$build).unwrap();
                    if it.to_bytes() != before || empty.to_bytes() != before {
                        return false;
                    }
                }
                Step::MergeItself => {
                    it.merge(&it.clone()).unwrap();
                    exact.0.values_mut().for_each(|count| *count *= 2);
                }
                Step::Halve => {
                    if $halve(&mut it) {
                        exact.0.values_mut().for_each(|count| *count /= 2);
                    }
                }
                Step::Clear => {
                    it.clear();
                    exact = Exact::default();
                }
                Step::Bytes => {
                    let read = $read(&it.to_bytes()).unwrap();
                    if read != it {
                        return false;
                    }
                    it = read;
                }
            }
        }
        (it, exact)
    }};
}

pub(crate) use follow;
