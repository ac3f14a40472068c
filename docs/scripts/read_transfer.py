#!/usr/bin/env python3
"""Decompresses structures and applies deltas written by the Rust crates, from the specification alone.

Written from docs/format.md, as the proof that it is complete. Needs the PyPI package xxhash (0.8 or later of the C library).

    pip install xxhash
    python3 docs/scripts/read_transfer.py --check FOLDER    decompresses FOLDER/new_compressed.pds, applies FOLDER/delta.pds
                                                            to FOLDER/old.pds, and compares both with FOLDER/new.pds;
                                                            bodies other than the one of each chunk must be refused
"""

import pathlib
import struct
import sys

import xxhash

from read_bloom import MAGIC, need, sections_of

CHUNK = 4096
BYTES = sorted(range(256), key=lambda byte: (byte.bit_count(), byte))


def intervals(ones, length):
    """Start and weight of each byte, in their order."""
    set_share = (ones << 15) // (8 * length)
    clear_share = (1 << 15) - set_share
    start, result = 0, []
    for byte in BYTES:
        j = byte.bit_count()
        weight = 1 + ((set_share**j * clear_share ** (8 - j) >> 32) * ((1 << 32) - 256) >> 88)
        result.append((byte, start, weight))
        start += weight
    return result


def encode(chunk):
    """The one body of a chunk."""
    ones = sum(byte.bit_count() for byte in chunk)
    if not ones:
        return b""
    places = {byte: (start, weight) for byte, start, weight in intervals(ones, len(chunk))}
    # The lower end and the length of the interval, both times 256^digits.
    low, size, digits = 0, (1 << 64) - 1, 8
    for byte in chunk:
        start, weight = places[byte]
        unit = size >> 32
        low, size = low + start * unit, weight * unit
        while size < 1 << 56:
            low, size, digits = low << 8, size << 8, digits + 1
    for length in range(digits + 1):
        step = 256 ** (digits - length)
        code = -(-low // step)
        if code * step < low + size:
            break
    body = struct.pack("<H", ones) + code.to_bytes(length, "big")
    return body if len(body) < len(chunk) else chunk


def decode(body, length):
    """The bytes of a chunk. No two bodies are one chunk."""
    chunk = decode_any(body, length)
    need(encode(chunk) == body, "the one body of a chunk")
    return chunk


def decode_any(body, length):
    """The bytes of a chunk, from a body that may be another one than the writer's."""
    if not body:
        return bytes(length)
    if len(body) == length:
        return body
    ones, code = struct.unpack_from("<H", body)[0], body[2:]
    table = intervals(ones, length)
    # The code minus the lower end of the interval, and the length of the interval, both times 256^taken.
    taken, distance, size, result = 8, int.from_bytes(code[:8].ljust(8, b"\0"), "big"), (1 << 64) - 1, bytearray()
    for _ in range(length):
        unit = size >> 32
        found = [entry for entry in table if entry[1] <= distance // unit < entry[1] + entry[2]]
        need(found, "a code")
        byte, start, weight = found[0]
        result.append(byte)
        distance, size = distance - start * unit, weight * unit
        while size < 1 << 56:
            distance = distance << 8 | (code[taken] if taken < len(code) else 0)
            size, taken = size << 8, taken + 1
    need(sum(byte.bit_count() for byte in result) == ones, "the number of ones")
    return bytes(result)


def payload_of(data, kind):
    """The first number of the shape and the payload of an envelope, with its checksums verified."""
    need(data[:8] == MAGIC and struct.unpack_from("<HH", data, 8) == (1, kind), f"not of kind {kind}")
    head, length = struct.unpack_from("<IQ", data, 12)
    need(length == len(data), "length")
    need(xxhash.xxh3_64_digest(data[: head - 8])[::-1] == data[head - 8 : head], "header checksum")
    payload = data[head:-8]
    need(xxhash.xxh3_64_digest(payload)[::-1] == data[-8:], "payload checksum")
    return struct.unpack_from("<Q", sections_of(data[: head - 8])[3])[0], payload


def bodies(size, coded):
    """The body of each chunk of a payload, with the length of the chunk."""
    head = struct.unpack_from("<I", coded, 12)[0]
    chunks = -(-size // CHUNK)
    lengths = struct.unpack_from(f"<{chunks}H", coded, head + 8)
    position = head + 8 + 2 * chunks
    for chunk, length in enumerate(lengths):
        yield coded[position : position + length], min(CHUNK, size - chunk * CHUNK)
        position += length
    need(position == len(coded), "bytes after the last chunk")


def unpack(size, coded):
    """Head, checksum of the payload and decoded bytes."""
    head = struct.unpack_from("<I", coded, 12)[0]
    payload = b"".join(decode(*body) for body in bodies(size, coded))
    return coded[:head], coded[head : head + 8], payload


def fingerprint(data):
    """The fingerprint of a structure with a hasher."""
    head = struct.unpack_from("<I", data, 12)[0]
    sections = sections_of(data[: head - 8])
    identity = struct.unpack_from("<H", data, 10) + struct.unpack_from("<H6xQ", sections[1])
    return xxhash.xxh3_64_digest(struct.pack("<3Q", *identity) + sections[3] + data[-8:])[::-1]


def decompress(data):
    head, checksum, payload = unpack(*payload_of(data, 34))
    return head + payload + checksum


def apply(delta, old):
    size, payload = payload_of(delta, 35)
    need(payload[:8] == fingerprint(old), "another structure")
    head, checksum, changes = unpack(size, payload[8:])
    return head + bytes(a ^ b for a, b in zip(old[len(head) : -8], changes)) + checksum


def lies(body, chunk):
    """Bodies that a reader could take for the same chunk."""
    if body != chunk:
        yield chunk
    if body and body != chunk:
        yield body + b"\0"
        yield struct.pack("<H", struct.unpack_from("<H", body)[0] ^ 1) + body[2:]


def is_refused(body, length):
    try:
        decode(body, length)
    except ValueError:
        return True
    return False


def check_lies(data):
    """Checks that the chunks of a compressed structure have one body each."""
    size, coded = payload_of(data, 34)
    tried = 0
    for body, length in bodies(size, coded):
        for lie in lies(body, decode(body, length)):
            need(is_refused(lie, length), "a body that was refused")
            tried += 1
    need(tried, "a body that is not the chunk itself")


if __name__ == "__main__":
    need(sys.argv[1:2] == ["--check"] and len(sys.argv) == 3, __doc__)
    read = lambda name: (pathlib.Path(sys.argv[2]) / name).read_bytes()
    need(decompress(read("new_compressed.pds")) == read("new.pds"), "the compressed filter")
    need(apply(read("delta.pds"), read("old.pds")) == read("new.pds"), "the delta")
    check_lies(read("new_compressed.pds"))
    print("the compressed filter and the delta give the filter of the Rust code")
