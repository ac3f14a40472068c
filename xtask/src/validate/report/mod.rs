//! The results of a run, for the terminal, for programs and for a browser.

pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod output;
mod plot;
pub(crate) mod table;
pub(crate) mod timings;

use super::Run;
use super::judge::{Check, FALSE_ALARM, Measurement, Row, Verdict, false_alarm_of_each, judge};
use super::structures::Fault;
use core::time::Duration;
use serde::Serialize;

/// A judged run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The command that repeats the run.
    pub(crate) command: String,
    pub(crate) version: &'static str,
    /// The day of the run, year first.
    pub(crate) date: String,
    pub(crate) seed: u64,
    /// Where the real keys came from.
    pub(crate) real_keys: String,
    /// The probability of a false alarm in the whole run, and in each test subject to chance.
    pub(crate) false_alarm: f64,
    pub(crate) false_alarm_of_each: f64,
    pub(crate) seconds: f64,
    pub(crate) rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(
        command: String,
        run: &Run,
        elapsed: Duration,
        measurements: Vec<Measurement>,
    ) -> Self {
        let false_alarm_of_each = false_alarm_of_each(&measurements);
        Self {
            command,
            version: env!("CARGO_PKG_VERSION"),
            date: jiff::Timestamp::now().strftime("%F").to_string(),
            seed: run.seed,
            real_keys: run.corpus.source.clone(),
            false_alarm: FALSE_ALARM,
            false_alarm_of_each,
            seconds: elapsed.as_secs_f64(),
            rows: judge(measurements, false_alarm_of_each),
        }
    }

    /// A report of a short run, for tests.
    #[cfg(test)]
    fn of(measurements: Vec<Measurement>) -> Self {
        Self {
            command: "cargo xtask validate --seed 7".to_owned(),
            version: "1.2.3",
            date: "2026-02-28".to_owned(),
            seed: 7,
            real_keys: "a sample".to_owned(),
            false_alarm: 1e-6,
            false_alarm_of_each: 1e-9,
            seconds: 1.0,
            rows: judge(measurements, 1e-9),
        }
    }

    /// The number of broken promises.
    pub(crate) fn broken(&self) -> usize {
        count(&self.rows, Verdict::Broken)
    }

    /// The checks that a fault must break, and that are not broken.
    pub(crate) fn missed(&self, fault: &Fault) -> Vec<Check> {
        let is_broken = |check: &Check| {
            self.rows.iter().any(|row| row.check == *check && row.verdict == Verdict::Broken)
        };
        fault.breaks.iter().copied().filter(|check| !is_broken(check)).collect()
    }

    /// The rows, one slice for each check.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunk_by(|left, right| left.check == right.check)
    }

    /// The rows of each structure, in the order in which the structures come first; checks stay together.
    pub(crate) fn structures(&self) -> Vec<(&'static str, Vec<&Row>)> {
        let mut structures: Vec<(&'static str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let name = row.case.structure;
            match structures.iter_mut().find(|(other, _)| *other == name) {
                Some((_, rows)) => rows.push(row),
                None => structures.push((name, vec![row])),
            }
        }
        structures
    }

    /// The verdict in a sentence.
    pub(crate) fn verdict(&self) -> String {
        let [weak, wide, expected] =
            [Verdict::Weak, Verdict::Wide, Verdict::Expected].map(|of| count(&self.rows, of));
        let total = self.rows.len() - expected;
        match self.broken() {
            0 => format!(
                "PASS: {} of {total} promises kept, {weak} too weakly tested to tell, {expected} broken as expected; \
                 {wide} intervals wider than needed",
                total - weak
            ),
            broken => format!("FAIL: {broken} of {total} promises broken"),
        }
    }
}

/// The rows with a verdict.
pub(crate) fn count<'a>(rows: impl IntoIterator<Item = &'a Row>, verdict: Verdict) -> usize {
    rows.into_iter().filter(|row| row.verdict == verdict).count()
}

/// A number in few digits: whole where it is large, in scientific notation where it is small.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (1000.0..1e15).contains(&magnitude) {
        return format!("{value:.0}");
    }
    if (1e-3..1000.0).contains(&magnitude) {
        let decimals = if magnitude >= 1.0 { 1 } else { 5 };
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let text = format!("{value:.3e}");
    text.split_once('e')
        .map_or(text.clone(), |(digits, exponent)| format!("{}e{exponent}", trimmed(digits)))
}

/// A number to two digits, for a label or a sentence.
pub(crate) fn about(value: f64) -> String {
    number(format!("{value:.1e}").parse().unwrap_or(value))
}

/// A ratio less one, as a percentage.
pub(crate) fn percent(share: f64) -> String {
    match share {
        share if !share.is_finite() || share >= 10.0 => "-".to_owned(),
        share if share >= 0.01 => format!("{:.1} %", 100.0 * share),
        share => format!("{} %", about(100.0 * share)),
    }
}

/// Without the zeros that end a fraction.
fn trimmed(digits: &str) -> &str {
    digits.trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (12_345_678.4, "12345678"),
            (12.34, "12.3"),
            (0.01234, "0.01234"),
            (1.5e-7, "1.5e-7"),
            (0.1, "0.1"),
            (1e-4, "1e-4"),
            (10.0, "10"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn labels_have_two_digits() {
        let cases = [(0.847_54, "0.85"), (9.995e-5, "1e-4"), (0.014_53, "0.015"), (0.5, "0.5")];
        for (value, text) in cases {
            assert_eq!(about(value), text);
        }
    }

    #[test]
    fn percentages_grow_a_digit_where_they_are_small() {
        assert_eq!(percent(0.0712), "7.1 %");
        assert_eq!(percent(0.0051), "0.51 %");
        assert_eq!((percent(2e-5), percent(0.0)), ("0.002 %".to_owned(), "0 %".to_owned()));
        assert_eq!(percent(f64::INFINITY), "-");
    }
}
