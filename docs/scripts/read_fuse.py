#!/usr/bin/env python3
"""Reads binary fuse filters written by the Rust crates, from the specification alone.

Written from docs/format.md and docs/hashing.md, as the proof that they are complete. Needs the PyPI
package xxhash (0.8 or later of the C library).

    pip install xxhash
    python3 docs/scripts/read_fuse.py FILE KEY...           answers for keys given as text
    python3 docs/scripts/read_fuse.py --check FOLDER        every filter of FOLDER against the answers
                                                            of the Rust code in FOLDER/golden.json
"""

import math
import struct

from read_bloom import GOLDEN_RATIO, MASK, Filter, main, need, read_envelope, rotl

TABLE = [
    (8192, 10283, 282), (12288, 15198, 372), (16384, 20071, 453), (24576, 29736, 597), (32768, 39330, 726),
    (49152, 58389, 956), (65536, 77333, 1163), (98304, 115007, 1532), (131072, 152494, 1864),
    (196608, 227118, 2455), (262144, 301435, 2986), (393216, 449497, 3934), (524288, 597058, 4784),
    (786432, 891243, 6303), (1048576, 1184608, 7665), (1572864, 1769806, 10099), (2097152, 2353663, 12281),
    (3145728, 3518868, 16180), (4194304, 4681881, 19676), (6291456, 7003805, 25923), (8388608, 9322141, 31524),
]


def ceil_div(a, b):
    return -(-a // b)


def mulhi(a, b):
    return a * b >> 64


def finalize(x):
    x = (x + GOLDEN_RATIO) & MASK
    x = (x ^ x >> 27) * 0x3C79AC492BA7B653 & MASK
    x = (x ^ x >> 33) * 0x1C69B3F74AC4AE35 & MASK
    return x ^ x >> 27


class Graph:
    def __init__(self, keys, growth):
        self.shards = max(1, keys // 2**22) if keys else 0
        room = keys
        if self.shards > 1:
            mean = keys // self.shards
            room = mean + 4 * math.isqrt(mean)
        self.follows = room >= 11000
        if self.follows:
            (k0, p0, w0), (k1, p1, w1) = next(pair for pair in zip(TABLE, TABLE[1:]) if room <= pair[1][0])
            slots = p0 + ceil_div((p1 - p0) * (room - k0), k1 - k0)
            self.window = w0 + ceil_div((w1 - w0) * (room - k0), k1 - k0)
            self.slots = ceil_div(slots * (64 + growth), 64)
            self.starts = self.slots - 2 * self.window
        else:
            parts = (12225 * room + math.isqrt(169000000 * room) + 15000) * (64 + growth)
            self.window = self.starts = ceil_div(parts, 1920000)
            self.slots = 3 * self.window

    def slots_of(self, h, salt):
        """The shard of a hash, its three slots there, and what the fingerprint is cut from."""
        product = (h ^ salt(mulhi(h, self.shards))) * 0x3C6EF372FE94F82B
        mixed = product & MASK ^ product >> 64
        first = mulhi(h * self.shards & MASK, self.starts)
        second_from = first + 1 if self.follows else self.window
        second = second_from + mulhi(mixed, self.window)
        third = second_from + self.window + mulhi(rotl(mixed, 32), self.window)
        return mulhi(h, self.shards), (first, second, third), mixed ^ h


class FuseFilter(Filter):
    def __init__(self, data, key=None):
        self.hasher, design, numbers, payload = read_envelope(data, 21, 4, key)
        self.keys, self.width, growth, rest = numbers
        need(design is None, "a design")
        need(self.keys <= 2**48 and 1 <= self.width <= 32 and growth <= 32 and rest <= self.keys, "shape")
        need(self.keys or not growth, "growth without keys")
        self.graph = Graph(self.keys, growth)
        self.shard_words = ceil_div(self.graph.slots * self.width, 64) if self.keys else 0
        cells = self.graph.shards * self.shard_words
        need(len(payload) == 8 * (cells + self.graph.shards + rest), "length")
        words = struct.unpack(f"<{len(payload) // 8}Q", payload)
        self.cells, self.salts = payload[: 8 * cells], words[cells : cells + self.graph.shards]
        self.listed = words[cells + self.graph.shards :]
        need(all(a < b for a, b in zip(self.listed, self.listed[1:])), "the order of the exact list")
        need(set(self.salts) <= set(map(finalize, range(8))), "the salt of a shard")
        for shard in range(self.graph.shards):
            last = words[(shard + 1) * self.shard_words - 1]
            need(last >> ((self.graph.slots * self.width - 1) % 64 + 1) == 0, "padding")

    def cell(self, shard, slot):
        bit = 64 * shard * self.shard_words + slot * self.width
        return int.from_bytes(self.cells[bit // 8 : bit // 8 + 5], "little") >> bit % 8

    def contains_hash(self, h):
        if h in self.listed:
            return True
        if not self.keys:
            return False
        shard, slots, fingerprint = self.graph.slots_of(h, self.salts.__getitem__)
        for slot in slots:
            fingerprint ^= self.cell(shard, slot)
        return fingerprint % 2**self.width == 0


if __name__ == "__main__":
    main(FuseFilter, __doc__)
