"""A cluster of three on the loopback interface, and slots that move during writes."""

import threading
import time

import redis
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import ClusterCrossSlotError

from servers import Server, wait_until

SLOTS = 16_384


def form(servers):
    """Makes one cluster of the servers, each with an equal share of the slots."""
    first = servers[0].client()
    for place, server in enumerate(servers):
        begin, end = SLOTS * place // len(servers), SLOTS * (place + 1) // len(servers) - 1
        server.client().execute_command("CLUSTER", "ADDSLOTSRANGE", begin, end)
        server.client().execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
    for server in servers[1:]:
        first.execute_command("CLUSTER", "MEET", "127.0.0.1", server.port)
    ready = lambda server: (server.client().cluster("info")["cluster_state"] == "ok"
                            and int(server.client().cluster("info")["cluster_known_nodes"]) == len(servers))
    wait_until(lambda: all(ready(server) for server in servers))


def node_id(server):
    return server.client(decode_responses=True).execute_command("CLUSTER", "MYID")


def move_slot(slot, source, target):
    """Moves a slot and its keys, by the steps of every resharding tool."""
    source_id, target_id = node_id(source), node_id(target)
    target.client().execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
    source.client().execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
    client, moved = source.client(), 0
    while keys := client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 20):
        client.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 30_000, "KEYS", *keys)
        moved += len(keys)
    for server in (target, source):
        server.client().execute_command("CLUSTER", "SETSLOT", slot, "NODE", target_id)
    return moved


def test_resharding_during_writes(server, slots=400):
    options = ("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")
    servers = [Server(*options) for _ in range(3)]
    try:
        form(servers)
        cluster = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", servers[0].port)], socket_timeout=300)
        keys = [f"filter:{number}" for number in range(300)]
        written, errors, stop = {key: [] for key in keys}, [], threading.Event()

        def write():
            number = 0
            while not stop.is_set():
                key = keys[number % len(keys)]
                try:
                    cluster.execute_command("BF.MADD", key, f"{number}", f"{number} b")
                    written[key].append(number)
                except redis.RedisError as error:
                    errors.append(repr(error))
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(0.5)
        source, target = servers[0], servers[2]
        by_slot = {}
        for key in keys:
            by_slot.setdefault(cluster.keyslot(key), []).append(key)
        busy = [slot for slot in by_slot if slot < SLOTS // 3]
        moved = sum(move_slot(slot, source, target) for slot in busy[:slots // 8])
        time.sleep(0.2)
        stop.set()
        writer.join()
        assert moved >= min(len(busy), slots // 8) > 0
        assert not errors, errors[:3]
        assert sum(map(len, written.values())) > 300
        for key, numbers in written.items():
            for number in numbers:
                assert cluster.execute_command("BF.MEXISTS", key, f"{number}", f"{number} b") == [1, 1]
        # Sources of a merge are keys: the cluster refuses them in other slots.
        try:
            servers[0].client().execute_command("CMS.MERGE", "{a}c", 1, "{b}d")
            raise AssertionError("a merge over slots was accepted")
        except redis.RedisError as error:
            assert isinstance(error, ClusterCrossSlotError), repr(error)
        cluster.close()
    finally:
        for server in servers:
            server.stop()
