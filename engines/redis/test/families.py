"""The commands of the four families by redis-py's typed methods, and the replies byte by byte, under both protocols."""

import redis
from redis.exceptions import ResponseError



def fails(text, call, *arguments):
    """Asserts that a call ends with exactly this error."""
    try:
        answer = call(*arguments)
    except ResponseError as error:
        assert str(error) == text, f"{arguments}: {error!s} instead of {text}"
    else:
        raise AssertionError(f"{arguments}: {answer!r} instead of the error {text}")


def clients(server):
    for protocol in (2, 3):
        client = server.client(protocol)
        client.flushall()
        yield protocol, client
        client.close()


def field(information, attribute, name):
    """A field of a typed INFO answer: an attribute of an object, or the entry of a map."""
    if isinstance(information, dict):
        return information[name] if name in information else information[name.encode()]
    return getattr(information, attribute)


def test_bloom_by_typed_calls(server):
    for _, client in clients(server):
        bf = client.bf()
        assert bf.create("bloom", 0.01, 1000)
        assert bf.create("expanding", 0.01, 1000, expansion=1)
        assert bf.create("fixed", 0.01, 1000, noScale=True)
        assert bf.add("bloom", "foo") == 1 and bf.add("bloom", "foo") == 0
        assert bf.madd("bloom", "foo", "bar", "baz", "bar") == [0, 1, 1, 0]
        assert bf.exists("bloom", "foo") == 1 and bf.exists("bloom", "noexist") == 0
        assert bf.mexists("bloom", "foo", "noexist", "baz") == [1, 0, 1]
        assert bf.insert("made", ["a", "b"], capacity=500, error=0.001, expansion=4) == [1, 1]
        assert bf.insert("made", ["a", "c"], noCreate=True) == [0, 1]
        assert bf.insert("made fixed", ["a"], noScale=True) == [1]
        assert bf.card("bloom") == 3 and bf.card("missing") == 0
        info = bf.info("made")
        assert field(info, "capacity", "Capacity") == 500
        assert field(info, "filterNum", "Number of filters") == 1
        assert field(info, "insertedNum", "Number of items inserted") == 3
        assert field(info, "expansionRate", "Expansion rate") == 4
        assert 500 < field(info, "size", "Size") <= client.memory_usage("made")
        assert field(bf.info("fixed"), "expansionRate", "Expansion rate") is None
        fails("Nonscaling filters cannot expand", bf.create, "x", 0.01, 10, 4, True)


def test_bloom_replies(server):
    for protocol, client in clients(server):
        run = client.execute_command
        yes, no = (True, False) if protocol == 3 else (1, 0)
        assert run("BF.RESERVE", "k", "0.001", "50", "NONSCALING") == b"OK"
        assert run("BF.ADD", "k", "x") == yes and run("BF.ADD", "k", "x") == no
        assert run("BF.MEXISTS", "none", "a", "b") == [no, no]
        client.set("text", "value")
        assert run("BF.EXISTS", "text", "a") == no and run("BF.MEXISTS", "text", "a") == [no]
        wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
        for command in (["BF.ADD", "text", "a"], ["BF.CARD", "text"], ["BF.INFO", "text"],
                        ["BF.RESERVE", "text", "0.1", "10"], ["BF.LOADCHUNK", "text", "1", "x"]):
            fails(wrong, run, *command)
        for arguments, text in [
            (["k", "0.1", "10"], "item exists"),
            (["n", "x", "10"], "bad error rate"),
            (["n", "1", "10"], "(0 < error rate range < 1) "),
            (["n", "0", "10"], "(0 < error rate range < 1) "),
            (["n", "nan", "10"], "bad error rate"),
            (["n", "0.1", "x"], "bad capacity"),
            (["n", "0.1", "0"], "(capacity should be larger than 0)"),
            (["n", "0.1", "-5"], "(capacity should be larger than 0)"),
            (["n", "0.1", "10", "EXPANSION"], "no expansion"),
            (["n", "0.1", "10", "EXPANSION", "x"], "bad expansion"),
            (["n", "0.1", "10", "EXPANSION", "0"], "expansion should be greater or equal to 1"),
            (["n", "0.01", "1000000000000000"], "Insufficient memory to create filter"),
            (["n", "0.01", "9223372036854775807"], "Insufficient memory to create filter"),
        ]:
            fails(text, run, "BF.RESERVE", *arguments)
        fails("not found", run, "BF.INSERT", "n", "NOCREATE", "ITEMS", "a")
        fails("Unknown argument received", run, "BF.INSERT", "n", "WHAT", "1", "ITEMS", "a")
        fails("Bad capacity", run, "BF.INSERT", "n", "CAPACITY", "x", "ITEMS", "a")
        fails("Bad error rate", run, "BF.INSERT", "n", "ERROR", "x", "ITEMS", "a")
        fails("Bad expansion", run, "BF.INSERT", "n", "EXPANSION", "x", "ITEMS", "a")
        fails("not found", run, "BF.INFO", "n")
        fails("Invalid information value", run, "BF.INFO", "k", "WHAT")
        for name, least in [("reserve", 3), ("add", 2), ("madd", 2), ("insert", 3), ("exists", 2),
                            ("mexists", 2), ("card", 1), ("info", 1), ("scandump", 2), ("loadchunk", 3)]:
            text = f"wrong number of arguments for 'bf.{name}' command"
            fails(text, run, f"BF.{name.upper()}", *["a"] * (least - 1))
        # A filter that does not grow takes as many items as it was made for.
        answers = run("BF.MADD", "k", *range(100))
        assert sum(answer == yes for answer in answers[:49]) >= 48
        assert isinstance(answers[-1], ResponseError)
        assert str(answers[-1]) == "non scaling filter is full"
        assert run("BF.CARD", "k") == 50
        # One field: a list of one, or a map of one.
        one = run("BF.INFO", "k", "ITEMS")
        assert one == ({b"Number of items inserted": 50} if protocol == 3 else [50]), one
        raw = run("BF.INFO", "k")
        names = [b"Capacity", b"Size", b"Number of filters", b"Number of items inserted", b"Expansion rate"]
        assert list(raw) == names if protocol == 3 else raw[::2] == names


def test_replies_to_wrong_numbers(server):
    for protocol, client in clients(server):
        run = client.execute_command
        client.set("text", "value")
        for words in (["CAPACITY", 0], ["CAPACITY", -1], ["ERROR", 0], ["ERROR", 1], ["ERROR", -2], ["EXPANSION", 0], ["EXPANSION", -1]):
            fails("Bad argument received", run, "BF.INSERT", "n", *words, "ITEMS", "a")
        fails("expansion should be greater or equal to 1", run, "BF.RESERVE", "n", 0.01, 100, "EXPANSION", -1)
        fails("bad expansion", run, "BF.RESERVE", "n", 0.01, 100, "EXPANSION", 32_769)
        fails("bad capacity", run, "BF.RESERVE", "n", 0.01, "007")
        # A list ends with the first refusal.
        run("BF.RESERVE", "fixed", 0.01, 2, "NONSCALING")
        answers = run("BF.MADD", "fixed", "a", "b", "c", "d", "a")
        assert len(answers) == 3 and str(answers[2]) == "non scaling filter is full", answers
        run("BF.RESERVE", "there", 0.01, 100)
        fails("invalid offset - no link found", run, "BF.LOADCHUNK", "there", 99_999, "y")
        for key in ("none", "text"):
            fails("Cuckoo filter was not found", run, "CF.COMPACT", key)
        run("CF.ADD", "cf", "x")
        for position in ("x", -1):
            fails("Invalid position", run, "CF.SCANDUMP", "cf", position)
            fails("Invalid position", run, "CF.LOADCHUNK", "n", position, "x")
        fails("Invalid position", run, "CF.LOADCHUNK", "n", 0, "x")
        assert run("CF.SCANDUMP", "cf", 10**9) == [0, None]
        fails("TopK: key already exists", run, "TOPK.RESERVE", "text", 3)
        run("CMS.INITBYDIM", "cms", 10, 2)
        fails("CMS: key already exists", run, "CMS.INITBYPROB", "cms", 0, 0.01)
        fails("CMS: key already exists", run, "CMS.INITBYDIM", "cms", 0, "x")
        fails("CMS: Insufficient memory to create the key", run, "CMS.INITBYDIM", "n", 2**32, 2**32)
        fails("CMS: wrong number of keys/weights", run, "CMS.MERGE", "cms", 4, "cms", "cms", "WEIGHTS", 1)
        for number in ("007", "-0", "+1"):
            fails("CMS: Cannot parse number", run, "CMS.INCRBY", "cms", "a", number)


def test_bloom_chunks(server):
    for _, client in clients(server):
        bf = client.bf()
        bf.create("source", 0.0001, 1000)
        for number in range(3000):
            bf.add("source", number)
        chunks, iterator = [], 0
        while True:
            iterator, data = bf.scandump("source", iterator)
            if iterator == 0:
                break
            chunks.append((iterator, data))
        before, lines = client.dump("source"), client.execute_command("BF.DEBUG", "source")
        for iterator, data in chunks:
            bf.loadchunk("target", iterator, data)
        assert client.dump("target") == before
        assert client.execute_command("BF.DEBUG", "target") == lines
        # Chunks of another order, damaged ones, and those of nothing: an error, and nothing is changed.
        fails("not found", bf.loadchunk, "other", *chunks[1])
        bf.loadchunk("other", *chunks[0])
        fails("received bad data", bf.loadchunk, "other", chunks[1][0] + 1, chunks[1][1])
        fails("received bad data", bf.loadchunk, "other", *chunks[0])
        flipped = bytearray(chunks[1][1])
        flipped[len(flipped) // 2] ^= 4
        fails("received bad data", bf.loadchunk, "other", chunks[1][0], bytes(flipped))
        bf.loadchunk("other", *chunks[1])
        assert client.dump("other") == before
        fails("received bad data", bf.loadchunk, "new", 1, b"nonsense")
        fails("Second argument must be numeric", bf.loadchunk, "new", "x", b"nonsense")
        assert not client.exists("new")


def test_cuckoo_by_typed_calls(server):
    for protocol, client in clients(server):
        cf, run = client.cf(), client.execute_command
        assert cf.create("cuckoo", 1000)
        assert cf.create("options", 1000, expansion=1, bucket_size=4, max_iterations=10)
        assert cf.add("cuckoo", "foo") and not cf.addnx("cuckoo", "foo") and cf.addnx("cuckoo", "new")
        assert cf.insert("made", ["foo", "foo"], capacity=1000) == [1, 1]
        assert cf.insertnx("made", ["foo", "bar"], capacity=1000) == [0, 1]
        assert cf.exists("made", "foo") and not cf.exists("made", "none")
        assert cf.mexists("made", "foo", "none") == [1, 0]
        assert cf.count("made", "foo") == 2 and cf.count("made", "none") == 0
        assert cf.delete("made", "foo") and cf.count("made", "foo") == 1
        assert cf.delete("made", "foo") and not cf.delete("made", "foo")
        info = cf.info("made")
        assert field(info, "insertedNum", "Number of items inserted") == 1
        assert field(info, "deletedNum", "Number of items deleted") == 2
        assert field(info, "filterNum", "Number of filters") == 1
        assert field(cf.info("options"), "bucketSize", "Bucket size") == 4
        for arguments, text in [
            (["made", "1000"], "item exists"),
            (["n", "x"], "Bad capacity"),
            (["n", "0"], "Capacity must be at least (BucketSize * 2)"),
            (["n", "3"], "Capacity must be at least (BucketSize * 2)"),
            (["n", "100", "BUCKETSIZE", "x"], "Couldn't parse BUCKETSIZE"),
            (["n", "1000", "BUCKETSIZE", "256"],
             "BUCKETSIZE: value must be an integer between 1 and 255, inclusive."),
            (["n", "100", "EXPANSION", "32769"],
             "EXPANSION: value must be an integer between 0 and 32768, inclusive."),
            (["n", "9223372036854775807"], "Insufficient memory to create filter"),
        ]:
            fails(text, run, "CF.RESERVE", *arguments)
        fails("Not found", run, "CF.DEL", "none", "a")
        client.set("text", "value")
        fails("Not found", run, "CF.DEL", "text", "a")
        assert run("CF.COUNT", "text", "a") == 0
        fails("not found", run, "CF.INSERT", "none", "NOCREATE", "ITEMS", "a")
        # A filter that may not grow is full some time. One that may never is.
        cf.create("fixed", 64, expansion=0)
        answers = run("CF.INSERT", "fixed", "ITEMS", *range(500))
        assert answers[-1] is False if protocol == 3 else answers[-1] == -1
        assert run("CF.INSERTNX", "fixed", "ITEMS", "more")[0] == -1
        fails("Filter is full", run, "CF.ADD", "fixed", "more")
        cf.create("grows", 64)
        for first in range(0, 20_000, 1000):
            assert all(cf.insert("grows", range(first, first + 1000)))
        assert all(cf.mexists("grows", *range(20_000)))
        # Copies without end.
        for _ in range(300):
            cf.add("cuckoo", "copy")
        assert cf.count("cuckoo", "copy") == 300


def test_count_min_by_typed_calls(server):
    for _, client in clients(server):
        cms, run = client.cms(), client.execute_command
        assert cms.initbydim("dim", 1000, 5) and cms.initbyprob("prob", 0.01, 0.01)
        info = cms.info("prob")
        assert field(info, "width", "width") == 200 and field(info, "depth", "depth") == 7
        assert cms.incrby("dim", ["foo"], [5]) == [5]
        assert cms.incrby("dim", ["foo", "bar"], [5, 15]) == [10, 15]
        assert cms.query("dim", "foo", "bar", "none") == [10, 15, 0]
        assert field(cms.info("dim"), "count", "count") == 25
        for name in "ABC":
            assert cms.initbydim(name, 1000, 5)
        cms.incrby("A", ["foo", "bar", "baz"], [5, 3, 9])
        cms.incrby("B", ["foo", "bar", "baz"], [2, 3, 1])
        assert cms.merge("C", 2, ["A", "B"]) and cms.query("C", "foo", "bar", "baz") == [7, 6, 10]
        assert cms.merge("C", 2, ["A", "B"], [1, 2]) and cms.query("C", "foo", "bar", "baz") == [9, 9, 11]
        assert cms.merge("C", 2, ["A", "B"], [1, -1]) is not None
        fails("CMS: MERGE overflow", run, "CMS.MERGE", "C", 2, "A", "B", "WEIGHTS", 1, -2)
        assert cms.query("C", "baz") == [8]
        assert cms.merge("A", 1, ["A"], [3]) and cms.query("A", "foo") == [15]
        answers = run("CMS.INCRBY", "A", "big", 2**32 - 1, "bar", 1)
        assert isinstance(answers[0], ResponseError) and str(answers[0]) == "CMS: INCRBY overflow"
        assert answers[1] == 10 and run("CMS.QUERY", "A", "big") == [2**32 - 1]
        for command, text in [
            (["CMS.INITBYDIM", "dim", 10, 10], "CMS: key already exists"),
            (["CMS.INITBYDIM", "n", 0, 10], "CMS: invalid width"),
            (["CMS.INITBYDIM", "n", 10, "x"], "CMS: invalid depth"),
            (["CMS.INITBYPROB", "n", 0, 0.1], "CMS: invalid overestimation value"),
            (["CMS.INITBYPROB", "n", 0.1, 1], "CMS: invalid prob value"),
            (["CMS.INCRBY", "n", "a", 1], "CMS: key does not exist"),
            (["CMS.INCRBY", "dim", "a", "x"], "CMS: Cannot parse number"),
            (["CMS.INCRBY", "dim", "a", -1], "CMS: Number cannot be negative"),
            (["CMS.QUERY", "n", "a"], "CMS: key does not exist"),
            (["CMS.MERGE", "C", "x", "A"], "CMS: invalid numkeys"),
            (["CMS.MERGE", "C", 0, "A"], "CMS: Number of keys must be positive"),
            (["CMS.MERGE", "C", 2, "A"], "CMS: wrong number of keys"),
            (["CMS.MERGE", "C", 1, "A", "WEIGHTS"], "CMS: wrong number of keys/weights"),
            (["CMS.MERGE", "C", 1, "A", "WEIGHTS", "x"], "CMS: invalid weight value"),
            (["CMS.MERGE", "C", 1, "prob"], "CMS: width/depth is not equal"),
            (["CMS.MERGE", "C", 1, "none"], "CMS: key does not exist"),
            (["CMS.INFO", "none"], "CMS: key does not exist"),
        ]:
            fails(text, run, *command)
        keys = client.command_getkeys("CMS.MERGE", "C", "2", "A", "B", "WEIGHTS", "1", "2")
        assert [str(key).strip("b'") for key in keys] == ["C", "A", "B"], keys


def test_top_k_by_typed_calls(server):
    for protocol, client in clients(server):
        topk, run = client.topk(), client.execute_command
        assert topk.reserve("topk", 3, 50, 4, 0.9)
        # The items that leave the list, one by one: a new one enters as soon as it reaches the least count.
        added = topk.add("topk", "A", "B", "C", "D", "E", "A", "A", "B", "C", "G", "D", "B", "D", "A", "E", "E", 1)
        assert [item and item.decode() if isinstance(item, bytes) else item for item in added] == [
            None, None, None, "A", "C", "D", None, None, "E", None, "B", "C", None, None, None, "D", None]
        assert topk.query("topk", "A", "B", "C", "D", "E", "G") == [1, 1, 0, 0, 1, 0]
        client.delete("list")
        assert topk.reserve("list", 10, 2000, 7, 0.925)
        assert topk.incrby("list", ["bar", "baz", "42"], [3, 6, 2]) == [None, None, None]
        assert topk.incrby("list", ["42", "xyzzy"], [8, 4]) == [None, None]
        assert run("TOPK.COUNT", "list", "bar", "baz", "42", "xyzzy", 4) == [3, 6, 10, 4, 0]
        # redis-py makes texts and numbers of items under RESP2.
        texts = lambda answer: [part.decode() if isinstance(part, bytes) else str(part) for part in answer]
        assert texts(run("TOPK.LIST", "list")) == ["42", "baz", "xyzzy", "bar"]
        counts = texts(run("TOPK.LIST", "list", "WITHCOUNT"))
        assert counts == ["42", "10", "baz", "6", "xyzzy", "4", "bar", "3"], counts
        assert run("TOPK.ADD", "list", b"with\0zero") == [None]
        client.restore("again", 0, client.dump("list"))
        assert texts(run("TOPK.LIST", "again"))[-1] == "with\0zero"
        info = topk.info("list")
        assert field(info, "k", "k") == 10 and field(info, "width", "width") == 2000
        assert field(info, "depth", "depth") == 7 and float(field(info, "decay", "decay")) == 0.925
        # Another client, whose answers redis-py leaves as they are.
        raw = server.client(protocol).execute_command("TOPK.INFO", "list")
        decay = raw[b"decay"] if protocol == 3 else raw[7]
        assert isinstance(decay, float if protocol == 3 else bytes), raw
        answers = run("TOPK.INCRBY", "list", "a", 100_001, "b", 1, "c", -1)
        assert isinstance(answers[0], ResponseError) and answers[1] is None and isinstance(answers[2], ResponseError)
        for command, text in [
            (["TOPK.RESERVE", "list", 10], "TopK: key already exists"),
            (["TOPK.RESERVE", "n", 0], "TopK: invalid k"),
            (["TOPK.RESERVE", "n", 1, 0, 1, 0.9], "TopK: invalid width"),
            (["TOPK.RESERVE", "n", 1, 1, "x", 0.9], "TopK: invalid depth"),
            (["TOPK.RESERVE", "n", 1, 1, 1, 1.5], "TopK: invalid decay value. must be '<= 1' & '> 0'"),
            (["TOPK.ADD", "n", "a"], "TopK: key does not exist"),
            (["TOPK.QUERY", "n", "a"], "TopK: key does not exist"),
            (["TOPK.LIST", "n"], "TopK: key does not exist"),
            (["TOPK.LIST", "list", "WHAT"], "WITHCOUNT keyword expected"),
            (["TOPK.RESERVE", "n", 1, 2], "wrong number of arguments for 'topk.reserve' command"),
        ]:
            fails(text, run, *command)


def test_distinct(server):
    for _, client in clients(server):
        run = client.execute_command
        assert run("ULL.ADD", "a", *range(1000)) == 1 and run("ULL.ADD", "a", 5) == 0
        assert run("ULL.ADD", "b", *range(500, 1500)) == 1
        assert abs(run("ULL.COUNT", "a") - 1000) < 50 and run("ULL.COUNT", "none") == 0
        both = run("ULL.COUNT", "a", "b")
        assert abs(both - 1500) < 75
        assert run("ULL.MERGE", "c", "a", "b") == b"OK" and run("ULL.COUNT", "c") == both
        fails("item exists", run, "ULL.RESERVE", "a", 12)
        fails("bad precision, allowed are 4 to 18", run, "ULL.RESERVE", "n", 99)
        client.set("text", "value")
        try:
            run("ULL.ADD", "text", "x")
            raise AssertionError("a key of another type was taken")
        except ResponseError as error:
            assert "wrong kind of value" in str(error)
