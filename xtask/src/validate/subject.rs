//! The interface of a structure to its validation.
//!
//! A membership structure implements [`Family`] and [`Subject`] in a file of its own and inherits the whole grid. A
//! structure that answers frequencies or cardinalities only has to produce jobs: see [`super::structures`].

use super::judge::{Check, Interval, Law};
use super::keys::CaseHasher;
use core::hash::Hash;
use pds::Estimate;

/// How the size of a structure follows from its design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// The size that promises the rate.
    Promised,
    /// The greatest power of two up to that size, less one, exactly, or plus one.
    PowerOfTwo(i64),
    /// The next prime number of bits.
    Prime,
    /// So many bits, whatever the rate.
    Bits(u64),
}

/// The design that a structure is built for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Design {
    /// Keys at the design load.
    pub(crate) items: u64,
    /// Rate of false positives at that load.
    pub(crate) rate: f64,
    pub(crate) size: Size,
}

impl Design {
    /// The number of bits that the size asks for, given the one that keeps the promise.
    pub(crate) fn bits(&self, promised: u64) -> u64 {
        match self.size {
            Size::Promised => promised,
            Size::PowerOfTwo(offset) => (1u64 << promised.ilog2()).saturating_add_signed(offset),
            Size::Prime => (promised..).find(|&bits| is_prime(bits)).expect("primes never end"),
            Size::Bits(bits) => bits,
        }
    }
}

/// The prediction for a structure before it is built.
#[derive(Debug, Clone)]
pub(crate) struct Prediction {
    /// The mean rate of false positives over all instances, as an interval.
    pub(crate) rate: Interval,
    /// The rate that the constructor promised not to exceed, where it did.
    pub(crate) promise: Option<f64>,
    /// The structure's parameters, as text.
    pub(crate) shape: String,
}

/// A number about an instance's state, with the law it must follow.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub(crate) check: Check,
    pub(crate) law: Law,
    pub(crate) observed: f64,
}

/// A way to build structures of one kind.
pub(crate) trait Family: Copy + Send + 'static {
    /// The type that it builds.
    type Filter: Subject;

    /// The parameters that a design leads to.
    type Params: Copy + Send;

    /// The structure's name on the command line.
    fn name(&self) -> &'static str;

    /// Finds the parameters that a design leads to.
    ///
    /// # Panics
    /// When the design is impossible: the grid holds none of that kind.
    fn params(&self, design: &Design) -> Self::Params;

    /// Builds an empty structure.
    ///
    /// # Panics
    /// When memory is refused: a validation that cannot build its structures has no result.
    fn build(&self, params: &Self::Params, hasher: CaseHasher) -> Self::Filter;

    /// Predicts what a structure of these parameters, and of this design, will do with `stored` keys.
    fn predict(&self, params: &Self::Params, design: &Design, stored: u64) -> Prediction;
}

/// A structure that answers "is this key in the set?" and is never wrong in saying no.
pub(crate) trait Subject {
    fn insert<K: Hash>(&mut self, key: &K);

    fn contains<K: Hash>(&self, key: &K) -> bool;

    /// Answers for many keys at once.
    fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(key, answer)| *answer = self.contains(key));
    }

    /// The rate of false positives among random absent keys, given the state that `stored` keys have led to.
    fn rate_now(&self, stored: u64) -> Interval;

    /// How full the structure is, against what `stored` keys make of it.
    fn fill(&self, stored: u64) -> Observation;

    /// Whether its positions spread evenly; empty where the structure is too small to tell.
    fn spread(&self) -> Vec<Observation>;
}

/// A structure that can be united with another and tells how many keys it holds.
pub(crate) trait Sets: Subject {
    /// Unites in place.
    ///
    /// # Panics
    /// When the two are incompatible, which two of one design are not.
    fn unite(&mut self, other: &Self);

    /// The words of the array.
    fn words(&self) -> Vec<u64>;

    /// The estimated number of keys.
    fn count(&self) -> Estimate;

    /// The same for the union with another structure, which is left alone.
    fn union_count(&self, other: &Self) -> Estimate;

    /// The same for the keys that are in both.
    fn shared_count(&self, other: &Self) -> Estimate;

    /// The fewest keys that set so many bits.
    fn least_count(&self) -> f64;
}

/// Implements [`Subject`] and [`Sets`] for a filter of bits in words, by its methods and these three.
macro_rules! subject {
    ($filter:ident, |$it:ident| $words:expr, $rate_now:expr, $fill:expr, $spread:expr) => {
        impl Subject for $filter<CaseHasher> {
            fn insert<K: Hash>(&mut self, key: &K) {
                Self::insert(self, key);
            }

            fn contains<K: Hash>(&self, key: &K) -> bool {
                Self::contains(self, key)
            }

            fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
                Self::contains_batch(self, keys, answers);
            }

            fn rate_now(&self, stored: u64) -> Interval {
                $rate_now(self, stored)
            }

            fn fill(&self, stored: u64) -> Observation {
                $fill(self.count_ones(), &self.params(), stored)
            }

            fn spread(&self) -> Vec<Observation> {
                $spread(self)
            }
        }

        impl $crate::validate::subject::Sets for $filter<CaseHasher> {
            fn unite(&mut self, other: &Self) {
                self.union_with(other).expect("filters of one design");
            }

            fn words(&self) -> Vec<u64> {
                let $it = self;
                $words.to_vec()
            }

            fn count(&self) -> pds::Estimate {
                self.approx_len()
            }

            fn union_count(&self, other: &Self) -> pds::Estimate {
                self.approx_union_len(other).expect("filters of one design")
            }

            fn shared_count(&self, other: &Self) -> pds::Estimate {
                self.approx_intersection_len(other).expect("filters of one design")
            }

            fn least_count(&self) -> f64 {
                real(self.count_ones()) / f64::from(self.params().num_hashes())
            }
        }
    };
}
pub(crate) use subject;

/// By trial division: a few thousand steps for the sizes of the grid.
fn is_prime(number: u64) -> bool {
    number >= 2
        && (2..)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(size: Size, promised: u64) -> u64 {
        Design { items: 1, rate: 0.5, size }.bits(promised)
    }

    #[test]
    fn sizes_of_every_kind() {
        assert_eq!(bits(Size::Promised, 1000), 1000);
        assert_eq!(bits(Size::PowerOfTwo(-1), 1024), 1023);
        assert_eq!(bits(Size::PowerOfTwo(0), 1023), 512);
        assert_eq!(bits(Size::PowerOfTwo(1), 1024), 1025);
        assert_eq!(bits(Size::Prime, 1000), 1009);
        assert_eq!(bits(Size::Bits(63), 1000), 63);
    }
}
