use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::Difference;

use super::{CountMinSketch, Update};
use crate::cells::index;
use crate::numbers::real;
use crate::{Count, Counter};

/// The inner product of the counts of two streams, as estimated from their sketches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerProduct {
    /// The estimate: at least the truth, unless saturated.
    pub value: u128,
    /// The error: epsilon · N · M for totals N and M. The estimate exceeds the truth by more than that with probability
    /// at most delta. Infinite if a total is saturated.
    pub error: f64,
    /// Whether every row has a saturated counter. The truth may be above the estimate then.
    pub is_saturated: bool,
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Estimates the sum over all keys of the product of their counts in `self` and `other`: the size of a join on the
    /// key.
    ///
    /// The estimate is never below the truth, unless it is saturated. It exceeds the truth by more than epsilon times
    /// both totals with probability at most delta.
    ///
    /// # Errors
    /// [`Incompatible`] if the sketches differ in shape or hasher, or have conservative update: its counters are less than
    /// the sums of their keys, so the product would be no bound.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let (mut orders, mut customers) = (CountMinSketch::new(0.01, 0.01)?, CountMinSketch::new(0.01, 0.01)?);
    /// orders.insert_many("ann", 3);
    /// orders.insert_many("bob", 5);
    /// customers.insert_many("ann", 2);
    /// customers.insert_many("eve", 7);
    /// assert_eq!(orders.inner_product(&customers)?.value, 6);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # References
    /// Graham Cormode and S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
    /// Applications", Journal of Algorithms 55(1), 2005, theorem 3.
    pub fn inner_product(&self, other: &Self) -> Result<InnerProduct, Incompatible> {
        self.check_compatible(other)?;
        if self.update == Update::Conservative {
            let (both, needed) = ("conservative", "plain for an inner product");
            return Err(Incompatible(Difference::Unfit { parameter: "update", both, needed }));
        }
        let width = index(self.width());
        let rows = self.counters().chunks_exact(width).zip(other.counters().chunks_exact(width));
        // A row without saturated counters is an upper bound, even if another row gives less.
        let products = rows.map(|(left, right)| self.row_product(left, other, right));
        let (is_saturated, value) = products.min().unwrap_or_default();
        let is_known = self.total().max(other.total()) < u64::MAX;
        let error = self.params.epsilon() * real(self.total()) * real(other.total());
        Ok(InnerProduct {
            value,
            error: if is_known { error } else { f64::INFINITY },
            is_saturated,
        })
    }

    /// Returns whether a saturated counter took part in the product of two rows, and the product.
    fn row_product(&self, left: &[C], other: &Self, right: &[C]) -> (bool, u128) {
        let counts = |(&l, &r): (&C, &C)| (self.count_of(l), other.count_of(r));
        let pairs = left.iter().zip(right).map(counts);
        pairs.fold((false, 0), |(saturated, sum), (l, r)| {
            // A counter of 0 may have lost counts, too, if `full_from` is 0.
            let lost = |a: Count, b: Count| a.is_saturated() && (b.value() > 0 || b.is_saturated());
            let product = u128::from(l.value()) * u128::from(r.value());
            let (sum, overflows) = sum.overflowing_add(product);
            let sum = if overflows { u128::MAX } else { sum };
            (saturated || overflows || lost(l, r) || lost(r, l), sum)
        })
    }
}
