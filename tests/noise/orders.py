# SPDX-License-Identifier: BSD-3-Clause
"""Orders to the device of the campaign: from now on it is out of service (outage), or the link of its ports
is down (link), for so long: from when the device first sees it (noise_within)."""

import struct

PLACE = {"outage": 0, "link": 16}


def words(seconds):
    return struct.pack("QQ", 0, int(seconds * 1e9))


def give(page, what, seconds):
    with open(page, "r+b") as f:
        f.seek(PLACE[what])
        f.write(words(seconds))


def make_page(page, outage_ms):
    """A page without orders, and beside it what command() writes into that"""
    with open(page, "wb") as f:
        f.write(bytes(4096))
    with open(page + ".outage", "wb") as f:
        f.write(words((outage_ms or 0) / 1e3))


def command(page):
    """The tester itself orders the outage: by a program that begins and ends within a millisecond, because it
    runs in the middle of a trial"""
    return ["dd", "if=" + page + ".outage", "of=" + page, "conv=notrunc", "status=none"]
