//! Rates of filters that are asked together.

/// Returns the false-positive rate of a key that any of some filters may answer: 1 - prod(1 - p).
///
/// The answers must be independent. Those of filters are if their seeds differ. With equal seeds the rate is lower, but hardly so
/// if the sets are disjoint and not small. A rate out of \[0, 1\] counts as the nearest bound.
///
/// # Examples
/// ```
/// use pds_params::many::any_of_rate;
/// assert_eq!(any_of_rate([]), 0.0);
/// assert_eq!(any_of_rate([0.5, 0.5]), 0.75);
/// ```
#[must_use]
pub fn any_of_rate(rates: impl IntoIterator<Item = f64>) -> f64 {
    let clear: f64 = rates.into_iter().map(|rate| libm::log1p(-rate.clamp(0.0, 1.0))).sum();
    // Not -0, the result for no filters.
    0.0 - libm::expm1(clear)
}

/// Returns the false-positive rate of a key that all of some filters must answer: prod(p).
///
/// The answers must be independent. Those of filters are if their seeds differ. With equal seeds the rate is higher: hardly so if
/// the sets are disjoint and have some hundred keys, but much so for small sets, and for fuse filters of wide fingerprints. A rate
/// out of \[0, 1\] counts as the nearest bound.
///
/// # Examples
/// ```
/// use pds_params::many::all_of_rate;
/// assert_eq!(all_of_rate([]), 1.0);
/// assert_eq!(all_of_rate([0.5, 0.5]), 0.25);
/// ```
#[must_use]
pub fn all_of_rate(rates: impl IntoIterator<Item = f64>) -> f64 {
    rates.into_iter().map(|rate| rate.clamp(0.0, 1.0)).product()
}
