"""Memory: what is reported, what is refused, and what a large filter costs the server."""

import random
import time

from redis.exceptions import NoPermissionError, ResponseError

from families import fails, field
from servers import Server, resident_bytes, wait_until


def used(client):
    """The memory of the server, by a connection without the buffers of long commands, which are freed some time later."""
    client.connection_pool.disconnect()
    client.ping()
    return client.info("memory")["used_memory"]


def test_reported_memory_is_true(server):
    client = server.client()
    client.flushall()
    # The buffers of the server grow with the first long command, and some tables of the module are made once.
    client.bf().create("first", 0.01, 1000)
    client.cf().insert("first of cuckoo", range(1000))
    used(client)
    for capacity in (1000, 100_000, 3_000_000):
        before = used(client)
        client.bf().create("bf", 0.01, capacity)
        grown, reported = used(client) - before, client.memory_usage("bf")
        assert abs(grown - reported) < 2000 + grown * 0.01, (capacity, grown, reported)
        client.delete("bf")
    client.cf().create("cf", 1000)
    client.cf().insert("cf", range(1000))
    before, reported = used(client), client.memory_usage("cf")
    for first in range(1000, 200_000, 1000):
        client.cf().insert("cf", range(first, first + 1000))
    grown = used(client) - before
    assert abs(grown - (client.memory_usage("cf") - reported)) < 20_000 + grown * 0.01, grown
    before = used(client)
    client.delete("cf")
    wait_until(lambda: used(client) < before - grown / 2)


def test_refused_memory(server):
    with Server("--maxmemory", "100mb") as own:
        client = own.client()
        run = client.execute_command
        fails("Insufficient memory to create filter", run, "BF.RESERVE", "big", 0.01, 200_000_000)
        fails("Insufficient memory to create filter", run, "CF.RESERVE", "big", 200_000_000)
        fails("CMS: Insufficient memory to create the key", run, "CMS.INITBYDIM", "big", 50_000_000, 5)
        assert used(client) < 20_000_000
        # A filter that grows stops before the limit, and keeps all that it has.
        client.config_set("maxmemory", "20mb")
        client.bf().create("grows", 0.01, 20_000, expansion=30)
        answers, number = [], 0
        while not any(isinstance(answer, ResponseError) for answer in answers):
            answers = run("BF.MADD", "grows", *range(number, number + 10_000))
            number += 10_000
            assert number < 2_000_000
        first = next(place for place, answer in enumerate(answers) if isinstance(answer, ResponseError))
        assert str(answers[first]) == "Insufficient memory to grow filter"
        assert all(client.bf().mexists("grows", *range(number - 10_000, number - 10_000 + first)))
        assert used(client) < 20_000_000
    with Server("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as own:
        client = own.client()
        fails("Insufficient memory to create filter", client.execute_command, "BF.RESERVE", "big", 0.01, 200_000_000)
        client.bf().create("fits", 0.01, 1_000_000)


def test_largest_value(server):
    client, run = server.client(), server.client().execute_command
    client.flushall()
    client.config_set("bf.max-value-size", "1mb")
    fails("Insufficient memory to create filter", run, "BF.RESERVE", "big", 0.01, 1_000_000)
    client.bf().create("fits", 0.01, 300_000)
    client.config_set("bf.max-value-size", "16gb")
    client.bf().create("big", 0.01, 1_000_000)


def test_settings(server):
    client = server.client()
    client.flushall()
    client.config_set("bf.error-rate", "0.001")
    client.config_set("bf.initial-size", 777)
    client.config_set("bf.expansion-factor", 4)
    client.bf().add("made", "x")
    assert field(client.bf().info("made"), "capacity", "Capacity") == 777
    assert field(client.bf().info("made"), "expansionRate", "Expansion rate") == 4
    assert list(client.config_get("bf.error-rate").values()) == ["0.001"]
    for wrong in ("0", "1", "x", "nan"):
        try:
            client.config_set("bf.error-rate", wrong)
            raise AssertionError(f"{wrong} was taken as a rate")
        except ResponseError as error:
            assert "above 0 and below 1" in str(error), error
    client.config_set("bf.error-rate", "0.01")
    client.config_set("bf.initial-size", 100)
    client.config_set("bf.expansion-factor", 2)
    with Server(arguments=["ERROR_RATE", "0.002", "INITIAL_SIZE", "55"]) as own:
        own.client().bf().add("made", "x")
        assert field(own.client().bf().info("made"), "capacity", "Capacity") == 55


def test_acl_categories(server):
    """Servers from Redis 7.4 and Valkey 8 on take categories of modules."""
    client = server.client(decode_responses=True)
    if "bloom" not in client.acl_cat():
        info = client.info("server")
        assert "valkey_version" not in info and info["redis_version"] < "7.4", info["redis_version"]
        return
    commands = {"bloom": ["BF.ADD", "k1", "x"], "cuckoo": ["CF.ADD", "k2", "x"], "cms": ["CMS.INFO", "k3"],
                "topk": ["TOPK.LIST", "k4"], "ull": ["ULL.ADD", "k5", "x"], "pds": ["PDS.INFO", "k6"]}
    for allowed in commands:
        client.acl_setuser("one", enabled=True, reset=True, nopass=True, keys="*", categories=["-@all", f"+@{allowed}"])
        user = server.client(username="one", password="any")
        for category, command in commands.items():
            try:
                user.execute_command(*command)
                is_permitted = True
            except ResponseError as error:
                is_permitted = not isinstance(error, NoPermissionError)
            assert is_permitted == (category == allowed), (allowed, category)
    client.acl_deluser("one")


def test_measured_rates(server):
    """No filter answers absent keys more often than asked, one layer or many."""
    client = server.client()
    client.flushall()
    items, absent = 60_000, 200_000
    for name, capacity, options in [("one", items, {}), ("many", 20, {}), ("fixed", items, {"noScale": True})]:
        client.bf().create(name, 0.01, capacity, **options)
        for first in range(0, items, 1000):
            client.bf().madd(name, *range(first, first + 1000))
        wrong = 0
        for first in range(10**9, 10**9 + absent, 1000):
            wrong += sum(client.bf().mexists(name, *range(first, first + 1000)))
        # Five standard deviations of a binomial count.
        assert wrong <= absent * 0.01 + 5 * (absent * 0.01) ** 0.5, (name, wrong)
        if name != "fixed":
            assert wrong <= absent * 0.01, (name, wrong)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as ids:
        return [int(number) for number in ids.read().split()]


def during_save(own, client, work):
    """Runs `work` again and again while a child saves. Returns how often, and the most private memory of the child."""
    client.bgsave()
    turns, most = 0, 0
    while client.info("persistence")["rdb_bgsave_in_progress"]:
        for child in children(own.process.pid):
            try:
                most = max(most, resident_bytes(child, "Private_Dirty"))
            except (FileNotFoundError, ProcessLookupError):
                pass
        turns += work()
    info = client.info("persistence")
    assert info["rdb_last_bgsave_status"] == "ok"
    return turns, most, info["rdb_last_cow_size"]


def large_filter(mebibytes):
    """A large filter: how long the server stalls, what a save and a load take beside the filter itself."""
    with Server("--rdbcompression", "no") as own:
        client, choice = own.client(), random.Random(3)
        begin = time.monotonic()
        client.bf().create("large", 0.01, mebibytes * 590_000)
        reserve = time.monotonic() - begin
        size = client.memory_usage("large")
        assert size >= mebibytes << 20
        # Most pages are written, so that they are there to be copied.
        for _ in range(50 + 2 * mebibytes):
            client.bf().madd("large", *[choice.randrange(10**12) for _ in range(500)])

        _, child, _ = during_save(own, client, lambda: time.sleep(0.01) or 0)
        assert child < 64 << 20, f"the child took {child} bytes of its own"

        stalls = []

        def add():
            for _ in range(50):
                begin = time.monotonic()
                client.bf().add("large", choice.randrange(10**12))
                stalls.append(time.monotonic() - begin)
            return 50

        adds, _, copied = during_save(own, client, add)
        # A page per add, and those of the server's own that were copied without adds.
        assert copied < adds * 4096 + (16 << 20), (copied, adds)

        before = client.execute_command("BF.DEBUG", "large")
        client.save()
        own.kill()
        own.start()
        client = own.client()
        assert client.execute_command("BF.DEBUG", "large") == before
        peak = client.info("memory")["used_memory_peak"]
        assert peak < size * 1.02 + (8 << 20), f"loading took {peak} bytes for a value of {size}"
        begin = time.monotonic()
        client.unlink("large")
        unlink = time.monotonic() - begin
        wait_until(lambda: client.info("memory")["used_memory"] < size / 2)
        # It is freed in the background.
        wait_until(lambda: client.info("memory")["lazyfreed_objects"] == 1, 10)
        assert unlink < 0.05 and reserve < 0.2, (unlink, reserve)
        return (f"{size:,} bytes: reserve {reserve:.4f} s, child {child:,} bytes of its own, {copied:,} bytes copied for "
                f"{adds:,} adds, longest add {max(stalls):.4f} s, peak of the load {peak / size:.3f} times, unlink {unlink:.4f} s")


def test_large_filter(server):
    print("     ", large_filter(64))
