"""What RedisBloom has not: merges, windows, reports; and filters of RedisBloom and valkey-bloom."""

import base64
import json
import os
import re
import struct
import time

from dumps import sealed
from families import clients, fails, field
from persistence import image
from servers import Server, wait_until

VECTORS = os.path.join(os.path.dirname(__file__), "../../../crates/pds-formats/tests/data")


def test_merge(server):
    for _, client in clients(server):
        run, bf = client.execute_command, client.bf()
        for name in ("a", "b"):
            bf.create(name, 0.001, 1000, noScale=True)
            bf.create(f"grown {name}", 0.001, 100)
        bf.madd("a", *range(300))
        bf.madd("b", *range(200, 500))
        bf.madd("grown a", *range(300))
        bf.madd("grown b", *range(200, 500))
        for target, sources in [("union", ["a", "b"]), ("grown union", ["grown a", "grown b"])]:
            assert run("BF.MERGE", target, *sources) == b"OK"
            assert all(bf.mexists(target, *range(500))) and sum(bf.mexists(target, *range(10**6, 10**6 + 1000))) < 10
            before = client.dump(target)
            assert run("BF.MERGE", target, *sources) == b"OK"
            assert client.dump(target) == before, "merging again changes nothing"
        assert abs(bf.card("union") - 500) < 20
        bf.create("other shape", 0.01, 1000, noScale=True)
        before = client.dump("union")
        for sources in (["other shape"], ["grown a"], ["missing"], ["a", "missing"]):
            try:
                run("BF.MERGE", "union", *sources)
                raise AssertionError(f"{sources} was merged")
            except Exception as error:
                assert "ERR" in str(error) or "not found" in str(error) or "cannot be merged" in str(error) \
                    or "differ" in str(error) or "items" in str(error) or "shape" in str(error), error
            assert client.dump("union") == before


def test_window_of_the_last_items(server):
    for _, client in clients(server):
        run, bf = client.execute_command, client.bf()
        assert run("BF.RESERVE", "window", 0.001, 1000, "WINDOW") in (True, b"OK")
        for first in range(0, 20_000, 100):
            bf.madd("window", *range(first, first + 100))
        assert all(bf.mexists("window", *range(19_000, 20_000)))
        assert sum(bf.mexists("window", *range(10_000))) < 100
        fails("Nonscaling filters cannot expand", run, "BF.RESERVE", "n", 0.1, 10, "EXPANSION", 2, "WINDOW")
        fails("bad window: expected milliseconds, or nothing for the last items",
              run, "BF.RESERVE", "n", 0.1, 10, "WINDOW", "x")


def test_window_of_the_last_time():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                "--repl-diskless-sync-delay", 0) as own, Server() as replica:
        client = own.client()
        run, bf = client.execute_command, client.bf()
        replica.client().replicaof("127.0.0.1", own.port)
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up")
        assert run("BF.RESERVE", "minute", 0.001, 1000, "WINDOW", 60_000) in (True, b"OK")
        start = int(time.time() * 1000) - 100_000
        assert run("BF.INSERT", "minute", "AT", start, "ITEMS", "a", "b") == [1, 1]
        assert run("BF.INSERT", "minute", "AT", start + 50_000, "ITEMS", "a", "c") == [0, 1]
        # `b` is too old now, `a` was seen again.
        assert run("BF.INSERT", "minute", "AT", start + 70_000, "ITEMS", "d") == [1]
        assert bf.mexists("minute", "a", "b", "c", "d") == [1, 0, 1, 1]
        # A clock that runs backwards changes nothing.
        assert run("BF.INSERT", "minute", "AT", start, "ITEMS", "a") == [0]
        assert bf.mexists("minute", "a", "b", "c", "d") == [1, 0, 1, 1]
        assert run("BF.RESERVE", "now", 0.001, 1000, "WINDOW", 100) in (True, b"OK")
        assert bf.add("now", "x") == 1 and bf.add("now", "x") == 0
        time.sleep(0.15)
        assert bf.add("now", "x") == 1, "forgotten"
        wait_until(lambda: client.info("replication")["master_repl_offset"]
                   == replica.client().info("replication")["slave_repl_offset"])
        before = image(client)
        assert image(replica.client()) == before
        own.kill()
        own.start()
        assert image(own.client()) == before


def test_reports(server):
    for _, client in clients(server):
        client.bf().create("bf", 0.01, 1000, noScale=True)
        client.bf().madd("bf", *range(900))
        client.cf().add("cf", "x")
        client.cms().initbydim("cms", 2719, 5)
        client.execute_command("ULL.ADD", "ull", *range(100))
        for key, layout in [("bf", b"one blocked filter"), ("cf", b"counting quotient filter"),
                            ("cms", b"count-min sketch"), ("ull", b"UltraLogLog")]:
            answer = client.execute_command("PDS.INFO", key)
            report = answer if isinstance(answer, dict) else dict(zip(answer[::2], answer[1::2]))
            assert report[b"Layout"] == layout and report[b"Health"] == b"ok", report
            assert 0 < float(report[b"Promised"]) < 0.2
            assert float(report[b"Now"]) < 0.2 and report[b"Size"] > 0
        client.set("text", "value")
        fails("not found", client.execute_command, "PDS.INFO", "none")


def vectors(name):
    with open(os.path.join(VECTORS, name)) as file:
        return json.load(file)["cases"]


def dumps_of_redisbloom():
    return vectors("redis_dumps.json")


def keys_of(case):
    """The keys of a case, as its generator made them."""
    keys = case["keys"]
    return [keys["prefix"] + str(number) for number in range(keys["start"], keys["start"] + keys["count"])]


def load_filter_of_redisbloom(run, key, bits):
    """A filter of one layer without items, by the chunks of RedisBloom."""
    layer = struct.pack("<QQQddIQ", len(bits), 8 * len(bits), 0, 0.005, 11.0, 8, 90_000) + b"\0"
    run("BF.LOADCHUNK", key, 1, struct.pack("<QIII", 0, 1, 5, 2) + layer)
    run("BF.LOADCHUNK", key, len(bits) + 1, bits)


def test_smallest_filters_have_memory_of_their_own(server):
    """The allocator of some servers aligns blocks of odd numbers of words less than others. No filter writes behind its block."""
    client = server.client()
    client.flushall()
    words = {f"word {number}": struct.pack("<Q", number * 0x9E3779B97F4A7C15 % 2**64) for number in range(1, 500)}
    for key, word in words.items():
        load_filter_of_redisbloom(client.execute_command, key, word)
    assert {key: client.bf().scandump(key, 1)[1] for key in words} == words


def test_filters_of_redisbloom():
    """Chunks that RedisBloom 2.8 wrote: loaded, asked, extended, dumped again in its bytes, kept over a restart."""
    seen = 0
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as own:
        client = own.client()
        for case in vectors("redis_bloom.json"):
            if case["keys"]["kind"] != "text":
                continue
            seen += 1
            chunks = [(chunk["iter"], base64.b64decode(chunk["data"])) for chunk in case["scandump"] if chunk["data"]]
            for iterator, data in chunks:
                client.bf().loadchunk(case["name"], iterator, data)
            keys = keys_of(case) if "keys" in case else []
            assert not keys or all(client.bf().mexists(case["name"], *keys))
            assert client.bf().card(case["name"]) == case["card"]
            answer = client.execute_command("PDS.INFO", case["name"])
            assert dict(zip(answer[::2], answer[1::2]))[b"Layout"] == b"RedisBloom"
            iterator, again = 0, []
            while True:
                iterator, data = client.bf().scandump(case["name"], iterator)
                if iterator == 0:
                    break
                again.append((iterator, data))
            assert again == chunks, case["name"]
            assert client.bf().add(case["name"], f"another {seen}") in (0, 1) or case["nonscaling"]
        assert seen >= 3
        before = image(client)
        client.execute_command("DEBUG", "RELOAD")
        assert image(client) == before
        client.bgrewriteaof()
        wait_until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
                   and client.info("persistence")["aof_rewrite_scheduled"] == 0)
        own.kill()
        own.start()
        assert image(own.client()) == before


def test_information_on_filters_of_redisbloom(server):
    """BF.INFO, CF.INFO, and the texts of DEBUG are those that RedisBloom gave for the same filters, sizes included."""
    client = server.client(decode_responses=True)
    client.flushall()
    seen = 0
    for family, name in (("BF", "redis_bloom.json"), ("CF", "redis_cuckoo.json")):
        for case in vectors(name):
            key = f"{family} {case['name']}"
            chunks = case.get("scandump") or case.get("scandump_after_deletes") or case["scandump_after_adds"]
            # Of an empty cuckoo filter there are no chunks.
            if not chunks:
                continue
            seen += 1
            for chunk in chunks:
                if chunk["data"]:
                    client.execute_command(f"{family}.LOADCHUNK", key, chunk["iter"], base64.b64decode(chunk["data"]))
            information = client.execute_command(f"{family}.INFO", key)
            assert dict(zip(information[::2], information[1::2])) == case["info"], (key, information, case["info"])
            texts = client.execute_command(f"{family}.DEBUG", key), case["debug"]
            ours, theirs = (re.sub(r"ratio:([0-9.e-]+)", lambda found: f"ratio:{float(found[1])}", str(text)) for text in texts)
            assert ours == theirs, (key, ours, theirs)
    assert seen == 24, seen


def test_filter_of_valkey_bloom(server):
    for _, client in clients(server):
        # One layer of 64 bits, two hashes, with no item: version, expansion, rate, tightening, seed, layers, the layer.
        bits, seed = bytes(8), bytes(range(32))
        inner = b"\x01" + struct.pack("<QI", len(bits), 2) + seed + bits
        layer = struct.pack("<Q", len(inner)) + inner + struct.pack("<qq", 0, 5)
        value = b"\x01" + struct.pack("<IddBQ", 2, 0.01, 0.5, 0, 1) + layer
        assert client.execute_command("BF.LOAD", "valkey", value) == b"OK"
        bf = client.bf()
        assert not bf.exists("valkey", "x")
        for item in range(30):
            bf.add("valkey", item)
        assert all(bf.mexists("valkey", *range(30)))
        assert field(bf.info("valkey"), "filterNum", "Number of filters") > 1
        payload = client.dump("valkey")
        client.restore("again", 0, payload)
        assert client.dump("again") == payload
        for wrong in (b"", value[:-1], value + b"x", b"\x02" + value[1:]):
            try:
                client.execute_command("BF.LOAD", "wrong", wrong)
                raise AssertionError("damaged bytes were taken")
            except Exception as error:
                assert "valkey-bloom" in str(error), error


def test_snapshots_of_redisbloom(server):
    """Payloads of DUMP that RedisBloom 2.8 wrote, with and without compression, and the ones that are written again."""
    cases = dumps_of_redisbloom()
    client = server.client()
    client.flushall()
    seen = set()
    for number, case in enumerate(cases):
        for form in ("plain", "compressed"):
            payload = base64.b64decode(case[form])
            # The version of the servers of then is later than that of this one.
            payload = sealed(payload[:-10] + b"\x09\x00")
            key = f"{number} {form}"
            client.restore(key, 0, payload)
            again = client.dump(key)
            client.restore("again", 0, again, replace=True)
            assert client.dump("again") == again
            if form == "compressed" and case["kind"] != "top-k":
                assert again[:-10] == payload[:-10], (case["kind"], case["name"])
            client.copy(key, "copy", replace=True)
            assert client.dump("copy") == again
            items = keys_of(case) if "keys" in case else []
            if case["kind"] == "bloom" and items:
                assert all(client.bf().mexists(key, *items))
            if case["kind"] == "cuckoo" and items:
                assert all(client.cf().mexists(key, *items))
            seen.add(case["kind"])
            answer = client.execute_command("PDS.INFO", key)
            assert b"RedisBloom" in dict(zip(answer[::2], answer[1::2]))[b"Layout"]
    assert seen == {"bloom", "cuckoo", "count-min", "top-k"}, seen
    before = image(client)
    client.execute_command("DEBUG", "RELOAD")
    assert image(client) == before
    # They are extended: a list of frequent items becomes one of this module then, the others stay as they are.
    client.execute_command("TOPK.INCRBY", f"{len(cases) - 2} plain", "often", 1000)
    assert client.execute_command("TOPK.QUERY", f"{len(cases) - 2} plain", "often") == [1]
    for number, case in enumerate(cases):
        key = f"{number} plain"
        if case["kind"] == "count-min":
            assert client.execute_command("CMS.INCRBY", key, "more", 5)[0] >= 5
        if case["kind"] == "cuckoo":
            assert client.cf().add(key, "more") and client.cf().delete(key, "more")
    before = image(client)
    client.execute_command("DEBUG", "RELOAD")
    assert image(client) == before
