"""Runs the tests of the module against a server of a package. `check` beside this folder calls it.

With --full it sends 100,000 damaged dumps and 1,000,000 random commands, follows a primary for 1,000,000 commands, and uses a
filter of 1 GiB.
"""

import argparse
import sys
import time
import traceback

import beyond
import client
import cluster
import conditions
import families
import hostile
import limits
import persistence
import redisbloom
import refusals
from servers import PROGRAM, Server

MODULES = (families, beyond, redisbloom, persistence, limits, refusals, conditions, hostile, cluster, client)


def full(server):
    hostile.damage(server, 100_000, compressed=False, seed=12)
    hostile.damage(server, 20_000, compressed=True, seed=14)
    hostile.test_damaged_dumps_of_redisbloom(server, 10_000)
    hostile.fuzz(server, 1_000_000, seed=13)
    persistence.test_replica(server, 1_000_000)
    print("     ", limits.large_filter(1024))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("names", nargs="*", help="tests to run, by parts of their names")
    arguments = parser.parse_args()
    tests = [
        (f"{module.__name__}.{name}", test)
        for module in MODULES
        for name, test in vars(module).items()
        if name.startswith("test_") and test.__module__ == module.__name__
    ]
    if arguments.full:
        tests.append(("full", full))
    if arguments.names:
        tests = [(name, test) for name, test in tests if any(part in name for part in arguments.names)]
    failed = []
    with Server() as server:
        version = server.client().info("server")
        print(f"{PROGRAM}: {version.get('redis_version')} {version.get('valkey_version', '')}")
        for name, test in tests:
            begin = time.monotonic()
            try:
                test(server) if test.__code__.co_argcount else test()
                print(f"ok    {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except Exception:  # noqa: BLE001: each failure is shown, and the others run.
                traceback.print_exc()
                print(f"FAILED {name}", flush=True)
                failed.append(name)
                if not server.is_alive():
                    print(server.log()[-5000:])
                    break
    print(f"{len(tests) - len(failed)} of {len(tests)} passed")
    sys.exit(1 if failed or not tests else 0)


main()
