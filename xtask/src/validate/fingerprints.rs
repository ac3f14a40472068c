//! Filters of fingerprints: their rate at a load, merges with an empty one, and the number of their keys.

use super::Run;
use super::identity::{Identity, KEYS, Said, and};
use super::judge::{Case, Law};
use super::measure::FALSE_POSITIVES;
use super::proofs::Claims;
use super::random::{Random, first, next, some};
use super::removal::Ways;
use super::schedule::Job;
use crate::numbers::real;
use core::fmt::Debug;
use pds::traits::{Insert, Membership, Merge, Remove};
use pds::{CuckooFilter, QuotientFilter};
use pds_testkit::keys;

/// Standard deviations of one filter's own rate around the mean that its row allows for.
const ALLOWED_DEVIATIONS: f64 = 5.0;

/// The row of one filter at a load.
pub(crate) struct Load {
    pub(crate) structure: &'static str,
    pub(crate) seed: u64,
    pub(crate) items: u64,
    /// The exact mean rate over all filters of this shape.
    pub(crate) rate: f64,
    pub(crate) shape: String,
}

impl Load {
    /// Asks a filter for absent keys. Their number is judged by the mean rate and how far one filter's is from it.
    pub(crate) fn job<F: Send + 'static>(self, run: &Run, mut filter: F, by: Ways<F>) -> Job<'_> {
        let Self { structure, seed, items, rate, shape } = self;
        let most = run.effort.choose([10_000_000, 10_000_000, u64::MAX]);
        let queries = run.effort.queries(rate).min(most);
        Job::new(items + queries, move || {
            let mut hashes = keys::random(seed);
            for hash in first(items, &mut hashes) {
                assert!((by.insert)(&mut filter, hash), "the load is below the limit of this size");
            }
            let absent = first(queries, hashes);
            let hits = real(absent.filter(|&hash| (by.contains)(&filter, hash)).count() as u64);
            // The number of different fingerprints of so many keys is spread by their coincidences.
            let spread = ALLOWED_DEVIATIONS * (rate / (2.0 * real(items))).sqrt();
            let (low, high) = (rate * (1.0 - spread), rate * (1.0 + spread));
            let law = Law::Events { trials: queries, low, high };
            vec![Case::random(structure, items, rate, shape).row(FALSE_POSITIVES, law, hits, hits)]
        })
    }
}

/// A filter that forgets keys, and knows how many it holds.
pub(crate) trait Counted:
    Insert + Remove + Membership + Merge<Error: Debug> + 'static
{
    /// Creates an empty filter of one per cent.
    fn sized(items: u64) -> Self;

    fn items(&self) -> u64;
}

macro_rules! counted {
    ($($filter:ident),+) => {$(
        impl Counted for $filter {
            fn sized(items: u64) -> Self {
                Self::new(items, 0.01).expect("sound")
            }

            fn items(&self) -> u64 {
                self.len()
            }
        }
    )+};
}
counted!(CuckooFilter, QuotientFilter);

/// Returns the merge of a filter with an empty one: it answers as before, and has as many keys.
pub(crate) fn identity<F: Counted>() -> Identity<F> {
    let says = |filter: &F| {
        let answers = (0..100_000u64).map(|hash| filter.contains_hash(hash << 40 | hash).into());
        and(answers.collect::<Said>(), &[real(filter.items())])
    };
    Identity::filled("plain", || F::sized(KEYS), says)
}

/// As many keys as were inserted and not removed, exactly.
pub(crate) fn length<F: Counted>(random: Random<'_>, claims: &mut Claims) {
    let mut filter = F::sized(100);
    let (mut length, keys) = (0, some(random, 6));
    for key in 0..keys {
        length += u64::from(filter.insert(&key).is_ok());
        if next(random).is_multiple_of(3) {
            length -= u64::from(filter.remove(&key));
        }
        claims.hold(filter.items() == length);
    }
}
