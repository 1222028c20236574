# SPDX-License-Identifier: BSD-3-Clause
"""Convergence beside zebra's log and the kernel's messages: frr.py FOLDER ZEBRA-LOG (see frr.sh)."""
import json
import re
import sys
from datetime import datetime

folder, zebra = sys.argv[1:]
ROUTES = 20
ABOUT_TO = re.compile(r"(\S+ \S+) ZEBRA: .*netlink_route_multipath\w*: RTM_NEWROUTE (198\.19\.\d+\.0)/24 ")
DONE = re.compile(r"\[(\S+)\] (198\.19\.\d+\.0)/24 .*via \S+ ")


def changes(file, form, layout):
    """(seconds, network) of each line that has the form."""
    for line in open(file):
        found = form.match(line)
        if found:
            yield datetime.strptime(found[1], layout).timestamp(), found[2]


def first_and_last(list, since, until):
    """When the first and the last of all routes changed, of the changes in this time; None: not all did."""
    routes = {}
    for time, network in list:
        if since <= time < until:
            routes.setdefault(network, time)
    return (min(routes.values()), max(routes.values())) if len(routes) == ROUTES else None


rows = json.load(open(folder + "/run/result.json"))["results"]["convergence"]
events = [[float(time) for time in line.split()] for line in open(folder + "/events")]
about_to = list(changes(zebra, ABOUT_TO, "%Y/%m/%d %H:%M:%S.%f"))
done = list(changes(folder + "/monitor", DONE, "%Y-%m-%dT%H:%M:%S.%f"))
moved = len(rows) == len(events) == 2 and all(
    row["routes_affected"] == ROUTES and row["not_converged"] == 0 for row in rows)
LATE = " # SKIP this machine is too busy: tester-limited"
failed = False


def tell(good, what, limited):
    """A result; of a tester that was late only what is right is known."""
    global failed
    failed = failed or not good and not limited
    print(("ok" if good or limited else "not ok") + " - " + what + (LATE if limited and not good else ""))


tell(moved, "all routes move, and back", any(row["validity"] == "tester-limited" for row in rows))
for row, (began, ended), until in zip(rows, events, [events[-1][0], float("inf")]):
    least, most = first_and_last(about_to, began, until), first_and_last(done, began, until)
    # what the row does not know of the program's time, but we do, is no error
    bound = row["bound_ns"] / 1e9 - (ended - began)
    good = least is not None and most is not None
    for k, key in enumerate(["first_route_ns", "full_ns"]):
        if good and row[key] is not None:
            ours, low, high = row[key] / 1e9, least[k] - began, most[k] - began
            print("# %s %s: %.6f s, FRRouting's log %.6f, the kernel's %.6f, within %.6f" % (
                row["event"], key, ours, low, high, bound))
            good = low - bound <= ours <= high + bound
        else:
            good = False
    if row["validity"] == "valid" and row["connectivity_loss"] != 0:
        print("# %d frames lost, and both ways were there" % row["connectivity_loss"])
        good = False
    tell(good, row["event"] + ": the routes move between FRRouting's time and the kernel's",
         row["validity"] == "tester-limited")
sys.exit(failed)
