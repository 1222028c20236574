# SPDX-License-Identifier: BSD-3-Clause
"""A client at one agent and a server at another one, through a bridge of a limited rate. What one end sent
the other one had; and one of them is killed."""

import json
import os
import subprocess
import sys

import tap
from bridged_fleet import Fleet
from tap import check

PROGRAM, WORK, DUT = sys.argv[1:4]
PASSES = 5e6  # bits a second to the server, of frames without FCS
KEYS = """
l4: {{tests: [{tests}], connections: 2, datagram_rate: 200fps, duration: {duration}, omit: 100ms,
  repetitions: 1, learning_wait: 50ms, drain: 1s, settle: 0s}}
"""


def trials(name):
    path = os.path.join(WORK, name, "trials.jsonl")
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def ends(trial):
    """The totals of the client and of the server."""
    return [side["apps"][0]["total"] for side in trial["sides"]]


def check_exact(what, holds, trial):
    """An end that was held up for too long may not be done when the drain is over."""
    if not holds and trial["validity"] != "valid":
        tap.skip(what, "this machine is too busy")
    else:
        check(what, holds, (ends(trial), trial["reasons"]))


def run(name, tests, duration):
    plan = fleet.plan(name + ".yaml", "l4", KEYS.format(tests=tests, duration=duration))
    return plan, fleet.begin(plan, name)


def check_counts():
    _, process = run("counts", "TCP_STREAM, TCP_CRR, UDP_STREAM", "700ms")
    said = process.communicate(timeout=120)[0]
    by_test = {t["test"]: t for t in trials("counts")}
    roles = [[side["role"] for side in t["sides"]] for t in by_test.values()]
    check("all tests have both ends", roles == [["client", "server"]] * 3, said)
    stream, crr, udp = (by_test["l4." + test] for test in ("TCP_STREAM", "TCP_CRR", "UDP_STREAM"))
    client, server = ends(stream)
    check_exact("what the client has sent the server had, to the byte",
                client["octets_out"] == server["octets_in"] > 0, stream)
    rows = {row["test"]: row for row in json.load(open(os.path.join(WORK, "counts", "result.json")))
            ["results"]["l4"]}
    goodput = rows["TCP_STREAM"]["goodput_bps"] or 0
    # 1,448 of 1,514 bytes are payload; a bucket and a queue are full of it when the measurement begins
    what, most = "a stream is as fast as the bridge passes, and no faster", PASSES * 1448 / 1514 * 1.1
    if goodput < 0.7 * PASSES and stream["validity"] != "valid":
        tap.skip(what, "this machine is too busy")
    else:
        check(what, 0.7 * PASSES < goodput < most, (goodput, stream["reasons"]))
    client, server = ends(crr)
    check_exact("each connection is one at both ends",
                client["ended"]["closed"] == server["ended"]["closed"] == server["established"] > 0, crr)
    client, server = ends(udp)
    check_exact("datagrams are counted at both ends",
                client["datagrams_out"] == server["datagrams_in"] > 0, udp)


def check_killed():
    plan, process = run("killed", "TCP_RR", "3s")
    fleet.await_trial(plan, process)
    fleet.kill("rack2")
    said = process.communicate(timeout=120)[0]
    check("a killed agent ends the run, names itself, and leaves no valid trial", process.returncode == 4
          and "rack2" in said and not any(t["validity"] == "valid" for t in trials("killed")), said[-800:])
    fleet.start("rack2")


fleet = Fleet(PROGRAM, WORK, {"rack1": ["a"], "rack2": ["b"]})
try:
    subprocess.run(["tc", "-n", DUT, "qdisc", "add", "dev", "dut-2", "root", "tbf", "rate", str(int(PASSES)),
                    "burst", "5000", "limit", "60000"], check=True)
    check_counts()
    check_killed()
finally:
    check("the agents end when they are told to", *fleet.end())
tap.end()
