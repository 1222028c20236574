# SPDX-License-Identifier: BSD-3-Clause
"""Where the device of a case runs: within the tester's process behind ring ports (ring.c), or in a process
of its own behind memif or veth (memif.c, veth.c)."""

import os
import secrets
import subprocess
import time

import orders

FOLDER = os.environ.get("NOISE", "build/tests/noise")


def urgent(command, env, log):
    """Tester and device go before other work, in a session of their own (tools/lab says why)"""

    def before():
        os.setsid()
        try:
            os.setpriority(os.PRIO_PROCESS, 0, -15)
            with open("/proc/self/autogroup", "w") as f:
                f.write("-15")
        except OSError:
            pass

    return subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, preexec_fn=before)


class Ring:
    """Between two of DPDK's ring ports. It sees a frame when the driver is called, so that nothing can
    disturb it"""

    def __init__(self, case, folder):
        self.case, self.folder, self.text = case, folder, case.device.text(**case.device_options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def possible():
        return True

    def where(self):
        return []

    def environment(self):
        return {"NOISE_DEVICE": self.text, "NOISE_LEDGER": self.folder + "/ledger"}

    def names(self):
        return ["vdev:net_ring0", "vdev:net_ring1"]

    def ports(self):
        rate = "%dMbps" % (self.case.line_bps / 1e6)
        return {
            port: {"device": name, "line_rate": rate} for port, name in zip(("east", "west"), self.names())
        }

    def order(self, what, seconds):
        """From now on it is out of service (outage), or its links are down (link), for so long"""
        orders.give(self.folder + "/orders", what, seconds)

    def ledger(self):
        """What it counted, by streams in the order in which they were first seen, as trials are made"""
        if not os.path.exists(self.folder + "/ledger"):
            return []
        with open(self.folder + "/ledger") as f:
            names, *lines = [line.split() for line in f]
        return [dict(zip(names, map(int, line))) for line in lines]


class Process(Ring):
    """The device as a program of its own, which says when it is ready"""

    def environment(self):
        return {}

    def start(self, command):
        env = {
            **os.environ,
            "NOISE_DEVICE": self.text,
            "NOISE_LEDGER": self.folder + "/ledger",
            "NOISE_ORDERS": self.folder + "/orders",
        }
        self.process = urgent(command, env, subprocess.PIPE)
        for line in self.process.stdout:
            if line == b"ready\n":
                return self
        raise RuntimeError("%s did not start" % command)

    def stop(self):
        self.process.terminate()
        self.said = self.process.communicate(timeout=60)[0].decode()


class Memif(Process):
    @staticmethod
    def possible():
        return os.path.exists(FOLDER + "/memif")

    def __enter__(self):
        cpus = sorted(os.sched_getaffinity(0))
        sockets = [
            "--vdev=net_memif%d,role=server,socket=%s/%d.sock,socket-abstract=no" % (i, self.folder, i)
            for i in (0, 1)
        ]
        return self.start(
            [
                FOLDER + "/memif",
                "--no-huge",
                "--no-shconf",
                "--no-telemetry",
                "--no-pci",
                "-m",
                "256",
                "--lcores",
                "0@%d" % cpus[0],
            ]
            + sockets
        )

    def __exit__(self, *_):
        self.stop()

    def order(self, what, seconds):
        """The peer is gone, for good: it writes its ledger, and ends without a word to the tester"""
        self.process.terminate()

    def names(self):
        return ["memif:%s/%d.sock" % (self.folder, i) for i in (0, 1)]


class Veth(Process):
    NAMES = ["noise-east", "noise-west"]

    @staticmethod
    def possible():
        return (
            os.geteuid() == 0
            and os.path.exists(FOLDER + "/veth")
            and subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode == 0
        )

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)

    def __enter__(self):
        unique = secrets.token_hex(3)
        self.tester, self.dut = "noise-t" + unique, "noise-d" + unique
        for space in (self.tester, self.dut):
            self.ip("netns", "add", space)
            self.ip("netns", "exec", space, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for name in self.NAMES:
            self.ip(
                "-n",
                self.tester,
                "link",
                "add",
                name,
                "type",
                "veth",
                "peer",
                "name",
                name,
                "netns",
                self.dut,
            )
            self.ip("-n", self.tester, "link", "set", name, "up")
            self.ip("-n", self.dut, "link", "set", name, "up")
        return self.start(["ip", "netns", "exec", self.dut, FOLDER + "/veth"] + self.NAMES)

    def __exit__(self, *_):
        self.stop()
        for space in (self.tester, self.dut):
            self.ip("netns", "del", space)

    def where(self):
        return ["ip", "netns", "exec", self.tester]

    def order(self, what, seconds):
        self.ip("-n", self.dut, "link", "set", self.NAMES[1], "down")
        time.sleep(seconds)
        self.ip("-n", self.dut, "link", "set", self.NAMES[1], "up")

    def names(self):
        return ["kernel:" + name for name in self.NAMES]


KINDS = {"ring": Ring, "memif": Memif, "veth": Veth}
