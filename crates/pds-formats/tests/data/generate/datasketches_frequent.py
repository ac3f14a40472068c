"""Makes datasketches_frequent.json: frequent items sketches of strings and of whole numbers.

usage: pip install datasketches==5.2.0; python datasketches_frequent.py ..

Item i of a stream, from 0 on, has the weight 1 + (i * i mod weight_mod), and comes `rounds` times.
"""
import base64
import json
import os
import sys

import datasketches as d

KINDS = {"NO_FALSE_POSITIVES": d.frequent_items_error_type.NO_FALSE_POSITIVES,
         "NO_FALSE_NEGATIVES": d.frequent_items_error_type.NO_FALSE_NEGATIVES}
cases = []
for kind in ("string", "long"):
    for lg, count, rounds, mod in ((3, 0, 1, 1), (3, 5, 1, 7), (3, 40, 3, 1000), (6, 60, 2, 97), (6, 500, 2, 10007)):
        sketch = d.frequent_strings_sketch(lg) if kind == "string" else d.frequent_items_sketch(lg)
        item = (lambda i: "item:%d" % i) if kind == "string" else (lambda i: i * 1000003 - 7)
        for _ in range(rounds):
            for i in range(count):
                sketch.update(item(i), 1 + i * i % mod)
        data = sketch.serialize() if kind == "string" else sketch.serialize(d.PyLongsSerDe())
        lists = {name: [list(row) for row in sketch.get_frequent_items(of)] for name, of in KINDS.items()}
        bounds = [[sketch.get_estimate(item(i)), sketch.get_lower_bound(item(i)), sketch.get_upper_bound(item(i))] for i in range(count + 3)]
        cases.append({"kind": kind, "lg_max": lg, "count": count, "bytes": base64.b64encode(data).decode(), "lists": lists, "bounds": bounds,
                      "total": sketch.total_weight, "epsilon": sketch.epsilon})
with open(os.path.join(sys.argv[1], "datasketches_frequent.json"), "w") as f:
    f.write(json.dumps({"produced_by": {"package": "datasketches", "version": "5.2.0"}, "cases": cases}, separators=(",", ":")) + "\n")
