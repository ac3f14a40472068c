//! Bars of text on a logarithmic scale.

use super::show::share;

/// Columns of the longest bar.
const WIDTH: f64 = 50.0;

/// Eighths of a column, from none to seven.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A line for each labelled rate: a full bar is 1, and an empty one the decade below the least.
pub(super) fn logarithmic(rates: &[(String, f64)]) -> String {
    let positive = rates.iter().map(|&(_, rate)| rate).filter(|&rate| rate > 0.0);
    let floor = positive.fold(0.1, f64::min).log10().floor();
    let width = rates.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let line = |(label, rate): &(String, f64)| {
        let bar = bar(WIDTH * (1.0 - rate.log10() / floor));
        format!("{label:>width$} │{bar} {}\n", share(*rate))
    };
    rates.iter().map(line).collect()
}

/// A bar of so many columns; none for a length that is not positive.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 8 WIDTH")]
fn bar(columns: f64) -> String {
    let eighths = (8.0 * columns.clamp(0.0, WIDTH)).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_the_logarithm() {
        let rates = [("a".to_owned(), 1.0), ("bb".to_owned(), 0.1), ("c".to_owned(), 0.0)];
        let rates = [&rates[..], &[("d".to_owned(), 0.01)]].concat();
        let text = logarithmic(&rates);
        let lengths = text.lines().map(|line| line.matches('█').count());
        assert_eq!(lengths.collect::<Vec<_>>(), [50, 25, 0, 0]);
        assert!(text.starts_with(" a │") && text.contains("bb │"));
    }

    #[test]
    fn a_bar_ends_in_an_eighth() {
        assert_eq!([bar(0.0), bar(1.5), bar(-3.0)], ["", "█▌", ""]);
        assert_eq!(bar(f64::INFINITY).chars().count(), 50);
    }
}
