//! How long a run may take, and how closely it looks in that time.

use crate::numbers::whole;

/// Standard deviations between a prediction and a deviation that is seen almost surely: 6.5 for the false-alarm level
/// of one among a thousand tests, 2.3 for the power.
const VISIBLE: f64 = 8.8;
/// Fewer queries than this save no time worth saving.
const LEAST_QUERIES: f64 = 1_000.0;

/// How long a run may take on two cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// One or two minutes.
    Quick,
    /// Some three minutes.
    Normal,
    /// Hours.
    Full,
}

impl Effort {
    /// The option on the command line; empty for an ordinary run.
    pub(crate) const fn option(self) -> &'static str {
        self.choose(["--quick", "", "--full"])
    }

    /// The setting for this effort, out of those for each.
    pub(crate) const fn choose<T: Copy>(self, [quick, normal, full]: [T; 3]) -> T {
        match self {
            Self::Quick => quick,
            Self::Normal => normal,
            Self::Full => full,
        }
    }

    /// Queries that show the deviation to be seen, a few per cent, at this rate of false positives, or as many as are
    /// affordable.
    ///
    /// The number depends on the effort and the rate only, so that a run can be repeated to the last event.
    pub(crate) fn queries(self, rate: f64) -> u64 {
        let deviation: f64 = self.choose([0.08, 0.08, 0.02]);
        let most = self.choose([1e8, 1e8, 3e9]);
        queries(deviation, rate, most)
    }
}

/// Queries that just show a deviation of a tenth, at a rate so small that no more are affordable.
pub(crate) fn rare_queries(rate: f64) -> u64 {
    queries(0.09, rate, f64::INFINITY)
}

fn queries(deviation: f64, rate: f64, most: f64) -> u64 {
    let events = (VISIBLE / deviation).powi(2) * (1.0 - rate);
    whole((events / rate).max(LEAST_QUERIES).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_sees_smaller_deviations() {
        let queries =
            [Effort::Quick, Effort::Normal, Effort::Full].map(|effort| effort.queries(0.01));
        assert!(queries[0] == queries[1] && queries[1] < queries[2]);
    }

    #[test]
    fn rare_events_take_more_queries_up_to_what_is_affordable() {
        let queries = [0.99, 0.5, 1e-2, 1e-4, 1e-7, 1e-9].map(|rate| Effort::Quick.queries(rate));
        assert!(queries.is_sorted());
        assert_eq!((queries[0], queries[4], queries[5]), (1_000, 100_000_000, 100_000_000));
    }
}
