# SPDX-License-Identifier: BSD-3-Clause
"""RFC 2889 and 3918 with three agents, beside what the bridge between them counted."""

import json
import os
import subprocess
import sys

import tap
from bridged_fleet import Fleet, number
from tap import check

PROGRAM, WORK, DUT = sys.argv[1:4]
AGENTS = {"rack1": ["a"], "rack2": ["b", "c"], "rack3": ["d"]}
PERMITS = ", sends_to: [198.18.0.0/15, 239.0.0.0/8, 255.255.255.255/32]"
TIMES = "learning_wait: 50ms, drain: 200ms, settle: 0s, retries: 0, max: 5%, resolution: 5%, max_trials: 2"
SWITCH = """
rfc2889: {tests: [TESTS], frame_sizes: [128], step: 100%, trial: TRIAL, search_trial: TRIAL,
  latency_frames: 1, addresses: STATIONS, """ + TIMES + """}
"""
GROUPS = """
rfc3918: {tests: [mixed_class, join_delay], frame_sizes: [128], trial: 300ms, search_trial: 300ms, groups: 5,
  monitor: c, join_wait: 200ms, forget: 300ms, membership: {methods: [new], load: 5%, max_resolution: 10ms,
  repetitions: 1, observe_join: 200ms}, """ + TIMES + """}
"""
OTHERS = 200  # frames at a port in a run that are not the test's: announcements, reports, queries
PASSES = 600  # frames a second, of the slow port


def counters():
    said = subprocess.check_output(["ip", "-n", DUT, "-j", "-s", "link"])
    return {link["ifname"]: {way: link["stats64"][way]["packets"] for way in ("rx", "tx")}
            for link in json.loads(said) if link["ifname"].startswith("dut-")}


def read(name):
    """@return rows by test, and trials; none of a run without a result"""
    path = os.path.join(WORK, name, "result.json")
    if not os.path.exists(path):
        return {}, []
    result = json.load(open(path))
    return {test: rows[0] for test, rows in list(result["results"].values())[0].items()}, result["trials"]


def switch(name, tests, trial, stations):
    return fleet.plan(name + ".yaml", "rfc2889", SWITCH.replace("TESTS", tests).replace("TRIAL", trial)
                      .replace("STATIONS", stations))


class Run:
    """What a run found, what was said, and the frames that the bridge received and sent at each port."""

    def __init__(self, name, plan):
        before = counters()
        self.said = fleet.run(plan, name)
        after = counters()
        self.rows, self.trials = read(name)
        self.bridge = {port: {way: after[f"dut-{number(port)}"][way] - before[f"dut-{number(port)}"][way]
                              for way in ("rx", "tx")} for port in "abcd"}

    def sum(self, key, of="", test=""):
        """Of the directions that have these letters, in all trials or in one test's."""
        return sum(d[key] for t in self.trials for d in t["directions"]
                   if of in d["direction"] and test in t["test"])

    def check(self, what, holds, detail, late=False, test=""):
        """An agent that was too late for a trial, or lost frames itself or fetched them when it was over,
        proves nothing. Where frames only left late the counts are right all the same, unless they depend on
        when (late)."""
        trials = [t for t in self.trials if test in t["test"]]
        away = [t for t in trials if t["tester_drops"] > 0 or late and t["validity"] != "valid"
                or any("agent " in r or "fetched" in r for r in t["reasons"])]
        if away and not holds:
            tap.skip(what, "this machine is too busy")
        else:
            reasons = [(t["validity"], t["reasons"]) for t in trials]
            check(what, trials and holds, f"{detail} {self.bridge} {reasons}\n{self.said[-1500:]}")


def near(most, least):
    return 0 <= most - least <= OTHERS


def check_many_to_one():
    """The first port passes a limited rate of frames, of 124 bytes without FCS, and has room for few more."""
    tc = ["tc", "-n", DUT, "qdisc"]
    rate = str(PASSES * 124 * 8)
    subprocess.run(tc + ["add", "dev", "dut-1", "root", "tbf", "rate", rate, "burst", "1500",
                         "limit", "3000"], check=True)
    run = Run("many", switch("many", "many_to_one", "300ms", "4"))
    dropped = json.loads(subprocess.check_output(tc[:3] + ["-j", "-s", "qdisc", "show", "dev", "dut-1"]))
    subprocess.run(tc + ["del", "dev", "dut-1", "root"], check=True)
    dropped = dropped[0]["drops"]
    sent, lost = {port: run.sum("tx", port + "->") for port in "bcd"}, run.sum("lost", "->a")
    run.check("what was sent the bridge received, and what did not arrive it dropped",
              all(near(run.bridge[port]["rx"], sent[port]) for port in "bcd") and near(dropped, lost)
              and near(run.bridge["a"]["tx"], run.sum("rx", "->a")) and lost > 0,
              (sent, lost, dropped))
    row = run.rows.get("many_to_one", {})
    check("a valid row has the truth", row and (row["validity"] != "valid" or (
        row["mol_loss_ratio"] > 0 and abs(row["frmol_fps"] / PASSES - 1) < 0.2)), row)
    run.check("all stations had been announced", row.get("flood") == 0, row)


def check_broadcast():
    run = Run("broadcast", switch("broadcast", "broadcast", "300ms", "1"))
    row, copies = run.rows.get("broadcast", {}), run.sum("tx")
    run.check("a broadcast counts at each port where it comes out, whichever agent has it",
              all(near(run.bridge[port]["tx"], copies) for port in "bcd") and row.get("mol_loss_ratio") == 0
              and row["flood"] == 0 and len(row["receivers"]) == 3, (copies, row))


def check_groups():
    run = Run("groups", fleet.plan("groups.yaml", "rfc3918", GROUPS))
    row = run.rows.get("mixed_class", {})
    strays = {port: sum(d["measured"].get("misdirected", {}).get(port, 0)
                        for t in run.trials for d in t["directions"]) for port in "cd"}
    run.check("members of groups get what is sent to them, and who has joined nothing does not",
              run.sum("rx", "load a->b") > 0 and run.sum("lost", "load", "mixed") == 0
              and run.sum("lost", "unicast") == 0
              and near(run.bridge["d"]["tx"], run.sum("rx", "->d") + strays["d"])
              and near(run.bridge["c"]["tx"], strays["c"]), (strays, row), True, "mixed_class")
    members = [port for t in run.trials for port in t["members"]["ports"]]
    # an agent that is held up for the whole membership says both at once, and one that ended early says less
    run.check("members have their names and times", members and all(
        one["port"] in "bd" and one.get("left_ns", 0) > one.get("joined_ns", -1) >= 0 for one in members),
        members, True)
    delay = run.rows.get("join_delay", {})
    run.check("a join delay is short", delay.get("delay_max_ns") and delay["delay_max_ns"] < 150e6, delay,
              True, "join_delay")


def check_killed():
    plan = switch("killed", "fully_meshed", "2s", "1")
    run = fleet.begin(plan, "killed")
    fleet.await_trial(plan, run)
    fleet.kill("rack3")
    said = run.communicate(timeout=120)[0]
    path = os.path.join(WORK, "killed", "trials.jsonl")
    trials = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    check("a killed agent ends the run, and none of its trials is valid",
          run.returncode == 4 and not any(t["validity"] == "valid" for t in trials), (trials, said[-1500:]))
    named = [reason for t in trials for reason in t["reasons"] if "agent rack3 was lost" in reason]
    if not trials:  # it was killed before the trial had begun
        tap.skip("and its trial names it", "this machine is too busy")
    else:
        check("and its trial names it", named, trials[-1]["reasons"])
    fleet.start("rack3")


fleet = Fleet(PROGRAM, WORK, AGENTS, "10Mbps", PERMITS)
try:
    check_many_to_one()
    check_broadcast()
    check_groups()
    check_killed()
finally:
    check("the agents end when they are told to", *fleet.end())
tap.end()
