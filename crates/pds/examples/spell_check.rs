//! A spelling checker that keeps no words. This was one of the first applications of such filters.
//!
//! ```text
//! cargo run --release --example spell_check                          # a small sample of words
//! cargo run --release --example spell_check -- /usr/share/dict/words  # a dictionary, one word a line
//! ```
//!
//! A correct word is never flagged. A misspelt word passes at the false-positive rate of the filter. Each factor of ten
//! in that rate costs 4.8 bits per word (M. Douglas McIlroy, "Development of a Spelling List", IEEE Transactions on
//! Communications 30(1), 1982, discusses the same trade-off).

mod shared;

use core::error::Error;
use std::{env, fs};

use pds::error::BuildError;
use pds::{BloomFilter, Typed};
use shared::{
    ExactSet, MEMORY_OF_SETS, ask, assert_rate, grouped, percent, shuffled, size, string_set_bytes,
};

const SENTENCE: &str = "A Bloom filter nevr forgets a word it has lerned, but now and then it belives that it \
                        knows a word it has not seen.";
const SAMPLE: &str = "a about after all also an and any are as at back be because believe believes bloom but by can \
                      come could day do even filter find first for forget forgets from get give go good has have he \
                      her here him his how i if in into is it its just know knows learn learned like look make many \
                      may me more my never new no not now of on one only or other our out over people say see seen \
                      she so some take tell than that the their them then there these they thing think this those \
                      time to two up us use very want was way we well were what when which who will with word words \
                      work would year you your";

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let text = env::args_os().nth(1).map_or_else(|| Ok(SAMPLE.to_owned()), fs::read_to_string)?;
    let dictionary = Dictionary::new(&text);
    if dictionary.typos.is_empty() {
        return Err(
            "no word can be misspelt: the dictionary is empty, or all of its words are short"
                .into(),
        );
    }
    dictionary.introduce();
    dictionary.compare()?;
    dictionary.proofread(SENTENCE)?;
    Ok(())
}

/// The exact words, and the queries for each checker.
struct Dictionary {
    words: ExactSet<String>,
    right: Vec<String>,
    typos: Vec<String>,
}

impl Dictionary {
    fn new(text: &str) -> Self {
        let words: ExactSet<_> = text.split_whitespace().map(String::from).collect();
        let right: Vec<_> = words.iter().cloned().collect();
        Self { right: shuffled(&right, 1), typos: shuffled(&typos(&words), 2), words }
    }

    fn introduce(&self) {
        let (words, typos) = (grouped(self.words.len()), grouped(self.typos.len()));
        println!(
            "{words} words, and {typos} misspellings (two letters swapped, or one left out).\n"
        );
        println!(
            "checker                memory   a word   right word       typo   typos let through"
        );
    }

    /// Prints a row for the exact set, then one for each rate.
    fn compare(&self) -> Result<(), BuildError> {
        let bytes = string_set_bytes(&self.words);
        assert_eq!(0, self.row("HashSet<String>", bytes, |word| self.words.contains(word)));
        for promise in [0.1, 0.01, 0.001, 0.000_1] {
            let (filter, name) =
                (self.learn(promise)?, format!("BloomFilter, {} %", 100.0 * promise));
            let bytes = filter.get_ref().size_in_bytes();
            let passed = self.row(&name, bytes, |word| filter.contains(word));
            assert_rate(filter.get_ref(), passed, self.typos.len());
        }
        println!("\n{MEMORY_OF_SETS}");
        Ok(())
    }

    /// The key type is `str`, so a `&String` is queried as the `&str` that it holds.
    fn learn(&self, promise: f64) -> Result<Typed<BloomFilter, str>, BuildError> {
        let mut filter = Typed::new(BloomFilter::new(self.words.len() as u64, promise)?);
        filter.extend(self.words.iter().map(String::as_str));
        Ok(filter)
    }

    /// Prints a row. Returns how many misspellings passed as words.
    fn row(&self, name: &str, bytes: u64, knows: impl Fn(&String) -> bool) -> usize {
        let (right, typos) = (ask(&self.right, &knows), ask(&self.typos, &knows));
        assert_eq!(right.yes, self.right.len(), "no right word is flagged");
        println!(
            "{name:<19} {:>9} {:>6.2} B {:>9.0} ns {:>7.0} ns {:>9} = {}",
            size(bytes),
            bytes as f64 / self.right.len() as f64,
            right.nanoseconds,
            typos.nanoseconds,
            grouped(typos.yes),
            percent(typos.yes as f64 / self.typos.len() as f64)
        );
        typos.yes
    }

    /// Underlines the words of a sentence that a filter does not know.
    fn proofread(&self, sentence: &str) -> Result<(), BuildError> {
        let filter = self.learn(0.001)?;
        let flagged = |word: &str| {
            let forms = [word.to_owned(), word.to_lowercase()];
            let flagged = !forms.iter().any(|form| filter.contains(form));
            assert!(
                !(flagged && forms.iter().any(|form| self.words.contains(form))),
                "{word} is right"
            );
            flagged
        };
        let marks: Vec<_> = sentence.split(' ').map(|word| mark(word, flagged)).collect();
        println!("\n{sentence}\n{}", marks.join(" ").trim_end());
        Ok(())
    }
}

/// Returns carets below a flagged word, and blanks below another.
fn mark(word: &str, flagged: impl Fn(&str) -> bool) -> String {
    let letters = word.trim_matches(|c: char| !c.is_alphabetic());
    let carets = if flagged(letters) { letters.len() } else { 0 };
    format!("{:<1$}", "^".repeat(carets), word.len())
}

/// Makes each misspelling of every word once, if it is not a word itself.
fn typos(words: &ExactSet<String>) -> Vec<String> {
    let mut typos: Vec<_> = words.iter().flat_map(|word| misspellings(word)).collect();
    typos.retain(|typo| !words.contains(typo));
    typos.sort_unstable();
    typos.dedup();
    typos
}

fn misspellings(word: &str) -> impl Iterator<Item = String> + use<> {
    let letters: Vec<char> = word.chars().collect();
    (1..letters.len()).flat_map(move |at| {
        let (mut swapped, mut short) = (letters.clone(), letters.clone());
        swapped.swap(at - 1, at);
        short.remove(at);
        [swapped, short].map(String::from_iter)
    })
}
