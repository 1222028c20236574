# SPDX-License-Identifier: BSD-3-Clause
"""Two testers in two processes, joined by memif. What they must agree on is counted at both ends; a busy
machine stretches loads, which makes a step tester-limited but loses no frame. Between them stands, where a
test wants it, one who passes on what they say and makes the far tester's clock another machine's."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import tap
from tap import check

PROGRAM = sys.argv[1]
WORK = tempfile.TemporaryDirectory()
NEAR = """
test: y1564
ports:
  near: {{device: 'memif:{work}/wire', ipv4: 198.18.1.2/24, line_rate: 1Gbps}}
  far: {{device: 'agent:{control}', ipv4: 198.18.1.3/24, line_rate: 1Gbps}}
host: {{max_lag: 1s}}
y1564:
  topology: two-testers
  {more}
  services:
    voice: {{vlan: 10, pcp: 5, dscp: 46, frame_size: 218, cir: 100kbps, cbs: 16KiB,
            acceptance: {{ftd: 1s, fdv: 1s}}}}
    mixed: {{emix: abc, cir: 100kbps, cbs: 16KiB, directions: backward, acceptance: {{ftd: 1s, fdv: 1s}}}}
  configuration: {{tests: [cir]}}
  performance: {{duration: 2s}}
"""
FAR = """
test: agent
ports: {{there: {{device: 'memif:{work}/wire,server'}}}}
host: {{max_lag: 1s}}
agent: {{listen: {work}/far}}
"""


def write(name, text, **values):
    path = os.path.join(WORK.name, name)
    with open(path, "w") as file:
        file.write(text.format(work=WORK.name, **values))
    return path


def start_far():
    far = subprocess.Popen([PROGRAM, "agent", write("far.yaml", FAR)], stdout=subprocess.PIPE, text=True)
    assert far.stdout.readline().startswith("agent: listening"), "the far tester does not listen"
    return far


def run(name, control, more=""):
    """Run the near tester. @return exit status, result or None, what it said"""
    out = os.path.join(WORK.name, name)
    plan = write(name + ".yaml", NEAR, control=control, more=more)
    # a second's drain: who waits for the processor has that long
    sets = ["--set=y1564.performance.duration=2s", "--set=y1564.drain=1s"]
    done = subprocess.run(
        [PROGRAM, "run", plan, "--quick", *sets, "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    path = os.path.join(out, "result.json")
    return done.returncode, json.load(open(path)) if os.path.exists(path) else None, done.stdout


class Between(threading.Thread):
    """Passes on what two testers say, and changes what the far one says of its clock."""

    def __init__(self, name, holds_start=0, **clock):
        super().__init__(daemon=True)
        self.path, self.clock = os.path.join(WORK.name, name), clock
        self.holds_start, self.starts = holds_start, []  # seconds, of the first attempt; all attempts
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()

    def run(self):
        near = self.listener.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        far.connect(os.path.join(WORK.name, "far"))
        threading.Thread(target=self.pass_on, args=(near, far), daemon=True).start()
        self.pass_on(far, near)

    def pass_on(self, source, sink):
        try:
            for line in source.makefile("rb"):
                sink.sendall(self.changed(line))
        except OSError:  # one of them ended without having read all
            pass
        finally:
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_RDWR)

    def changed(self, line):
        said = json.loads(line)
        body = said.get("body", {})
        if body.get("step") == "arm" and body["attempt"] not in self.starts:
            self.starts.append(body["attempt"])
            time.sleep(self.holds_start if len(self.starts) == 1 else 0)
        state = body.get("body", {})
        if "synchronised" in state:  # the answer to a question about the clock
            state.update(self.clock)
            return json.dumps(said).encode() + b"\n"
        return line


def rows_of(result):
    for service in result["results"]["y1564"]["services"]:
        for row in service["configuration"] + service["performance"]:
            yield service["name"], row


def kept_away(result):
    """What testers say that did not get the processor when the traffic began: earlier frames are lost to
    them."""
    return [
        reason
        for trial in result["trials"]
        for reason in trial["reasons"]
        if "the host had it elsewhere" in reason
    ]


def arrived_whole(result):
    """Every frame that one tester sent the other has received, with its marks, unless one says that it was
    away."""
    wrong = [
        (name, row.get("step"), row["direction"], row["tx"], row["rx"], row["remarked"], row["validity"])
        for name, row in rows_of(result)
        if row["remarked"]
        or not row["tx"] == row["rx"] > 0
        and not (row["validity"] == "tester-limited" and kept_away(result))
    ]
    return wrong or [t["reasons"] for t in result["trials"] if t["validity"] == "invalid"]


def check_counts(what, holds, result, detail):
    """A check of what both ends have counted, which says nothing where one of them was away."""
    if holds and result and kept_away(result):
        tap.skip(what, "this machine is too busy: " + kept_away(result)[0])
    else:
        check(what, holds, detail)


def series_fit(result):
    """Both ends count a frame in the same second, whichever of them kept the clock."""
    for direction in result["trials"][-1]["directions"]:
        series = direction["series"]
        for tx, rx in zip(series["tx"], series["rx"]):
            if abs(tx - rx) > 2 and not kept_away(result):
                return direction["direction"], series["tx"], series["rx"]
    return None


far = start_far()
try:
    status, result, said = run("one-clock", os.path.join(WORK.name, "far"))
    check("two testers on one machine make a test", status in (0, 1, 3) and result is not None, said[-800:])
    whole = arrived_whole(result)
    check_counts("what one of them sends arrives at the other", not whole, result, whole)
    delays = [(row["ftd"]["min_ns"], row["clock_error_ns"]) for _, row in rows_of(result)]
    check("delays are of one clock", all(0 < least < 60e9 and error == 0 for least, error in delays), delays)
    check_counts("seconds are the same at both ends", not series_fit(result), result, series_fit(result))
    ways = {row["direction"] for _, row in rows_of(result)}
    check("each way by itself", ways == {"near->far", "far->near"}, ways)

    between = Between("elsewhere", boot="another machine", synchronised=False, error_ns=16e9)
    between.start()
    status, result, said = run("unsynchronised", between.path)
    check(
        "clocks that are not synchronised are refused",
        status == 2 and result is None and "synchronised" in said and "y1564.delays: false" in said,
        said[-800:],
    )

    between = Between("no-clocks", boot="another machine", synchronised=False, error_ns=16e9)
    between.start()
    status, result, said = run("without-delays", between.path, "delays: false\n  tests: [performance]")
    check("rates and loss need no clocks", status in (0, 1, 3) and result is not None, said[-800:])
    whole = arrived_whole(result)
    check_counts("and are whole", not whole, result, whole)
    check(
        "there is no delay then",
        all(row["ftd"] is None and not set(row["failed"]) & {"FTD", "FDV"} for _, row in rows_of(result)),
        list(rows_of(result))[:1],
    )
    check_counts("and the seconds still fit", not series_fit(result), result, series_fit(result))

    between = Between("slow", holds_start=2)
    between.start()
    status, result, said = run("missed-start", between.path, "tests: [performance]")
    check(
        "a start that one of them missed is agreed on anew",
        status in (0, 1, 3) and result is not None,
        said[-800:],
    )
    check_counts(
        "and the trial is made then",
        result is not None and len(result["trials"]) == 1 < len(between.starts) and not arrived_whole(result),
        result,
        (between.starts, result and arrived_whole(result)),
    )
finally:
    far.send_signal(signal.SIGINT)
    check("the far tester ends when it is told to", far.wait(60) == 0, far.returncode)
    WORK.cleanup()
tap.end()
