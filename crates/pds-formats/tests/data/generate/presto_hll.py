"""Makes presto.json: values of the type HyperLogLog of Velox, with its answers.

usage: pip install pyvelox==0.2.0 pyarrow==19.0.1; python presto_hll.py ..

Each value is made in a process of its own, because this release of pyvelox often ends in a crash after its answer. Keys are
whole numbers from 0 on, or these with a prefix as text.
"""
import json
import os
import subprocess
import sys

CASES = [("bigint", 0.0230, n) for n in (1, 5, 100, 255, 256, 257, 5000, 100000)]
CASES += [("bigint", e, n) for e in (0.26, 0.1, 0.0040625) for n in (3, 40, 20000)]
CASES += [("varchar", 0.0230, n) for n in (10, 3000)]


def one(kind, error, count):
    import pyarrow as pa
    from pyvelox import arrow, legacy, plan_builder, runner
    legacy.register_presto_signatures()
    keys = range(count) if kind == "bigint" else ["item:%d" % i for i in range(count)]
    array = pa.array(list(keys), type=pa.int64() if kind == "bigint" else pa.string())
    rows = arrow.to_velox(pa.RecordBatch.from_arrays([array], names=["x"]))
    plan = plan_builder.PlanBuilder().values([rows]).aggregate([], ["approx_set(x, %r) as s" % error])
    plan = plan.project(["cast(s as varbinary) as b", "cardinality(s) as c"])
    row = [arrow.to_arrow(batch) for batch in runner.LocalRunner(plan.get_plan_node()).execute()][0].to_pylist()[0]
    print(json.dumps([row["b"].hex(), row["c"]]), flush=True)
    os._exit(0)


if len(sys.argv) > 2:
    one(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
cases = []
for kind, error, count in CASES:
    line = None
    while not line:
        done = subprocess.run([sys.executable, __file__, ".", kind, repr(error), str(count)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = done.stdout.decode().strip()
    data, cardinality = json.loads(line)
    cases.append({"keys": kind, "error": error, "count": count, "bytes": data, "cardinality": cardinality})
with open(os.path.join(sys.argv[1], "presto.json"), "w") as f:
    f.write(json.dumps({"produced_by": {"package": "pyvelox", "version": "0.2.0"}, "cases": cases}, separators=(",", ":")) + "\n")
