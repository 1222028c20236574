#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""orders.py PAGE outage|link MILLISECONDS: from now on the device of the campaign is out of service, or the
link of its ports is down, for so long: from when the device first sees it (noise_within)."""

import struct
import sys

PLACE = {"outage": 0, "link": 16}


def give(page, what, seconds):
    with open(page, "r+b") as f:
        f.seek(PLACE[what])
        f.write(struct.pack("QQ", 0, int(seconds * 1e9)))


if __name__ == "__main__":
    give(sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1e3)
