use core::{error, fmt};

use pds_core::{Incompatible, KeyHasher};

use super::{CountMinSketch, Update};
use crate::Counter;
use crate::cells::index;
use crate::numbers::real;

/// The inner product of two streams' counts, as two sketches tell it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerProduct {
    /// The estimate: at least the truth, unless counters are at their limit.
    pub value: u128,
    /// By how much the estimate may exceed the truth, but with probability delta: epsilon · N · M, of the
    /// two totals.
    pub error: f64,
    /// Whether counters at their limit took part, so that the truth may be above the estimate.
    pub is_saturated: bool,
}

/// Why two sketches have no inner product.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum InnerProductError {
    /// They differ in shape or hasher.
    Incompatible(Incompatible),
    /// They have conservative update, whose counters are less than the sums of their keys.
    Conservative,
}

impl fmt::Display for InnerProductError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(error) => error.fmt(f),
            Self::Conservative => f.write_str(
                "an inner product needs plain update, and these sketches have conservative update",
            ),
        }
    }
}

/// The inner error is shown as this one, so it is not a source of it.
impl error::Error for InnerProductError {}

impl From<Incompatible> for InnerProductError {
    fn from(error: Incompatible) -> Self {
        Self::Incompatible(error)
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Estimates the sum over all keys of the product of their counts here and in `other`: the size of
    /// a join on the key.
    ///
    /// Never below the truth (unless saturated), and above it by more than epsilon times both totals with
    /// probability delta at most.
    ///
    /// # Errors
    /// [`InnerProductError`] when the sketches differ in shape or hasher, or have conservative update: the
    /// counters of that one are less than the sums of their keys, and the product would be no bound.
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
    pub fn inner_product(&self, other: &Self) -> Result<InnerProduct, InnerProductError> {
        self.check_compatible(other)?;
        if self.update == Update::Conservative {
            return Err(InnerProductError::Conservative);
        }
        let width = index(self.width());
        let rows = self.counters().chunks_exact(width).zip(other.counters().chunks_exact(width));
        let best = rows.map(|(left, right)| row_product(left, right)).min().unwrap_or_default();
        let error = self.params.epsilon() * real(self.total) * real(other.total);
        Ok(InnerProduct { value: best.0, error, is_saturated: best.1 })
    }
}

/// The product of two rows, and whether a counter at its limit took part.
fn row_product<C: Counter>(left: &[C], right: &[C]) -> (u128, bool) {
    let pairs = left.iter().zip(right).filter(|&(&l, &r)| l.into() != 0 && r.into() != 0);
    pairs.fold((0, false), |(sum, saturated), (&l, &r)| {
        let product = u128::from(l.into()) * u128::from(r.into());
        (sum.saturating_add(product), saturated || l == C::MAX || r == C::MAX)
    })
}
