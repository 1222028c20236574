#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""campaign.py SEEDS [--short] [--realtime] [--only SECTION[/METHOD]] [--keep DIR]: trials in real time while
the tester is held up at seeded moments. Every figure must be right, or its trial limited by the tester or
invalid.

SEEDS is FIRST-LAST or one number. Each seed is a set of plans: all methods with the sender held up, on
ring, memif and veth ports (the kernel's need root); the receiver held up; no buffers; links that go
down; devices that answer late. Prints TAP and a table of the outcomes by method; with --short a case of each
section and kind of port, by the seed. With --realtime a packet lcore that leaves a processor to others has
real-time priority: other work of the machine then limits fewer trials. Of a wrong figure it prints what the
plan was; DIR keeps its folder. The environment: FRAMEGAUGE is the program, NOISE the folder that holds
libnoise.so and the devices (build/tests/noise)."""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases
import devices
import judge
import orders
import truth

ROOT = os.path.dirname(os.path.dirname(cases.HERE))
PROGRAM = os.environ.get("FRAMEGAUGE", os.path.join(ROOT, "build/app/framegauge"))
LONGEST = 300  # seconds of a run


def whole_plan(case, ports, folder, realtime):
    """The plan as the tester gets it; JSON is YAML"""
    plan = json.loads(json.dumps(case.plan).replace("ORDERS", folder + "/orders"))
    host = {"max_lag": case.lag, "realtime": realtime and not case.two and case.kind != "memif"}
    plan.update(ports=ports, host=host, isolated_network=True)
    with open(folder + "/plan.yaml", "w") as f:
        json.dump(plan, f, indent=1)


def give_orders(case, folder, device, process):
    """What happens to the device meanwhile, at seeded moments from the end of the first trial on"""
    what, mean, least, most = case.orders
    r = random.Random(case.number)
    while process.poll() is None and not os.path.exists(folder + "/run/trials.jsonl"):
        time.sleep(0.05)
    while process.poll() is None:
        time.sleep(0.1 + r.expovariate(1 / mean))
        if process.poll() is None:
            device.order(what, r.uniform(least, most) / 1e3)


def tester(case, folder, device):
    """@return exit status"""
    env = {
        **os.environ,
        **device.environment(),
        "NOISE_LOG": folder + "/stalls",
        "NOISE_ORDERS": folder + "/orders",
    }
    if case.stalls:
        env["NOISE_STALLS"] = case.stalls
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    run = [PROGRAM, "run", folder + "/plan.yaml", "--out", folder + "/run"]
    if case.two:
        run = [
            PROGRAM,
            "script",
            "tests/integration/queues.lua",
            folder + "/plan.yaml",
            folder + "/run",
            cpus,
        ]
    preload = "LD_PRELOAD=%s/libnoise.so" % folder  # it is a list: a path in it has no space
    os.symlink(os.path.abspath(devices.FOLDER + "/libnoise.so"), folder + "/libnoise.so")
    with open(folder + "/log", "w") as log:
        process = devices.urgent(device.where() + ["env", preload] + run, env, log)
        giver = threading.Thread(target=give_orders, args=(case, folder, device, process))
        if case.orders:
            giver.start()
        try:
            return process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            return "none: it did not end"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if case.orders:
                giver.join()


def judged(case, folder, status, device):
    """@return the judgements of a run"""
    j, method = judge.Judge(case, device), case.plan["test"]
    if status not in range(70):
        j.list.append((case.method, "run", "wrong", "it crashed or hung, status %s" % status))
    try:
        with open(folder + "/run/result.json") as f:
            result = json.load(f)
    except OSError:
        last = open(folder + "/log").read().strip().split("\n")[-1]
        j.list.append((case.method, "run", "wrong", "no result, status %s: %s" % (status, last)))
        return j.list
    if method in ("rfc2544", "traffic", "rfc2889", "convergence"):
        j.trials(result["trials"])
    getattr(j, method)(result["results"] if method == "rfc2544" else result["results"][method])
    return j.list


def play(case, keep, realtime):
    folder = tempfile.mkdtemp(prefix="noise.")
    orders.make_page(folder + "/orders", case.outage_ms)
    try:
        with devices.KINDS[case.kind](case, folder) as device:
            whole_plan(case, device.ports(), folder, realtime)
            status = tester(case, folder, device)
        # the device has ended, and has written what it saw
        result = judged(case, folder, status, device)
        if keep and any(j[2] == "wrong" for j in result):
            shutil.copytree(
                folder,
                "%s/%s" % (keep, case.title),
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("*.sock"),
            )
        return result
    finally:
        shutil.rmtree(folder)


def all_cases(seed, short):
    r = random.Random(seed)
    kinds = [k for k in devices.KINDS if devices.KINDS[k].possible()]
    found = (
        list(cases.senders(r))
        + list(cases.receivers(r))
        + list(cases.buffers(r))
        + list(cases.links(r, kinds))
    )
    found += list(cases.late_devices(r))
    few = ["throughput", "frame_loss", "back_to_back", "latency", "bursty_traffic", "traffic"]
    for kind in kinds[1:]:
        found += list(cases.senders(r, kind, few))
    if short:
        groups = collections.defaultdict(list)
        for case in found:
            groups[case.section, case.kind].append(case)
        found = [r.choice(group) for group in groups.values()]
    for number, case in enumerate(found):
        case.number = seed * 1000 + number
        case.title = "%d.%d %s %s %s" % (seed, number, case.section, case.method, case.kind)
    return found


def devices_agree():
    """Is the device in C the one in Python? Frames of three sizes at random moments, through each kind of
    device"""
    differ = 0
    for seed, config in enumerate(
        (
            {"police_bps": 8e6, "bucket": 9000, "delay_us": 200},
            {"serve_fps": 4000, "queue": 20},
            {"serve_fps": 7000, "queue": 60, "sick_ms": 60},
        )
    ):
        r, device, at, frames = random.Random(seed), truth.Device(**config), 1e9, []
        for _ in range(20000):
            at += r.expovariate(1 / r.choice([5e4, 3e5]))
            frames.append((int(at), r.choice([64, 512, 1518])))
        told = subprocess.run(
            [devices.FOLDER + "/model", device.text()],
            input="\n".join("%d %d" % f for f in frames),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for frame, out in zip(frames, told):
            due = device.arrive(*frame)
            differ += abs((-1 if due is None else due) - int(out)) > 1
    return differ == 0


class Tally:
    """The outcomes of all runs, told as they come"""

    def __init__(self, tests):
        self.counts, self.failed = collections.defaultdict(collections.Counter), 0
        self.told, self.start = 0, time.time()
        print("TAP version 13\n1..%d" % tests)

    def tell(self, ok, text):
        self.told += 1
        self.failed += not ok
        print("%sok %d - %s" % ("" if ok else "not ", self.told, text), flush=True)

    def add(self, case, result):
        for method, what, outcome, _ in result:
            self.counts[(case.section, method + (" rows" if what == "row" else ""))][outcome] += 1
        wrong = [j for j in result if j[2] == "wrong"]
        right = sum(j[2] == "right" for j in result)
        self.tell(not wrong, "%s: %d judged, %d right" % (case.title, len(result), right))
        for method, what, _, text in wrong:
            print("#    %s %s: %s" % (method, what, text))
        if wrong:
            device, lcores = case.device.text(**case.device_options), ", two lcores" if case.two else ""
            print("#    device %s, max_lag %s, stalls %s%s" % (device, case.lag, case.stalls, lcores))

    @staticmethod
    def line(*cells):
        print("# | " + " | ".join(map(str, cells)) + " |")

    def total(self):
        total = collections.Counter()
        for c in self.counts.values():
            total.update(c)
        return total

    def end(self):
        if self.total()["right"] > 0:
            self.tell(True, "there are figures, and not all trials were limited")
        else:
            self.tell(True, "there are figures # SKIP all trials were limited: this machine is too busy")
        self.line("Section", "Method", *judge.OUTCOMES)
        self.line("---", "---", *("---:" for _ in judge.OUTCOMES))
        for (section, method), counts in sorted(self.counts.items()):
            self.line(section, method, *(counts[o] for o in judge.OUTCOMES))
        self.line("all", "", *(self.total()[o] for o in judge.OUTCOMES))
        print("# %d s" % (time.time() - self.start))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("seeds")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    o = parser.parse_args()
    first, _, last = o.seeds.partition("-")
    section, _, method = o.only.partition("/")
    if not os.path.exists(devices.FOLDER + "/libnoise.so"):
        sys.exit("campaign.py: %s/libnoise.so is not there: ninja -C build noise" % devices.FOLDER)
    drawn = [c for seed in range(int(first), int(last or first) + 1) for c in all_cases(seed, o.short)]
    todo = [c for c in drawn if c.section.startswith(section) and c.method.startswith(method)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of everything that cleans up
    tally = Tally(len(todo) + 2)
    tally.tell(devices_agree(), "the device in C is the device in Python")
    for case in todo:
        tally.add(case, play(case, o.keep, o.realtime))
    tally.end()
    return tally.failed > 0


if __name__ == "__main__":
    sys.exit(main())
