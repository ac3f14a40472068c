#!/usr/bin/env python3
"""Builds HyperLogLog and UltraLogLog payloads as docs/hashing.md and docs/format.md specify, independently of the Rust code.

Needs the PyPI package xxhash. Prints the payload checksums that crates/hll/tests/it/format.rs holds as expected values:

    pip install xxhash && python3 docs/scripts/hyperloglog.py
"""

import struct

import xxhash


def hashed_numbers(count):
    """The hashes of the keys 0u64, 1u64, ..."""
    return (xxhash.xxh3_64_intdigest(struct.pack("<Q", key)) for key in range(count))


def split(h, precision):
    """Register and rank of a hash."""
    rest = h & ((1 << (64 - precision)) - 1)
    return h >> (64 - precision), 65 - precision - rest.bit_length()


def ranks_by_register(hashes, precision):
    """Which ranks have occurred in each register, as sets."""
    registers = [set() for _ in range(1 << precision)]
    for h in hashes:
        register, rank = split(h, precision)
        registers[register].add(rank)
    return registers


def dense_payload(registers):
    """Six bits a register, the least significant bits first."""
    bits = 0
    for i, ranks in enumerate(registers):
        bits |= max(ranks, default=0) << (6 * i)
    return bits.to_bytes(len(registers) * 6 // 8, "little")


def sparse_payload(hashes):
    """Register (26 bits) and greatest rank (6 bits) of each register at precision 26, in ascending order."""
    greatest = {}
    for h in hashes:
        register, rank = split(h, 26)
        greatest[register] = max(rank, greatest.get(register, 0))
    return b"".join(struct.pack("<I", index << 6 | rank) for index, rank in sorted(greatest.items()))


def ultra_payload(registers):
    """All registers, or those with keys in four bytes each if that is shorter.

    The value of a register is four times the greatest rank u, plus 2 when u - 1 has occurred, plus 1 when u - 2 has.
    """
    def value(ranks):
        u = max(ranks, default=0)
        return 4 * u + 2 * (u - 1 in ranks) + (u - 2 in ranks)
    values = bytes(map(value, registers))
    listed = b"".join(struct.pack("<I", index << 8 | value) for index, value in enumerate(values) if value)
    return listed if len(listed) < len(values) else values


def main():
    registers = ranks_by_register(hashed_numbers(1_000_000), 12)
    for name, payload in [
        ("HyperLogLog, precision 12, 0u64 to 999999u64", dense_payload(registers)),
        ("UltraLogLog, precision 12, 0u64 to 999999u64", ultra_payload(registers)),
        ("UltraLogLog, precision 14, 0u64 to 299u64", ultra_payload(ranks_by_register(hashed_numbers(300), 14))),
        ("HyperLogLog, sparse, 0u64 to 299u64", sparse_payload(hashed_numbers(300))),
    ]:
        print(f"{xxhash.xxh3_64_intdigest(payload):016x}  {name}")


if __name__ == "__main__":
    main()
