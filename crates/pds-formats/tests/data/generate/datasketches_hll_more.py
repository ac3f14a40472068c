"""Makes datasketches_hll_more.json: sketches that are continued after they were read, of full size from the start, and unions of
sketches of several sizes.

usage: pip install datasketches==5.2.0; python datasketches_hll_more.py ..

Keys are whole numbers from a start on.
"""
import base64
import json
import os
import sys

import datasketches
from datasketches import hll_sketch, hll_union, tgt_hll_type

TYPES = {"HLL_4": tgt_hll_type.HLL_4, "HLL_6": tgt_hll_type.HLL_6, "HLL_8": tgt_hll_type.HLL_8}


def b64(data):
    return base64.b64encode(data).decode()


def fill(sketch, start, count):
    for key in range(start, start + count):
        sketch.update(key)
    return sketch


def made(spec):
    return fill(hll_sketch(spec["lg_k"], TYPES[spec["type"]], spec.get("full", False)), spec["start"], spec["count"])


def written(sketch):
    return {"compact": b64(sketch.serialize_compact()), "updatable": b64(sketch.serialize_updatable()),
            "estimate": sketch.get_estimate()}


full = []
for lg_k in (4, 9):
    for kind in TYPES:
        for count in (0, 3, 2000):
            spec = {"lg_k": lg_k, "type": kind, "start": 0, "count": count, "full": True}
            full.append({**spec, **written(made(spec))})

continued = []
for lg_k, kind in ((11, "HLL_8"), (12, "HLL_4")):
    for count, more in ((0, 9), (7, 1), (8, 5), (25, 1), (30, 90), (100, 0), (150, 30), (190, 300), (190, 900)):
        spec = {"lg_k": lg_k, "type": kind, "start": 0, "count": count}
        first = made(spec)
        case = {**spec, "more": more}
        for form, data in (("compact", first.serialize_compact()), ("updatable", first.serialize_updatable())):
            read = fill(hll_sketch.deserialize(data), count, more)
            case["of_" + form] = written(read)
        continued.append(case)

unions = []
REGISTERS, SET, LIST = 5000, 60, 5
for lg_max_k, sources in (
        (10, [(12, "HLL_8", 10000)]), (10, [(12, "HLL_4", 10000), (12, "HLL_8", LIST)]),
        (12, [(12, "HLL_8", 300), (10, "HLL_8", REGISTERS)]), (12, [(10, "HLL_6", REGISTERS), (12, "HLL_8", 300)]),
        (12, [(8, "HLL_8", LIST)]), (12, [(9, "HLL_4", 20), (12, "HLL_8", 100)]), (12, [(12, "HLL_4", 100), (9, "HLL_4", 20)]),
        (11, [(11, "HLL_8", REGISTERS), (9, "HLL_8", REGISTERS)]), (9, [(11, "HLL_8", REGISTERS), (11, "HLL_6", REGISTERS)]),
        (10, [(10, "HLL_8", LIST), (12, "HLL_8", SET), (11, "HLL_8", REGISTERS)])):
    union, specs, start = hll_union(lg_max_k), [], 0
    for lg_k, kind, count in sources:
        specs.append({"lg_k": lg_k, "type": kind, "start": start, "count": count})
        union.update(made(specs[-1]))
        start += count // 2
    unions.append({"lg_max_k": lg_max_k, "sources": specs, "results": {kind: written(union.get_result(of)) for kind, of in TYPES.items()}})

out = {"produced_by": {"package": "datasketches", "version": "5.2.0"}, "full_size": full, "continued": continued, "unions": unions}
with open(os.path.join(sys.argv[1], "datasketches_hll_more.json"), "w") as f:
    f.write(json.dumps(out, separators=(",", ":")) + "\n")
