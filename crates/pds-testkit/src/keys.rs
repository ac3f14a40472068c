//! Endless streams of distinct keys, the same on every run and machine.
//!
//! The first `n` keys of a stream serve as the stored ones, all later ones as the absent ones: of the same kind, and
//! never equal to a stored one. A stream is cheap to clone, so that its keys need not be kept to be asked for again.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What every string of [`prefixed`] starts with.
const PREFIX: &str = "registry/production/eu-central/tenants/0000/objects/";

/// Host names, path words and file types that [`urls`] draws from.
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

/// Random integers, by a generator (xoshiro256++) that shares nothing with the hashers under test.
///
/// Distinct but for a chance of `n² / 2^65`, which is 3e-6 for ten million keys.
pub fn random(seed: u64) -> impl Iterator<Item = u64> + Clone {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    core::iter::repeat_with(move || generator.next_u64())
}

/// The integers from `start` on, as a table's row numbers are.
pub fn consecutive(start: u64) -> impl Iterator<Item = u64> + Clone {
    strided(start, 1)
}

/// Every `step`-th integer from `start` on; a power of two leaves the low bits constant, as in addresses.
///
/// Distinct for `2^64 / step` keys.
pub fn strided(start: u64, step: u64) -> impl Iterator<Item = u64> + Clone {
    (0u64..).map(move |index| start.wrapping_add(index.wrapping_mul(step)))
}

/// Integers whose bytes run backwards: consecutive numbers in the *high* bits, zeros below.
///
/// Distinct for as many keys as there are integers.
pub fn byte_swapped(start: u64) -> impl Iterator<Item = u64> + Clone {
    consecutive(start).map(u64::swap_bytes)
}

/// The streams of integers on which weak hashers are likely to fail, each with its name.
pub fn awkward() -> impl Iterator<Item = (&'static str, impl Iterator<Item = u64> + Clone)> {
    let kinds: [fn(u64) -> u64; 3] = [|index| index, |index| index << 32, u64::swap_bytes];
    let names = ["consecutive", "strided", "byte swapped"];
    names.into_iter().zip(kinds).map(|(name, kind)| (name, consecutive(0).map(kind)))
}

/// Strings of 64 bytes that differ in their last twelve only, decimal digits.
pub fn prefixed(start: u64) -> impl Iterator<Item = String> + Clone {
    consecutive(start).map(|index| format!("{PREFIX}{index:012}"))
}

/// Addresses of web pages, 80 bytes on average, made distinct by a number inside.
pub fn urls(seed: u64) -> impl Iterator<Item = String> + Clone {
    (0..).zip(random(seed)).map(|(index, random)| url(index, random))
}

/// Spells out one address; `random` chooses its parts, `index` makes it unlike every other.
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

/// Narrows an index that is below the length of a table.
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
