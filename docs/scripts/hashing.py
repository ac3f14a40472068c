#!/usr/bin/env python3
"""Recomputes the hashes and positions that docs/hashing.md specifies, independently of the Rust code.

Needs the PyPI package xxhash (0.8 or later of the C library). Prints the rows of its tables, which the crates' tests hold
as expected values, crates/pds-core/tests/it/hash.rs and crates/bloom-core/tests/it/cases.rs first:

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
    position = h
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
    fingerprint = 1 + ((h & 0xFFFFFFFF) * (2**width - 1) >> 32)
    y = fingerprint * GOLDEN_RATIO & MASK
    y = (y ^ y >> 32) * 0xC2B2AE3D27D4EB4F & MASK
    first = h * buckets >> 64
    return first, ((y * buckets >> 64) - first) % buckets, fingerprint


def blocked_bits(h, blocks, hashes):
    """The block of one key in a blocked Bloom filter, and its (lane, bit) positions."""
    y = h * GOLDEN_RATIO & MASK
    z = y * 0xC2B2AE3D27D4EB4F & MASK
    found = []
    for lane in range(8):
        rotation = y >> (12 if lane < 4 else 14) & 3
        rank = (lane % 4 + rotation) % 4
        for word, first in ((y, 0), (z, 4)):
            if first + rank < hashes // 2:
                found.append((lane, word >> (58 - 6 * lane) & 63))
    return h * blocks >> 64, found


def blocked_counters(h):
    """The counter of one key in each word of its line of a blocked counting filter."""
    y = h * GOLDEN_RATIO & MASK
    return [y >> (60 - 6 * lane) & 15 for lane in range(8)]


def hll_rank(h, precision):
    """Register and rank of a hash."""
    rest = h << precision & MASK | 1 << (precision - 1)
    return h >> (64 - precision), 65 - rest.bit_length()


def sketch_columns(h, width, depth):
    """The column of one key in each row of a count-min sketch or a count sketch."""
    found = []
    for _ in range(depth):
        found.append(h * width >> 64)
        h = h * 0xD1342543DE82EF95 & MASK
    return found


def sketch_signs(h, depth):
    """The sign of one key in each row of a count sketch."""
    return ["-" if finalize(h) >> row & 1 else "+" for row in range(depth)]


def minima(hashes, values):
    """The minima of a MinHash sketch."""
    found = [MASK] * values
    for h in hashes:
        for round in range(2 * values):
            bin = h * values >> 64 if round < values else round - values
            found[bin] = min(found[bin], round << 50 | h & (1 << 50) - 1)
            h = h * 0xD1342543DE82EF95 & MASK
    return found


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
    # Uniform hashes, as structures take them: two from `Mixed`, one from the default hasher.
    for h in (finalize(0), finalize(1), fold(0, b"abc")):
        print(f"hash {h:016x}")
        for bits in (1_000, 9_592_957, 10_000_000_019):
            print(f"  positions in {bits} bits:", bloom_positions(h, bits, 7))
        for shape in ((1, 4), (3, 8), (1_000, 8), (1_001, 12), (263_158, 13), (4_096, 16), (1_048_575, 32)):
            print("  cuckoo", shape, cuckoo_place(h, *shape))
        for hashes in (2, 6, 8, 12, 16):
            block, bits = blocked_bits(h, 1_000, hashes)
            print(f"  block {block} of 1,000, {hashes} hashes:", " ".join(f"{lane}:{bit}" for lane, bit in bits))
        print("  counters in a line:", *blocked_counters(h))
        register, rank = hll_rank(h, 26)
        print("  register, rank:", *(hll_rank(h, p) for p in (4, 14, 26)), f"sparse {64 * register + rank:08x}")
        for width in (1_000, 2_719, 1 << 40):
            print(f"  columns of {width}:", *sketch_columns(h, width, 4), " signs:", *sketch_signs(h, 4))
    for values, keys in ((16, 1), (16, 10), (128, 100)):
        found = minima([finalize(key) for key in range(keys)], values)
        print(f"minima of F(0) to F({keys - 1}):", *(f"{found[bin]:016x}" for bin in (0, 1, values - 1)))
