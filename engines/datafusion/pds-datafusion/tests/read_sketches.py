"""Checks sketches of the SQL functions with the package `datasketches`, and prints sketches of its own.

Standard input: lines of kind, type of the keys, number of keys, bytes. The keys are 1 to n, as integers or as "key i".
Standard output: lines of kind, estimate, bytes.
"""

import math
import sys

from datasketches import compact_theta_sketch, frequent_strings_sketch, hll_sketch, tgt_hll_type, update_theta_sketch


def keys(kind, count):
    return (i if kind == "long" else f"key {i}" for i in range(1, count + 1))


def build(kind, key_type, count):
    sketch = hll_sketch(12, tgt_hll_type.HLL_8) if kind == "hll" else update_theta_sketch(12)
    for key in keys(key_type, count):
        sketch.update(key)
    return sketch


for line in sys.stdin:
    kind, key_type, count, text = line.split(" ")
    count, data = int(count), bytes.fromhex(text)
    if kind == "top":
        # Key i is there 2i + 1 times, but for the last one.
        own = frequent_strings_sketch(11)
        for i in range(1, count + 1):
            own.update(f"key {math.isqrt(i)}")
        # The number of nulls follows the bytes that the package knows.
        read = frequent_strings_sketch.deserialize(data[:-8])
        for i in range(1, math.isqrt(count) + 1):
            assert read.get_estimate(f"key {i}") == own.get_estimate(f"key {i}"), f"key {i}"
        assert read.total_weight == own.total_weight == count
        print("top", max(2 * i + 1 for i in range(1, math.isqrt(count))), own.serialize().hex())
        continue
    own = build(kind, key_type, count)
    if kind == "hll":
        read = hll_sketch.deserialize(data)
        # By history in order, or by the registers after a merge: both are within five standard errors.
        error = 5 * 1.04 / 64
        serialized = own.serialize_compact()
    else:
        own.trim()
        read = compact_theta_sketch.deserialize(data)
        assert sorted(read) == sorted(own), f"{line[:40]}: other hashes"
        assert read.theta == own.theta, f"{line[:40]}: another theta"
        error = 1e-12
        serialized = own.compact().serialize()
    found, expected = read.get_estimate(), own.get_estimate()
    assert abs(found - expected) <= error * max(expected, 1), f"{line[:40]}: {found}, not {expected}"
    if key_type == "long":
        print(kind, expected, serialized.hex())
