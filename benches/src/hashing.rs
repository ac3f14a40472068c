//! The time per hash: ours, SipHash, and the plain function that ours is based on.

use core::hash::BuildHasher;
use core::hint::black_box;

use pds::hash::{DefaultHashBuilder, SipHashBuilder};
use xxhash_rust::xxh3::xxh3_64;

use crate::contest::{Contender, each};
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome};

/// Keys per block.
const BLOCK: usize = 1 << 17;

/// The number of different strings. They stay in the innermost cache, and are too many for a branch predictor to learn.
const DIFFERENT: usize = 256;

/// Measures whole hashes, many in a row: the throughput per key, not the latency.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    // The seed and the key are unknown to the compiler, as in a filter.
    let ours = black_box(DefaultHashBuilder::default());
    let sip = black_box(SipHashBuilder::from_key([7; 16]));
    let numbers = &mut each(|key| ours.hash_one(key));
    against(
        bench,
        ("u64", numbers),
        [&mut each(|key| sip.hash_one(key)), &mut each(|key| xxh3_64(&key.to_le_bytes()))],
    );
    let strings: Vec<String> = (0..DIFFERENT as u64).map(string).collect();
    let string = |key: u64| strings[usize::from(key.to_le_bytes()[0])].as_str();
    against(
        bench,
        ("80-byte string", &mut each(|key| ours.hash_one(string(key)))),
        [
            &mut each(|key| sip.hash_one(string(key))),
            &mut each(|key| xxh3_64(string(key).as_bytes())),
        ],
    );
    Ok(())
}

fn against(
    bench: &mut Bench<'_>,
    (case, ours): (&str, &mut dyn Contender),
    [sip, plain]: [&mut dyn Contender; 2],
) {
    for (peer, theirs, note) in [
        ("siphasher", sip, "is SipHash-1-3 with a key of 128 bits"),
        ("xxhash-rust", plain, "is XXH3 of the bytes at once, without a seed"),
    ] {
        let row = bench.duel([case, "hash"], peer, (BLOCK, Keys::absent()), [&mut *ours, theirs]);
        bench.add(row.difference(peer, note));
    }
}

/// Returns an address of 80 bytes.
fn string(number: u64) -> String {
    let [first, second] = [key(number), key(!number)];
    format!("https://docs.example.org/{first:016x}/{second:016x}/{number:016x}.html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_of_eighty_bytes() {
        assert!((0..DIFFERENT as u64).all(|number| string(number).len() == 80));
    }
}
