# SPDX-License-Identifier: BSD-3-Clause
"""Is a figure right? Each judgement is (method, what, outcome, text), the outcome one of OUTCOMES. What the
tester calls limited or invalid is nobody's figure; what it calls valid is held against the truth of the
device (truth.py)."""

import truth

OUTCOMES = ("right", "tester-limited", "invalid", "disturbed", "wrong")
# What a figure may be off: a share of what the device holds, which is what lumps of frames are measured by;
# a share of the frames, for loads are kept to 0.1 %; and frames at the borders.
OF_BUFFER, OF_FRAMES, FRAMES = 0.05, 0.002, 2
SLACK_NS = 300e3  # between a stamp and the driver


def near(value, expected, share, absolute=0.0):
    return value is not None and abs(value - expected) <= abs(expected) * share + absolute


def method_of(test):
    """What the table calls the method of a trial"""
    group, _, name = test.partition(".")
    return name if group == "rfc2544" else test if group == "traffic" else group


class Judge:
    def __init__(self, case, played):
        self.case, self.device, self.line_bps = case, case.device, case.line_bps
        self.played, self.list, self.disturbed = played, [], False

    def add(self, method, what, verdict, problem):
        outcome = (
            verdict
            if verdict in ("tester-limited", "invalid", "disturbed")
            else "wrong"
            if problem
            else "right"
        )
        if verdict in ("not-applicable", "not-run"):
            outcome = "tester-limited"
        self.list.append((method, what, outcome, problem or ""))

    def held(self, octets):
        return FRAMES + OF_BUFFER * self.device.frames_held(octets)

    # --- trials

    @staticmethod
    def is_search(t):
        """Does the method only want to know whether a frame is lost?"""
        if t["test"].startswith("rfc2889."):
            return t["phase"] != "forwarding"
        return t["test"] in ("rfc2544.throughput", "rfc2544.back_to_back", "rfc2544.bursty_traffic")

    def problem(self, t):
        octets, line = t["frame_size"], truth.line_fps(self.line_bps, t["frame_size"])
        times = self.case.times(t) if self.case.times else truth.departures(t, line)
        give_up = (t["duration_s"] + self.case.drain) * 1e9 if self.case.late else None
        expected, _ = truth.lost(self.device, times, octets, give_up)
        bound = self.held(octets) + OF_FRAMES * t["tx"]
        if self.case.outage_ms:
            expected += t["intended_fps"] * self.case.outage_ms / 1e3
            bound += 0.001 * t["intended_fps"]
        if self.device.sick_ns:
            bound += (
                0.004 * t["intended_fps"] / 2
            )  # what a recovery may be off, in which every second frame is lost
        if self.case.late:
            bound += 0.02 * t["intended_fps"]  # the tester's drain ends when control looks
        if self.is_search(t) and t["lost"] > 0 and expected > 0:
            return None  # it is too much, and by how much does not matter
        if abs(t["lost"] - expected) > bound:
            return "lost %d, the device %d of %d (+-%.0f)" % (t["lost"], expected, len(times), bound)
        if expected == 0 and t["latency"] and not self.case.outage_ms:
            return self.latency_problem(t, octets)
        return None

    def latency_problem(self, t, octets):
        # frames may leave as close together as what is allowed above lets them, and then wait for each other
        wait = self.held(octets) / self.device.serve_fps * 1e9 if self.device.serve_fps else 0
        fps = max([t["intended_fps"]] + [load["fps"] for load in t.get("loads") or []])
        if t.get("burst") or self.case.times or (self.device.serve_fps and fps > self.device.serve_fps):
            return None  # they wait anyway
        base, l = self.device.fixed_delay_ns(), t["latency"]
        most = base + wait + l["error_bound_ns"] + SLACK_NS
        if l["max_ns"] > most or l["min_ns"] < base - SLACK_NS:
            return "latency %.0f to %.0f us, the device %.0f to %.0f (error at most %.0f us)" % (
                l["min_ns"] / 1e3,
                l["max_ns"] / 1e3,
                base / 1e3,
                (base + wait) / 1e3,
                l["error_bound_ns"] / 1e3,
            )
        return None

    def losses_disturbed(self, t, gap_ns):
        """Did the device look so late that it lost what it should not have? Where the kernel stamps what
        arrives, only if frames left when the trial was over"""
        if self.case.kind == "veth":
            return gap_ns > self.case.drain * 0.5e9
        return gap_ns * 1e-9 * t["intended_fps"] > 0.5 * self.held(t["frame_size"])

    def outage_disturbed(self, t, line):
        """Did the command that orders an outage get no processor until the trial was over? Then the device
        was in service throughout, and in the next one for twice as long out of it"""
        if not self.case.outage_ms or not line:
            return False
        return not near(line["outage"], t["intended_fps"] * self.case.outage_ms / 1e3, 0.5)

    def trials(self, trials):
        """The trials and the lines of the device's ledger, one a stream, go side by side"""
        lines = self.played.ledger()
        for t in trials:
            of_trial, lines = lines[: len(t["directions"])], lines[len(t["directions"]) :]
            line = {k: sum(one[k] for one in of_trial) for k in of_trial[0]} if of_trial else {}
            method, what = method_of(t["test"]), "trial %d" % t["trial"]
            gap_ns = max([one["gap_ns"] for one in of_trial], default=0)
            t["frame_size"] = t["frame_size"] or self.case.plan["streams"]["a"]["size"]
            disturbed = self.losses_disturbed(t, gap_ns) or self.outage_disturbed(t, line)
            self.disturbed |= disturbed
            problem = self.problem(t) if t["validity"] == "valid" else None
            if problem and line:
                problem += "; as frames came it lost %d, and the tester's ring %d" % (
                    sum(line[cause] for cause in ("policed", "full", "sick", "outage")),
                    line["overflow"],
                )
            if problem and (disturbed or (gap_ns > 100e3 and "latency" in problem)):
                self.list.append((method, what, "disturbed", problem))
            else:
                self.add(method, what, t["validity"], problem)

    # --- rows of results

    def throughput(self, row):
        """The truth is between what passed and what failed, which are as close as the resolution says: a
        share of the line"""
        octets = row["frame_size"]
        true = truth.throughput(self.device, truth.line_fps(self.line_bps, octets), octets, row["trial_s"])
        low, high = row["throughput_fps"] or 0, row["upper_fps"] or truth.line_fps(self.line_bps, octets)
        bound = self.held(octets) / row["trial_s"]
        if high - low <= row["resolution_fps"] * 1.01 and low - bound <= true <= high + bound:
            return None
        return "%d to %d fps, truth %d +-%d" % (low, high, true, bound)

    def back_to_back(self, row):
        octets = row["frame_size"]
        true = truth.burst(self.device, truth.line_fps(self.line_bps, octets), octets, row["limit_frames"])
        low, high = row["burst_min_frames"], row["burst_max_frames"]
        if near(low, true, OF_BUFFER, FRAMES) and near(high, true, OF_BUFFER, FRAMES):
            return None
        return "%s to %s frames, truth %d" % (low, high, true)

    def latency(self, row):
        base = self.device.fixed_delay_ns()
        most = (
            base
            + row["error_bound_ns"]
            + SLACK_NS
            + self.held(row["frame_size"]) * 1e9 / self.device.serve_fps
        )
        return (
            None
            if base - SLACK_NS <= row["latency_max_ns"] <= most
            else "%d ns, truth %d" % (row["latency_max_ns"], base)
        )

    def system_recovery(self, row):
        fps, octets = row["throughput_fps"], row["frame_size"]
        overload = min(1.1 * fps, truth.line_fps(self.line_bps, octets))
        times = truth.evenly(overload, row["overload_s"])
        times += truth.evenly(overload / 2, row["watch_s"], row["overload_s"] * 1e9)
        _, last = truth.lost(self.device, times, octets)
        true = max(0, last - row["overload_s"] * 1e9)
        bad = [x for x in (row["recovery_min_ns"], row["recovery_max_ns"]) if not near(x, true, 0.05, 4e6)]
        return "%.1f ms, truth %.1f" % (bad[0] / 1e6, true / 1e6) if bad else None

    def reset(self, row):
        true, bound = self.case.outage_ms * 1e6, 1e6 + 2 * row["resolution_ns"]
        for key in ("reset_ns", "reset_by_loss_ns", "reset_by_timestamps_ns"):
            if not near(row[key], true, 0.01, bound):
                return "%s is %.2f ms, truth %.2f" % (key, (row[key] or 0) / 1e6, true / 1e6)
        return None

    def bursty_traffic(self, row):
        octets, frames = row["frame_size"], row["burst_frames"]
        line = truth.line_fps(self.line_bps, octets)
        true = truth.interval(self.device, line, octets, frames, row["trial_s"], int(row["limit_s"] * line))
        return (
            None
            if near(row["interval_frames"], true, 0.05, FRAMES)
            else "%s frame times, truth %d" % (row["interval_frames"], true)
        )

    def rfc2544(self, results):
        for method, rows in results.items():
            for row in rows or [] if method != "frame_loss" else []:  # there a row is a trial
                problem = getattr(self, method)(row) if row["validity"] == "valid" else None
                verdict = "disturbed" if problem and self.disturbed else row["validity"]
                self.add(method, "row", verdict, problem)

    def traffic(self, results):
        pass  # a row is a trial

    def rfc2889(self, results):
        for method, rows in results.items():
            for row in rows:
                valid = row["validity"] == "valid"
                problem = (self.throughput(row) or self.forwarding(row)) if valid else None
                verdict = "disturbed" if problem and self.disturbed else row["validity"]
                self.add("rfc2889", "row", verdict, problem)

    def forwarding(self, row):
        """At all loads; the last is the maximum offered one"""
        octets, seconds = row["frame_size"], row["trial_s"]
        for point in row["series"]:
            times = truth.evenly(point["oload_fps"], seconds)
            expected, _ = truth.lost(self.device, times, octets)
            bound = self.held(octets) + OF_FRAMES * len(times)
            if not near(point["loss_ratio"] * len(times), expected, 0, bound):
                return "%d fps: lost %.4f, the device %.4f" % (
                    point["oload_fps"],
                    point["loss_ratio"],
                    expected / len(times),
                )
            passed = (len(times) - expected) / seconds
            if not near(point["forwarding_fps"], passed, OF_FRAMES, bound / seconds):
                return "%d fps: forwarded %d, the device %d" % (
                    point["oload_fps"],
                    point["forwarding_fps"],
                    passed,
                )
        best = max(point["forwarding_fps"] for point in row["series"])
        return None if row["mfr_fps"] == best else "MFR %s, not %s" % (row["mfr_fps"], best)

    def convergence(self, results):
        for row in results:
            problem = self.event(row) if row["validity"] == "valid" else None
            verdict = "disturbed" if problem and self.disturbed else row["validity"]
            self.add("convergence", "row", verdict, problem)

    def event(self, row):
        true, bound = self.case.outage_ms * 1e6, 1e6 + 2 * row["tau_ns"]
        for key, value in (
            ("shortest", row["connectivity"]["min_ns"]),
            ("longest", row["connectivity"]["max_ns"]),
            ("full", row["full_ns"]),
            ("mean", row["loss_derived_ns"]),
        ):
            if not near(value, true, 0.01, bound):
                return "%s is %.2f ms, truth %.2f" % (key, (value or 0) / 1e6, true / 1e6)
        return None

    # a good service passes every step, one that is a tenth too slow fails those at its rate
    def y1564(self, results):
        for service in results["services"]:
            steps = [("configuration", s) for s in service.get("configuration") or []]
            steps += [("performance", s) for s in service.get("performance") or []]
            for test, s in steps:
                verdict = s["outcome"] or s["validity"]
                at_rate = test == "performance" or s.get("name", "").startswith("CIR, 100")
                wanted = "fail" if not self.case.good and at_rate else "pass"
                wrong = verdict in ("pass", "fail") and verdict != wanted and (self.case.good or at_rate)
                self.add(
                    "y1564." + test,
                    s.get("name", "all services"),
                    verdict,
                    "%s, FLR %s; the device deserves %s" % (verdict, s["loss_ratio"], wanted)
                    if wrong
                    else None,
                )

    def l4(self, results):
        for row in results:
            problem = getattr(self, row["test"].lower())(row) if row["validity"] == "valid" else None
            self.add("l4." + row["test"], "row", row["validity"], problem)

    def udp_stream(self, row):
        seconds = row["parameters"]["duration_s"]
        fps = row["parameters"]["datagrams_per_s"]
        expected, _ = truth.lost(self.device, truth.evenly(fps, seconds), 1500)
        bound = self.held(1500) + OF_FRAMES * fps * seconds
        return (
            None
            if near(row["lost"], expected, 0, bound)
            else "lost %s, the device %d +-%.0f" % (row["lost"], expected, bound)
        )

    def tcp_stream(self, row):
        seconds = row["parameters"]["duration_s"]
        most = (self.device.serve_fps + self.device.queue / seconds) * 1448 * 8
        return (
            None
            if 0.8 * most <= row["goodput_bps"] <= 1.01 * most
            else "%.2f Mbit/s, the device %.2f at most" % (row["goodput_bps"] / 1e6, most / 1e6)
        )

    def requests(self, row):
        """As many at a time as there are connections, each one frame there and one back"""
        connections = row["parameters"]["connections"]
        most = min(self.device.serve_fps, connections * 1e9 / (2 * self.device.fixed_delay_ns()))
        return (
            None
            if 0.8 * most <= row["transactions_per_s"] <= 1.01 * most
            else "%.0f transactions a second, the device %.0f" % (row["transactions_per_s"], most)
        )

    def dns(self, row):
        return self.requests(row)

    def tls_rr(self, row):
        return self.requests(row)

    def tls_stream(self, row):
        return self.tcp_stream(row)

    def rfc9411(self, results):
        """A response takes a frame at least, and a connection's first one two round trips. A target that is a
        tenth of that must be met"""
        for test, rows in results.items():
            for row in rows:
                problem, trips = None, 4 * self.device.fixed_delay_ns()
                if row["validity"] == "valid" and test == "latency":
                    if row["ttfb"]["min_ns"] < trips - SLACK_NS:
                        problem = "first byte after %.0f us" % (row["ttfb"]["min_ns"] / 1e3)
                elif row["validity"] == "valid":
                    rate = row["transactions_per_s"]
                    if self.case.good and not (row["target_reached"] and near(rate, row["target"], 0.02, 1)):
                        problem = "%.0f a second, the target is %.0f" % (rate, row["target"])
                    elif rate > 1.01 * self.device.serve_fps:
                        problem = "%.0f a second, the device %d frames" % (rate, self.device.serve_fps)
                self.add("rfc9411." + test, "row", row["validity"], problem)

    def oam(self, results):
        for row in results:
            problem = self.session(row) if row["validity"] == "valid" else None
            self.add("oam", row["test"], row["validity"], problem)

    def session(self, row):
        """Replies leave the device's first half no faster than its second takes them"""
        octets, o = row["frame_size"], self.case.plan["oam"]
        step = float(o["interval"][:-2]) * 1e3
        expected, _ = truth.lost(self.device, [i * step for i in range(o["count"])], octets)
        bound = self.held(octets) + OF_FRAMES * o["count"]
        for key, true in (("lost", expected), ("forward_lost", expected), ("backward_lost", 0)):
            if row[key] is not None and not near(row[key], true, 0, bound):
                return "%s %d of %d, the device %d (+-%.0f)" % (key, row[key], o["count"], true, bound)
        if expected > 0:
            return None
        base, wait = self.device.fixed_delay_ns(), self.held(octets) / self.device.serve_fps * 1e9
        for key, ways in (("round_trip", 2), ("forward", 1), ("backward", 1)):
            d = row[key]
            most = ways * (base + wait + row["stamp_error_ns"]) + SLACK_NS
            if d and (d["min_ns"] < ways * base - row["stamp_error_ns"] - SLACK_NS or d["max_ns"] > most):
                return "%s %.0f to %.0f us, the device %.0f to %.0f (stamps %.0f late)" % (
                    key,
                    d["min_ns"] / 1e3,
                    d["max_ns"] / 1e3,
                    ways * base / 1e3,
                    ways * (base + wait) / 1e3,
                    row["stamp_error_ns"] / 1e3,
                )
        return None

    def rfc8239(self, results):
        for row in results["line_rate"]:
            problem = self.line_rate(row) if row["validity"] == "valid" else None
            self.add("rfc8239", "row", row["validity"], problem)

    def line_rate(self, row):
        """Of all trials that with the most loss, of both directions"""
        octets, seconds = row["frame_size"], row["trial_s"]
        fps = truth.line_fps(self.line_bps, octets) * row["load_percent"] / 100
        expected, _ = truth.lost(self.device, truth.evenly(fps, seconds), octets)
        bound = 2 * (self.held(octets) + OF_FRAMES * fps * seconds)
        if not near(row["lost"], 2 * expected, 0, bound):
            return "lost %d of %d, the device %d (+-%.0f)" % (row["lost"], row["tx"], 2 * expected, bound)
        return None

    def rfc6349(self, results):
        most_fps, seconds = self.device.serve_fps, self.case.trial_s
        for row in results["bandwidth"]:
            octets = row["frame_size"]
            true = truth.throughput(self.device, truth.line_fps(self.line_bps, octets), octets, seconds)
            verdict, problem = row["validity"], None
            if row["limited_by"] in ("tester", "invalid"):
                verdict = "tester-limited"
            elif not near(row["bandwidth_fps"], true, 0.02, self.held(octets) / seconds):
                problem = "bandwidth %s fps, the device %s" % (row["bandwidth_fps"], true)
            self.add("rfc6349.bandwidth", "row", verdict, problem)
        for row in results["transfers"]:
            problem = None
            if row["validity"] == "valid" and row["achieved_bps"] > 1.03 * most_fps * 1460 * 8:
                problem = "achieved %.2f Mbit/s" % (row["achieved_bps"] / 1e6)
            self.add("rfc6349.transfer", "row", row["validity"], problem)
