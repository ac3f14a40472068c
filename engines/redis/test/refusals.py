"""What is refused ends nothing and changes nothing: memory beyond the limits, crafted dumps, capacities, times."""

import base64
import struct
import time

from redis.exceptions import ResponseError

from beyond import dumps_of_redisbloom, load_filter_of_redisbloom
from dumps import sealed
from families import fails, field
from hostile import COMMANDS
from limits import used
from persistence import image
from servers import Server, wait_until

MEBIBYTE = 1 << 20


def refused(word, run, *command):
    """Asserts that a command ends with an error that has this word."""
    try:
        answer = run(*command)
    except ResponseError as error:
        assert word in str(error), f"{command[:2]}: {error!s} instead of {word}"
    else:
        raise AssertionError(f"{command[:2]}: {answer!r} instead of an error")


def list_of_redisbloom(run, *shape):
    """The payload of DUMP of a list in RedisBloom's layout: a list of this module has one behind the head of its stream."""
    run("TOPK.RESERVE", "ours", *shape)
    stream = run("TOPK.SCANDUMP", "ours", 1)[1]
    return sealed(stream[stream.index(b"\x07\x81"):-10] + b"\x09\x00")


def valkey_filter(length):
    inner = b"\x01" + struct.pack("<QI", length, 2) + bytes(range(32)) + bytes(length)
    layer = struct.pack("<Q", len(inner)) + inner + struct.pack("<qq", 0, 5)
    return b"\x01" + struct.pack("<IddBQ", 2, 0.01, 0.5, 0, 1) + layer


def test_refused_memory_ends_nothing():
    """Arguments, copies and lists of answers that are larger than the largest value."""
    with Server() as own:
        client, run = own.client(), own.client().execute_command
        load_filter_of_redisbloom(run, "theirs", bytes(4 * MEBIBYTE))
        client.restore("list", 0, list_of_redisbloom(run, 10, 20_000, 7, 0.9))
        client.cms().initbydim("cms", 10, 2)
        client.topk().reserve("topk", 10, 8, 7, 0.9)
        client.config_set("bf.max-value-size", MEBIBYTE)
        before = image(client)
        refused("Insufficient memory", run, "BF.MERGE", "merged", "theirs")
        refused("Insufficient memory", run, "BF.LOAD", "loaded", valkey_filter(2 * MEBIBYTE))
        refused("Insufficient memory", run, "TOPK.ADD", "topk", bytes(MEBIBYTE + 9))
        refused("Insufficient memory", run, "TOPK.ADD", "list", "item")
        for family in ("BF", "CF", "CMS", "TOPK", "ULL"):
            refused("", run, f"{family}.LOADCHUNK", "chunks", 1, b"x" * 2 * MEBIBYTE)
        assert image(client) == before
        # Answers and sources of a command are no part of a value.
        assert run("CMS.MERGE", "cms", 70_000, *["cms"] * 70_000) in (True, b"OK")
        answers = run("BF.MADD", "grows", *range(150_000))
        assert any(answer == 1 for answer in answers)
        assert all(answer in (0, 1) or "Insufficient memory" in str(answer) for answer in answers)
        assert own.is_alive()


def packed(*arguments):
    """Arguments as the server reads them."""
    texts = [part if isinstance(part, bytes) else str(part).encode() for part in arguments]
    return b"".join(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts)


def test_commands_with_little_memory():
    """All commands with arguments whose hashes are larger than the largest value, and with a long one. They are answered
    or refused, and end nothing."""
    items, long = range(140_000), bytes(MEBIBYTE + 9)
    # Packed once: the client takes longer for it than the server for the command.
    forms = [(len(form), packed(*form)) for form in ([100, *items], [1, long], [long, 1])]
    inserts = [(1 + len(items), packed("ITEMS", *items))]
    with Server() as own:
        client = own.client()
        client.config_set("bf.max-value-size", MEBIBYTE)
        connection = client.connection_pool.get_connection()
        for command in COMMANDS:
            for count, arguments in inserts if "insert" in command else forms:
                client.flushall()
                head = b"*3\r\n" + packed("CLIENT", "REPLY", "SKIP") + b"*%d\r\n" % (2 + count) + packed(command, "key")
                connection.send_packed_command([head + arguments + b"*1\r\n" + packed("PING")])
                assert connection.read_response() == b"PONG", command
        assert own.is_alive()


def test_copies_and_dumps_beyond_the_limits():
    with Server() as own:
        client = own.client()
        run = client.execute_command
        client.cms().initbydim("sketch", 1_000_000, 5)
        payload = client.dump("sketch")
        client.config_set("maxmemory", used(client) + 2 * MEBIBYTE)
        refused("", run, "COPY", "sketch", "copy")
        assert not client.exists("copy")
        client.config_set("maxmemory", 0)
        assert client.copy("sketch", "copy")
        client.config_set("bf.max-value-size", MEBIBYTE)
        refused("", run, "COPY", "sketch", "again")
        refused("Bad data format", run, "RESTORE", "again", 0, payload)
        first = run("CMS.SCANDUMP", "sketch", 0)[1]
        refused("Insufficient memory to load", run, "CMS.LOADCHUNK", "again", 1, first)
        assert not client.exists("again")
        # Items of a list count as memory of the value.
        client.topk().reserve("topk", 1000, 8, 7, 0.9)
        refusals = 0
        for number in range(40):
            try:
                run("TOPK.ADD", "topk", str(number).encode() * 30_000)
            except ResponseError:
                refusals += 1
        assert refusals and client.memory_usage("topk") <= MEBIBYTE
        for too_little in ("1kb", "1000kb"):
            refused("", client.config_set, "bf.max-value-size", too_little)
        # A good dump that has no room is not called a bad one, and its chunks stay.
        client.flushall()
        client.config_set("bf.max-value-size", "16gb")
        client.cms().initbydim("sketch", 500_000, 4)
        first, (end, chunk) = run("CMS.SCANDUMP", "sketch", 0)[1], run("CMS.SCANDUMP", "sketch", 1)
        client.delete("sketch")
        run("CMS.LOADCHUNK", "sketch", 1, first)
        run("CMS.LOADCHUNK", "sketch", end - 1, chunk[:-1])
        client.config_set("maxmemory", used(client) + 4 * MEBIBYTE)
        refused("Insufficient memory to load", run, "CMS.LOADCHUNK", "sketch", end, chunk[-1:])
        client.config_set("maxmemory", 0)
        assert run("CMS.LOADCHUNK", "sketch", end, chunk[-1:]) in (True, b"OK")
        assert run("CMS.INFO", "sketch")


def test_small_cuckoo_filters_on_replicas():
    with Server("--repl-diskless-sync-delay", 0) as primary, Server("--propagation-error-behavior", "panic") as replica:
        client, run = primary.client(), primary.client().execute_command
        replica.client().replicaof("127.0.0.1", primary.port)
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up")
        for capacity in (0, 1, 3, -1):
            text = "Capacity must be at least (BucketSize * 2)"
            fails(text, run, "CF.INSERT", "refused", "CAPACITY", capacity, "ITEMS", "x")
            fails(text, run, "CF.RESERVE", "refused", capacity)
        refused("", client.config_set, "bf.cf-initial-size", 3)
        client.config_set("bf.cf-initial-size", 4)
        client.cf().add("default", "x")
        run("CF.INSERT", "told", "CAPACITY", 4, "ITEMS", "x", "y")
        wait_until(lambda: client.info("replication")["master_repl_offset"]
                   == replica.client().info("replication")["slave_repl_offset"])
        assert replica.is_alive() and image(replica.client()) == image(client)


def parts_payload(client, family, total, first, data):
    """A payload of DUMP of chunks that wait for others. The checksums are read off the dumps of chunks that are loaded."""
    run = client.execute_command
    client.config_set("rdbcompression", "no")

    def dump(data):
        client.delete("oracle", "sketch")
        client.cms().initbydim("sketch", 1000, 5)
        run("CMS.LOADCHUNK", "oracle", 1, run("CMS.SCANDUMP", "sketch", 0)[1])
        if data:
            run("CMS.LOADCHUNK", "oracle", 1 + len(data), data)
        payload = client.dump("oracle")
        client.delete("oracle", "sketch")
        return payload[:payload.index(b"pds\x01") - 2], payload[payload.index(b"pds\x01"):-11]

    def checksum(data):
        # The sum of no bytes is that of the first chunk, which this module does not keep.
        return struct.unpack("<6Q", dump(data or b"x")[1][6:54])[5 if data else 4]

    prefix, stream = dump(b"hello")
    numbers = struct.pack("<6Q", family, total, len(first), len(data), checksum(first), checksum(data))
    stream = stream[:6] + numbers
    stream += struct.pack("<Q", checksum(stream)) + first + data
    client.config_set("rdbcompression", "yes")
    return sealed(prefix + b"\x80" + struct.pack(">I", len(stream)) + stream + b"\x00" + b"\x09\x00")


def test_crafted_chunks_are_refused():
    """Chunks that no command could load would end each rewrite of an append-only file."""
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as own:
        client, run = own.client(), own.client().execute_command
        client.restore("sound", 0, parts_payload(client, 3, 1000, b"", b"abc"))
        for family, total, first in ((99, 1000, b""), (0, 1000, b""), (1, 1000, b"garbage"), (3, 1000, b"garbage"),
                                     (1, 999, struct.pack("<QIII", 0, 1, 5, 2) + struct.pack("<Q", 1000) + bytes(45))):
            payload = parts_payload(client, family, total, first, b"abc")
            refused("Bad data format", run, "RESTORE", "crafted", 0, payload)
        client.bgrewriteaof()
        wait_until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
                   and client.info("persistence")["aof_rewrite_scheduled"] == 0)
        assert client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
        before = image(client)
        own.kill()
        own.start()
        assert image(own.client()) == before
        # The first chunk says the family.
        client, run = own.client(), own.client().execute_command
        client.cms().initbydim("sketch", 1000, 5)
        refused("received bad data", run, "BF.LOADCHUNK", "other", 1, run("CMS.SCANDUMP", "sketch", 0)[1])


def test_times_to_live_stay(server):
    client = server.client()
    client.flushall()
    run = client.execute_command
    client.cms().initbydim("cms", 10, 2)
    client.cms().initbydim("cms source", 10, 2)
    client.bf().create("bf", 0.01, 100)
    client.bf().create("bf source", 0.01, 100)
    run("ULL.ADD", "ull", 1)
    run("ULL.ADD", "ull source", 2)
    first, (end, chunk) = run("BF.SCANDUMP", "bf", 0)[1], run("BF.SCANDUMP", "bf", 1)
    run("BF.LOADCHUNK", "chunks", 1, first)
    dump = next(case for case in dumps_of_redisbloom() if case["kind"] == "top-k")
    client.restore("list", 0, sealed(base64.b64decode(dump["plain"])[:-10] + b"\x09\x00"))
    keys = ("cms", "bf", "ull", "chunks", "list")
    times = {}
    for place, key in enumerate(keys):
        client.pexpire(key, 1_000_000 + place)
        times[key] = client.execute_command("PEXPIRETIME", key)
    run("CMS.MERGE", "cms", 1, "cms source")
    run("BF.MERGE", "bf", "bf source")
    run("ULL.MERGE", "ull", "ull source")
    run("BF.LOADCHUNK", "chunks", end, chunk)
    run("TOPK.ADD", "list", "item")
    assert {key: client.execute_command("PEXPIRETIME", key) for key in keys} == times


def test_times_ahead_of_the_clock(server):
    client = server.client()
    client.flushall()
    run = client.execute_command
    run("BF.RESERVE", "window", 0.01, 100, "WINDOW", 100)
    later = int(time.time() * 1000) + 3_600_000
    for ahead in (later, 2**63 - 1):
        fails("the time is ahead of the clock of the server", run, "BF.INSERT", "window", "AT", ahead, "ITEMS", "x")
    assert client.bf().add("window", "a") == 1
    time.sleep(0.25)
    client.bf().add("window", "b")
    assert client.bf().exists("window", "a") == 0


def test_copies_are_counted(server):
    client = server.client()
    client.flushall()
    for _ in range(300):
        client.cf().add("cf", "x")
    client.cf().add("cf", "y")
    client.cf().delete("cf", "x")
    information = client.cf().info("cf")
    assert field(information, "insertedNum", "Number of items inserted") == 300
    assert field(information, "deletedNum", "Number of items deleted") == 1
    payload = client.dump("cf")
    client.restore("again", 0, payload)
    assert field(client.cf().info("again"), "insertedNum", "Number of items inserted") == 300


def test_commands_that_read_all_are_not_fast(server):
    run = server.client().execute_command
    for command in ("bf.card", "bf.info", "bf.debug", "cf.info", "topk.query", "topk.count", "topk.list", "pds.info"):
        information = run("COMMAND", "INFO", command)
        flags = str(information)
        assert "readonly" in flags and "fast" not in flags, flags


def test_list_of_redisbloom_stays_if_only_errors_are_answered(server):
    client = server.client()
    client.flushall()
    theirs = list_of_redisbloom(client.execute_command, 10, 20, 7, 0.9)
    client.restore("list", 0, theirs)
    before = client.dump("list")
    client.execute_command("TOPK.INCRBY", "list", "item", -1)
    assert client.dump("list") == before


def test_chunks_that_wait_are_described(server):
    client, run = server.client(), server.client().execute_command
    client.flushall()
    client.cms().initbydim("sketch", 1000, 5)
    run("CMS.LOADCHUNK", "waits", 1, run("CMS.SCANDUMP", "sketch", 0)[1])
    chunk = run("CMS.SCANDUMP", "sketch", 1)[1]
    run("CMS.LOADCHUNK", "waits", 1 + len(chunk) // 2, chunk[:len(chunk) // 2])
    answer = run("PDS.INFO", "waits")
    report = dict(zip(answer[::2], answer[1::2]))
    assert report[b"Layout"] == b"chunks, more are missing" and report[b"Items"] == len(chunk) // 2
    assert 0.49 < float(report[b"Now"]) < 0.51
