//! Window filters: Bloom filters that forget keys by their age.
//!
//! A window is cut into l *generations*. A filter is a grid: a *row* of bits for each position, and in each row a *column*
//! for each generation. A key sets one bit in each of its rows, all in the column of its generation. It is found if some
//! column has all of its bits. The columns of l + 1 generations are asked, so that a key is found until the window has
//! passed. Then its column is cleared for another generation.
//!
//! The *slack* is the share of the window that a key may stay longer. Each key stays at most (l + 1) / l windows.
//!
//! The columns of a grid are independent, given the rows of an absent key. The false-positive rate is therefore
//! 1 - (1 - q)^(l + 1), if q is the rate of a Bloom filter that holds one generation. This is an upper bound: rows of a key that
//! coincide make it lower, by a share of the order of one in the number of rows (9 % at 20 rows, measured).
//!
//! The usual structure for this purpose has slices instead of columns. At a slack of 2 to 10 % and rates of 1 and 0.1 % it
//! takes up to 8 % more bits (computed), and a lookup reads more of them: Ariel Shtul, Carlos Baquero and Paulo Sérgio
//! Almeida, "Age-Partitioned Bloom Filters", 2020, arXiv:2001.03147.

pub(crate) mod grid;
pub(crate) mod keys;
pub(crate) mod timed;

#[doc(hidden)]
pub use grid::Grid;

use crate::ParamError;
use crate::check::check_probability;
use crate::internal::ParamFault;

/// The slack that builders use unless another one is given.
#[doc(hidden)]
pub const DEFAULT_SLACK: f64 = 0.1;

/// The longest window, in keys or in ticks of a clock.
// Sums of two windows fit 64 bits.
const MAX_WINDOW: u64 = 1 << 62;

/// The relative error of a product that rounding may cause.
const NOISE: f64 = 1e-12;

/// Returns the steps after which a key is gone at the latest, the step of the key itself included.
fn longest_stay(window: u64, generations: u32) -> u64 {
    u64::from(generations + 1) * window.div_ceil(generations.into())
}

/// Returns the numbers of generations up to `max` that keep a slack.
///
/// # Errors
/// If the slack is not above 0 and below 1. If it is below the least possible one.
fn generations_within(
    window: u64,
    slack: f64,
    max: u32,
) -> Result<impl Iterator<Item = u32>, ParamError> {
    check_probability("slack", slack)?;
    let stays = (1..=max).map(move |generations| longest_stay(window, generations) - window);
    // Without the noise, a slack of 0.1 would allow 4 further keys for a window of 30 if 0.1 were rounded up.
    let allowed = libm::ceil(window as f64 * slack * (1.0 - NOISE));
    let least = stays.min().unwrap_or(window) as f64;
    if least > allowed {
        let min = least / window as f64;
        return Err(ParamError(ParamFault::TooLow { parameter: "slack", value: slack, min }));
    }
    Ok((1..=max)
        .filter(move |&generations| (longest_stay(window, generations) - window) as f64 <= allowed))
}

/// Returns the number of generations for which `sized` computes the fewest words, and that grid.
///
/// # Errors
/// Those of `sized` if it computes none.
fn least(
    generations: impl Iterator<Item = u32>,
    sized: impl Fn(u32) -> Result<Grid, ParamError>,
) -> Result<(u32, Grid), ParamError> {
    let sized = generations.map(|generations| Ok((generations, sized(generations)?)));
    let least = sized.reduce(|best, next| match (&best, &next) {
        (Ok((_, old)), Ok((_, new))) if new.num_words() >= old.num_words() => best,
        (_, Ok(_)) => next,
        (_, Err(_)) => best,
    });
    least.unwrap_or(Err(ParamError(ParamFault::Missing { parameter: "generations" })))
}
