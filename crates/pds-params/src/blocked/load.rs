//! How many keys a block holds.

/// How many standard deviations below its mean a load is no longer counted: a part of e^-72.
const DEVIATIONS: f64 = 12.0;

/// A weight below this part of the sum so far no longer changes it.
const NEGLIGIBLE: f64 = 1e-18;

/// The law of the load of a block: binomial, or Poisson in the limit of many blocks.
#[derive(Clone, Copy)]
pub(super) struct Load {
    mean: f64,
    /// The reciprocal number of keys, 0 in the limit.
    per_key: f64,
    /// The probability that a key chooses this block, 0 in the limit.
    chosen: f64,
}

impl Load {
    /// The load when `items` keys, at least one, choose among `blocks` blocks, at least one.
    pub(super) fn binomial(blocks: u64, items: u64) -> Self {
        let (blocks, items) = (blocks as f64, items as f64);
        Self { mean: items / blocks, per_key: 1.0 / items, chosen: 1.0 / blocks }
    }

    /// The load of this mean, above 0, when there are very many blocks.
    pub(super) fn poisson(mean: f64) -> Self {
        Self { mean, per_key: 0.0, chosen: 0.0 }
    }

    /// The mean load.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The least load that counts.
    pub(super) fn first(&self) -> f64 {
        if self.is_certain() {
            return self.mean;
        }
        libm::floor(self.mean - DEVIATIONS * libm::sqrt(self.mean)).max(0.0)
    }

    /// Averages a function of the load with values in \[0, 1\], that grows with the load.
    ///
    /// `next` gives its value at [`first`](Self::first), then at one key more each time. The weights
    /// are known up to a factor, by which the sum is divided in the end: no factorial is computed.
    ///
    /// # Complexity
    /// O(√mean) evaluations from a mean of 144 up, O(1 + mean) below.
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

    /// The probability of a load of one key more, divided by that of this load.
    fn growth(&self, load: f64) -> f64 {
        let keys_left = (1.0 - load * self.per_key).max(0.0);
        self.mean * keys_left / ((load + 1.0) * (1.0 - self.chosen))
    }

    /// Whether there is one block only.
    fn is_certain(&self) -> bool {
        self.chosen >= 1.0
    }
}
