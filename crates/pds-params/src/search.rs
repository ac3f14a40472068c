//! Search in whole numbers.

/// Returns the least number from `from` up for which `holds`. `holds` must be monotone.
pub(crate) fn first(from: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut below, mut step) = (from - 1, 1);
    while !holds(below + step) {
        below += step;
        step *= 2;
    }
    let mut above = below + step;
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) { above = middle } else { below = middle }
    }
    above
}
