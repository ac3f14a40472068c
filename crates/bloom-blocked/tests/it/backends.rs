//! Every backend of this processor, compared with the definition bit for bit.
//!
//! `RUSTFLAGS='--cfg pds_backend="avx2"' cargo test -p bloom-blocked --test it backends` restricts the build to one
//! backend.
#![cfg(feature = "std")]

use bloom_blocked::{BlockedBloomFilter, BlockedBloomFilterView, backends};
use pds_testkit::keys;
use quickcheck::{Arbitrary, Gen, quickcheck};

/// The block and the bits of a key, written from the description of the layout instead of the code.
fn positions(hash: u64, num_blocks: u64, hashes: u32) -> (usize, Vec<u32>) {
    let block = (u128::from(hash) * u128::from(num_blocks)) >> 64;
    let first = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let second = first.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    let mut bits = Vec::new();
    for lane in 0..8u32 {
        let rotation = (first >> if lane < 4 { 12 } else { 14 } & 3) as u32;
        let rank = (lane % 4 + rotation) % 4;
        let positions = (0..hashes / 2).filter(|probe| probe % 4 == rank).count();
        let fields = [first, second].into_iter().take(positions);
        bits.extend(fields.map(|word| 64 * lane + (word >> (58 - 6 * lane) & 63) as u32));
    }
    (usize::try_from(block).unwrap(), bits)
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    blocks: u64,
    hashes: u32,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let blocks = [1, 2, 3, 7, 8, 64, 1_000, 1_024][usize::arbitrary(g) % 8];
        Self { blocks, hashes: 2 * (1 + u32::arbitrary(g) % 8) }
    }
}

fn empty(shape: Shape, backend: &str) -> BlockedBloomFilter {
    let builder = BlockedBloomFilter::builder().blocks(shape.blocks).hashes(shape.hashes);
    builder.build().unwrap().with_backend(backend).unwrap()
}

/// Inserts `stored` and queries `asked`, one by one and in batches, and compares all with the definition.
fn agrees(shape: Shape, backend: &str, stored: &[u64], asked: &[u64]) {
    let (mut single, mut batched) = (empty(shape, backend), empty(shape, backend));
    let mut expected = vec![0u64; single.words().len()];
    let mut new = 0;
    for &hash in stored {
        let (block, bits) = positions(hash, shape.blocks, shape.hashes);
        let words = &mut expected[8 * block..8 * block + 8];
        let absent = bits.iter().any(|bit| words[*bit as usize / 64] >> (bit % 64) & 1 == 0);
        bits.iter().for_each(|bit| words[*bit as usize / 64] |= 1 << (bit % 64));
        assert_eq!(single.insert_hash(hash), absent, "{backend}, {shape:?}, hash {hash:#x}");
        new += usize::from(absent);
    }
    assert_eq!(single.words(), expected, "{backend}, {shape:?}");
    assert_eq!(batched.insert_hash_batch(stored), new, "{backend}, {shape:?}");
    assert_eq!(batched, single, "{backend}, {shape:?}");
    let (mut flags, mut bitmap) =
        (vec![false; asked.len()], vec![u64::MAX; asked.len().div_ceil(64)]);
    single.contains_hash_batch(asked, &mut flags);
    single.contains_hash_batch_bitmap(asked, &mut bitmap);
    let (bytes, mut viewed) = (single.to_bytes(), flags.clone());
    let view = BlockedBloomFilterView::open(&bytes).unwrap().with_backend(backend).unwrap();
    view.contains_hash_batch(asked, &mut viewed);
    assert_eq!(viewed, flags, "a view, {backend}, {shape:?}");
    for (i, &hash) in asked.iter().enumerate() {
        let (block, bits) = positions(hash, shape.blocks, shape.hashes);
        let set = |bit: &u32| expected[8 * block + *bit as usize / 64] >> (bit % 64) & 1 == 1;
        let answer = bits.iter().all(set);
        assert_eq!(single.contains_hash(hash), answer, "{backend}, {shape:?}, hash {hash:#x}");
        assert_eq!(
            view.contains_hash(hash),
            answer,
            "a view, {backend}, {shape:?}, hash {hash:#x}"
        );
        assert_eq!(flags[i], answer);
        assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer);
    }
    let unused = (64 - asked.len() % 64) % 64;
    assert!(bitmap.last().is_none_or(|word| word.leading_zeros() as usize >= unused));
}

#[test]
fn the_portable_backend_is_always_there() {
    let confined = cfg!(any(pds_backend = "avx2", pds_backend = "avx512"));
    assert!(confined || backends().any(|name| name == "portable"));
    assert!(backends().count() >= 1);
}

/// A million operations for each backend.
#[test]
fn all_backends_agree_on_a_million_operations() {
    const ROUNDS: u64 = 64;
    for backend in backends() {
        for round in 0..ROUNDS {
            let hashes = 2 * (1 + u32::try_from(round % 8).unwrap());
            let shape = Shape { blocks: 1 + round * round, hashes };
            let stored: Vec<u64> = keys::random(round).take(4_000).collect();
            let asked: Vec<u64> =
                stored[..2_000].iter().copied().chain(keys::random(99)).take(6_001).collect();
            agrees(shape, backend, &stored, &asked);
        }
    }
}

quickcheck! {
    fn all_backends_agree(shape: Shape, stored: Vec<u64>, asked: Vec<u64>) -> bool {
        backends().for_each(|backend| agrees(shape, backend, &stored, &asked));
        true
    }
}

/// The vectors of `docs/hashing.md`, section 4, computed there by another program.
#[test]
fn positions_are_the_specified_ones() {
    let (one, abc) = (pds_core::hash::finalize(1), 0x78af_5f94_892f_3950);
    let vectors: [(u64, u32, &str); 5] = [
        (one, 2, "3:60 7:19"),
        (one, 6, "0:33 1:42 3:60 4:45 5:5 7:19"),
        (one, 8, "0:33 1:42 2:51 3:60 4:45 5:5 6:47 7:19"),
        (one, 12, "0:33 0:18 1:42 2:51 3:60 3:3 4:45 5:5 6:47 7:19 7:24"),
        (abc, 12, "0:19 1:49 1:42 2:16 2:24 3:25 4:33 4:29 5:54 6:7 7:2 7:22"),
    ];
    for (hash, hashes, expected) in vectors {
        for backend in backends() {
            let mut filter = empty(Shape { blocks: 1_000, hashes }, backend);
            filter.insert_hash(hash);
            let block = if hash == one { 566 } else { 471 };
            let mut words = vec![0; 8_000];
            for position in expected.split(' ') {
                let (lane, bit) = position.split_once(':').unwrap();
                let (lane, bit): (usize, u32) = (lane.parse().unwrap(), bit.parse().unwrap());
                words[8 * block + lane] |= 1u64 << bit;
            }
            assert_eq!(filter.words(), words, "{backend}, hash {hash:#x}, {hashes} hashes");
        }
    }
}
