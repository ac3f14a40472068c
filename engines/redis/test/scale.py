"""URL de-duplication at scale: a cluster on the loopback interface, of which one master is killed during the run.

usage: scale.py DEDUP MODULE.so [--urls N] [--settings all|NAME ...] [--repeat N] [--costs] [--shard MIB]

DEDUP is the example `distributed_dedup` of the client crate. The figures of docs/at-scale.md come from:

    scale.py DEDUP MODULE.so --urls 100000000 --settings none
    scale.py DEDUP MODULE.so --urls 10000000 --settings all --costs
    scale.py DEDUP MODULE.so --urls 2000000 --settings none wait-1 none-lagging wait-1-lagging --repeat 5
    scale.py DEDUP MODULE.so --shard 1024

Processes are started with a free port each, and ended by their process ids.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time

if __name__ == "__main__":
    os.environ["PDS_REDIS_DEDUP"], os.environ["PDS_REDIS_MODULE"] = sys.argv[1:3]

from cluster import form, node_id  # noqa: E402: they read the environment.
from servers import Server, resident_bytes, wait_until  # noqa: E402

MASTERS = 3
BASE = ("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "2000",
        "--repl-diskless-sync-delay", "0")
KEPT = ("--appendonly", "yes")

# Name, replicas of each master, options of the servers, options of the client, and whether the replica of the master that dies hears
# nothing of it in its last second, as over a network that fails first.
SETTINGS = [
    ("none", 1, (), (), False),
    ("wait-1", 1, (), ("--wait", "1"), False),
    ("everysec", 0, (*KEPT, "--appendfsync", "everysec"), (), False),
    ("always", 0, (*KEPT, "--appendfsync", "always"), (), False),
    ("none-lagging", 1, (), (), True),
    ("wait-1-lagging", 1, (), ("--wait", "1"), True),
]


def slaves_known_to(server):
    return sum("slave" in node["flags"] for node in server.client().cluster("nodes").values())


class Cluster:
    """Three masters, with replicas or without. A context manager, which stops them."""

    def __init__(self, replicas, options=()):
        self.masters, self.replicas = [], []
        try:
            for _ in range(MASTERS):
                self.masters.append(Server(*BASE, *options))
            form(self.masters)
            for master in self.masters * replicas:
                self.replicas.append(Server(*BASE, *options))
                self.follow(self.replicas[-1], master)
            # A replica takes over only if it has once had all data, and if the other masters know whom it follows.
            for replica in self.replicas:
                wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up")
            for master in self.masters:
                wait_until(lambda: slaves_known_to(master) == len(self.replicas))
        except BaseException:
            self.stop()
            raise

    def follow(self, replica, master):
        replica.client().execute_command("CLUSTER", "MEET", "127.0.0.1", master.port)
        known = lambda: node_id(master) in replica.client(decode_responses=True).execute_command("CLUSTER", "NODES")
        wait_until(lambda: known())
        replica.client().execute_command("CLUSTER", "REPLICATE", node_id(master))
        wait_until(lambda: replica.client().info("replication").get("master_link_status") == "up")

    @property
    def servers(self):
        return self.masters + self.replicas

    def stop(self):
        for server in self.servers:
            server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def command_line(cluster, urls, options):
    nodes = [word for server in cluster.servers for word in ("--node", f"redis://127.0.0.1:{server.port}/")]
    shard = ("--largest-shard", str(1 << 24)) if "--largest-shard" not in options else ()
    return [
        os.environ["PDS_REDIS_DEDUP"], "--cluster", *nodes, "--items", str(urls), "--masters", str(MASTERS), *shard,
        "--numbers", f"0..{urls}", "--progress", "--cache", "0", "--patience", "120", *options,
    ]


def numbers(lines):
    """The report at the end of a run: names and numbers in turn."""
    words = [word for line in lines for word in line.split() if not line.startswith(("progress", "generation"))]
    return {name: float(value) if "." in value else int(value) for name, value in zip(words[::2], words[1::2])}


def dedup(cluster, urls, *options):
    run = subprocess.run(command_line(cluster, urls, options), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    return numbers(run.stderr.splitlines())


def lag(cluster):
    """The most bytes of the stream of a master that a replica lacks."""
    most = 0
    for master in cluster.masters:
        if master.is_alive():
            info = master.client().info("replication")
            offsets = [info[f"slave{number}"]["offset"] for number in range(info["connected_slaves"])]
            most = max([most, *(info["master_repl_offset"] - offset for offset in offsets)])
    return most


def dedup_failing_over(cluster, urls, *options, lagging=False):
    """Inserts URLs, and kills a master at a third of them. Without replicas it is started again, from its files.

    With replicas, one of them takes over; the killed one comes back empty as a replica of that one.
    """
    victim, killed, errors, lags = cluster.masters[1], None, [], []
    run = subprocess.Popen(command_line(cluster, urls, options), stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    for line in run.stderr:
        errors.append(line)
        at = int(line.split()[1]) if line.startswith("progress") else 0
        # Each twentieth report: reports that are not read in time would stop the run.
        if killed is None and cluster.replicas and len(errors) % 20 == 1:
            lags.append(lag(cluster))
        if killed is None and at * 3 > urls:
            killed = at
            if lagging:
                # A stopped replica would still find later on what its socket received. So the connection is closed, too.
                cluster.replicas[1].process.send_signal(signal.SIGSTOP)
                victim.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
                time.sleep(1)
            victim.kill()
            if cluster.replicas:
                replica = cluster.replicas[1]
                replica.process.send_signal(signal.SIGCONT)
                wait_until(lambda: replica.client().info("replication")["role"] == "master")
            victim.start()
    run.wait()
    assert run.returncode == 0, "".join(errors)[-2000:]
    assert killed is not None, "the run ended before a master was killed"
    report = numbers(errors)
    report.update(killed_at=killed, wall=time.monotonic() - begin, lag=max(lags, default=0))
    return report


def cpu(servers):
    """The processor time of servers so far, in seconds."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0
    for server in servers:
        if server.is_alive():
            with open(f"/proc/{server.process.pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def child_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def network(servers):
    infos = [server.client().info("stats") for server in servers if server.is_alive()]
    return {name: sum(info[name] for info in infos) for name in (
        "total_net_input_bytes", "total_net_output_bytes", "total_net_repl_input_bytes", "total_net_repl_output_bytes")
        if all(name in info for info in infos)}


def compare(name, replicas, server_options, client_options, lagging, urls):
    with Cluster(replicas, server_options) as cluster:
        report = dedup_failing_over(cluster, urls, *client_options, lagging=lagging)
        wait_until(lambda: all(server.client().cluster("info")["cluster_state"] == "ok" for server in cluster.servers))
        report["lost"] = dedup(cluster, urls, "--verify")["absent"]
        report["resident"] = sum(resident_bytes(server.process.pid, "Rss") for server in cluster.servers)
        report["setting"] = name
        print(json.dumps(report), flush=True)


def costs(urls):
    """Processor time, network and memory of a run without failures."""
    for replicas in (0, 1):
        with Cluster(replicas) as cluster:
            before = network(cluster.servers), cpu(cluster.masters), cpu(cluster.replicas)
            client = child_cpu()
            report = dedup(cluster, urls)
            after = network(cluster.servers), cpu(cluster.masters), cpu(cluster.replicas)
            report.update({name: after[0][name] - before[0][name] for name in after[0]})
            report.update(
                replicas=replicas, master_cpu=after[1] - before[1], replica_cpu=after[2] - before[2],
                client_cpu=child_cpu() - client)
            client = child_cpu()
            again = dedup(cluster, urls, "--verify")
            report.update(verify_seconds=again["seconds"], verify_client_cpu=child_cpu() - client)
            print(json.dumps(report), flush=True)


def timed(action):
    begin = time.monotonic()
    action()
    return round(time.monotonic() - begin, 2)


def size_of(folder):
    files = (os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)
    return sum(os.path.getsize(path) for path in files)


def processor(client, children=False):
    """Seconds of the processor that a server took since its start, or its children that ended."""
    info, end = client.info("cpu"), "_children" if children else ""
    return round(info[f"used_cpu_user{end}"] + info[f"used_cpu_sys{end}"], 2)


def one_shard(mebibytes):
    """Snapshots, append-only files, restarts and a full synchronisation of one shard of this size.

    The bits of a full filter do not compress. This one is nearly empty, so its snapshots are not compressed either.
    """
    items = int(mebibytes * (1 << 23) / 15.8)
    with Server("--repl-diskless-sync-delay", "0", "--rdbcompression", "no") as server:
        client, report = server.client(), {}

        def step(name, action, children=False):
            before = processor(server.client(), children)
            report[name] = timed(action), round(processor(server.client(), children) - before, 2)

        def background(command, field):
            client.execute_command(command)
            wait_until(lambda: not client.info("persistence")[field], 600)

        def restart():
            server.kill()
            report[f"{name}_seconds"] = timed(server.start)
            report[f"{name}_processor"] = processor(server.client())

        step("reserve", lambda: client.execute_command("BF.RESERVE", "f", 0.001, items, "NONSCALING"))
        for begin in range(0, 1_000_000, 10_000):
            client.execute_command("BF.MADD", "f", *range(begin, begin + 10_000))
        report["bytes"] = client.memory_usage("f", samples=0)
        step("bgsave", lambda: background("BGSAVE", "rdb_bgsave_in_progress"), children=True)
        report["fork_us"] = client.info("stats")["latest_fork_usec"]
        report["rdb_bytes"] = os.path.getsize(os.path.join(server.folder, "dump.rdb"))
        name = "restart_rdb"
        restart()
        with Server("--replicaof", "127.0.0.1", server.port) as replica:
            status = lambda: replica.client().info("replication").get("master_link_status") == "up"
            report["full_sync"] = timed(lambda: wait_until(status, 600))
            report["full_sync_replica"] = processor(replica.client())
        client = server.client()
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"]
                   and not client.info("persistence")["aof_rewrite_scheduled"], 600)
        step("aof_rewrite", lambda: background("BGREWRITEAOF", "aof_rewrite_in_progress"), children=True)
        folder = os.path.join(server.folder, "appendonlydir")
        before = size_of(folder)
        for begin in range(2_000_000, 3_000_000, 1_000):
            client.execute_command("BF.MADD", "f", *(f"https://example.org/{n}" for n in range(begin, begin + 1_000)))
        report["aof_bytes"], report["aof_bytes_per_add"] = before, (size_of(folder) - before) / 1_000_000
        server.options += ["--appendonly", "yes"]
        name = "restart_aof"
        restart()
    print(json.dumps(report), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dedup")
    parser.add_argument("module")
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--settings", nargs="*", default=[])
    parser.add_argument("--repeat", type=int, default=1, help="runs of each setting")
    parser.add_argument("--costs", action="store_true", help="processor time, network and memory without failures")
    parser.add_argument("--shard", type=int, metavar="MIB")
    arguments = parser.parse_args()
    for setting in SETTINGS:
        if "all" in arguments.settings or setting[0] in arguments.settings:
            for _ in range(arguments.repeat):
                compare(*setting, arguments.urls)
    if arguments.costs:
        costs(arguments.urls)
    if arguments.shard:
        one_shard(arguments.shard)


if __name__ == "__main__":
    main()
