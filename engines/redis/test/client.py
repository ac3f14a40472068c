"""The client crate: its tests against one server with the module, one without, and clusters; and its example."""

import os
import subprocess
import tempfile

from cluster import form
from scale import Cluster, dedup, dedup_failing_over
from servers import MODULE, Server

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CLUSTER = ("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")


def url(server):
    return f"redis://127.0.0.1:{server.port}/"


def test_crate(server):
    servers = [Server(*CLUSTER) for _ in range(3)] + [Server(module=None)]
    try:
        form(servers[:3])
        environment = dict(
            os.environ, PDS_REDIS_MODULE_URL=url(server), PDS_REDIS_PLAIN_URL=url(servers[3]),
            PDS_REDIS_CLUSTER_URLS=",".join(map(url, servers[:3])))
        command = ["cargo", "test", "--quiet", "--profile", "quick", "-p", "pds-redis-client", "--", "--include-ignored"]
        run = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    finally:
        for each in servers:
            each.stop()


def test_example(server):
    """Two runs over files that overlap: the second prints the new lines only."""
    def run(lines, *options, target=server):
        program = [os.environ["PDS_REDIS_DEDUP"], "--node", url(target), "--items", "100000", *options]
        return subprocess.run(program, input=lines, capture_output=True, text=True)

    lines = [f"line {number}" for number in range(30_000)]
    with Server(module=None) as plain:
        for options, target in [((), server), (("--bitmap", "--name", "b"), plain)]:
            first = run("\n".join(lines[:20_000]), *options, target=target)
            assert first.returncode == 0, first.stderr
            # Of 20,000 new lines, about 1 in 2,500 is a false positive while the filter is empty to a fifth.
            assert len(first.stdout.splitlines()) > 19_950
            second = run("\n".join(lines[10_000:]), *options, target=target).stdout.splitlines()
            assert set(second) <= set(lines[20_000:]) and len(second) > 9_950
        missing = run("x", target=plain)
        assert missing.returncode == 1 and "BF." in missing.stderr, missing.stderr
    other = run("x", "--rate", "0.5")
    assert other.returncode == 1 and "was made by another plan" in other.stderr, other.stderr
    wrong = run("x", "--rate", "2")
    assert wrong.returncode == 1 and "2" in wrong.stderr, wrong.stderr


def test_no_acknowledged_insert_is_lost_when_a_master_dies():
    """Three masters with a replica each; one master is killed during the run, and its replica takes over."""
    with Cluster(replicas=1) as cluster:
        report = dedup_failing_over(cluster, 200_000, "--batch", "1000", "--wait", "1")
        assert report["keys"] == 200_000, report
        lost = dedup(cluster, 200_000, "--verify")["absent"]
        assert lost == 0, (lost, report)


def test_no_acknowledged_insert_is_lost_when_a_master_restarts():
    with Cluster(replicas=0, options=("--appendonly", "yes", "--appendfsync", "always")) as cluster:
        report = dedup_failing_over(cluster, 200_000, "--batch", "1000")
        assert report["keys"] == 200_000, report
        lost = dedup(cluster, 200_000, "--verify")["absent"]
        assert lost == 0, (lost, report)
