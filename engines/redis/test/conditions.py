"""The module among what servers do with keys: transactions, scripts, read-only replicas, expiry, eviction, other databases."""

import time

from redis.exceptions import ReadOnlyError, ResponseError

from families import fails
from hostile import COMMANDS
from persistence import image
from servers import Server, wait_until

# For each family: how a key is made, a command that changes it, and one that reads it.
FAMILIES = {
    "bf": (["BF.RESERVE", 0.01, 500], ["BF.ADD", "x"], ["BF.EXISTS", "x"]),
    "fixed": (["BF.RESERVE", 0.01, 500, "NONSCALING"], ["BF.ADD", "x"], ["BF.EXISTS", "x"]),
    "last": (["BF.RESERVE", 0.01, 500, "WINDOW"], ["BF.ADD", "x"], ["BF.EXISTS", "x"]),
    "time": (["BF.RESERVE", 0.01, 500, "WINDOW", 10**9], ["BF.ADD", "x"], ["BF.EXISTS", "x"]),
    "cf": (["CF.RESERVE", 500], ["CF.ADD", "x"], ["CF.COUNT", "x"]),
    "cms": (["CMS.INITBYDIM", 100, 5], ["CMS.INCRBY", "x", 1], ["CMS.QUERY", "x"]),
    "topk": (["TOPK.RESERVE", 5, 50, 5, 0.9], ["TOPK.ADD", "x"], ["TOPK.QUERY", "x"]),
    "ull": (["ULL.RESERVE", 12], ["ULL.ADD", "x"], ["ULL.COUNT"]),
}


def on(key, command):
    return [command[0], key, *command[1:]]


def fill(client):
    """A key of each family, which has the item x."""
    client.flushall()
    for key, (create, change, read) in FAMILIES.items():
        client.execute_command(*on(key, create))
        client.execute_command(*on(key, change))
        assert client.execute_command(*on(key, read)) in (1, [1], True), key


def caught_up(primary, replica):
    wait_until(lambda: primary.info("replication")["master_repl_offset"]
               == replica.info("replication")["slave_repl_offset"])


def test_transactions_and_scripts_on_replicas():
    """Commands of transactions and scripts, some of which fail or create keys, arrive at a replica in their order."""
    script = """
        for number = 1, 20 do
            redis.pcall(ARGV[1], KEYS[1], number)
            redis.pcall('BF.RESERVE', KEYS[1], 'x', 1)
            redis.pcall('BF.INSERT', KEYS[1] .. number % 3, 'CAPACITY', 9, 'ITEMS', number, number + 1)
        end
        return redis.call('BF.CARD', KEYS[1] .. 1)
    """
    with Server("--repl-diskless-sync-delay", 0) as one, Server("--propagation-error-behavior", "panic") as other:
        primary, replica = one.client(), other.client()
        fill(primary)
        replica.replicaof("127.0.0.1", one.port)
        wait_until(lambda: replica.info("replication")["master_link_status"] == "up")
        for turn in range(10):
            pipe = primary.pipeline(transaction=True)
            for key, (create, change, read) in FAMILIES.items():
                pipe.execute_command(*on(key, create))
                pipe.execute_command(*on(key, change[:1] + [f"{turn} {key}"] + change[2:]))
                pipe.execute_command(*on(f"{turn % 3} {key}", create))
                pipe.execute_command(*on(f"{turn % 3} {key}", change))
                pipe.execute_command(*on(key, read))
            pipe.execute_command("BF.ADD", f"made {turn}", "x")
            pipe.execute_command("CF.ADDNX", f"made cf {turn}", "x")
            answers = pipe.execute(raise_on_error=False)
            assert any(isinstance(answer, ResponseError) for answer in answers)
            for command in ("BF.ADD", "CF.ADD"):
                assert primary.eval(script, 1, f"{command} {turn}", command) > 0
        caught_up(primary, replica)
        assert image(replica) == image(primary)
        assert replica.dbsize() == primary.dbsize() > 60


def test_answers_in_scripts(server):
    """A script gets numbers, and truth values once it asks for RESP3."""
    client = server.client()
    client.flushall()
    call = "return redis.call('BF.ADD', KEYS[1], 'x')"
    assert client.eval(call, 1, "bf") == 1 and client.eval(call, 1, "bf") == 0
    typed = "redis.setresp(3); return type(redis.call('BF.EXISTS', KEYS[1], 'x'))"
    assert client.eval(typed, 1, "bf") == b"boolean"
    wrong = "return redis.pcall('BF.RESERVE', KEYS[1], 0.01, 10).err"
    assert client.eval(wrong, 1, "bf") == b"ERR item exists"
    wrong = "return redis.pcall('BF.RESERVE', KEYS[1], 0.01, 10, 'NONSCALING', 'EXPANSION', 2).err"
    assert client.eval(wrong, 1, "bf").startswith(b"Nonscaling filters cannot expand")


def test_read_only_replica():
    """A replica refuses each command that writes, and answers those that read."""
    with Server("--repl-diskless-sync-delay", 0) as one, Server() as other:
        primary, replica = one.client(), other.client()
        fill(primary)
        replica.replicaof("127.0.0.1", one.port)
        wait_until(lambda: replica.info("replication")["master_link_status"] == "up")
        before = image(replica)
        seen = 0
        for name in COMMANDS:
            flags = str(replica.execute_command("COMMAND", "INFO", name))
            if "write" not in flags:
                assert "readonly" in flags, name
                continue
            seen += 1
            try:
                answer = replica.execute_command(name, "bf", *["1"] * 7)
            except ReadOnlyError:
                continue
            except ResponseError as error:
                # The server looks at the number of arguments first.
                assert "wrong number of arguments" in str(error), (name, error)
                continue
            raise AssertionError(f"{name}: {answer!r} on a replica")
        assert seen > 25 and image(replica) == before
        for key, (_, change, read) in FAMILIES.items():
            try:
                raise AssertionError(replica.execute_command(*on(key, change)))
            except ReadOnlyError:
                pass
            assert replica.execute_command(*on(key, read)) in (1, [1], True), key


def test_expired_keys(server):
    """A key whose time is over is missing for reads, and made anew by writes, without the old time."""
    client = server.client()
    fill(client)
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for key in FAMILIES:
        client.pexpire(key, 1)
    time.sleep(0.01)
    for key, (create, change, read) in FAMILIES.items():
        family = create[0].split(".")[0]
        try:
            assert client.execute_command(*on(key, read)) in (0, [0], False), key
        except ResponseError as error:
            assert family in ("CMS", "TOPK") and "does not exist" in str(error), (key, error)
        assert client.execute_command("EXISTS", key) == 0
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)
    fill(client)
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for key in FAMILIES:
        client.pexpire(key, 1)
    time.sleep(0.01)
    for key, (create, change, _) in FAMILIES.items():
        assert client.execute_command(*on(key, create)) in (True, b"OK"), key
        assert client.ttl(key) == -1, key
        client.execute_command(*on(key, change))
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)


def test_eviction():
    """Under a policy that evicts keys, those of the module go like others. The server stays within its memory."""
    with Server("--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lfu") as own:
        client = own.client()
        for number in range(100):
            pipe = client.pipeline(transaction=False)
            for key, (create, change, _) in FAMILIES.items():
                pipe.execute_command(*on(f"{key} {number}", create))
                pipe.execute_command(*on(f"{key} {number}", change))
            pipe.execute_command("BF.RESERVE", f"large {number}", 0.01, 100_000)
            pipe.execute()
        info = client.info("memory")
        assert info["used_memory"] < 11_000_000, info["used_memory"]
        assert client.info("stats")["evicted_keys"] > 100
        key = next(key for key in client.keys("*"))
        assert client.object("freq", key) is not None and client.memory_usage(key) > 64
        assert own.is_alive()


def test_databases_and_names(server):
    """COPY into another database, MOVE, SWAPDB, RENAME, RESTORE over a key with a time: the same bytes and the right sizes."""
    client = server.client()
    fill(client)
    other = server.client(db=1)
    payloads = image(client)
    sizes = {key: client.memory_usage(key) for key in FAMILIES}
    for key in FAMILIES:
        payload = payloads[key.encode()]
        client.pexpire(key, 5_000_000)
        assert client.copy(key, "copied", destination_db=1)
        assert other.dump("copied") == payload and other.pttl("copied") > 4_000_000
        assert other.memory_usage("copied") in range(sizes[key] - 64, sizes[key] + 65), key
        assert other.copy("copied", "copied twice") and not other.copy("copied", "copied twice")
        # In the place of a value of another family, with and without a time.
        for there in payloads.values():
            client.restore("target", 1_000_000, there, replace=True)
            client.restore("target", 0, payload, replace=True)
            assert client.dump("target") == payload and client.ttl("target") == -1
        client.restore("target", 1_000_000, payload, replace=True)
        assert 0 < client.pttl("target") <= 1_000_000
        assert client.rename("target", key) and client.dump(key) == payload
        assert abs(client.memory_usage(key) - sizes[key]) <= 64, key
        assert client.execute_command("MOVE", key, 1) == 1 and client.execute_command("EXISTS", key) == 0
        assert other.dump(key) == payload
        other.flushdb()
    fill(client)
    before = image(client)
    client.execute_command("SWAPDB", 0, 1)
    assert client.dbsize() == 0 and image(other) == before
    client.execute_command("SWAPDB", 0, 1)
    client.execute_command("DEBUG", "RELOAD")
    assert image(client) == before
    for key in FAMILIES:
        assert abs(client.memory_usage(key) - sizes[key]) <= 64, (key, client.memory_usage(key), sizes[key])
    client.execute_command("FLUSHALL", "ASYNC")


def test_full_filter_that_does_not_grow(server):
    client, run = server.client(), server.client().execute_command
    client.flushall()
    run("BF.RESERVE", "fixed", 0.01, 10, "NONSCALING")
    for number in range(100):
        try:
            run("BF.ADD", "fixed", number)
        except ResponseError as error:
            assert str(error) == "non scaling filter is full"
            break
    before = client.dump("fixed")
    # What is in is found, and is no reason for an error.
    assert run("BF.ADD", "fixed", 0) == 0 and run("BF.MADD", "fixed", 0, 1) == [0, 0]
    fails("non scaling filter is full", run, "BF.ADD", "fixed", "new")
    answers = run("BF.INSERT", "fixed", "ITEMS", 0, "new", 1)
    assert answers[0] == 0 and str(answers[1]) == "non scaling filter is full" and len(answers) == 2
    assert client.dump("fixed") == before and run("BF.CARD", "fixed") == 10


def test_keys_of_other_types(server):
    """No command changes a key of another type, nor one of another family."""
    client, run = server.client(), server.client().execute_command
    fill(client)
    client.set("string", "x")
    client.rpush("list", "x")
    client.sadd("set", "x")
    client.zadd("zset", {"x": 1})
    client.hset("hash", "x", 1)
    client.xadd("stream", {"x": 1})
    before = image(client)
    forms = [["1"], ["1", "1"], ["1", "1", "1"], ["0.01", "100"], ["1", "x"], ["100", "5", "0.9"], ["ITEMS", "x"], []]
    for name in COMMANDS:
        family = name.split(".")[0]
        for key in before:
            own = {"bf": ("bf", "fixed", "last", "time")}.get(family, (family,))
            if key.decode() in own or family == "pds":
                continue
            for form in forms:
                try:
                    answer = run(name, key, *form)
                except ResponseError as error:
                    assert "internal error" not in str(error), (name, key, form, error)
                    continue
                answer = answer if isinstance(answer, list) else [answer]
                assert set(map(int, answer)) == {0}, (name, key, form, answer)
    assert image(client) == before
