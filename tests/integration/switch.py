# SPDX-License-Identifier: BSD-3-Clause
"""A run of RFC 2889 beside what the Linux bridge itself counted: switch.py NAME FOLDER (see switch.sh).

Exit status 0: they agree, 1: they do not, 2: the row is tester-limited, and what it says is right as far as
it goes.
"""
import json
import re
import sys

folder = sys.argv[2]
result = json.load(open(folder + "/run/result.json"))
(key, rows), = ((key, rows) for key, rows in result["results"]["rfc2889"].items() if rows)
row, trials = rows[0], result["trials"]
before, after = json.load(open(folder + "/before.json")), json.load(open(folder + "/after.json"))
macs = {link["ifname"]: link["address"] for link in json.load(open(folder + "/macs.json"))
        if link["ifname"].startswith("fg-")}
table = [int(line) for line in open(folder + "/table")]
if row["limited_by"] == "max_trials" and any(trial["validity"] == "tester-limited" for trial in trials):
    row["validity"] = "tester-limited"
limited = row["validity"] == "tester-limited"
problems = []


def check(what, holds):
    if not holds:
        problems.append(what)


def counted(port, way):
    return after["dut-%d" % port][way] - before["dut-%d" % port][way]


def fully_meshed():
    check("frames came out where they do not belong: %s" % row["flood"], row["flood"] == 0)
    check("not all of the load passed: %s" % row["limited_by"], limited or row["limited_by"] == "maximum")
    sent = {port: sum(d["tx"] for t in trials for d in t["directions"]
                      if d["direction"].startswith("p%d->" % port)) for port in range(1, 9)}
    for port in range(1, 9):
        extra = counted(port, "rx") - sent[port]
        check("the bridge received %d at port %d and was sent %d" % (counted(port, "rx"), port, sent[port]),
              0 <= extra <= 60 * len(trials))
    # each port's own address, and no other, is behind it
    behind = re.findall(r"^(\S+) dev dut-(\d)", open(folder + "/fdb").read(), re.M)
    found = {"fg-" + port: mac for mac, port in behind}
    check("the table is %s" % behind, found == macs and len(behind) == 8)


def broadcast():
    check("copies came too often: %s" % row["flood"], row["flood"] == 0)
    check("not all of the load passed: %s" % row["limited_by"], limited or row["limited_by"] == "maximum")
    sent = sum(d["tx"] for t in trials for d in t["directions"])
    for port in range(2, 9):
        extra = counted(port, "tx") - sent
        check("the bridge sent %d of %d broadcasts at port %d" % (counted(port, "tx"), sent, port),
              0 <= extra <= 60 * len(trials))


def address_caching():
    ageing, n = row["ageing_s"], row["iterations"][-1]["addresses"]
    if ageing == 1.5:  # the bridge's is 0.5 s; address i is i (1 / 100 - 1 / 1000) s older than the first
        forgotten, lag = row["learned_at_max"], trials[-1]["lag_max_ns"] / 1e9
        row["validity"] = "tester-limited" if forgotten is None else "valid"
        age = 0.1 + n / 1000 + (forgotten or 0) * (1 / 100 - 1 / 1000)
        check("aged after %.3f s, lag %.3f s" % (age, lag), forgotten is None or abs(age - 0.5) <= 0.03 + lag)
        return
    size = int(open(folder + "/limit").read())
    check("the bridge had %d addresses at most, not %d" % (max(table), size), max(table) == size)
    check("found %d" % row["with_own"], row["with_own"] == size or limited and row["with_own"] < size)
    check("of %d it learned %s" % (n, row["learned_at_max"]), row["learned_at_max"] in (None, size - 1))


def learning_rate():
    passed = [one["intended_fps"] for one in row["iterations"] if one["passed"]]
    check("no such rate passed: %s" % row["learning_fps"], row["learning_fps"] in passed + [None])
    check("ended by %s" % row["limited_by"], row["limited_by"] in ("maximum", "tester"))
    check("the bridge had %s addresses at most, not 41" % max(table), max(table) == 41)
    row["validity"] = "valid"  # that the tester ends before the bridge is what is expected


{"fully_meshed": fully_meshed, "broadcast": broadcast, "address_caching": address_caching,
 "learning_rate": learning_rate}[key]()
print({k: v for k, v in row.items() if k not in ("iterations", "series", "receivers", "latency")})
print("\n".join(problems))
if not problems and row["validity"] == "tester-limited":
    sys.exit(2)
sys.exit(row["validity"] != "valid" or problems != [])
