"""Makes xorf_sized.json: binary fuse filters of the version of xor_singleheader that writes the number of keys.

usage: pip install pyfusefilter==1.3.0; python xorf_sized.py ..

Keys are multiples of `mul` modulo 2^64.
"""
import base64
import json
import os
import sys

from pyfusefilter import _xorfilter

lib, ffi = _xorfilter.lib, _xorfilter.ffi
MUL = 0x9E3779B97F4A7C15


def numbers(start, count):
    spec = {"kind": "int", "mul": "0x%x" % MUL, "start": start, "count": count}
    return spec, [i * MUL & (1 << 64) - 1 for i in range(start, start + count)]


cases = []
for kind in ("binary_fuse8", "binary_fuse16"):
    for count in (1, 2, 10, 1000):
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
        cases.append({"kind": kind, "keys": spec, "bytes": base64.b64encode(bytes(ffi.buffer(out, size))).decode(),
                      "absent_keys": absent_spec, "absent_answers": "".join("1" if contain(key, f) else "0" for key in absent)})
with open(os.path.join(sys.argv[1], "xorf_sized.json"), "w") as f:
    f.write(json.dumps({"produced_by": {"package": "pyfusefilter (xor_singleheader)", "version": "1.3.0"}, "cases": cases}, separators=(",", ":")) + "\n")
