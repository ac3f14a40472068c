//! Finds the near duplicates among documents.
//!
//! The corpus is made: articles of random words, and for every tenth of them a copy in which some words were changed. Keys are runs
//! of three words. The index finds pairs from a Jaccard index of 0.7 on; their signatures then tell how similar they are.
//!
//! `cargo run --release -p minhash --example near_duplicates -- ARTICLES`

use core::error::Error;
use std::collections::{HashMap, HashSet};
use std::env;
use std::time::Instant;

use minhash::{LshIndex, MinHash, Signature};

const THRESHOLD: f64 = 0.7;
const WORDS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let articles = env::args().nth(1).map_or(Ok(20_000), |number| number.parse())?;
    let corpus = made_up(articles);

    let start = Instant::now();
    let mut signatures: Vec<Signature> = Vec::new();
    let mut sketches = Vec::new();
    for (number, text) in (0..).zip(&corpus) {
        let mut sketch = MinHash::new(128)?;
        sketch.insert_batch(&shingles(text));
        signatures.push(sketch.signature(8)?);
        sketches.push((number, sketch));
    }
    let mut index = LshIndex::new(128, THRESHOLD, 0.99)?;
    index.insert_batch(sketches)?;
    let candidates = index.near_duplicates();
    let similarity = |&(left, right): &(u32, u32)| {
        signatures[left as usize].jaccard(&signatures[right as usize])
    };
    let mut similar = Vec::new();
    for pair in candidates.iter().copied() {
        let jaccard = similarity(&pair)?;
        // Two errors below the threshold, so that few pairs at the threshold are missed.
        if jaccard.value + 2.0 * jaccard.standard_error >= THRESHOLD {
            similar.push((pair, jaccard));
        }
    }
    println!(
        "{} documents, {} candidates, {} near duplicates in {:.2?}; the index has {} bytes, a signature {}",
        corpus.len(),
        candidates.len(),
        similar.len(),
        start.elapsed(),
        index.size_in_bytes(),
        signatures[0].size_in_bytes(),
    );
    for ((left, right), jaccard) in similar.iter().take(5) {
        println!("{left} and {right}: {jaccard:.2}");
    }

    // The exact answer, from all shingles.
    let exact = exact_pairs(&corpus);
    let reported: HashSet<(u32, u32)> = similar.iter().map(|&(pair, _)| pair).collect();
    let found = exact.iter().filter(|pair| reported.contains(pair)).count();
    println!("{found} of {} pairs above {THRESHOLD} were found", exact.len());
    assert!(found as f64 >= 0.9 * exact.len() as f64, "the recall is too low");
    Ok(())
}

/// Returns the articles, and a copy with changes of every tenth one.
fn made_up(articles: usize) -> Vec<Vec<u32>> {
    let mut state = 1_u64;
    let mut random = move |below: u32| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        minhash::hash::finalize(state) % u64::from(below)
    };
    let mut word = |below| u32::try_from(random(below)).expect("below 2^32");
    let mut corpus: Vec<Vec<u32>> =
        (0..articles).map(|_| (0..WORDS).map(|_| word(50_000)).collect()).collect();
    for original in (0..articles).step_by(10) {
        let mut copy = corpus[original].clone();
        for _ in 0..word(40) {
            copy[word(WORDS) as usize] = word(50_000);
        }
        corpus.push(copy);
    }
    corpus
}

/// Returns the runs of three words.
fn shingles(text: &[u32]) -> Vec<[u32; 3]> {
    text.windows(3).map(|run| [run[0], run[1], run[2]]).collect()
}

/// Returns the pairs with an exact Jaccard index of at least the threshold. They share a shingle.
fn exact_pairs(corpus: &[Vec<u32>]) -> HashSet<(u32, u32)> {
    let mut having: HashMap<[u32; 3], Vec<u32>> = HashMap::new();
    for (number, text) in (0..).zip(corpus) {
        for shingle in HashSet::<[u32; 3]>::from_iter(shingles(text)) {
            having.entry(shingle).or_default().push(number);
        }
    }
    let mut common: HashMap<(u32, u32), usize> = HashMap::new();
    for documents in having.values() {
        for (i, &left) in documents.iter().enumerate() {
            documents[i + 1..]
                .iter()
                .for_each(|&right| *common.entry((left, right)).or_default() += 1);
        }
    }
    let size =
        |number: u32| HashSet::<[u32; 3]>::from_iter(shingles(&corpus[number as usize])).len();
    let jaccard = |pair: (u32, u32), common: usize| {
        common as f64 / (size(pair.0) + size(pair.1) - common) as f64
    };
    let similar = common.into_iter().filter(|&(pair, common)| jaccard(pair, common) >= THRESHOLD);
    similar.map(|(pair, _)| pair).collect()
}
