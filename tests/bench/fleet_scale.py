#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What many played agents cost their controller and a NATS server (docs/explanation/fleet-scale.md).

    tests/bench/fleet_scale.py PROGRAM AGENTS STREAMS [nats]

With nats each agent has a bridge and a key of its own, and the server speaks TLS."""
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from nats_server import Server, wait_for

PROGRAM, AGENTS, STREAMS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
OVER_NATS = "nats" in sys.argv[4:]
IN_A_PROCESS = 50
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end what was started


def usage(pid):
    """Seconds of processor, and MB of memory, of a process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status") as file:
        rss = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), rss / 1e3


with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
    os.mkdir(work + "/state", 0o700)
    played, server = [], None
    try:
        for first in range(1, AGENTS + 1, IN_A_PROCESS):
            one = subprocess.Popen([PROGRAM, "script", HERE + "/fleet_agents.lua", work, str(first),
                                    str(min(AGENTS, first + IN_A_PROCESS - 1))],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            played.append(one)
        for one in played:
            assert one.stdout.readline() == "ready\n"
        if OVER_NATS:
            bridge = os.path.join(os.path.dirname(PROGRAM), "bridge", "framegauge-bridge")
            server = Server(PROGRAM, bridge, work, [f"rack{i}" for i in range(1, AGENTS + 1)])
            server.start()
            for i in range(1, AGENTS + 1):
                server.begin(f"rack{i}", "--agent", f"{work}/rack{i}")
                time.sleep(0.01)
            for i in range(1, AGENTS + 1):
                wait_for(f"rack{i} has no server", lambda: "connected to" in server.said(f"rack{i}"), 120)
            server.begin("control", "--listen", work + "/bus")
            wait_for("no bridge", lambda: os.path.exists(work + "/bus"))
            print("server with all connected: %.2f s, %.0f MB" % usage(server.process.pid), flush=True)
        control = subprocess.Popen([PROGRAM, "script", HERE + "/fleet_scale.lua", work, str(AGENTS),
                                    str(STREAMS), *([work + "/bus"] if OVER_NATS else [])],
                                   stdout=subprocess.PIPE, text=True)
        played.append(control)
        for line in control.stdout:
            print(line.strip(), flush=True)
            used = [usage(one.pid) for one in played[:-1]]
            print("  agents: %.1f s, %.0f MB; load %s" % (*map(sum, zip(*used)), os.getloadavg()[0]), flush=True)
            if server:
                print("  server: %.2f s, %.0f MB" % usage(server.process.pid), flush=True)
        assert control.wait() == 0, control.returncode
    finally:
        for one in played:
            one.kill()
            one.wait()
        if server:
            server.end()
