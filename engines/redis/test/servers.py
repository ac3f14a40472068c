"""Servers for the tests: started in folders of their own, and stopped by their process ids."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

# The link of Debian's package: the program looks at its own name, so the link is never resolved.
PROGRAM = os.environ.get("PDS_REDIS_SERVER") or shutil.which("redis-server") or shutil.which("valkey-server")
MODULE = os.environ["PDS_REDIS_MODULE"]


def free_port():
    """A port whose number plus 10,000, the bus of a cluster, is a port, too."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        if port < 55_000:
            return port


class Server:
    """One server with the module. A context manager, which stops it."""

    def __init__(self, *options, module=MODULE, arguments=(), program=PROGRAM):
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="pds-redis-")
        self.options = [str(option) for option in options]
        self.module = [str(part) for part in ([module] if module else []) + list(arguments)]
        self.program = program
        self.process = None
        self.start()

    def start(self):
        load = ["--loadmodule", *self.module] if self.module else []
        command = [
            self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
            "--save", "", "--enable-debug-command", "yes", "--logfile", "server.log",
            *self.options, *load,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                client = self.client()
                client.ping()
                return client.close()
            except redis.exceptions.BusyLoadingError:
                pass
            except redis.exceptions.ConnectionError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the server did not start:\n{self.log()}")
            time.sleep(0.02)

    def log(self):
        path = os.path.join(self.folder, "server.log")
        return open(path, errors="replace").read() if os.path.exists(path) else ""

    def client(self, protocol=2, **options):
        # On a busy machine, saving a large value takes longer than the client would wait by itself.
        return redis.Redis(port=self.port, protocol=protocol, socket_timeout=300, **options)

    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        """As a crash: nothing is saved."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.is_alive():
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def resident_bytes(pid, *fields):
    """The memory of a process by the names of /proc/PID/smaps_rollup, in bytes."""
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        sizes = {line.split(":")[0]: line.split()[1] for line in lines if ":" in line}
    return sum(int(sizes[field]) << 10 for field in fields)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("this did not happen in time")
        time.sleep(0.02)
