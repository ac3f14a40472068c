"""Beside RedisBloom itself: a replica of it, and its own commands on what is dumped here.

Runs if PDS_REDISBLOOM names the module of RedisBloom, for the program that PDS_REDIS_SERVER names.
"""

import os
import random

from servers import Server, wait_until

REDISBLOOM = os.environ.get("PDS_REDISBLOOM")


def write(client, numbers):
    """The same commands on a server of either module."""
    run = client.execute_command
    for number in numbers:
        run("BF.ADD", "bf", number)
        run("CF.ADD", "cf", number)
        run("CMS.INCRBY", "cms", number % 100, number)
        run("TOPK.INCRBY", "topk", number % 20, number % 20)
        if number % 7 == 0:
            run("CF.DEL", "cf", number // 2)


def test_replica_of_redisbloom():
    if not REDISBLOOM:
        return
    with Server(module=REDISBLOOM) as theirs, Server() as ours:
        primary, replica = theirs.client(), ours.client()
        for command in (["BF.RESERVE", "bf", 0.01, 100], ["CF.RESERVE", "cf", 200],
                        ["CMS.INITBYDIM", "cms", 2000, 5], ["TOPK.RESERVE", "topk", 5, 100, 5, 0.9]):
            primary.execute_command(*command)
        write(primary, range(1000))
        replica.replicaof("127.0.0.1", theirs.port)
        wait_until(lambda: replica.info("replication")["master_link_status"] == "up")
        write(primary, range(1000, 2000))
        wait_until(lambda: primary.info("replication")["master_repl_offset"]
                   == replica.info("replication")["slave_repl_offset"])
        choice = random.Random(9)
        items = [choice.randrange(10**5) for _ in range(3000)] + list(range(2000))
        for command, key in [("BF.MEXISTS", "bf"), ("CF.MEXISTS", "cf"), ("CMS.QUERY", "cms"), ("TOPK.QUERY", "topk")]:
            assert primary.execute_command(command, key, *items) == replica.execute_command(command, key, *items)
        for key in ("bf", "cf", "cms"):
            assert primary.dump(key) == replica.dump(key), key
            primary.restore(f"restored {key}", 0, replica.dump(key))
        for family, key in (("BF", "bf"), ("CF", "cf")):
            iterator = 0
            while True:
                iterator, data = replica.execute_command(f"{family}.SCANDUMP", key, iterator)
                if iterator == 0:
                    break
                primary.execute_command(f"{family}.LOADCHUNK", f"back {key}", iterator, data)
            answers = [primary.execute_command(f"{family}.MEXISTS", name, *items) for name in (key, f"back {key}")]
            assert answers[0] == answers[1], family
