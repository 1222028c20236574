# SPDX-License-Identifier: BSD-3-Clause
"""What a case of the campaign is."""

import truth

LINE_BPS = 100e6


class Case:
    """`kind` of port; `stalls` as stalls.c takes them, or none; `two`: one lcore sends and another
    receives; `orders`: what is done to the device every now and then, (what, mean seconds, least and most
    milliseconds); `late`: its delay is longer than the drain; `trial_s`: where the results do not say how
    long trials were; `good`: the service is as agreed"""

    def __init__(self, section, method, plan, device, **more):
        self.section, self.method, self.plan, self.device = section, method, plan, device
        self.kind, self.line_bps, self.drain = "ring", LINE_BPS, 0.1
        self.stalls = self.orders = self.times = self.outage_ms = None
        self.two = self.late = False
        self.good, self.device_options = True, {}
        for key, value in more.items():
            setattr(self, key, value)


def queue(r, **more):
    return truth.Device(
        serve_fps=r.choice([2000, 4000, 7000]), queue=r.choice([20, 60, 150]), delay_us=200, **more
    )
