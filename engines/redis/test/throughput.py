"""Throughput and memory beside RedisBloom: two servers of one program, rounds interleaved, medians of ratios.

usage: throughput.py SERVER REDISBLOOM.so OURS.so [--rounds N] [--load NAME]

LD_LIBRARY_PATH must lead to the libraries that RedisBloom needs. `redis-benchmark` is the load.
"""

import argparse
import os
import statistics
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("server")
parser.add_argument("redisbloom")
parser.add_argument("ours")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--only", choices=["rates", "memory"])
parser.add_argument("--load", default="", help="measure the commands whose names contain this")
parser.add_argument("--requests", type=int, default=200_000)
arguments = parser.parse_args()
os.environ["PDS_REDIS_MODULE"] = arguments.ours

from servers import Server  # noqa: E402: it reads the environment.

RANDOM = "__rand_int__"

# Name, commands that prepare, the command that is measured, keys in each, range of the random numbers.
LOADS = [
    ("GET", [("SET", "text", "x")], ["GET", "text"], 1, 1000),
    ("BF.ADD, 10^6 items", [("BF.RESERVE", "f", 0.01, 1_000_000)], ["BF.ADD", "f", RANDOM], 1, 10**6),
    ("BF.EXISTS, 10^6 items", [], ["BF.EXISTS", "f", RANDOM], 1, 2 * 10**6),
    ("BF.MADD of 100, 10^8 items", [("BF.RESERVE", "m", 0.01, 100_000_000)], ["BF.MADD", "m"] + [RANDOM] * 100, 100, 10**8),
    ("BF.MEXISTS of 100, 10^8 items", [], ["BF.MEXISTS", "m"] + [RANDOM] * 100, 100, 10**8),
    ("CF.ADD", [("CF.RESERVE", "c", 4_000_000)], ["CF.ADD", "c", RANDOM], 1, 10**8),
    ("CF.EXISTS", [], ["CF.EXISTS", "c", RANDOM], 1, 10**8),
    ("CMS.INCRBY", [("CMS.INITBYDIM", "s", 20_000, 7)], ["CMS.INCRBY", "s", RANDOM, 1], 1, 10**6),
    ("TOPK.ADD", [("TOPK.RESERVE", "t", 100, 2000, 7, 0.9)], ["TOPK.ADD", "t", RANDOM], 1, 10**6),
]


def cpu(client):
    info = client.info("cpu")
    return info["used_cpu_user"] + info["used_cpu_sys"]


def measure(server, command, keys, span):
    """Keys per second, and microseconds of the server's processor time per key."""
    requests = arguments.requests if keys == 1 else arguments.requests // 20
    pipeline = 32 if keys == 1 else 4
    client = server.client()
    before = cpu(client)
    run = subprocess.run(
        ["redis-benchmark", "-p", str(server.port), "-c", "16", "-P", str(pipeline), "-n", str(requests),
         "-r", str(span), "--csv", *map(str, command)],
        capture_output=True, text=True, check=True)
    rate = float(run.stdout.splitlines()[-1].split('","')[1].strip('"'))
    return rate * keys, (cpu(client) - before) / (requests * keys) * 1e6


def compare_rates(theirs, ours):
    print(f"{'command':30} {'RedisBloom':>12} {'ours':>12} {'ratio':>6}   {'CPU us':>7} {'ours':>7} {'ratio':>6}")
    for name, prepare, command, keys, span in (load for load in LOADS if arguments.load in load[0]):
        for server in (theirs, ours):
            for step in prepare:
                server.client().execute_command(*step)
        rounds = []
        for turn in range(arguments.rounds):
            order = (theirs, ours) if turn % 2 == 0 else (ours, theirs)
            results = {server: measure(server, command, keys, span) for server in order}
            rounds.append((results[theirs], results[ours]))
        rate = [statistics.median(pair[side][0] for pair in rounds) for side in (0, 1)]
        time = [statistics.median(pair[side][1] for pair in rounds) for side in (0, 1)]
        ratio = statistics.median(own[0] / their[0] for their, own in rounds)
        times = statistics.median(their[1] / max(own[1], 1e-9) for their, own in rounds)
        print(f"{name:30} {rate[0]:12,.0f} {rate[1]:12,.0f} {ratio:6.2f}   {time[0]:7.3f} {time[1]:7.3f} {times:6.2f}",
              flush=True)


def filled(server, name, rate, capacity, items, *options):
    """The measured rate of a filter, the memory that the server took for it, what it reports, and its layers."""
    client = server.client()
    used = client.info("memory")["used_memory"]
    client.execute_command("BF.RESERVE", name, rate, capacity, *options)
    for first in range(0, items, 5000):
        client.execute_command("BF.MADD", name, *range(first, min(items, first + 5000)))
    used = client.info("memory")["used_memory"] - used
    wrong, absent = 0, 1_000_000
    for first in range(10**9, 10**9 + absent, 5000):
        wrong += sum(client.execute_command("BF.MEXISTS", name, *range(first, first + 5000)))
    layers = client.execute_command("BF.INFO", name, "FILTERS")[0]
    return wrong / absent, used, client.memory_usage(name), layers


def compare_memory(theirs, ours):
    """One layer, and twelve expansions, at rates that RedisBloom measures as ours do."""
    for title, capacity, items in [("one layer", 1_000_000, 1_000_000), ("twelve expansions", 245, 2_000_000)]:
        own = filled(ours, title, 0.01, capacity, items)
        # The rate to ask RedisBloom for, so that it measures the same: its first layer has half of it.
        asked = own[0] * 2 if title == "one layer" else own[0] * 0.96
        print(title)
        for name, filter in [
            ("ours, asked for 1 %", own),
            (f"RedisBloom, asked for {asked:.3%}", filled(theirs, title, asked, capacity, items)),
            ("RedisBloom, asked for 1 %", filled(theirs, title + " at 1 %", 0.01, capacity, items)),
        ]:
            rate, used, reported, layers = filter
            print(f"  {name:32} rate {rate:.4%}, {used:,} B of the server, {reported:,} B reported, {layers} layers, "
                  f"ours takes {own[1] / used:.3f} of it", flush=True)


with Server(module=arguments.redisbloom, program=arguments.server) as theirs, \
        Server(module=arguments.ours, program=arguments.server) as ours:
    if arguments.only != "memory":
        compare_rates(theirs, ours)
    if arguments.only != "rates":
        compare_memory(theirs, ours)
