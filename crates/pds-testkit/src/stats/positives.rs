//! False positives of a filter.

use core::hash::Hash;
use core::ops::RangeInclusive;

use pds_core::traits::Membership;

use super::Binomial;

/// The number of queried keys, and the number of positive answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positives {
    asked: u64,
    found: u64,
}

impl Positives {
    /// Queries a filter for keys that it does not contain.
    pub fn of<K: Hash>(filter: &impl Membership, absent: impl Iterator<Item = K>) -> Self {
        absent.fold(Self { asked: 0, found: 0 }, |Self { asked, found }, key| Self {
            asked: asked + 1,
            found: found + u64::from(filter.contains(&key)),
        })
    }

    /// Asserts that the number of false positives agrees with a rate, at a false-alarm level of `alpha`.
    ///
    /// # Panics
    /// If there are too many or too few.
    #[track_caller]
    pub fn judge(self, name: &str, rate: f64, alpha: f64) {
        self.judge_between(name, rate..=rate, alpha);
    }

    /// Asserts that the number of false positives agrees with a rate between two bounds.
    ///
    /// # Panics
    /// If there are too many for the upper bound or too few for the lower bound.
    #[track_caller]
    pub fn judge_between(self, name: &str, rates: RangeInclusive<f64>, alpha: f64) {
        let Self { asked, found } = self;
        let least = *Binomial::new(asked, *rates.start()).acceptance(alpha).start();
        let most = *Binomial::new(asked, *rates.end()).acceptance(alpha).end();
        assert!(
            (least..=most).contains(&found),
            "{name}: {found} of {asked} not in {least}..={most}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::Hasher;
    use pds_core::hash::{DefaultHashBuilder, KeyHasher};
    use std::panic::catch_unwind;

    /// A filter that reports one hash in a hundred as present.
    struct OneInAHundred;

    impl KeyHasher for OneInAHundred {
        fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
            DefaultHashBuilder::default().hash_key_dyn(feed)
        }
    }

    impl Membership for OneInAHundred {
        fn contains_hash(&self, hash: u64) -> bool {
            hash.is_multiple_of(100)
        }
    }

    #[test]
    fn a_rate_is_told_from_others() {
        let positives = Positives::of(&OneInAHundred, 0..1_000_000u64);
        assert_eq!(positives.asked, 1_000_000);
        positives.judge("its own", 0.01, 1e-6);
        positives.judge_between("between", 0.009..=0.0105, 1e-6);
        for rate in [0.009, 0.011] {
            assert!(catch_unwind(|| positives.judge("another", rate, 1e-6)).is_err());
        }
    }
}
