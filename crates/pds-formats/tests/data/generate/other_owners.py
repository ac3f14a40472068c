"""Makes dcso.json, xorf.json and postgres.json: values of packages of the formats' owners, or of ports of them.

usage: pip install flor==1.1.3 pyxorfilter==1.1.2 python-hll==0.1.3 numpy==1.23.5; python other_owners.py ..

Keys are given as in the other files: text keys are a prefix and a decimal number, numbers are multiples of `mul` modulo 2^64.
"""
import base64
import io
import json
import os
import sys

from flor import BloomFilter
from pyxorfilter import _xorfilter
from python_hll.hll import HLL

M64 = (1 << 64) - 1
MUL = 0x9E3779B97F4A7C15


def b64(data):
    return base64.b64encode(bytes(data)).decode()


def text(prefix, count):
    spec = {"kind": "text", "prefix": prefix, "start": 0, "count": count}
    return spec, [("%s%d" % (prefix, i)).encode() for i in range(count)]


def numbers(start, count):
    spec = {"kind": "int", "mul": "0x%x" % MUL, "start": start, "count": count}
    return spec, [i * MUL & M64 for i in range(start, start + count)]


def dcso():
    cases = []
    for n, p, count, data in ((100, 0.01, 90, b""), (1000, 0.001, 500, b""), (10, 0.3, 5, b'{"a": 1}'), (50, 1e-6, 0, b"")):
        f = BloomFilter(n, p, data)
        spec, keys = text("item:", count)
        for key in keys:
            f.add(key)
        out = io.BytesIO()
        f.write(out)
        absent_spec, absent = text("absent:", 300)
        answers = "".join("1" if f.check(key) else "0" for key in absent)
        cases.append({"n": n, "p": p, "keys": spec, "data": data.decode(), "bytes": b64(out.getvalue()), "count": f.N,
                      "absent_keys": absent_spec, "absent_answers": answers})
    return {"produced_by": {"package": "flor", "version": "1.1.3"}, "cases": cases}


def xor():
    lib, ffi = _xorfilter.lib, _xorfilter.ffi
    cases = []
    for kind in ("xor8", "xor16", "binary_fuse8", "binary_fuse16"):
        for count in (1, 10, 1000):
            f = ffi.new(kind + "_t *")
            getattr(lib, kind + "_allocate")(count, f)
            spec, keys = numbers(1, count)
            assert getattr(lib, kind + "_populate")(ffi.new("uint64_t[]", keys), count, f)
            size = getattr(lib, kind + "_serialization_bytes")(f)
            out = ffi.new("char[]", size)
            getattr(lib, kind + "_serialize")(f, out)
            absent_spec, absent = numbers(5000, 2000)
            contain = getattr(lib, kind + "_contain")
            assert all(contain(key, f) for key in keys)
            answers = "".join("1" if contain(key, f) else "0" for key in absent)
            cases.append({"kind": kind, "keys": spec, "bytes": b64(ffi.buffer(out, size)[:]),
                          "absent_keys": absent_spec, "absent_answers": answers})
    return {"produced_by": {"package": "pyxorfilter (xor_singleheader)", "version": "1.1.2"}, "cases": cases}


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def postgres():
    cases = []
    for log2m, width, expthresh, sparse, count in (
            (11, 5, -1, True, 0), (11, 5, -1, True, 10), (11, 5, -1, True, 200), (11, 5, -1, True, 5000),
            (4, 6, 0, True, 3), (4, 6, 0, False, 3), (10, 4, 4, True, 3), (10, 4, 4, True, 50), (10, 4, 0, False, 20000),
            (13, 5, 8, True, 100), (13, 5, 8, True, 400)):
        h = HLL(log2m, width, expthresh, sparse)
        spec, keys = numbers(1, count)
        for key in keys:
            h.add_raw(signed(key))
        data = bytes(x & 255 for x in h.to_bytes())
        cases.append({"log2m": log2m, "regwidth": width, "expthresh": expthresh, "sparseon": sparse, "hashes": spec,
                      "bytes": data.hex(), "cardinality": h.cardinality()})
    return {"produced_by": {"package": "python-hll", "version": "0.1.3"}, "cases": cases}


for name, make in (("dcso", dcso), ("xorf", xor), ("postgres", postgres)):
    with open(os.path.join(sys.argv[1], name + ".json"), "w") as f:
        f.write(json.dumps(make(), separators=(",", ":")) + "\n")
