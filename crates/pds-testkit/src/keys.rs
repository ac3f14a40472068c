//! Endless streams of distinct keys, the same on every run and machine.
//!
//! Use the first `n` keys of a stream as the stored ones. All later keys are absent: they are of the same kind, and
//! never equal to a stored key. Clone a stream to query its keys again. This is cheap, so the keys need not be kept.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The prefix of every string of [`prefixed`].
const PREFIX: &str = "registry/production/eu-central/tenants/0000/objects/";

/// Host names, path words and file types of [`urls`].
const HOSTS: [&str; 8] = ["www", "shop", "static", "img", "blog", "m", "api", "news"];
const WORDS: [&str; 16] = [
    "archive",
    "articles",
    "catalogue",
    "comments",
    "download",
    "events",
    "gallery",
    "help",
    "index",
    "library",
    "media",
    "products",
    "reviews",
    "search",
    "stories",
    "users",
];
const TYPES: [&str; 4] = ["html", "php", "json", "aspx"];

/// Returns random integers from a generator (xoshiro256++) that is independent of the hashers under test.
///
/// The probability that two of n keys are equal is `n² / 2^65`, which is 3e-6 for ten million keys.
pub fn random(seed: u64) -> impl Iterator<Item = u64> + Clone {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    core::iter::repeat_with(move || generator.next_u64())
}

/// Returns the integers from `start` on, like the row numbers of a table.
pub fn consecutive(start: u64) -> impl Iterator<Item = u64> + Clone {
    strided(start, 1)
}

/// Returns every `step`-th integer from `start` on. A power of two leaves the low bits constant, like addresses.
///
/// `2^64 / step` keys are distinct.
pub fn strided(start: u64, step: u64) -> impl Iterator<Item = u64> + Clone {
    (0u64..).map(move |index| start.wrapping_add(index.wrapping_mul(step)))
}

/// Returns integers with reversed bytes: consecutive numbers in the *high* bits, zeros below.
///
/// As many keys are distinct as there are integers.
pub fn byte_swapped(start: u64) -> impl Iterator<Item = u64> + Clone {
    consecutive(start).map(u64::swap_bytes)
}

/// Returns the streams of integers on which weak hashers are likely to fail, each with its name.
pub fn awkward() -> impl Iterator<Item = (&'static str, impl Iterator<Item = u64> + Clone)> {
    let kinds: [fn(u64) -> u64; 3] = [|index| index, |index| index << 32, u64::swap_bytes];
    let names = ["consecutive", "strided", "byte swapped"];
    names.into_iter().zip(kinds).map(|(name, kind)| (name, consecutive(0).map(kind)))
}

/// Returns strings of 64 bytes that differ only in their last twelve bytes, decimal digits.
pub fn prefixed(start: u64) -> impl Iterator<Item = String> + Clone {
    consecutive(start).map(|index| format!("{PREFIX}{index:012}"))
}

/// Returns addresses of web pages, 80 bytes on average. A number in each makes them distinct.
pub fn urls(seed: u64) -> impl Iterator<Item = String> + Clone {
    (0..).zip(random(seed)).map(|(index, random)| url(index, random))
}

/// Formats one address. `random` chooses its parts, and `index` makes it unique.
fn url(index: u64, random: u64) -> String {
    let pick = |shift: u32, choices: u64| (random >> shift) % choices;
    let word = |shift| WORDS[narrow(pick(shift, 16))];
    format!(
        "https://{host}.site-{site:05}.example/{first}/{second}/{third}-{index:09}/{leaf}.{kind}?page={page}",
        host = HOSTS[narrow(pick(0, 8))],
        site = pick(3, 100_000),
        first = word(20),
        second = word(24),
        third = word(28),
        leaf = word(32),
        kind = TYPES[narrow(pick(36, 4))],
        page = pick(40, 1000),
    )
}

/// Converts an index that is below the length of a table.
fn narrow(index: u64) -> usize {
    usize::try_from(index).expect("an index into a small table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::Hash;
    use std::collections::HashSet;

    const COUNT: usize = 50_000;

    fn distinct<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> usize {
        keys.take(COUNT).collect::<HashSet<K>>().len()
    }

    #[test]
    fn keys_of_a_stream_are_distinct() {
        assert_eq!(distinct(random(1)), COUNT);
        assert_eq!(distinct(consecutive(1)), COUNT);
        assert_eq!(distinct(strided(5, 1 << 40)), COUNT.min(1 << 24));
        assert_eq!(distinct(byte_swapped(0)), COUNT);
        assert!(awkward().all(|(_, keys)| distinct(keys) == COUNT));
        assert_eq!(distinct(prefixed(0)), COUNT);
        assert_eq!(distinct(urls(1)), COUNT);
    }

    #[test]
    fn a_seed_fixes_a_stream_and_another_gives_another() {
        assert!(urls(7).take(100).eq(urls(7).take(100)));
        assert!(random(7).take(100).all(|key| !random(8).take(100).any(|other| key == other)));
    }

    #[test]
    fn a_cloned_stream_goes_on_from_where_it_was() {
        let mut stream = random(3);
        stream.by_ref().take(10).for_each(drop);
        assert!(stream.clone().take(10).eq(random(3).skip(10).take(10)));
    }

    #[test]
    fn addresses_are_about_eighty_bytes_long() {
        let bytes: usize = urls(2).take(COUNT).map(|url| url.len()).sum();
        let mean = bytes / COUNT;
        assert!((76..=84).contains(&mean), "mean length {mean}");
    }

    #[test]
    fn prefixed_strings_share_all_but_twelve_bytes() {
        assert!(prefixed(0).take(100).all(|key| key.len() == 64 && key.starts_with(PREFIX)));
    }
}
