"""Makes redis_dumps.json: what DUMP returns of values of RedisBloom, without and with the server's compression.

usage: pip install redis==8.1.0; python redis_dumps.py .. PORT

PORT is that of a redis-server with the module, on this machine, whose keys are deleted. Keys are given as in the other files.
"""
import base64
import json
import os
import sys

import redis

R = redis.Redis(port=int(sys.argv[2]))


def text(prefix, count):
    spec = {"kind": "text", "prefix": prefix, "start": 0, "count": count}
    return spec, [("%s%d" % (prefix, i)).encode() for i in range(count)]


def dump(compression):
    R.config_set("rdbcompression", compression)
    return base64.b64encode(R.dump("v")).decode()


def case(kind, name, make, **fields):
    R.flushall()
    fields.update(make() or {})
    return {"kind": kind, "name": name, **fields, "plain": dump("no"), "compressed": dump("yes")}


def run(reserve, add, prefix, count, weights=None):
    def make():
        spec, keys = text(prefix, count)
        R.execute_command(*reserve)
        for i, key in enumerate(keys):
            R.execute_command(add, "v", key, *([1 + i * i % weights] if weights else []))
        return {"keys": spec, **({"weight_mod": weights} if weights else {})}
    return make


def one_counter():
    R.execute_command("CMS.INITBYDIM", "v", 1, 1)
    # The bytes of the counter are the digits "1234", which the server stores as a number.
    R.execute_command("CMS.INCRBY", "v", "a", 0x34333231)


def binary_keys():
    R.execute_command("TOPK.RESERVE", "v", 4, 50, 3, 0.9)
    for key, weight in ((b"", 3), (b"a\0b", 5), (b"a", 4)):
        R.execute_command("TOPK.INCRBY", "v", key, weight)


cases = [
    case("bloom", "empty", run(("BF.RESERVE", "v", 0.01, 100), "BF.ADD", "", 0)),
    case("bloom", "three layers", run(("BF.RESERVE", "v", 0.01, 100), "BF.ADD", "item:", 500)),
    case("bloom", "one layer", run(("BF.RESERVE", "v", 0.001, 1000, "NONSCALING"), "BF.ADD", "item:", 40)),
    case("cuckoo", "empty", run(("CF.RESERVE", "v", 64), "CF.ADD", "", 0)),
    case("cuckoo", "tables", run(("CF.RESERVE", "v", 64), "CF.ADD", "item:", 150)),
    case("cuckoo", "sparse", run(("CF.RESERVE", "v", 1024, "BUCKETSIZE", 4, "EXPANSION", 2), "CF.ADD", "item:", 20)),
    case("count-min", "sparse", run(("CMS.INITBYDIM", "v", 500, 3), "CMS.INCRBY", "item:", 20, 7)),
    case("count-min", "one counter", one_counter),
    case("top-k", "empty", run(("TOPK.RESERVE", "v", 3, 8, 2, 0.9), "TOPK.INCRBY", "", 0, 1)),
    case("top-k", "decay 1", run(("TOPK.RESERVE", "v", 5, 8, 3, 1), "TOPK.INCRBY", "item:", 40, 7), k=5, width=8, depth=3, decay=1.0),
    case("top-k", "binary keys", binary_keys),
]
info = R.info("server")
produced = {"redis_version": info["redis_version"], "bf_module": [m[b"ver"] for m in R.module_list() if m[b"name"] == b"bf"][0]}
with open(os.path.join(sys.argv[1], "redis_dumps.json"), "w") as f:
    f.write(json.dumps({"produced_by": produced, "cases": cases}, separators=(",", ":")) + "\n")
