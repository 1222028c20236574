# SPDX-License-Identifier: BSD-3-Clause
"""Plans of the campaign, drawn from a seeded random number generator: a device, a method, a disturbance."""

import os

import orders
import truth
from case import LINE_BPS, Case, queue
from sessions import l4_case, oam_case, requests_case, rfc6349_case, rfc9411_case

HERE = os.path.dirname(os.path.abspath(__file__))


def rfc2544(r, test, keys, **plan):
    common = {
        "tests": [test],
        "frame_sizes": [r.choice([128, 512, 1024])],
        "bidirectional": False,
        "learning_wait": "20ms",
        "drain": "100ms",
        "settle": "0s",
        "retries": 1,
        test: keys,
    }
    return {"test": "rfc2544", "rfc2544": {**common, **plan}}


def throughput(r, d):
    length = "%dms" % r.choice([150, 300])
    return rfc2544(
        r, "throughput", {"trial": length, "search_trial": length, "resolution": "0.5%", "max_trials": 30}
    )


def frame_loss(r, d):
    most = min(2 * d.serve_fps, truth.line_fps(LINE_BPS, 1024))
    return rfc2544(r, "frame_loss", {"trial": "200ms", "max": "%dfps" % most, "step": "10%"})


def back_to_back(r, d):
    return rfc2544(r, "back_to_back", {"rate": "%dfps" % d.serve_fps, "limit": "100ms", "repetitions": 2})


def latency(r, d):
    return rfc2544(
        r,
        "latency",
        {
            "rate": "%dfps" % (d.serve_fps // 2),
            "trial": "250ms",
            "tag_after": "100ms",
            "tags": 10,
            "repetitions": 4,
        },
    )


def system_recovery(r, d):
    return rfc2544(
        r,
        "system_recovery",
        {"rate": "%dfps" % d.serve_fps, "overload": "350ms", "watch": "250ms", "repetitions": 3},
    )


def bursty_traffic(r, d):
    return rfc2544(
        r,
        "bursty_traffic",
        {
            "burst_frames": [r.choice([8, 16])],
            "trial": "150ms",
            "search_trial": "150ms",
            "limit": "50ms",
            "resolution": "1%",
        },
    )


def reset_case(r, section, **more):
    d = queue(r)
    plan = rfc2544(
        r,
        "reset",
        {
            "rate": "%dfps" % (d.serve_fps // 2),
            "after": "50ms",
            "watch": "500ms",
            "outage": "100ms",
            "command": orders.command("ORDERS"),
            "repetitions": 3,
        },
    )
    return Case(section, "reset", plan, d, outage_ms=100, **more)


LOADS = {
    "throughput": throughput,
    "frame_loss": frame_loss,
    "back_to_back": back_to_back,
    "latency": latency,
    "bursty_traffic": bursty_traffic,
}


def method_case(r, section, method, **more):
    if method == "reset":
        return reset_case(r, section, **more)
    if method == "system_recovery":
        d = queue(r, sick_ms=60)
        return Case(section, method, system_recovery(r, d), d, **more)
    d = queue(r)
    return Case(section, method, LOADS[method](r, d), d, **more)


def service_case(r, section, **more):
    good = r.random() < 0.7
    cir = r.choice([4e6, 8e6, 12e6])
    cbs = r.choice([8, 16, 32]) * 1024
    # the bucket holds two frames more than the burst that was agreed; what passes of it in a trial hides no
    # 30 %
    d = truth.Device(police_bps=cir * (1.004 if good else 0.7), bucket=cbs + 1024, delay_us=200)
    tests = ["step-load", "cbs"]
    plan = {
        "test": "y1564",
        "y1564": {
            "services": {
                "data": {
                    "directions": "forward",
                    "frame_size": 512,
                    "cir": "%dkbps" % (cir / 1e3),
                    "cbs": cbs,
                    "acceptance": {"flr": "0.1%", "ftd": "10ms", "fdv": "1s"},
                }
            },
            "learning_wait": "20ms",
            "drain": "100ms",
            "settle": "0s",
            "retries": 1,
            "configuration": {"tests": tests, "trial": "300ms", "burst_cycles": 3, "over_burst": False},
            "performance": {"duration": "1s"},
        },
    }
    return Case(section, "y1564", plan, d, good=good, **more)


def traffic_case(r, section, **more):
    d, octets = queue(r), r.choice([128, 512])
    fps, frames = int(d.serve_fps * r.choice([0.5, 0.8])), r.choice([16, 64, 150])
    line = truth.line_fps(LINE_BPS, octets)
    seconds = 0.4
    plan = {
        "test": "traffic",
        "traffic": {"duration": "400ms", "learning_wait": "20ms", "drain": "100ms", "t_max": "1s"},
        "streams": {"a": {"size": octets, "rate": {"rate": "%dfps" % fps, "burst": frames}}},
    }
    return Case(
        section, "traffic", plan, d, times=lambda t: truth.in_bursts(frames, line, fps, seconds), **more
    )


def rfc8239_case(r, section, **more):
    """Both ports at a share of the line that the device carries, or does not"""
    d, octets = queue(r), r.choice([512, 1024])
    share = d.serve_fps * r.choice([0.7, 1.4]) / truth.line_fps(LINE_BPS, octets)
    plan = {
        "test": "rfc8239",
        "rfc8239": {
            "tests": ["line_rate"],
            "frame_sizes": [octets],
            "line": "%.2f%%" % (100 * share),
            "trial": "200ms",
            "iterations": 2,
            "learning_wait": "20ms",
            "drain": "100ms",
            "settle": "0s",
            "retries": 1,
        },
    }
    return Case(section, "rfc8239", plan, d, **more)


def rfc2889_case(r, section, **more):
    """The first port sends to the second one, or it to the first"""
    d, length = queue(r), "%dms" % r.choice([150, 300])
    plan = {
        "test": "rfc2889",
        "rfc2889": {
            "tests": [r.choice(["unidirectional", "one_to_many", "many_to_one"])],
            "frame_sizes": [r.choice([512, 1024])],
            "trial": length,
            "search_trial": length,
            "resolution": "0.5%",
            "step": "25%",
            "max_trials": 30,
            "learning_wait": "20ms",
            "drain": "100ms",
            "settle": "0s",
            "retries": 1,
        },
    }
    return Case(section, "rfc2889", plan, d, **more)


def convergence_case(r, section, **more):
    d, flows = queue(r), r.choice([1, 10, 40])
    fps = d.serve_fps // 2
    plan = {
        "test": "convergence",
        "convergence": {
            "routes": {"count": flows},
            "rate": "%dfps" % fps,
            "resolution": "%dus" % (1e6 * flows / fps + 1),
            "sampling": "50ms",
            "at": "50ms",
            "watch": "400ms",
            "validation": "50ms",
            "command": orders.command("ORDERS"),
            "repetitions": 3,
            "learning_wait": "20ms",
            "drain": "100ms",
            "settle": "0s",
            "retries": 1,
        },
    }
    return Case(section, "convergence", plan, d, outage_ms=100, **more)


def stalled(r, worker=0, most=None):
    return "seed=%d,worker=%d,mean_ms=%d,most_us=%d" % (
        r.randrange(1 << 20),
        worker,
        r.choice([200, 600, 2000]),
        most or r.choice([2000, 10000, 50000]),
    )


def lag(r):
    return r.choice(["1ms", "10ms", "50ms"])


METHODS = [
    "throughput",
    "frame_loss",
    "back_to_back",
    "latency",
    "system_recovery",
    "reset",
    "bursty_traffic",
    "y1564",
    "traffic",
    "l4",
    "rfc6349",
    "rfc2889",
    "convergence",
    "requests",
    "rfc9411",
    "oam",
    "rfc8239",
]
OWN = {
    "y1564": service_case,
    "traffic": traffic_case,
    "l4": l4_case,
    "rfc6349": rfc6349_case,
    "rfc2889": rfc2889_case,
    "convergence": convergence_case,
    "requests": requests_case,
    "rfc9411": rfc9411_case,
    "oam": oam_case,
    "rfc8239": rfc8239_case,
}


def any_case(r, section, method, **more):
    return OWN[method](r, section, **more) if method in OWN else method_case(r, section, method, **more)


def senders(r, kind="ring", methods=METHODS):
    """The lcore that does everything is held up; or with two, the one that sends"""
    for method in methods:
        two = kind == "ring" and r.random() < 0.5
        yield any_case(
            r, "sender", method, kind=kind, two=two, lag=lag(r), stalls=stalled(r, 1 if two else 0)
        )


def receivers(r):
    """The lcore that receives is held up, behind a card that counts what finds its ring full, or one that
    does not"""
    few = ("throughput", "frame_loss", "latency", "reset", "traffic", "rfc2889", "convergence")
    for method in few + ("requests", "oam", "rfc8239"):
        options = {"rx_ring": r.choice([64, 256, 1024]), "counts": r.choice([0, 1])}
        yield any_case(
            r, "receiver", method, two=True, lag=lag(r), stalls=stalled(r, 2), device_options=options
        )


def buffers(r):
    """No buffers to send from, or to receive into"""
    for options, fps in (({"hold_tx_ms": 400}, 40000), ({"starve_ms": r.choice([5, 30])}, 4000)):
        d = truth.Device(delay_us=200)
        plan = {
            "test": "rfc2544",
            "rfc2544": {
                "tests": ["frame_loss"],
                "frame_sizes": [128],
                "bidirectional": False,
                "learning_wait": "20ms",
                "drain": "100ms",
                "settle": "0s",
                "retries": 1,
                "frame_loss": {"trial": "400ms", "max": "%dfps" % fps, "step": "10%"},
            },
        }
        yield Case("buffers", "frame_loss", plan, d, lag=lag(r), device_options=options)


def links(r, kinds):
    """The link goes down in mid-trial; the process behind a memif ends, and with it the device"""
    for method in ("throughput", "frame_loss", "traffic"):
        yield any_case(r, "link", method, lag="10ms", orders=("link", 0.7, 40, 150))
    for kind in kinds[1:]:
        yield any_case(r, "link", "frame_loss", kind=kind, lag="10ms", orders=("link", 0.7, 40, 150))


def late_devices(r):
    """What the device holds back arrives when the drain is over, or in a later trial"""
    for delay in (r.choice([150, 250]), r.choice([330, 500])):
        d = truth.Device(delay_us=delay * 1e3)
        plan = rfc2544(r, "frame_loss", {"trial": "200ms", "max": "2kfps", "step": "10%"})
        plan["rfc2544"]["frame_sizes"] = [128]
        yield Case("late", "frame_loss", plan, d, lag="10ms", late=True, stalls=stalled(r))
