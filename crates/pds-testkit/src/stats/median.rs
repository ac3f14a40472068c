//! Medians with confidence intervals that make no assumption about the distribution of the noise.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A median and an interval that contains the true median with a confidence of at least 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Median {
    /// The median of the sample.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Median {
    /// Returns a figure without noise, as its own interval.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Returns the median of `sample` and the interval between two of its order statistics.
    ///
    /// # Panics
    /// If there are fewer than six values, which are too few for an interval, or one is NaN.
    ///
    /// # References
    /// David, Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1.
    #[must_use]
    pub fn of(mut sample: Vec<f64>) -> Self {
        sample.sort_by(|a, b| a.partial_cmp(b).expect("times and their ratios are numbers"));
        let outside = values_outside(sample.len()).expect("at least six values");
        let last = sample.len() - 1;
        Self {
            value: f64::midpoint(sample[last / 2], sample[sample.len() / 2]),
            low: sample[outside],
            high: sample[last - outside],
        }
    }
}

impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, low, high } = self;
        let spell = |figure: &f64| match *value {
            value if value == 0.0 || value >= 0.1 => format!("{figure:.2}"),
            value if value >= 1e-3 => format!("{figure:.4}"),
            _ => format!("{figure:.1e}"),
        };
        f.write_str(&spell(value))?;
        if low == high { Ok(()) } else { write!(f, " [{}, {}]", spell(low), spell(high)) }
    }
}

/// Returns the number of values, out of `len`, that may lie outside of the interval on each side.
///
/// The true median has at most `j` values below it with probability `P(Binomial(len, 1/2) <= j)`. The two tails
/// together may have 5 %.
fn values_outside(len: usize) -> Option<usize> {
    let mut chance = 0.5_f64.powf(len as f64);
    let mut tail = 0.0;
    for below in 0..len {
        tail += chance;
        if tail > 0.025 {
            return below.checked_sub(1);
        }
        chance *= (len - below) as f64 / (below + 1) as f64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_are_those_of_the_tables() {
        // Ranks counted from one: 1 of 6, 4 of 15, 10 of 31, 19 of 51.
        let ranks = [6, 15, 31, 51].map(|len| values_outside(len).map(|outside| outside + 1));
        assert_eq!(ranks, [Some(1), Some(4), Some(10), Some(19)]);
        assert_eq!(values_outside(5), None);
    }

    #[test]
    fn the_interval_holds_the_median_of_either_parity() {
        let odd = Median::of((1..=15).rev().map(f64::from).collect());
        assert_eq!(odd, Median { value: 8.0, low: 4.0, high: 12.0 });
        let even = Median::of((1..=16).map(f64::from).collect());
        assert_eq!(even, Median { value: 8.5, low: 4.0, high: 13.0 });
    }

    #[test]
    fn small_figures_keep_their_digits() {
        let median = |value: f64| Median { value, low: 0.9 * value, high: 1.1 * value };
        assert_eq!(median(2.0).to_string(), "2.00 [1.80, 2.20]");
        assert_eq!(median(0.01).to_string(), "0.0100 [0.0090, 0.0110]");
        assert_eq!(median(5.7e-4).to_string(), "5.7e-4 [5.1e-4, 6.3e-4]");
        assert_eq!(Median::exact(0.0).to_string(), "0.00");
    }
}
