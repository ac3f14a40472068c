use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::{Backend, Work, prefetch};
use pds_params::CountMinParams;

use super::CountMinSketch;
use crate::Counter;
use crate::counters::CounterStorage;

/// Bytes of a cache line.
const LINE: usize = 64;

/// How far ahead a merge prefetches, in bytes. Measured: from 1 KiB on it makes no difference.
const AHEAD: usize = 2048;

/// Size in bytes from which a merge prefetches.
// In main memory the processor's own prefetching does not keep up with two streams that are read and one that is written:
// 256 MiB take a fifth longer without explicit prefetches. They make merges of 1 and 4 MiB a fifth slower.
const PREFETCH_FROM: usize = 64 << 20;

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Adds the counts of `other`.
    ///
    /// With plain update the result is exactly the sketch of both streams. With conservative update its estimates stay upper
    /// bounds within the same error.
    ///
    /// # Errors
    /// [`Incompatible`] if width, depth, update or hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let (mut monday, mut tuesday) = (CountMinSketch::new(0.01, 0.01)?, CountMinSketch::new(0.01, 0.01)?);
    /// monday.insert_many("/index", 3);
    /// tuesday.insert_many("/index", 4);
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.estimate("/index").value(), monday.total()), (7, 7));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        let (counters, added) = (self.counters.lanes_mut::<C>(), other.counters.lanes());
        Backend::best().run(Add { counters, added });
        self.tally = self.tally.merged(other.tally);
        Ok(())
    }
}

impl<S: KeyHasher, C: Counter, W: CounterStorage> CountMinSketch<S, C, W> {
    pub(crate) fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        check_shapes(&self.params, &other.params)?;
        Incompatible::check_mode("update", self.update.name(), other.update.name())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

fn check_shapes(left: &CountMinParams, right: &CountMinParams) -> Result<(), Incompatible> {
    Incompatible::check_shape("width", left.width(), right.width())?;
    Incompatible::check_shape("depth", left.depth().into(), right.depth().into())
}

/// Adds counters to others, up to their limit.
// SSE2 has no comparison of unsigned integers, so a sum that stops at the limit takes twice as long there as with AVX2.
struct Add<'a, C> {
    counters: &'a mut [C],
    added: &'a [C],
}

impl<C: Counter> Work for Add<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { counters, added } = self;
        if size_of_val(added) < PREFETCH_FROM {
            return add(counters, added);
        }
        let (line, ahead) = (LINE / size_of::<C>(), AHEAD / size_of::<C>());
        for start in (0..counters.len()).step_by(line) {
            prefetch(counters, start + ahead);
            prefetch(added, start + ahead);
            let end = counters.len().min(start + line);
            add(&mut counters[start..end], &added[start..end]);
        }
    }
}

#[inline(always)]
fn add<C: Counter>(counters: &mut [C], added: &[C]) {
    for (counter, &added) in counters.iter_mut().zip(added) {
        *counter = counter.saturating_add(added);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use pds_core::hash::finalize;

    use super::*;

    fn sums_stop_at_the_limit<C: Counter>() {
        // Half of the sums exceed the limit.
        let numbers = |from: u64| {
            (from..from + 1_001).map(|n| C::saturating_from(finalize(n) >> (64 - C::BITS)))
        };
        let (counters, added): (Vec<C>, Vec<C>) =
            (numbers(0).collect(), numbers(1 << 32).collect());
        let sum = |(&counter, &added): (&C, &C)| {
            let sum = u128::from(counter.into()) + u128::from(added.into());
            C::saturating_from(u64::try_from(sum.min(C::MAX.into().into())).unwrap())
        };
        let expected: Vec<C> = counters.iter().zip(&added).map(sum).collect();
        for backend in Backend::all() {
            let mut counters = counters.clone();
            backend.run(Add { counters: &mut counters, added: &added });
            assert_eq!(counters, expected, "{}, {} bits", backend.name(), C::BITS);
        }
    }

    #[test]
    fn merged_counters_stop_at_their_limit_on_every_backend() {
        sums_stop_at_the_limit::<u8>();
        sums_stop_at_the_limit::<u16>();
        sums_stop_at_the_limit::<u32>();
        sums_stop_at_the_limit::<u64>();
    }
}
