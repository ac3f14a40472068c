//! The multiplicities of the words of a text, without the words.
//!
//! ```text
//! cargo run --release --example word_counts              # 1,000,000 words, made up
//! cargo run --release --example word_counts -- text.txt  # your own
//! ```
//!
//! Each half of the text is counted on its own, as two machines would. A filter starts small, grows with its words, and
//! needs to know none of them. The merged filter is compared with a map that keeps all words: no count is too low, and
//! as few are too high as the rate says.

mod shared;

use core::error::Error;
use std::collections::HashMap;
use std::{env, fs};

use pds::CountingQuotientFilter;
use pds_testkit::zipf::Zipf;
use shared::{grouped, percent, size};

const GENERATED: usize = 1_000_000;
/// Words of the made-up language. They are as frequent as those of English, of which half come once in a text.
const VOCABULARY: usize = 400_000;
const EXPONENT: f64 = 1.05;
/// The share of words with a count that is too high, at the greatest size.
const RATE: f64 = 0.01;

type Counts<'a> = HashMap<&'a str, u64>;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let text = match env::args_os().nth(1) {
        Some(path) => fs::read_to_string(path)?,
        None => made_up(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        return Err("a text needs at least one word".into());
    }
    let (first, second) = words.split_at(words.len() / 2);
    let mut filter = counted(first)?;
    let other = counted(second)?;
    println!("{} words; each half in a filter of its own:", grouped(words.len()));
    describe(&filter);
    describe(&other);
    filter.merge(&other)?;
    println!("\nmerged:");
    describe(&filter);
    let mut exact = Counts::new();
    words.iter().for_each(|&word| *exact.entry(word).or_default() += 1);
    compare(&filter, &exact);

    // The second half is taken back, copy by copy.
    second.iter().for_each(|word| assert!(filter.remove(*word), "every word was counted"));
    filter.shrink_to_fit()?;
    println!("\nwithout the second half:");
    describe(&filter);
    let mut halves = first.iter();
    assert!(halves.all(|word| filter.contains(*word)), "the first half is still there");
    Ok(())
}

/// Counts words. Their number is not known: the filter grows from 1,000 distinct ones to 1,000,000.
fn counted(words: &[&str]) -> Result<CountingQuotientFilter, Box<dyn Error>> {
    let builder = CountingQuotientFilter::builder().expected_items(1_000).grows_to(1_000_000);
    let mut filter = builder.false_positive_rate(RATE).slots_per_item(1.5).build()?;
    words.iter().try_for_each(|word| filter.insert(*word))?;
    Ok(filter)
}

fn describe(filter: &CountingQuotientFilter) {
    println!(
        "  {} distinct words in {} slots, {}",
        grouped(usize::try_from(filter.len()).unwrap_or(usize::MAX)),
        grouped(usize::try_from(filter.used_slots()).unwrap_or(usize::MAX)),
        size(filter.size_in_bytes())
    );
}

fn compare(filter: &CountingQuotientFilter, exact: &Counts<'_>) {
    let mut ranked: Vec<_> = exact.iter().map(|(&word, &count)| (word, count)).collect();
    ranked.sort_unstable_by_key(|&(word, count)| (core::cmp::Reverse(count), word));
    println!("\nthe most frequent       count    exact");
    for &(word, count) in ranked.iter().take(8) {
        println!("{word:<18} {:>10} {count:>8}", filter.count(word));
    }
    let too_low = ranked.iter().filter(|&&(word, count)| filter.count(word) < count).count();
    let too_high = ranked.iter().filter(|&&(word, count)| filter.count(word) > count).count();
    let once = ranked.iter().filter(|&&(_, count)| count == 1).count();
    println!(
        "\n{} words come once; {too_low} counts are too low, {too_high} too high: {} of all, {} predicted",
        grouped(once),
        percent(too_high as f64 / ranked.len() as f64),
        percent(filter.false_positive_rate())
    );
    let text: usize = exact.keys().map(|word| word.len()).sum();
    let map = exact.capacity() * (size_of::<(Box<str>, u64)>() + 1) + text;
    println!("a map of the words and their counts takes {}", size(map as u64));
    assert_eq!(too_low, 0);
    // Each of the two keys of a collision is too high, so the deviation is that of pairs.
    let expected = ranked.len() as f64 * filter.false_positive_rate();
    let noise = 5.0 * (2.0 * expected).sqrt() + 5.0;
    assert!((too_high as f64 - expected).abs() <= noise, "{too_high} wrong, {expected} predicted");
}

/// Words by Zipf's law.
fn made_up() -> String {
    let ranks = Zipf::new(VOCABULARY, EXPONENT);
    let words: Vec<_> = ranks.stream(1).take(GENERATED).map(spelt).collect();
    words.join(" ")
}

/// Spells a number in syllables.
fn spelt(mut number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "ro", "mi", "te", "lu", "sa", "no", "vi", "de", "pu", "ha", "zo", "bi", "ge", "fu",
        "ma",
    ];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[number % 16]);
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}
