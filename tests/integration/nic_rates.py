# SPDX-License-Identifier: BSD-3-Clause
"""Departures of frames whose queue of the modelled 82599 has a rate, beside those asked for."""

import re
import struct
import statistics

GAP = 20  # bytes of a frame's preamble, delimiter and gap
FRACTION = 2.0**-14  # the least step of the card's rate factor (datasheet 8.2.3.10.16)
CLOCK_NS = 1  # captures have whole ns


def departures(capture):
    """@return by UDP source port: the times at which frames began, ns"""
    data, at, found = capture.read_bytes(), 24, {}
    while at < len(data):
        seconds, ns, length, _ = struct.unpack_from('<4I', data, at)
        port = struct.unpack_from('>H', data, at + 16 + 34)[0]
        found.setdefault(port, []).append(seconds * 10**9 + ns)
        at += 16 + length
    return found


def measure(capture, printed):
    """@return rows: Mb/s, length, frames, mean Mb/s, largest deviation of a gap in ns, bounds of both"""
    found, rows = departures(capture), []
    for number, rate, length in re.findall(r'^# rate (\d+) (\d+) (\d+)$', printed, re.M):
        rate, bits = int(rate), (int(length) + GAP) * 8
        intended = bits / rate * 1e3  # ns
        factor = 10000 / rate
        times = found.get(int(number), [])
        gaps = [after - before for before, after in zip(times, times[1:])]
        mean = statistics.mean(gaps) if gaps else float('inf')
        rows.append(
            {
                'rate': rate,
                'length': int(length),
                'frames': len(times),
                'mean': bits / mean * 1e3,
                'jitter': max((abs(gap - intended) for gap in gaps), default=float('inf')),
                'mean_error': abs(mean - intended) / intended,
                'mean_bound': FRACTION / factor + CLOCK_NS / intended / max(1, len(gaps)),
                'jitter_bound': intended * FRACTION / factor + CLOCK_NS,
            }
        )
    return rows


def is_right(row):
    return row['mean_error'] <= row['mean_bound'] and row['jitter'] <= row['jitter_bound']


def table(rows):
    """For docs/explanation/82599-model.md"""
    lines = ['| Intended, Mb/s | 64 bytes | 512 bytes | 1518 bytes | largest deviation of a gap, ns |']
    lines.append('|---:|---:|---:|---:|---:|')
    for rate in dict.fromkeys(row['rate'] for row in rows):
        of_rate = [row for row in rows if row['rate'] == rate]
        means = ' | '.join(f"{row['mean']:,.4f}" for row in of_rate)
        lines.append(f"| {rate:,} | {means} | {max(row['jitter'] for row in of_rate):.2f} |")
    return lines
