#!/usr/bin/env python3
"""Recomputes the hashes and positions that docs/hashing.md specifies, independently of the Rust code.

Needs the PyPI package xxhash (0.8 or later of the C library). Prints the table that
crates/pds-core/tests/hash.rs and crates/bloom-core/tests/cases.rs hold as expected values:

    pip install xxhash && python3 docs/scripts/hashing.py
"""

import struct

import xxhash

MASK = (1 << 64) - 1
GOLDEN_RATIO = 0x9E3779B97F4A7C15
SEEDS = (0, 1, 0x0123456789ABCDEF)


def xxh3(data, seed):
    return xxhash.xxh3_64_intdigest(data, seed=seed)


def fold(seed, *fields):
    """Chains the fields: each hash is the next one's seed."""
    for field in fields:
        seed = xxh3(field, seed)
    return seed


def le(code, *values):
    return struct.pack("<" + code, *values)


def finalize(h):
    x = (h + GOLDEN_RATIO) & MASK
    x ^= x >> 27
    x = x * 0x3C79AC492BA7B653 & MASK
    x ^= x >> 33
    x = x * 0x1C69B3F74AC4AE35 & MASK
    return x ^ x >> 27


def rotl(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def bloom_positions(h, bits, hashes):
    """The bit positions of one key in a standard Bloom filter."""
    position = finalize(h)
    step, second = rotl(position, 33) | 1, (rotl(position, 19) + GOLDEN_RATIO) & MASK
    found = []
    for _ in range(hashes):
        found.append(position * bits >> 64)
        position = (position + step) & MASK
        step = (step + second) & MASK
        second = (second + GOLDEN_RATIO) & MASK
    return found


def cuckoo_place(h, buckets, width):
    """Both buckets of one key in a cuckoo filter, and its fingerprint."""
    x = finalize(h)
    fingerprint = 1 + ((x & 0xFFFFFFFF) * (2**width - 1) >> 32)
    y = fingerprint * GOLDEN_RATIO & MASK
    y = (y ^ y >> 32) * 0xC2B2AE3D27D4EB4F & MASK
    first = x * buckets >> 64
    return first, ((y * buckets >> 64) - first) % buckets, fingerprint


def blocked_bits(h, blocks, hashes):
    """The block of one key in a blocked Bloom filter, and its (lane, bit) positions."""
    x = finalize(h)
    y = x * GOLDEN_RATIO & MASK
    z = y * 0xC2B2AE3D27D4EB4F & MASK
    found = []
    for lane in range(8):
        rotation = y >> (12 if lane < 4 else 14) & 3
        rank = (lane % 4 + rotation) % 4
        for word, first in ((y, 0), (z, 4)):
            if first + rank < hashes // 2:
                found.append((lane, word >> (58 - 6 * lane) & 63))
    return x * blocks >> 64, found


# Name of the Rust key, and the byte strings that it feeds to the hasher one after another.
KEYS = [
    ("0u64", [le("Q", 0)]),
    ("1u64", [le("Q", 1)]),
    ("1u32", [le("I", 1)]),
    ("1u16", [le("H", 1)]),
    ("1u8", [le("B", 1)]),
    ("255u8", [le("B", 255)]),
    ("1u128", [le("QQ", 1, 0)]),
    ("-1i8", [le("b", -1)]),
    ("-1i64", [le("q", -1)]),
    ("-1isize", [le("q", -1)]),
    ("7usize", [le("Q", 7)]),
    ("true", [le("B", 1)]),
    ("'é'", [le("I", ord("é"))]),
    ('""', [b""]),
    ('"abc"', [b"abc"]),
    ('Raw(b"abc")', [b"abc"]),
    ("(1u64, 2u64)", [le("Q", 1), le("Q", 2)]),
    ('("ab", "c")', [b"ab", b"c"]),
    ('("a", "bc")', [b"a", b"bc"]),
    ("[0u8..16] slice", [le("Q", 16), bytes(range(16))]),
    ("Some(1u32)", [le("q", 1), le("I", 1)]),
    ("None::<u32>", [le("q", 0)]),
    ("Point { x: 1i32, y: -1i32 }", [le("i", 1), le("i", -1)]),
    ('Shape::Label("abc")', [le("q", 1), b"abc"]),
]

if __name__ == "__main__":
    for name, fields in KEYS:
        print(f"{name:28}", *(f"0x{fold(seed, *fields):016x}" for seed in SEEDS))
    for h in (0, 1, fold(0, b"abc")):
        print(f"finalize({h:016x}) = {finalize(h):016x}")
        for bits in (1_000, 9_592_957, 10_000_000_019):
            print(f"  positions in {bits} bits:", bloom_positions(h, bits, 7))
        for shape in ((1, 4), (3, 8), (1_000, 8), (1_001, 12), (263_158, 13), (4_096, 16), (1_048_575, 32)):
            print("  cuckoo", shape, cuckoo_place(h, *shape))
        for hashes in (2, 6, 8, 12, 16):
            block, bits = blocked_bits(h, 1_000, hashes)
            print(f"  block {block} of 1,000, {hashes} hashes:", " ".join(f"{lane}:{bit}" for lane, bit in bits))
