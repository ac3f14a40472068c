//! The binomial distribution, exact in its far tails and for up to 10^12 trials.
//!
//! A tail is the sum of its point probabilities from the near end outwards, and each follows from the previous one by
//! their ratio. The sum has a few standard deviations of terms. Textbooks use the incomplete beta function instead. For
//! many trials it loses its accuracy, and its continued fraction does not converge.

use core::f64::consts::PI;
use core::ops::RangeInclusive;
use statrs::function::gamma::ln_gamma;

/// Terms below this fraction of the sum do not change any of its digits.
const NEGLIGIBLE: f64 = 1e-18;
/// The number of bisections after which an interval of rates has the size of rounding errors.
const HALVINGS: u32 = 60;

/// The distribution of the number of events in `trials` independent trials with equal `probability`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binomial {
    trials: u64,
    probability: f64,
}

impl Binomial {
    /// Creates a distribution.
    ///
    /// # Panics
    /// If `probability` is not in `[0, 1]`.
    #[must_use]
    pub fn new(trials: u64, probability: f64) -> Self {
        assert!((0.0..=1.0).contains(&probability), "{probability} is not a probability");
        Self { trials, probability }
    }

    /// Returns the expected number of events.
    #[must_use]
    pub fn mean(&self) -> f64 {
        real(self.trials) * self.probability
    }

    /// Returns the standard deviation of the number of events.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        (self.mean() * (1.0 - self.probability)).sqrt()
    }

    /// Returns the probability of exactly `count` events.
    ///
    /// This is the saddle-point expansion, which has no cancellation at any size (Loader, "Fast and accurate
    /// computation of binomial probabilities", 2000).
    #[must_use]
    pub fn probability_of(&self, count: u64) -> f64 {
        let (n, p) = (real(self.trials), self.probability);
        if count > self.trials {
            return 0.0;
        }
        let (x, y) = (real(count), real(self.trials - count));
        if count == 0 {
            return (n * f64::ln_1p(-p)).exp();
        }
        if count == self.trials {
            return (n * p.ln()).exp();
        }
        let exponent = stirling_error(n)
            - stirling_error(x)
            - stirling_error(y)
            - deviance(x, n * p)
            - deviance(y, n * (1.0 - p));
        exponent.exp() * (n / (2.0 * PI * x * y)).sqrt()
    }

    /// Returns the probability of `count` events or fewer.
    #[must_use]
    pub fn at_most(&self, count: u64) -> f64 {
        if count >= self.trials {
            1.0
        } else if real(count) <= self.mean() {
            self.sum_downwards(count)
        } else {
            1.0 - self.sum_upwards(count + 1)
        }
    }

    /// Returns the probability of `count` events or more.
    #[must_use]
    pub fn at_least(&self, count: u64) -> f64 {
        if count == 0 {
            1.0
        } else if real(count) > self.mean() {
            self.sum_upwards(count)
        } else {
            1.0 - self.sum_downwards(count - 1)
        }
    }

    /// Returns the two-sided p-value: twice the smaller tail.
    ///
    /// It is the probability of a count at least as extreme on either side, if the prediction is true.
    #[must_use]
    pub fn two_sided(&self, count: u64) -> f64 {
        (2.0 * self.at_most(count).min(self.at_least(count))).min(1.0)
    }

    /// Returns the counts that do not contradict the prediction at the two-sided false-alarm level `alpha`.
    ///
    /// Each tail outside the range has probability at most `alpha / 2`.
    #[must_use]
    pub fn acceptance(&self, alpha: f64) -> RangeInclusive<u64> {
        self.least_accepted(alpha / 2.0)..=self.greatest_accepted(alpha / 2.0)
    }

    /// Returns the least count for which `at_most` exceeds `tail`.
    #[must_use]
    pub fn least_accepted(&self, tail: f64) -> u64 {
        partition(0, self.trials, |count| self.at_most(count) > tail)
    }

    /// Returns the greatest count for which `at_least` exceeds `tail`.
    #[must_use]
    pub fn greatest_accepted(&self, tail: f64) -> u64 {
        partition(0, self.trials, |count| self.at_least(count + 1) <= tail)
    }

    /// Returns the least relative rise of the probability that brings the count above `limit` with probability `power`.
    ///
    /// The result is infinite if no probability does.
    #[must_use]
    pub fn detectable_rise(&self, limit: u64, power: f64) -> f64 {
        let seen = |probability| Self::new(self.trials, probability).at_least(limit + 1) >= power;
        if limit >= self.trials {
            return f64::INFINITY;
        }
        bisect(self.probability, 1.0, seen) / self.probability - 1.0
    }

    /// Returns the least relative fall of the probability that brings the count below `limit` with probability `power`.
    ///
    /// The result is infinite if no probability does, for example if `limit` is 0.
    #[must_use]
    pub fn detectable_fall(&self, limit: u64, power: f64) -> f64 {
        let seen = |probability| Self::new(self.trials, probability).at_most(limit - 1) >= power;
        if limit == 0 {
            return f64::INFINITY;
        }
        1.0 - bisect(self.probability, 0.0, seen) / self.probability
    }

    fn sum_upwards(&self, first: u64) -> f64 {
        let odds = self.probability / (1.0 - self.probability);
        sum_terms(
            self.probability_of(first),
            (first..self.trials).map(|count| odds * real(self.trials - count) / real(count + 1)),
        )
    }

    fn sum_downwards(&self, first: u64) -> f64 {
        let odds = (1.0 - self.probability) / self.probability;
        sum_terms(
            self.probability_of(first),
            (1..=first).rev().map(|count| odds * real(count) / real(self.trials - count + 1)),
        )
    }
}

/// Returns the sum of terms with these ratios, up to the first that is negligible.
fn sum_terms(first: f64, mut ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (first, first);
    while term > sum * NEGLIGIBLE
        && let Some(ratio) = ratios.next()
    {
        term *= ratio;
        sum += term;
    }
    sum.min(1.0)
}

/// Returns the least value in `low..=high` for which a monotone condition holds, or `high` if there is none below.
fn partition(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Returns the value nearest to `from`, in the direction of `to`, from which a monotone condition holds.
fn bisect(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(from, to);
        if holds(middle) {
            to = middle;
        } else {
            from = middle;
        }
    }
    to
}

/// Returns `ln n!` less Stirling's formula, for `n > 0`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / n
}

/// Returns `x ln(x / mean) + mean - x`, without cancellation if `x` is near `mean`.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    let ratio = difference / (x + mean);
    let mut power = 2.0 * x * ratio;
    let mut sum = difference * ratio;
    for odd in (3..).step_by(2) {
        power *= ratio * ratio;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[expect(clippy::cast_precision_loss, reason = "counts above 2^53 are beyond any run")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, tolerance: f64) -> bool {
        (left / right - 1.0).abs() <= tolerance
    }

    /// Computes the probability by direct multiplication, which is accurate for few trials.
    fn naive(trials: u64, probability: f64, count: u64) -> f64 {
        let ways: f64 = (0..count).map(|i| real(trials - i) / real(i + 1)).product();
        let events = i32::try_from(count).unwrap();
        let others = i32::try_from(trials - count).unwrap();
        ways * probability.powi(events) * (1.0 - probability).powi(others)
    }

    #[test]
    fn point_probabilities_are_those_of_direct_multiplication() {
        for probability in [0.001, 0.3, 0.5, 0.97] {
            for trials in [1, 2, 7, 40, 100] {
                let law = Binomial::new(trials, probability);
                for count in 0..=trials {
                    let (ours, direct) =
                        (law.probability_of(count), naive(trials, probability, count));
                    assert!(
                        close(ours, direct, 1e-12),
                        "B({trials}, {probability}) at {count}: {ours} {direct}"
                    );
                }
            }
        }
    }

    #[test]
    fn both_tails_and_the_point_between_make_one() {
        for (trials, probability) in
            [(10, 0.5), (1_000, 0.01), (1_000_000, 0.3), (1_000_000_000, 1e-6)]
        {
            let law = Binomial::new(trials, probability);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a small positive number"
            )]
            let middle = law.mean() as u64;
            for count in [middle - middle / 10, middle, middle + middle / 10 + 1] {
                let sum = law.at_most(count) + law.at_least(count) - law.probability_of(count);
                assert!(close(sum, 1.0, 1e-9), "B({trials}, {probability}) at {count}: {sum}");
            }
        }
    }

    #[test]
    fn impossible_and_certain_events() {
        let never = Binomial::new(1_000, 0.0);
        assert_eq!(never.acceptance(1e-6), 0..=0);
        assert_eq!((never.at_least(1), never.at_most(0)), (0.0, 1.0));
        let always = Binomial::new(1_000, 1.0);
        assert_eq!(always.acceptance(1e-6), 1_000..=1_000);
        assert_eq!((always.at_most(999), always.at_least(1_000)), (0.0, 1.0));
    }

    /// One line of an independently computed table of accepted counts.
    struct Reference {
        trials: u64,
        probability: f64,
        accepted: RangeInclusive<u64>,
        rise: f64,
        fall: f64,
    }

    const REFERENCE: &[Reference] = &[
        Reference {
            trials: 10_000,
            probability: 0.1,
            accepted: 856..=1_150,
            rise: 0.226243445,
            fall: 0.207935902,
        },
        Reference {
            trials: 100_000,
            probability: 0.1,
            accepted: 9_539..=10_467,
            rise: 0.069426691,
            fall: 0.067600119,
        },
        Reference {
            trials: 100_000,
            probability: 0.001,
            accepted: 55..=153,
            rise: 0.843018523,
            fall: 0.607679472,
        },
        Reference {
            trials: 300_000,
            probability: 0.0003,
            accepted: 48..=140,
            rise: 0.889737677,
            fall: 0.629269664,
        },
        Reference {
            trials: 1_000_000,
            probability: 0.005,
            accepted: 4_659..=5_349,
            rise: 0.104229936,
            fall: 0.099592968,
        },
        Reference {
            trials: 3_000_000,
            probability: 0.02,
            accepted: 58_818..=61_190,
            rise: 0.029365912,
            fall: 0.028987390,
        },
        Reference {
            trials: 3_000_000,
            probability: 0.0001,
            accepted: 219..=388,
            rise: 0.454481083,
            fall: 0.379829633,
        },
        Reference {
            trials: 10_000_000,
            probability: 0.002,
            accepted: 19_313..=20_695,
            rise: 0.051589301,
            fall: 0.050425962,
        },
        Reference {
            trials: 100_000_000,
            probability: 0.02,
            accepted: 1_993_155..=2_006_852,
            rise: 0.005058370,
            fall: 0.005047515,
        },
        Reference {
            trials: 100_000_000,
            probability: 0.0001,
            accepted: 9_515..=10_493,
            rise: 0.073376835,
            fall: 0.071044117,
        },
    ];

    #[test]
    fn accepted_counts_and_power_are_those_of_the_reference() {
        for line in REFERENCE {
            let law = Binomial::new(line.trials, line.probability);
            let accepted = law.acceptance(1e-6);
            assert_eq!(accepted, line.accepted, "B({}, {})", line.trials, line.probability);
            let (rise, fall) = (
                law.detectable_rise(*accepted.end(), 0.99),
                law.detectable_fall(*accepted.start(), 0.99),
            );
            assert!(close(rise, line.rise, 1e-6), "rise {rise}, reference {}", line.rise);
            assert!(close(fall, line.fall, 1e-6), "fall {fall}, reference {}", line.fall);
        }
    }

    #[test]
    fn a_fall_is_invisible_where_no_event_at_all_is_accepted() {
        let law = Binomial::new(1_000, 0.001);
        let accepted = law.acceptance(1e-6);
        assert_eq!(*accepted.start(), 0);
        assert_eq!(law.detectable_fall(0, 0.99), f64::INFINITY);
        assert!(law.detectable_rise(*accepted.end(), 0.99) > 10.0);
    }
}
