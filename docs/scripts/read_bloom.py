#!/usr/bin/env python3
"""Reads Bloom filters written by the Rust crates, from the specification alone.

Written from docs/format.md and docs/hashing.md, as the proof that they are complete. Needs the PyPI
package xxhash (0.8 or later of the C library).

    pip install xxhash
    python3 docs/scripts/read_bloom.py FILE KEY...          answers for keys given as text
    python3 docs/scripts/read_bloom.py --check FOLDER       every filter of FOLDER against the answers
                                                            of the Rust code in FOLDER/golden.json
"""

import json
import pathlib
import struct
import sys

import xxhash

MASK = (1 << 64) - 1
GOLDEN_RATIO = 0x9E3779B97F4A7C15
MAGIC = b"\x89PDS\r\n\x1a\n"


def rotl(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def siphash13(data, key):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    last = len(data) % 256 << 56 | int.from_bytes(data[whole:], "little")
    for word in (*struct.unpack(f"<{whole // 8}Q", data[:whole]), last):
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class DefaultHasher:
    """XXH3-64, each field's hash the seed of the next."""

    def __init__(self, seed):
        self.seed = struct.unpack("<QQ", seed)[0]

    def raw(self, data):
        return xxhash.xxh3_64_intdigest(data, seed=self.seed)

    text = raw
    integer = raw


class SipHasher:
    """SipHash-1-3 of the fields' bytes in order; text ends with 0xff."""

    def __init__(self, seed):
        self.key = seed

    def raw(self, data):
        return siphash13(data, self.key)

    integer = raw

    def text(self, data):
        return self.raw(data + b"\xff")


HASHERS = {1: DefaultHasher, 2: SipHasher}


def need(condition, what):
    if not condition:
        raise ValueError(what)


def sections_of(head):
    """The sections of a head without its checksum, by their tags."""
    sections, position, last = {}, 24, 0
    while position < len(head):
        tag, zero, length = struct.unpack_from("<HHI", head, position)
        if tag == 0:
            break
        start = position + 8
        end = start + length
        position = (end + 7) // 8 * 8
        need(zero == 0 and last < tag <= 3, "sections")
        need(position <= len(head) and not any(head[end:position]), "the length of a section")
        sections[tag], last = head[start:end], tag
    need(not any(head[position:]), "zeros behind the sections")
    need(len(head) + 8 == (position + 8 + 63) // 64 * 64, "the length of the head")
    return sections


def read_envelope(data, kind, numbers, key=None):
    """The hasher, the design, the numbers of the shape and the payload of an envelope."""
    need(len(data) >= 72 and data[:8] == MAGIC, "not a pds structure")
    version, stated, head, length = struct.unpack_from("<HHIQ", data, 8)
    need(version == 1 and stated == kind, f"not of kind {kind} and version 1")
    need(head % 64 == 0 and 64 <= head <= 4096 and head <= len(data), "the length of the head")
    stored = struct.unpack_from("<Q", data, head - 8)[0]
    need(xxhash.xxh3_64_intdigest(data[: head - 8]) == stored, "header checksum")
    sections = sections_of(data[: head - 8])
    need(1 in sections and len(sections[1]) == 32, "hasher")
    need(3 in sections and len(sections[3]) == 8 * numbers, "shape")
    hasher, flags, zero, probe, seed = struct.unpack("<HHIQ16s", sections[1])
    need(length == len(data) and length >= head + 8, "length")
    payload = data[head:-8]
    need(xxhash.xxh3_64_intdigest(payload) == struct.unpack("<Q", data[-8:])[0], "payload checksum")
    need(zero == 0 and flags in (0, 1) and (flags or not any(seed)), "the fields of the hasher")
    need(flags or key, "the key is not in the file")
    hasher = HASHERS[hasher](key or seed)
    need(hasher.raw(b"pds hasher probe") == probe, "another hasher or key")
    return hasher, sections.get(2), struct.unpack(f"<{numbers}Q", sections[3]), payload


class Filter:
    """Whatever answers by the hash of a key."""

    def contains_text(self, text):
        return self.contains_hash(self.hasher.text(text.encode()))

    def contains_u64(self, number):
        return self.contains_hash(self.hasher.integer(struct.pack("<Q", number)))


class BloomFilter(Filter):
    def __init__(self, data, key=None):
        self.hasher, design, (self.bits, self.hashes), self.payload = read_envelope(data, 1, 2, key)
        self.expected_items, self.promised_rate = struct.unpack("<Qd", design or bytes(16))
        need(len(self.payload) == 8 * ((self.bits + 63) // 64), "length")
        need(int.from_bytes(self.payload[-8:], "little") >> ((self.bits - 1) % 64 + 1) == 0, "padding")

    def contains_hash(self, h):
        position = h
        step, second = rotl(position, 33) | 1, (rotl(position, 19) + GOLDEN_RATIO) & MASK
        for _ in range(self.hashes):
            bit = position * self.bits >> 64
            if not self.payload[bit // 8] >> bit % 8 & 1:
                return False
            position = (position + step) & MASK
            step = (step + second) & MASK
            second = (second + GOLDEN_RATIO) & MASK
        return True


def check(folder, kind):
    """Asks every filter of the folder what the Rust code was asked, and compares the answers."""
    total = 0
    for case in json.loads((folder / "golden.json").read_text()):
        key = bytes.fromhex(case["key"]) if case["key"] else None
        read = kind((folder / case["file"]).read_bytes(), key)
        answers = int.from_bytes(bytes.fromhex(case["answers"]), "little")
        present = 0
        for i in range(case["asked"]):
            found = read.contains_u64(i) if case["keys"] == "u64" else read.contains_text(f"key-{i}")
            need(found == (answers >> i & 1 == 1), f"{case['file']}: key {i} is answered {found}")
            present += found
        total += case["asked"]
        print(f"{case['file']}: {case['asked']} answers agree, {present} of them yes")
    print(f"{total} answers agree")


def main(kind, usage):
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        check(pathlib.Path(sys.argv[2]), kind)
    elif len(sys.argv) > 2:
        read = kind(pathlib.Path(sys.argv[1]).read_bytes())
        for text in sys.argv[2:]:
            print("possibly" if read.contains_text(text) else "no", text, sep="\t")
    else:
        sys.exit(usage)


if __name__ == "__main__":
    main(BloomFilter, __doc__)
