# SPDX-License-Identifier: BSD-3-Clause
"""Plans in which answers decide on what is sent next: TCP, requests and answers, probes."""

import truth
from case import Case, queue


def l4_case(r, section, **more):
    d = truth.Device(serve_fps=r.choice([1500, 3000]), queue=r.choice([40, 80]), delay_us=200)
    plan = {
        "test": "l4",
        "l4": {
            "tests": ["TCP_STREAM", "UDP_STREAM"],
            "duration": "1s",
            "datagram": 1400,
            "datagram_rate": "%dfps" % (d.serve_fps * r.choice([0.9, 1.2])),
            "repetitions": 2,
            "drain": "300ms",
        },
    }
    return Case(section, "l4", plan, d, **more)


def requests_case(r, section, **more):
    """Queries and answers, one frame each, as many at a time as no buffer is too small for; and a stream that
    is sealed"""
    d = truth.Device(serve_fps=r.choice([1500, 3000]), queue=r.choice([40, 80]), delay_us=200)
    plan = {
        "test": "l4",
        "l4": {
            "tests": ["DNS", "TLS_RR", "TLS_STREAM"],
            "connections": r.choice([1, 4, 16]),
            "request": 100,
            "response": 1000,
            "duration": "1s",
            "omit": "200ms",
            "dns": {"name": "h{0..99}.fg.test"},
            "tls": {"versions": ["1.3"], "certificate": "p256"},
        },
    }
    return Case(section, "requests", plan, d, **more)


def rfc9411_case(r, section, **more):
    """A target that is far below what the device carries, or beyond it"""
    d, low = truth.Device(serve_fps=3000, queue=80, delay_us=200), r.random() < 0.5
    plan = {
        "test": "rfc9411",
        "rfc9411": {
            "tests": ["http_throughput", "latency"],
            "objects": ["1KiB"],
            "target": {"transactions": d.serve_fps // 10 if low else 2 * d.serve_fps},
            "sustain": "1s",
            "search_sustain": "400ms",
            "ramp_up": "100ms",
            "ramp_down": "100ms",
            "sample": "100ms",
            "resolution": "10%",
            "learning_wait": "20ms",
            "drain": "500ms",
            "settle": "0s",
            "retries": 1,
        },
    }
    return Case(section, "rfc9411", plan, d, good=low, **more)


def rfc6349_case(r, section, **more):
    d = truth.Device(serve_fps=r.choice([1500, 3000]), queue=r.choice([40, 80]), delay_us=2000)
    plan = {
        "test": "rfc6349",
        "rfc6349": {
            "path_mtu": 1500,
            "baseline": "100ms",
            "windows": ["100%"],
            "connections": 2,
            "directions": ["forward"],
            "duration": "500ms",
            "learning_wait": "20ms",
            "drain": "100ms",
            "settle": "0s",
            "retries": 1,
            "bandwidth": {"trial": "200ms", "search_trial": "200ms", "resolution": "1%", "max_trials": 20},
        },
    }
    return Case(section, "rfc6349", plan, d, trial_s=0.2, **more)


def oam_case(r, section, **more):
    """Probes that the device carries, or that sometimes find its buffer full"""
    d = queue(r)
    interval_us = int(1e6 / (d.serve_fps * r.choice([0.3, 1.2])))
    plan = {
        "test": "oam",
        "oam": {
            "tests": ["stamp", "twamp_light", "loopback", "delay", "synthetic_loss"],
            "frame_sizes": [r.choice([128, 512])],
            "count": int(4e5 / interval_us),
            "interval": "%dus" % interval_us,
            "learning_wait": "20ms",
            "drain": "200ms",
            "settle": "0s",
            "retries": 1,
        },
    }
    return Case(section, "oam", plan, d, **more)
