# SPDX-License-Identifier: BSD-3-Clause
"""Join and leave delays of RFC 3918 beside what tcpdump saw: snooping.py FOLDER (see snooping.sh)."""
import json
import struct
import sys

folder = sys.argv[1]
result = json.load(open(folder + "/run/result.json"))
UDP, IGMP = 17, 2
REPORT, LEAVE = 0x16, 0x17
GROUP = bytes([239, 1, 1, 1])


def frames(port):
    """(seconds, kind) of what went over a port: its own REPORT or LEAVE, or UDP to the group."""
    data = open("%s/%d.pcap" % (folder, port), "rb").read()
    at, found = 24, []
    while at + 16 <= len(data):
        seconds, ns, size, _ = struct.unpack("<IIII", data[at:at + 16])
        packet = data[at + 30:at + 16 + size]  # behind the Ethernet header
        at += 16 + size
        if len(packet) < 20:
            continue
        header, protocol = 4 * (packet[0] & 15), packet[9]
        if protocol == UDP and packet[16:20] == GROUP:
            found.append((seconds + ns / 1e9, UDP))
        elif (protocol == IGMP and packet[12:16] == bytes([198, 18, 1, port])
              and packet[header] in (REPORT, LEAVE) and packet[header + 4:header + 8] == GROUP):
            found.append((seconds + ns / 1e9, packet[header]))
    return found


def delays(port):
    """Of each time that the port was a member: from its first report to the first frame, from the leave to
    the last frame; None where there was none."""
    list, joined, now = [], None, None
    for time, kind in frames(port):
        if kind == REPORT and joined is None:
            joined, now = time, {"join": None, "leave": None, "left": None}
            list.append(now)
        elif kind == LEAVE:
            now["left"], joined = time, None
        elif kind == UDP and now:
            if now["join"] is None and joined is not None:
                now["join"] = time - joined
            if now["left"] is not None:
                now["leave"] = time - now["left"]
    return list


seen = {"p%d" % port: delays(port) for port in (2, 3)}
problems, compared = {"join_delay": [], "leave_delay": []}, {"join_delay": 0, "leave_delay": 0}
visits = {"p2": 0, "p3": 0}
for trial in result["trials"]:
    test = trial["test"].split(".")[1]
    frame = {d["direction"].split("->")[1]: d for d in trial["directions"]}
    for member in trial["members"]["ports"]:
        port = member["port"]
        there = seen[port][visits[port]] if visits[port] < len(seen[port]) else None
        visits[port] += 1
        one = frame[port]
        if test == "join_delay":
            ours, theirs = (one["first_arrival_ns"] - member["joined_ns"]) / 1e9, there and there["join"]
        else:
            ours, theirs = (one["last_arrival_ns"] - member["left_ns"]) / 1e9, there and there["leave"]
        # the tester is late by as long as it was held up, at either end
        bound = 2e-3 + 2 * (trial["lag_max_ns"] + trial["poll_gap_max_ns"]) / 1e9
        print("# %s %s: %.6f s, tcpdump %s s, within %.6f, %s" % (
            test, port, ours, theirs, bound, trial["validity"]))
        compared[test] += 1
        if theirs is None or abs(ours - theirs) > bound:
            problems[test].append("%s: %.6f s and not %s, within %.6f" % (port, ours, theirs, bound))
for test, found in problems.items():
    good = compared[test] > 0 and not found
    print("%s - the %s of a bridge is what tcpdump sees" % (
        "ok" if good else "not ok", test.replace("_", " ")))
    for problem in found:
        print("# " + problem)
rows = [row for rows in result["results"]["rfc3918"].values() for row in rows]
limited = {t["test"].split(".")[1] for t in result["trials"] if t["validity"] == "tester-limited"}
honest = all(row["validity"] != "valid" for row in rows if row["test"] in limited)
print("%s - no figure that the tester limited is the bridge's" % ("ok" if honest else "not ok"))
sys.exit(not honest or any(problems.values()))
