//! The time per hash: ours, SipHash, and the plain function that ours is based on.

use core::hash::BuildHasher;
use core::hint::black_box;

use pds::hash::{DefaultHashBuilder, SipHashBuilder};
use xxhash_rust::xxh3::xxh3_64;

use crate::contest::{Contender, Each};
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome, Suite};

/// Whole hashes, many in a row: the throughput per key, not the latency.
pub const SUITE: Suite = Suite { name: "hash", peers: &["siphasher", "xxhash-rust"], run };

const NUMBERS: &str = "u64";
const STRINGS: &str = "80-byte string";
const HASH: &str = "hash";

/// Keys per block.
const BLOCK: usize = 1 << 17;

/// The number of different strings. They stay in the innermost cache, and are too many for a branch predictor to learn.
const DIFFERENT: usize = 256;

fn run(bench: &mut Bench<'_>) -> Outcome {
    // The seed and the key are unknown to the compiler, as in a filter.
    let ours = black_box(DefaultHashBuilder::default());
    let sip = black_box(SipHashBuilder::from_key([7; 16]));
    let mut numbers = Each(|key: u64| ours.hash_one(key));
    row(bench, NUMBERS, SIP, &mut numbers, &mut Each(|key: u64| sip.hash_one(key)));
    let mut plain = Each(|key: u64| xxh3_64(&key.to_le_bytes()));
    row(bench, NUMBERS, PLAIN, &mut numbers, &mut plain);

    let strings: Vec<String> = (0..DIFFERENT as u64).map(string).collect();
    let string = |key: u64| strings[usize::from(key.to_le_bytes()[0])].as_str();
    let mut ours = Each(|key| ours.hash_one(string(key)));
    row(bench, STRINGS, SIP, &mut ours, &mut Each(|key| sip.hash_one(string(key))));
    row(bench, STRINGS, PLAIN, &mut ours, &mut Each(|key| xxh3_64(string(key).as_bytes())));
    Ok(())
}

const SIP: (&str, &str) = ("siphasher", "is SipHash-1-3 with a key of 128 bits");
const PLAIN: (&str, &str) = ("xxhash-rust", "is XXH3 of the bytes at once, without a seed");

fn row(
    bench: &mut Bench<'_>,
    case: &str,
    (peer, note): (&'static str, &str),
    ours: &mut dyn Contender,
    theirs: &mut dyn Contender,
) {
    let row = bench.duel([case, HASH], peer, (BLOCK, Keys::absent()), [ours, theirs]);
    bench.add(row.note(format!("{peer} {note}.")));
}

/// Returns an address of 80 bytes.
fn string(number: u64) -> String {
    format!(
        "https://docs.example.org/{:016x}/{:016x}/{number:016x}.html",
        key(number),
        key(!number)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_of_eighty_bytes() {
        assert!((0..DIFFERENT as u64).all(|number| string(number).len() == 80));
    }
}
