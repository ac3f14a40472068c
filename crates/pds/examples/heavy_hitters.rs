//! The most frequent addresses and paths of an access log, from a few kilobytes.
//!
//! ```text
//! cargo run --release --example heavy_hitters              # the log beside the workspace, or a made one
//! cargo run --release --example heavy_hitters -- access.log  # your own, in the combined format
//! ```
//!
//! A map from every address to its count is exact, and grows with the number of addresses. The summaries here have a
//! fixed size, miss no address above the chosen share, and state the error of each count. The example also keeps the
//! map, to check them.

mod shared;

use core::error::Error;
use std::collections::HashMap;
use std::path::Path;
use std::{env, fs};

use pds::heavy_hitters::Hitter;
use pds::{HeavyHitters, TopK};
use shared::{grouped, pick, random};

/// Addresses above this share are listed.
const SHARE: f64 = 0.01;
const TOP: u64 = 10;
/// Lines of the synthetic log, if there is no real one.
const MADE: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let log = log()?;
    let (addresses, paths): (Vec<_>, Vec<_>) = log.lines().filter_map(parse).unzip();
    if addresses.is_empty() {
        return Err("not one line of the combined format".into());
    }
    println!("{} requests.\n", grouped(addresses.len()));
    list_above_share(&addresses)?;
    list_first("addresses", &addresses)?;
    list_first("paths", &paths)
}

/// Lists all addresses above the share, and checks that none is missing.
fn list_above_share(addresses: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut summary = HeavyHitters::<String>::new(SHARE)?;
    for &address in addresses {
        summary.insert(address);
    }
    let truth = count(addresses);
    println!("Addresses that may have sent more than {} requests:", summary.threshold());
    for hitter in summary.top() {
        println!("  {:<16} {}", hitter.key, hitter.interval());
        assert!(hitter.interval().contains(truth[hitter.key.as_str()]));
    }
    let listed: Vec<_> = summary.top().iter().map(|hitter| hitter.key.clone()).collect();
    let above = truth.iter().filter(|&(_, &count)| count > summary.threshold());
    assert!(above.clone().all(|(&address, _)| listed.iter().any(|key| key == address)));
    println!(
        "{} really did, none is missing. {} counters against {} addresses in a map.\n",
        above.count(),
        summary.capacity(),
        grouped(truth.len())
    );
    Ok(())
}

/// Lists the most frequent keys, and how many of them truly are among the most frequent.
fn list_first(what: &str, keys: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut list = TopK::<String>::new(TOP)?;
    for &key in keys {
        list.insert(key);
    }
    let truth = count(keys);
    println!("The {TOP} most frequent {what}, estimated and exact:");
    for hitter in list.top() {
        println!("  {:>7} {:>7}  {}", hitter.estimate, truth[hitter.key.as_str()], hitter.key);
    }
    let found = list.top().iter().filter(|hitter| is_among_first(hitter, &truth)).count();
    println!("{found} of {} belong there.\n", list.top().len());
    assert!(found * 10 >= list.top().len() * 9);
    Ok(())
}

/// Returns whether fewer than [`TOP`] keys came more often.
fn is_among_first(hitter: &Hitter<'_, String>, truth: &HashMap<&str, u64>) -> bool {
    let count = truth[hitter.key.as_str()];
    (truth.values().filter(|&&other| other > count).count() as u64) < TOP
}

fn count<'a>(keys: &[&'a str]) -> HashMap<&'a str, u64> {
    let mut counts = HashMap::new();
    keys.iter().for_each(|&key| *counts.entry(key).or_default() += 1);
    counts
}

/// Returns the address and the path of a request.
fn parse(line: &str) -> Option<(&str, &str)> {
    let address = line.split(' ').next()?;
    let path = line.split('"').nth(1)?.split(' ').nth(1)?;
    Some((address, path))
}

/// Returns the log that the argument names, or the one beside the workspace, or a synthetic one.
fn log() -> Result<String, Box<dyn Error>> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/apache-access-10k.log");
    match env::args_os().nth(1) {
        Some(path) => Ok(fs::read_to_string(path)?),
        None => Ok(fs::read_to_string(beside).unwrap_or_else(|_| made())),
    }
}

/// Makes requests. Half of them come from a few addresses, and half are for a few paths.
fn made() -> String {
    // More than are listed, so that the list is not filled with keys that came two or three times.
    const PATHS: [&str; 12] = [
        "/",
        "/favicon.ico",
        "/style.css",
        "/robots.txt",
        "/about",
        "/news",
        "/search",
        "/login",
        "/feed.xml",
        "/logo.png",
        "/contact",
        "/help",
    ];
    let mut log = String::new();
    for number in random(7).take(MADE) {
        let rare = number % 65_536;
        let host = if number >> 63 == 0 { (number >> 32) % 40 } else { rare };
        let path = pick(&PATHS, number >> 20);
        let page = if number >> 62 & 1 == 0 { String::new() } else { format!("?page={rare}") };
        let address = format!("198.{}.{}.{}", 18 + (host & 1), host >> 8 & 255, host & 255);
        log += &format!("{address} - - [time] \"GET {path}{page} HTTP/1.1\" 200 1 \"-\" \"-\"\n");
    }
    log
}
