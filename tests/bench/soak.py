# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of all that users do with a tester that runs on, and how its memory and descriptors fare. See
tools/soak.

usage: soak.py FRAMEGAUGE HOURS
"""

import itertools
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
# What a round may leave behind: nothing that adds up. A process's memory moves by a few pages as its heap is
# used again.
SLOPE_KIB, DESCRIPTORS = 8, 0
# Rounds of the start that are not looked at: caches fill, code is compiled, and the heap of each thread finds
# its size, for 38 rounds where it was measured. After them as many at least are looked at.
WARM_UP = 50
# Rounds whose pairs are looked at, evenly spaced: a long soak has thousands of rounds, and millions of pairs.
MOST_ROUNDS = 1000
PATIENCE = 600  # seconds; no assertion on speed but an end to a soak that hangs


class Client:
    """A user who is attached."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(PATIENCE)
        self.lines = self.socket.makefile("rb")
        self.send(hello=2)
        self.receive("welcome")

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, key):
        self.said = ""
        while True:
            line = self.lines.readline()
            if not line:
                raise ConnectionError("the tester has gone")
            message = json.loads(line)
            if key in message:
                return message[key]
            self.said += message.get("out", "") + message.get("err", "")

    def do(self, *lines):
        for line in lines:
            self.send(line=line)
            if self.receive("done") not in ("ok", "done"):
                raise RuntimeError(f"it could not do: {line}\n{self.said}")

    def close(self):
        self.lines.close()
        self.socket.close()


def job(client):
    client.do("soak = test.rfc2544{quick=true, frame_sizes={64}, out='job'}", "soak:wait()", "soak = nil")


def streams(client):
    client.do("start", "rate east 20%", "stats", "latency", "stop")


def capture(client):
    client.do("start", "capture west west.pcap udp", "capture stop", "stop")


def tcp(client):
    client.do(
        "soak = test.l4{quick=true, tests={'TCP_STREAM', 'TCP_RR'}, out='job'}", "soak:wait()", "soak = nil"
    )


def users(client):
    crowd = [Client(client.path) for _ in range(10)]
    for one in crowd:
        one.do("mine = {}", "ports")
    crowd[0].send(line="job.sleep(60)")  # one who goes in the middle of it
    for one in crowd:
        one.close()


WORKS = (job, streams, capture, tcp, users)


def resident(pid):
    """KiB that no file stands behind."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def slope(values):
    """What a round adds: the median over all pairs of rounds (Theil and Sen). What adds up moves it. A heap
    that goes back to the system in one round and is taken again in the next does not: that is 12 MiB, and
    by least squares it looked like 30 to 170 KiB a round where nothing grew."""
    step = -(-len(values) // MOST_ROUNDS)
    pairs = itertools.combinations(list(enumerate(values))[::step], 2)
    return statistics.median((b - a) / (j - i) for (i, a), (j, b) in pairs)


def collect(client):
    """On a busy machine it takes the five seconds after which the console stops what does not wait."""
    for _ in range(10):
        try:
            return client.do("collectgarbage()", "collectgarbage()")
        except RuntimeError as problem:
            stopped = problem
    raise stopped


def soak(program, hours, folder):
    path = folder + "/socket"
    environment = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder)
    tester = subprocess.Popen(
        [program, "serve", "--socket", path, "--set", "reference_device.time=free"],
        stdin=subprocess.DEVNULL,
        stdout=open(folder + "/output", "wb"),  # of a pipe, somebody would have to read 64 KiB and more
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
    )
    while not os.path.exists(path) and tester.poll() is None:
        time.sleep(0.1)
    client, memory, files, end = Client(path), [], [], time.monotonic() + hours * 3600
    client.path = path
    try:
        while time.monotonic() < end or len(memory) < 2 * WARM_UP:
            for work in WORKS:
                work(client)
                shutil.rmtree(folder + "/job", ignore_errors=True)
            collect(client)
            memory.append(resident(tester.pid))
            files.append(descriptors(tester.pid))
    finally:
        client.close()
        tester.send_signal(signal.SIGTERM)
        status = tester.wait(PATIENCE)
    return memory, files, status


def main(program, hours):
    with tempfile.TemporaryDirectory() as folder:
        memory, files, status = soak(os.path.abspath(program), float(hours), folder)
    print("memory of all rounds, KiB:", *memory, flush=True)
    growth, more = slope(memory[WARM_UP:]), files[-1] - files[WARM_UP]
    rows = (
        ("rounds", f"{len(memory)}", "", True),
        (f"memory after {WARM_UP} rounds", f"{memory[WARM_UP] * 1024 / MIB:.1f} MiB", "", True),
        ("memory at the end", f"{memory[-1] * 1024 / MIB:.1f} MiB", "", True),
        ("memory, more each round", f"{growth:.1f} KiB", f"at most {SLOPE_KIB} KiB", growth <= SLOPE_KIB),
        ("descriptors, more at the end", f"{more}", f"{DESCRIPTORS}", more <= DESCRIPTORS),
        ("exit status", f"{status}", "0", status == 0),
    )
    for what, found, wanted, holds in rows:
        print(f"{what:30} {found:>12}  {wanted:15} {'' if holds else 'TOO MUCH'}".rstrip())
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
