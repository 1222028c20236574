# SPDX-License-Identifier: BSD-3-Clause
"""The search for the throughput that otg-examples have (data-plane-performance, RFC 2544): for each load a
configuration, a start, some time, a stop and a look at the counts; then the result again, for longer. The
reference device is the truth."""

import time

import snappi

from otg_client import Server, base, common, row, transmit
from tap import check

LINE, SIZE = 1e9, 512
CAPACITY, BUFFER = 40000, 32  # of the device: frames per second, frames
STEPS, SECONDS, LONG = 8, 0.5, 2
LOSS = 0.005  # that a trial may have
TRUTH = 100 * CAPACITY * (SIZE + 20) * 8 / LINE  # percent of the line


def trial(api, percentage, seconds):
    """Frames sent and received; a busy machine may not send all at once."""
    intended = percentage / 100 * LINE / ((SIZE + 20) * 8) * seconds
    for _ in range(20):
        config, flow = base(api, SIZE)
        common(flow)
        flow.packet.udp()
        flow.rate.percentage = percentage
        flow.duration.fixed_seconds.seconds = seconds
        api.set_config(config)
        transmit(api, 'start')
        time.sleep(seconds)
        transmit(api, 'stop')
        final = row(api)
        if final.frames_tx > 0.98 * intended:
            break
    check('%.2f %% of the line is sent for %g s' % (percentage, seconds),
          final.transmit == 'stopped' and abs(final.frames_tx - intended) <= 0.02 * intended,
          (final.frames_tx, intended))
    return final.frames_tx, final.frames_rx


def search(folder):
    server = Server(folder, ', capacity: %dfps, buffer: %d' % (CAPACITY, BUFFER))
    api = snappi.api(location=server.url, version_check=True)
    low, high = 0, 100
    for _ in range(STEPS):
        middle = (low + high) / 2
        sent, received = trial(api, middle, SECONDS)
        if sent - received > LOSS * sent:
            high = middle
        else:
            low = middle
    # what the buffer keeps is not lost, a part of the rest may be, and the load is off by up to 2 %
    most = TRUTH * (1 + BUFFER / SECONDS / CAPACITY + LOSS + 0.02)
    check('the search finds the capacity of the device within its resolution',
          TRUTH - 100 / 2 ** STEPS < low < most, (low, TRUTH, most))
    sent, received = trial(api, low, LONG)
    check('and the device carries that for longer', sent - received <= 2 * (LOSS + 0.02) * sent,
          (sent, received))
    server.end()
