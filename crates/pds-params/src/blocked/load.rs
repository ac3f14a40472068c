//! The number of keys in a block.

/// The number of standard deviations below the mean at which loads are neglected: a fraction of e^-72.
const DEVIATIONS: f64 = 12.0;

/// Weights below this fraction of the sum do not change it.
const NEGLIGIBLE: f64 = 1e-18;

/// The distribution of the load of a block: binomial, or Poisson in the limit of many blocks.
#[derive(Clone, Copy)]
pub(super) struct Load {
    mean: f64,
    /// The reciprocal of the number of keys, 0 in the limit.
    per_key: f64,
    /// The probability that a key chooses this block, 0 in the limit.
    chosen: f64,
}

impl Load {
    /// Returns the load for `items` keys, at least one, and `blocks` blocks, at least one.
    pub(super) fn binomial(blocks: u64, items: u64) -> Self {
        let (blocks, items) = (blocks as f64, items as f64);
        Self { mean: items / blocks, per_key: 1.0 / items, chosen: 1.0 / blocks }
    }

    /// Returns the load with this mean, above 0, in the limit of many blocks.
    pub(super) fn poisson(mean: f64) -> Self {
        Self { mean, per_key: 0.0, chosen: 0.0 }
    }

    /// Returns the mean load.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the least load that is not neglected.
    pub(super) fn first(&self) -> f64 {
        if self.is_certain() {
            return self.mean;
        }
        libm::floor(self.mean - DEVIATIONS * libm::sqrt(self.mean)).max(0.0)
    }

    /// Averages an increasing function of the load with values in \[0, 1\].
    ///
    /// `next` returns its value at [`first`](Self::first), then at one more key on each call. The weights are known up
    /// to a factor. The sum is divided by it at the end, so no factorial is computed.
    ///
    /// # Complexity
    /// O(√mean) evaluations for a mean of 144 or more, O(1 + mean) below.
    pub(super) fn average(&self, mut next: impl FnMut() -> f64) -> f64 {
        if self.is_certain() {
            return next();
        }
        let (mut weight, mut weights, mut sum) = (1.0, 0.0, 0.0);
        let mut load = self.first();
        while load <= self.mean || weight > NEGLIGIBLE * sum {
            weights += weight;
            sum += weight * next();
            weight *= self.growth(load);
            load += 1.0;
        }
        sum / weights
    }

    /// Returns the probability of a load of one more key, divided by that of this load.
    fn growth(&self, load: f64) -> f64 {
        let keys_left = (1.0 - load * self.per_key).max(0.0);
        self.mean * keys_left / ((load + 1.0) * (1.0 - self.chosen))
    }

    /// Returns `true` if there is only one block.
    fn is_certain(&self) -> bool {
        self.chosen >= 1.0
    }
}
