#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What those who look at a tester in a browser cost the lcore that sends (docs/how-to/web.md).

    tests/bench/viewers.py PROGRAM [VIEWERS [STREAMS [TURNS]]]

The same traffic runs by turns with nobody who looks and with many; the medians of both are compared. Nothing
is asserted: on a machine that others use, a gap between two polls is as long as its scheduler likes, so the
time that the lcore has waited for a processor stands beside it.
"""
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'integration'))
os.environ['FRAMEGAUGE'] = os.path.abspath(sys.argv[1])
from served import Tester  # noqa: E402  (it reads the environment)

VIEWERS, STREAMS, TURNS = (int(given) for given in (sys.argv[2:] + ['50', '10000', '7'][len(sys.argv) - 2:]))
SECONDS = 2  # of each turn
FPS = 100000  # of all streams


def plan():
    lines = ['test: traffic', 'ports:', "  east: {device: 'vdev:net_null0', line_rate: 10Gbps}",
             "  west: {device: 'vdev:net_null1', line_rate: 10Gbps}", 'streams:']
    lines += [f'  s{i}: {{size: 64, rate: {FPS // STREAMS}fps}}' for i in range(STREAMS)]
    return '\n'.join(lines) + '\n'


def threads(pid):
    """Of the worker and of the main thread: ns of processor time, and ns that it waited for a processor."""
    found = {}
    for tid in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{tid}/comm', encoding='ascii') as file:
            name = 'worker' if 'worker' in file.read() else 'main' if int(tid) == pid else None
        if name:
            with open(f'/proc/{pid}/task/{tid}/schedstat', encoding='ascii') as file:
                found[name] = [int(word) for word in file.read().split()[:2]]
    return found


class Viewers:
    """Read the stream of states, all of them in one thread, and throw it away."""

    def __init__(self, tester, n):
        host, port = tester.base.removeprefix('http://').split(':')
        request = (f'GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n'
                   f"Authorization: Bearer {tester.token['viewer']}\r\n\r\n").encode()
        self.sockets, self.bytes = [], 0
        for _ in range(n):
            self.sockets.append(socket.create_connection((host, int(port))))
            self.sockets[-1].sendall(request)

    def read_until(self, process):
        """Until the process has ended. Without viewers, just that."""
        while process.poll() is None:
            for one in select.select(self.sockets, [], [], 0.05)[0]:
                self.bytes += len(one.recv(1 << 20))

    def close(self):
        for one in self.sockets:
            one.close()


def metric(tester, name):
    """Its values, of all ports or lcores."""
    with urllib.request.urlopen(tester.urls['metrics']) as answer:
        return [float(line.split()[-1]) for line in answer.read().decode().splitlines()
                if line.startswith(name + '{')]


def turn(tester, n):
    """One window. @return its figures by their names"""
    sent = metric(tester, 'framegauge_port_transmit_frames_total')
    viewers, before = Viewers(tester, n), threads(tester.process.pid)
    with subprocess.Popen([os.environ['FRAMEGAUGE'], 'attach', tester.socket], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as attached:
        attached.stdin.write(f'start all for={SECONDS}\n'.encode())
        attached.stdin.close()
        viewers.read_until(attached)
    after = threads(tester.process.pid)
    viewers.close()

    def ms(thread, i):
        return (after[thread][i] - before[thread][i]) / 1e6

    return {
        'frames sent': sum(metric(tester, 'framegauge_port_transmit_frames_total')) - sum(sent),
        'longest poll gap of the lcore, ms': 1e3 * max(metric(tester, 'framegauge_lcore_poll_gap_seconds')),
        'the lcore waited for a processor, ms': ms('worker', 1),
        'processor time of the control thread, ms': ms('main', 0),
        'read by viewers, MB': viewers.bytes / 1e6,
    }


def main():
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(folder, plan(), '--metrics', '127.0.0.1:0')
        try:
            turns = {n: [] for n in (0, VIEWERS)}
            for _ in range(TURNS):
                for n, figures in turns.items():
                    figures.append(turn(tester, n))
        finally:
            tester.close()
    print(f'{STREAMS} streams, medians of {TURNS} windows each of {SECONDS} s, by turns')
    print(f"{'':42}{'no viewer':>12}{f'{VIEWERS} viewers':>14}{'ratio':>8}")
    for name in turns[0][0]:
        without, beside = (statistics.median(one[name] for one in figures) for figures in turns.values())
        print(f"{name:42}{without:12.1f}{beside:14.1f}{f'{beside / without:.2f}' if without else '-':>8}")


main()
