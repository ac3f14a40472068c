//! Which of many log files mention a request.
//!
//! ```text
//! cargo run --release --example which_file                   # 1,000 generated files
//! cargo run --release --example which_file -- ID logs/*.log  # your own: the files with ID as a word of a line
//! ```
//!
//! A filter per file spares reading most files. With one filter after the other, a question reads a part of each. A bank
//! stores them by position, so that a question reads one row of bits per hash function. Both name the same files: all
//! that have the identifier, and a few that do not.

mod shared;

use core::error::Error;
use std::time::Instant;
use std::{env, fs};

use pds::hash::KeyHasher;
use pds::{BloomFilter, FilterBank};
use shared::{ask, grouped, random, size};

const FILES: usize = 1_000;
const REQUESTS_PER_FILE: usize = 2_000;
const ASKED: usize = 2_000;
/// One file in a thousand is named although it does not have the identifier.
const RATE: f64 = 0.001;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut arguments = env::args().skip(1);
    match arguments.next() {
        Some(id) => search(&id, &arguments.collect::<Vec<_>>()),
        None => compare(),
    }
}

/// Prints the files to read for an identifier.
fn search(id: &str, paths: &[String]) -> Result<(), Box<dyn Error>> {
    let texts = paths.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    let most = texts.iter().map(|text| text.split_whitespace().count()).max();
    let most = most.ok_or("the identifier needs at least one file to look for it")?;
    let mut bank = FilterBank::new(most.max(1) as u64, RATE)?;
    for text in &texts {
        let file = bank.add_set()?;
        text.split_whitespace().for_each(|word| _ = bank.insert(file, word));
    }
    for file in bank.sets_with(id) {
        let found = texts[file].split_whitespace().any(|word| word == id);
        println!("{}{}", paths[file], if found { "" } else { " (read in vain)" });
    }
    Ok(())
}

/// Compares a bank with its filters one by one.
fn compare() -> Result<(), Box<dyn Error>> {
    let ids: Vec<String> =
        random(1).take(FILES * REQUESTS_PER_FILE).map(|id| format!("{id:016x}")).collect();
    let mut filters = Vec::new();
    for of_file in ids.chunks(REQUESTS_PER_FILE) {
        let mut filter = BloomFilter::new(REQUESTS_PER_FILE as u64, RATE)?;
        filter.insert_batch(of_file);
        filters.push(filter);
    }
    let start = Instant::now();
    let mut bank = FilterBank::new(REQUESTS_PER_FILE as u64, RATE)?;
    bank.extend_from(&filters)?;
    println!(
        "{FILES} files of {} identifiers each; {} in a bank, made of the filters in {:.0?}",
        grouped(REQUESTS_PER_FILE),
        size(bank.size_in_bytes()),
        start.elapsed(),
    );

    let asked: Vec<(usize, &String)> = ids
        .iter()
        .enumerate()
        .step_by(ids.len() / ASKED)
        .map(|(i, id)| (i / REQUESTS_PER_FILE, id))
        .collect();
    let mut answers = vec![false; FILES];
    for &(file, id) in &asked {
        BloomFilter::contains_hash_in(&filters, bank.hash_key(id), &mut answers);
        let named: Vec<usize> = bank.sets_with(id).collect();
        assert!(named.contains(&file), "the file of an identifier is always named");
        assert!((0..FILES).filter(|&file| answers[file]).eq(named), "both name the same files");
    }

    let row = |name: &str, answer: &dyn Fn(&String) -> usize| {
        let named: usize = asked.iter().map(|(_, id)| answer(id)).sum();
        let time = ask(&asked, |(_, id)| answer(id) > 0).nanoseconds;
        let wrong = (named - asked.len()) as f64 / asked.len() as f64;
        println!("{name:<24} {time:>9.0} ns per question, {wrong:.2} files read in vain");
    };
    row("one filter at a time", &|id| filters.iter().filter(|filter| filter.contains(id)).count());
    row("one hash, one at a time", &|id| {
        let hash = bank.hash_key(id);
        filters.iter().filter(|filter| filter.contains_hash(hash)).count()
    });
    row("the bank", &|id| bank.sets_with(id).count());
    Ok(())
}
