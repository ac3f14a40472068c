//! From words to their frequency classes, in less than two bytes per word.
//!
//! ```text
//! cargo run --release -p fuse --example word_values
//! ```
//!
//! Spell checkers and input methods rank candidates by how often words are used. The class of a word is the logarithm of
//! its rank: 0 for the most frequent one, 17 for the last of 200,000. A hash table of the words themselves needs some 60 bytes
//! for each. A retrieval map stores no words. Check bits tell most strings that are no words.

use core::error::Error;
use std::time::Instant;

use fuse::RetrievalMap;

const WORDS: u64 = 200_000;
const CHECK_BITS: u32 = 8;
const SYLLABLES: [&str; 16] = [
    "ba", "den", "fi", "gor", "ha", "jun", "ke", "lor", "mi", "nas", "pe", "qua", "ri", "sol",
    "te", "vu",
];

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let start = Instant::now();
    let ranked = (1..=WORDS).map(|rank| (word(rank), class(rank)));
    let classes = RetrievalMap::new(ranked, CHECK_BITS)?;
    println!(
        "{} words, {} + {CHECK_BITS} bits, {:.2} bits per word, built in {:.1?}",
        classes.len(),
        classes.value_bits(),
        classes.bits_per_key(),
        start.elapsed()
    );
    assert!((1..=WORDS).all(|rank| classes.get(&word(rank)) == Some(class(rank))));
    println!("each word has its class: {} is in {}", word(3), class(3));

    let strangers = WORDS + 1..=WORDS + 100_000;
    let known = strangers.filter(|&rank| classes.get(&word(rank)).is_some()).count();
    println!("{known} of 100000 other strings have a class");
    // 390.6 are expected; ten standard deviations are 197.
    assert!((193..588).contains(&known));
    assert!(classes.bits_per_key() < 13.2);
    Ok(())
}

/// Returns the class of a rank: the logarithm to base 2.
fn class(rank: u64) -> u64 {
    rank.ilog2().into()
}

/// Returns the word of a rank.
fn word(rank: u64) -> String {
    let digits = format!("{rank:x}");
    let digits = digits.chars().filter_map(|digit| digit.to_digit(16));
    digits.map(|digit| SYLLABLES[digit as usize]).collect()
}
