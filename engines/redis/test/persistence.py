"""Snapshots, append-only files, replicas, copies: the same answers, and the same bytes."""

import random
import time

from redis.exceptions import ResponseError

from servers import Server, wait_until


def fill(client, items=20_000):
    """One key of each family, and of each layout."""
    batch = [str(number) for number in range(items)]
    client.bf().create("bf:grown", 0.01, 1000)
    client.bf().create("bf:fixed", 0.001, items, noScale=True)
    client.cf().create("cf", 500)
    client.cms().initbydim("cms", 300, 5)
    # A decay at which random numbers decide about most counts.
    client.topk().reserve("topk", 20, 50, 5, 0.999)
    for first in range(0, items, 500):
        part = batch[first:first + 500]
        client.bf().madd("bf:grown", *part)
        client.bf().madd("bf:fixed", *part)
        client.cf().insert("cf", part)
        client.cms().incrby("cms", part, [len(word) for word in part])
        client.topk().incrby("topk", part, [len(word) + int(word) % 7 for word in part])
        client.execute_command("ULL.ADD", "ull", *part)
    client.cf().delete("cf", "7")
    client.bf().add("bf:default", "x")
    for key in client.keys("*"):
        assert client.type(key) != b"none"


def image(client):
    return {key: client.dump(key) for key in sorted(client.keys("*"))}


def test_snapshot_and_restart(server):
    with Server() as own:
        client = own.client()
        fill(client)
        before = image(client)
        digest = client.execute_command("DEBUG", "DIGEST")
        client.save()
        own.kill()
        own.start()
        client = own.client()
        assert image(client) == before
        assert client.execute_command("DEBUG", "DIGEST") == digest
        assert all(client.bf().mexists("bf:grown", *range(20_000)))


def append_only(preamble):
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble) as own:
        client = own.client()
        fill(client, 5000)
        client.bgrewriteaof()
        wait_until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
                   and client.info("persistence")["aof_rewrite_scheduled"] == 0)
        assert client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
        client.bf().madd("bf:grown", *[f"later{number}" for number in range(3000)])
        client.cf().delete("cf", "11")
        before = image(client)
        own.kill()
        own.start()
        assert image(own.client()) == before


def test_append_only_file_of_commands(server):
    append_only("no")


def test_append_only_file_with_snapshot(server):
    append_only("yes")


def test_debug_reload(server):
    client = server.client()
    client.flushall()
    fill(client, 3000)
    before = image(client)
    client.execute_command("DEBUG", "RELOAD")
    assert image(client) == before


def test_copies_and_dumps(server):
    client = server.client()
    client.flushall()
    fill(client, 3000)
    for key in client.keys("*"):
        assert client.copy(key, b"copy of " + key)
        payload = client.dump(key)
        assert client.dump(b"copy of " + key) == payload
        client.restore(b"restored " + key, 0, payload)
        assert client.dump(b"restored " + key) == payload
        assert client.memory_usage(key) > 64
        assert client.object("encoding", key) is not None
        client.rename(key, b"renamed " + key)
        assert client.pexpire(b"renamed " + key, 10_000_000)
        assert client.unlink(b"renamed " + key) == 1


def test_defragmentation():
    """Values that the server moves in memory answer as before. Only servers with jemalloc can move them."""
    with Server() as own:
        client = own.client()
        try:
            client.config_set("activedefrag", "yes")
        except ResponseError:
            return
        for name, value in [("ignore-bytes", 1), ("threshold-lower", 1), ("cycle-min", 50), ("cycle-max", 90)]:
            client.config_set(f"active-defrag-{name}", value)
        fill(client, 500)
        pipe = client.pipeline(transaction=False)
        for number in range(6000):
            pipe.execute_command("BF.RESERVE", f"small:{number}", 0.01, 50)
            pipe.execute_command("BF.ADD", f"small:{number}", number)
        pipe.execute()
        client.delete(*[f"small:{number}" for number in range(6000) if number % 4])
        before = image(client)
        wait_until(lambda: client.info("stats")["active_defrag_hits"] > 100, 30)
        assert image(client) == before
        assert all(client.execute_command("BF.EXISTS", f"small:{number}", number) for number in range(0, 6000, 4))


def test_replica(server, commands=20_000):
    """A replica that joins in the middle has the same bytes after many commands, some of which fail or change nothing."""
    with Server("--repl-diskless-sync-delay", 0) as primary, Server() as replica:
        client = primary.client()
        fill(client, 2000)
        replica.client().replicaof("127.0.0.1", primary.port)
        # All that follows is sent command by command.
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up")
        assert image(replica.client()) == image(client)
        choice = random.Random(7)
        pipe = client.pipeline(transaction=False)
        for number in range(commands):
            item = choice.randrange(commands)
            pipe.execute_command(*choice.choice([
                ("BF.ADD", f"bf:{item % 5}", item),
                ("BF.MADD", "bf:grown", item, item + 1, item + 2),
                ("BF.INSERT", f"made:{item % 7}", "CAPACITY", 50, "ITEMS", item, item + 1),
                ("CF.ADD", "cf", item), ("CF.DEL", "cf", item), ("CF.INSERTNX", "cf", "ITEMS", item),
                ("CMS.INCRBY", "cms", item, 3), ("TOPK.ADD", "topk", item % 50), ("TOPK.INCRBY", "topk", item, 5),
                ("ULL.ADD", f"ull:{item % 3}", item),
                ("EVAL", "return redis.call('BF.ADD', KEYS[1], ARGV[1])", 1, "script", item),
            ]))
            if number % 1000 == 999:
                pipe.execute(raise_on_error=False)
        pipe.execute(raise_on_error=False)
        client.config_set("bf.initial-size", 5000)
        client.bf().add("bf:of other settings", "x")
        wait_until(lambda: client.info("replication")["master_repl_offset"]
                   == replica.client().info("replication")["slave_repl_offset"])
        assert image(replica.client()) == image(client)


def test_notifications(server):
    client = server.client(protocol=3)
    client.flushall()
    client.config_set("notify-keyspace-events", "KEd")
    listener = server.client().pubsub()
    listener.psubscribe("__keyevent@0__:*")
    listener.get_message(timeout=5)
    client.bf().add("events", "a")
    client.bf().add("events", "a")
    client.cf().add("events cf", "a")
    seen = []
    deadline = time.monotonic() + 10
    while len(seen) < 2 and time.monotonic() < deadline:
        message = listener.get_message(timeout=0.5)
        if message:
            seen.append((message["channel"], message["data"]))
    assert seen == [(b"__keyevent@0__:bf.add", b"events"), (b"__keyevent@0__:cf.add", b"events cf")], seen
    client.config_set("notify-keyspace-events", "")
