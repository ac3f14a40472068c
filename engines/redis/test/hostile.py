"""Damaged dumps and nonsense arguments: error replies, no change, and a server that stays up."""

import base64
import random

from redis.exceptions import ResponseError

from beyond import dumps_of_redisbloom
from dumps import checksum, damaged, sealed
from persistence import fill, image


def damage(server, count, compressed, seed=11):
    """Sends damaged dumps. None may be accepted, but for compressed ones that decompress to the same bytes."""
    client = server.client()
    client.flushall()
    client.config_set("rdbcompression", "yes" if compressed else "no")
    fill(client, 800)
    payloads = {key: client.dump(key) for key in client.keys("*")}
    assert all(checksum(payload[:-8]) == int.from_bytes(payload[-8:], "little") for payload in payloads.values())
    before = image(client)
    choice, keys, sent = random.Random(seed), sorted(payloads), 0
    while sent < count:
        pipe, batch = client.pipeline(transaction=False), []
        while len(batch) < 500:
            key = choice.choice(keys)
            payload = damaged(payloads[key], choice)
            if payload is not None:
                pipe.restore("hostile", 0, payload, replace=True)
                batch.append((key, payload))
        for (key, payload), answer in zip(batch, pipe.execute(raise_on_error=False)):
            if isinstance(answer, ResponseError):
                assert "Bad data format" in str(answer), answer
                continue
            client.restore("hostile", 0, payload, replace=True)
            same = compressed and client.dump("hostile") == payloads[key]
            assert same, f"a damaged dump of {key} was accepted: {payload.hex()}"
            client.delete("hostile")
        sent += len(batch)
    client.delete("hostile")
    assert server.is_alive() and image(client) == before
    client.config_set("rdbcompression", "yes")


def test_damaged_dumps(server):
    damage(server, 5_000, compressed=False)


def test_damaged_compressed_dumps(server):
    damage(server, 2_000, compressed=True)


def test_damaged_dumps_of_redisbloom(server, count=1_000):
    """Its layouts have no checksum, so some damage is taken. Whatever is taken can be used and dumped."""
    client = server.client()
    client.flushall()
    client.config_set("bf.max-value-size", "64mb")
    payloads = [sealed(base64.b64decode(case["plain"])[:-10] + b"\x09\x00") for case in dumps_of_redisbloom()]
    choice, accepted = random.Random(21), 0
    for _ in range(count):
        payload = damaged(choice.choice(payloads), choice)
        if payload is None:
            continue
        try:
            client.restore("hostile", 0, payload, replace=True)
        except ResponseError as error:
            assert "Bad data format" in str(error), error
            continue
        accepted += 1
        pipe = client.pipeline(transaction=False)
        for command in (["BF.ADD", 1], ["BF.MADD", *range(50)], ["BF.EXISTS", 2], ["BF.INFO"], ["BF.DEBUG"], ["BF.SCANDUMP", 0],
                        ["CF.ADD", 1], ["CF.INSERT", "ITEMS", *range(50)], ["CF.DEL", 1], ["CF.COUNT", 2], ["CF.INFO"],
                        ["CF.COMPACT"], ["CMS.INCRBY", 1, 5], ["CMS.QUERY", 2], ["CMS.INFO"], ["TOPK.QUERY", 1],
                        ["TOPK.LIST"], ["TOPK.ADD", *range(50)], ["TOPK.COUNT", 1], ["PDS.INFO"]):
            pipe.execute_command(command[0], "hostile", *command[1:])
        for answer in pipe.execute(raise_on_error=False):
            assert not (isinstance(answer, ResponseError) and "internal error" in str(answer)), (answer, payload.hex())
        again = client.dump("hostile")
        client.restore("hostile", 0, again, replace=True)
    assert server.is_alive() and accepted > 0
    client.config_set("bf.max-value-size", "16gb")


COMMANDS = """bf.reserve bf.add bf.madd bf.insert bf.exists bf.mexists bf.card bf.info bf.debug bf.scandump bf.loadchunk
cf.reserve cf.add cf.addnx cf.insert cf.insertnx cf.exists cf.mexists cf.count cf.del cf.compact cf.info cf.debug
cf.scandump cf.loadchunk cms.initbydim cms.initbyprob cms.incrby cms.query cms.merge cms.info cms.scandump cms.loadchunk
topk.reserve topk.add topk.incrby topk.query topk.count topk.list topk.info topk.scandump topk.loadchunk
bf.merge bf.load pds.info ull.reserve ull.add ull.count ull.merge ull.info ull.scandump ull.loadchunk""".split()

WORDS = """CAPACITY ERROR EXPANSION NOCREATE NONSCALING ITEMS WEIGHTS BUCKETSIZE MAXITERATIONS WITHCOUNT WINDOW SIZE
0 1 2 3 5 -1 100 0.01 0.5 1.5 nan inf 1e400 65536 4294967295 4294967296 9223372036854775807 9223372036854775808
-9223372036854775808 18446744073709551616 x""".split() + ["", " 1", "1 ", "\0", "a" * 300]


def fuzz(server, count, seed=5):
    """Random commands, most of them wrong in some way, on keys of all types. Returns how many were accepted."""
    client = server.client()
    client.flushall()
    client.config_set("bf.max-value-size", "8mb")
    choice, accepted, sent = random.Random(seed), 0, 0
    keys = [f"key{number}" for number in range(12)]
    chunks = [b"", b"nonsense"]
    while sent < count:
        client.set("key0", "text")
        pipe = client.pipeline(transaction=False)
        for _ in range(1000):
            command = choice.choice(COMMANDS)
            arguments = [choice.choice(keys)] if choice.random() < 0.97 else []
            for _ in range(choice.choice([0, 1, 1, 1, 2, 2, 3, 4, 6])):
                kind = choice.random()
                if kind < 0.6:
                    arguments.append(choice.choice(WORDS))
                elif kind < 0.8:
                    arguments.append(choice.choice(keys))
                elif kind < 0.9:
                    arguments.append(choice.choice(chunks))
                else:
                    arguments.append(choice.randrange(1000))
            pipe.execute_command(command, *arguments)
        for answer in pipe.execute(raise_on_error=False):
            is_error = isinstance(answer, ResponseError)
            assert not (is_error and "internal error" in str(answer)), answer
            accepted += not is_error
            if isinstance(answer, list) and len(answer) == 2 and isinstance(answer[1], bytes) and len(chunks) < 40:
                chunks.append(answer[1][:5000])
        sent += 1000
        # Values that have grown would soon be all that is measured.
        client.delete(choice.choice(keys))
    assert server.is_alive() and accepted > count // 20, accepted
    client.flushall()
    client.config_set("bf.max-value-size", "16gb")
    return accepted


def test_nonsense_arguments(server, count=30_000):
    client = server.client()
    fuzz(server, count, seed=6)
    client.flushall()
    before = client.info("memory")["used_memory_dataset"]
    fuzz(server, count, seed=5)
    # A leak of one block per hundred commands would be as much.
    leaked = client.info("memory")["used_memory_dataset"] - before
    assert leaked < 200_000, leaked
