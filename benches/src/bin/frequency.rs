//! Sketches that count against their peers: adds, estimates and merges, pair by pair in one process.
//!
//! ```text
//! cargo run -p pds-benches --release --bin frequency             # 31 pairs, 64 KiB and 5 MiB
//! cargo run -p pds-benches --release --bin frequency -- --full   # 51 pairs, and 256 MiB
//! ```
//!
//! Each row is one contest of `contest.rs`: blocks of fresh keys, all contenders in turn. Widths and depths are equal;
//! the peer hashes by MurmurHash3 inside, ours by XXH3, both included. Before the clock starts, estimates
//! of a block of keys are held to be at least 1.

#![forbid(unsafe_code)]

use core::error::Error;

use clap::Parser;
use comfy_table::{Table, presets};
use datasketches::countmin::CountMinSketch as PeerSketch;
use datasketches::frequencies::FrequentItemsSketch;
use pds::cms::Count;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::{CountMinSketch, DefaultHashBuilder, HeavyHitters, TopK};
use pds_benches::contest::{Block, Contender, Effort, contest};
use pds_benches::keys::Keys;
use pds_benches::report::size;
use pds_benches::stats::Median;

const DEPTH: u32 = 4;
/// Keys of a block: a few milliseconds of work.
const BLOCK: usize = 1 << 17;
/// Bytes of the sketches: in the innermost caches, in the outer ones, beyond all.
const SIZES: [u64; 3] = [64 << 10, 5 << 20, 256 << 20];

/// Times what counts against its peers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Fewer pairs: a preliminary figure.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// More pairs, and sketches of 256 MiB.
    #[arg(long)]
    full: bool,
}

/// A closure over each key of a block.
struct Each<F>(F);

impl<F: FnMut(u64) -> u64> Contender for Each<F> {
    fn run(&mut self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add((self.0)(key)))
    }
}

/// A closure over a whole block.
struct Whole<F>(F);

impl<F: FnMut(&[u64]) -> u64> Contender for Whole<F> {
    fn run(&mut self, keys: &[u64]) -> u64 {
        (self.0)(keys)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let (rounds, sizes) = match (arguments.quick, arguments.full) {
        (true, _) => (15, &SIZES[..2]),
        (_, true) => (51, &SIZES[..]),
        _ => (31, &SIZES[..2]),
    };
    let mut rows = Rows { rounds, table: Table::new() };
    rows.table.load_style(presets::ASCII_MARKDOWN);
    rows.table.set_header(["sketch", "operation", "ours, ns", "peer, ns", "times as fast"]);
    for &bytes in sizes {
        sketches(bytes, &mut rows)?;
    }
    summaries(&mut rows)?;
    println!("{}", rows.table);
    Ok(())
}

struct Rows {
    rounds: usize,
    table: Table,
}

impl Rows {
    /// Sets two contenders against each other on blocks of `block` keys, `work` units of work each.
    fn add(
        &mut self,
        labels: [&str; 2],
        work: usize,
        ours: &mut dyn Contender,
        peer: &mut dyn Contender,
    ) {
        let effort = Effort { rounds: self.rounds, block: BLOCK };
        let [ours, peer] = contest(effort, Keys::absent(), [ours, peer]);
        let ratios: Vec<f64> = ours.iter().zip(&peer).map(|(ours, peer)| peer / ours).collect();
        let scale = BLOCK as f64 / work as f64;
        let ns = |times: &[f64]| format!("{:.2}", Median::of(times.to_vec()).value * scale);
        let ratio = Median::of(ratios);
        let ratio = format!("{:.2} [{:.2}, {:.2}]", ratio.value, ratio.low, ratio.high);
        let [sketch, operation] = labels.map(str::to_owned);
        eprintln!("{sketch}: {operation}");
        self.table.add_row([sketch, operation, ns(&ours), ns(&peer), ratio]);
    }
}

/// All operations on sketches of one size.
fn sketches(bytes: u64, rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let width = bytes / 4 / u64::from(DEPTH);
    let params = CountMinParams::from_width_and_depth(width, DEPTH)?;
    let large = bytes > 64 << 20;
    let builder = CountMinSketch::builder(params).huge_pages(large);
    let mut ours = builder.build()?;
    let mut conservative = builder.conservative().build()?;
    let mut peer = PeerSketch::<u32>::new(u8::try_from(DEPTH)?, u32::try_from(width)?)?;
    check(&mut ours, &mut peer);
    let name = format!("count-min, {} against datasketches", size(bytes));
    let mut row = |operation, ours: &mut dyn Contender, peer: &mut dyn Contender| {
        rows.add([&name, operation], BLOCK, ours, peer);
    };
    let mut peer_add = |key| {
        peer.update(key);
        0
    };
    row("add", &mut Each(|key| ours.insert(&key).value()), &mut Each(&mut peer_add));
    let mut batch = |keys: &[u64]| {
        ours.insert_batch(keys);
        ours.total()
    };
    row("add, batch", &mut Whole(&mut batch), &mut Each(&mut peer_add));
    let mut add = |key| conservative.insert(&key).value();
    row("add, conservative against plain", &mut Each(&mut add), &mut Each(&mut peer_add));
    let mut peer_estimate = |key| u64::from(peer.estimate(key));
    row("estimate", &mut Each(|key| ours.estimate(&key).value()), &mut Each(&mut peer_estimate));
    let mut counts = vec![Count::default(); BLOCK];
    let mut batch = |keys: &[u64]| {
        ours.estimate_batch(keys, &mut counts);
        counts[0].value()
    };
    row("estimate, batch", &mut Whole(&mut batch), &mut Each(&mut peer_estimate));
    let (other, other_peer) = (ours.clone(), peer.clone());
    let mut merge = |_: &[u64]| u64::from(ours.merge(&other).is_ok());
    let mut merge_peer = |_: &[u64]| u64::from(peer.merge(&other_peer).is_ok());
    let counters = usize::try_from(params.counters())?;
    let labels = [name.as_str(), "merge, a counter"];
    rows.add(labels, counters, &mut Whole(&mut merge), &mut Whole(&mut merge_peer));
    Ok(())
}

/// Both sketches count.
fn check(ours: &mut CountMinSketch, peer: &mut PeerSketch<u32>) {
    let mut block = Block::new(BLOCK);
    block.fill(&mut Keys::stored(BLOCK as u64));
    for &key in &block.keys {
        ours.insert(&key);
        peer.update(key);
    }
    assert!(block.keys.iter().all(|key| ours.estimate(key) >= 1 && peer.estimate(*key) >= 1));
    ours.clear();
}

/// Summaries with room for as many keys.
fn summaries(rows: &mut Rows) -> Result<(), Box<dyn Error>> {
    let params = HeavyHittersParams::with_capacity(0.1, 768)?;
    let mut ours = HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default())?;
    // It tracks three quarters of its map's size.
    let mut peer = FrequentItemsSketch::<u64>::new(1_024)?;
    let mut top = TopK::<u64>::new(100)?;
    let mut peer_add = |key| {
        peer.update(key);
        0
    };
    // One key in two is one of 512, so that some are tracked and some are not.
    let skewed = |key: u64| if key & 1 == 0 { key >> 1 & 511 } else { key };
    let labels = ["heavy hitters, 768 keys, against datasketches' frequent items", "add"];
    let mut add = |key| ours.insert(&skewed(key));
    rows.add(labels, BLOCK, &mut Each(&mut add), &mut Each(|key| peer_add(skewed(key))));
    let labels = ["top 100 against the same", "add"];
    let mut add = |key| top.insert(&skewed(key)).value();
    rows.add(labels, BLOCK, &mut Each(&mut add), &mut Each(|key| peer_add(skewed(key))));
    Ok(())
}
