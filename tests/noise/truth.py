# SPDX-License-Identifier: BSD-3-Clause
"""What a device of the campaign does to the traffic that a plan intends: the device of model.h in Python,
fed with frames that depart exactly when they should. No figure of the tester goes into it but which trial
it made."""

OVERLOAD_NS = 5e6


def line_fps(line_bps, octets):
    return line_bps / 8 / (octets + 20)


class Device:
    def __init__(self, **config):
        self.police_bps = config.get("police_bps", 0)
        self.bucket = config.get("bucket", 0)
        self.serve_fps = config.get("serve_fps", 0)
        self.queue = config.get("queue", 0)
        self.sick_ns = config.get("sick_ms", 0) * 1e6
        self.delay_ns = config.get("delay_us", 0) * 1e3
        self.config = config
        self.reset()

    def reset(self):
        self.tokens, self.last, self.free, self.full, self.skipped = self.bucket, 0, 0, None, False

    def text(self, **more):
        return ",".join("%s=%s" % item for item in {**self.config, **more}.items())

    def frames_held(self, octets):
        """Frames that a burst may be ahead of the rate: what every lump of the tester's is to be compared
        with."""
        return (self.bucket / octets if self.police_bps else 0) + (self.queue if self.serve_fps else 0)

    def fixed_delay_ns(self):
        return self.delay_ns + (1e9 / self.serve_fps if self.serve_fps else 0)

    def arrive(self, now, octets):
        """@return when the frame leaves; None: it is lost"""
        if self.police_bps:
            self.tokens = min(self.bucket, self.tokens + (now - self.last) * self.police_bps / 8e9)
            self.last = now
            if self.tokens < octets:
                return None
            self.tokens -= octets
        if self.full is not None and OVERLOAD_NS <= now - self.full < self.sick_ns:
            self.skipped = not self.skipped
            if self.skipped:
                return None
        if not self.serve_fps:
            return now + self.delay_ns
        service = 1e9 / self.serve_fps
        if self.free - now > self.queue * service:
            self.full = now
            return None
        self.free = max(self.free, now) + service
        return self.free + self.delay_ns


def evenly(fps, seconds, start=0.0):
    """Departures, ns"""
    return [start + i * 1e9 / fps for i in range(int(fps * seconds + 1e-6))]


def in_bursts(frames, line, fps, seconds):
    """Bursts at the rate of the line, whose mean is `fps`"""
    times, start = [], 0.0
    while start < seconds * 1e9 - 1:
        times += [start + i * 1e9 / line for i in range(frames)]
        start += frames * 1e9 / fps
    return times[: int(fps * seconds + 0.5)]


def departures(record, line):
    """Those that the record of a trial intends"""
    if record.get("loads"):
        times, start = [], 0.0
        for load in record["loads"]:
            times += evenly(load["fps"], load["seconds"], start)
            start += load["seconds"] * 1e9
        return times
    if record.get("burst"):
        return in_bursts(record["burst"]["frames"], line, record["intended_fps"], record["duration_s"])
    return evenly(record["intended_fps"], record["duration_s"])


def lost(device, times, octets, give_up=None):
    """@return frames lost, and when the last of them departed, ns. @param give_up ns: what leaves later is
    lost, too"""
    device.reset()
    count, last = 0, None
    for at in times:
        out = device.arrive(at, octets)
        if out is None or (give_up and out > give_up):
            count, last = count + 1, at
    return count, last


def most(low, high, passes):
    """The largest whole number from low to high that passes"""
    while low < high:
        middle = (low + high + 1) // 2
        if passes(middle):
            low = middle
        else:
            high = middle - 1
    return low


def burst(device, line, octets, limit):
    """The longest burst without loss, frames"""
    return most(0, limit, lambda n: lost(device, [i * 1e9 / line for i in range(n)], octets)[0] == 0)


def throughput(device, line, octets, seconds):
    """The highest load without loss in a trial, fps"""
    return most(0, int(line), lambda fps: fps == 0 or lost(device, evenly(fps, seconds), octets)[0] == 0)


def interval(device, line, octets, frames, seconds, limit):
    """The shortest interval between bursts without loss, frame times of the line"""
    return -most(
        -limit,
        -frames,
        lambda n: lost(
            device, in_bursts(frames, line, frames * line / -n, max(seconds, -2 * n / line)), octets
        )[0]
        == 0,
    )
