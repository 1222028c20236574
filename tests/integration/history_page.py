#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of earlier runs cost with many of them (docs/how-to/web.md).

    tests/integration/history_page.py [RUNS [TIMES]]

A run of the reference device is made, and copied with other dates and with throughputs that scatter and fall
once. A page is there when its content has been drawn. Asserted is what a busy machine does not change: the
processor time of the tester and of the page's thread in headless Chromium, the least of a few views, and the
bytes that the page asks for. The time on the clock stands beside it.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from browser import Browser
from served import FRAMEGAUGE, Tester
from tap import check, end

RUNS, TIMES = (int(given) for given in (sys.argv[1:] + ['1000', '2'][len(sys.argv) - 1:]))
MAX_MS = 300  # of processor time, of any page
MAX_KB = 800  # of any answer
PLAN = """
name: kept
test: rfc2544
dut: {name: SW-9, firmware: "1.0"}
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, latency: 20us, capacity: 700kfps, time: free}
rfc2544: {tests: [throughput], throughput: {resolution: 1%}}
"""
# In the page: the time from a click to the moment when its rows or charts have been drawn, ms.
COME = """new Promise((done) => {
    const began = performance.now();
    location.hash = '%s';
    const look = () => document.querySelector('%s') === null ? setTimeout(look, 1)
        : requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    look();
})"""


def copy_runs(folder):
    """@return the names of the newest two"""
    runs = os.path.join(folder, 'framegauge-runs')
    subprocess.run([FRAMEGAUGE, 'run', 'plan.yaml', '--quick', '--out', 'framegauge-runs/first'], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(runs, 'first', 'result.json'), encoding='utf-8') as file:
        result = json.load(file)
    rows, rng = result['results']['throughput'], random.Random(1)
    own = [row['throughput_fps'] for row in rows]
    names = [f'run-{i:04}' for i in range(1, RUNS)]
    for i, name in enumerate(names):
        for row, fps in zip(rows, own):
            value = fps * (1 if i < 2 * RUNS / 3 else 0.9) * rng.gauss(1, 0.002)
            known = {'kind': 'interval', 'coverage': 0.95, 'components': [], 'low': 0.995 * value, 'high': 1.005 * value}
            row['throughput_fps'], row['uncertainty'] = value, {'throughput_fps': known}
        result['plan']['device_under_test']['firmware'] = f'1.{10 * i // RUNS}'
        os.mkdir(os.path.join(runs, name))
        started = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(1e9 + 3600 * i))
        for file_name, content in (('result.json', result), ('run.json', {'started': started})):
            with open(os.path.join(runs, name, file_name), 'w', encoding='utf-8') as file:
                json.dump(content, file)
    shutil.rmtree(os.path.join(runs, 'first'))
    return names[-2:]


def used(pid):
    """Processor time of the tester, s."""
    with open(f'/proc/{pid}/schedstat', encoding='ascii') as file:
        return int(file.read().split()[0]) / 1e9


def views(tester, page, name, ready):
    """Each view of a page: ms until it was there, of the page's processor time, of the tester's."""
    for _ in range(TIMES):
        page.value("location.hash = '#now'")
        page.wait("document.querySelector('#ports') !== null")
        start = page.work(), used(tester.process.pid)
        took = page.value(COME % ('#' + name, ready))
        yield took, 1e3 * (page.work() - start[0]), 1e3 * (used(tester.process.pid) - start[1])


def look(tester, page, name, ready):
    figures = list(views(tester, page, name, ready))
    texts = (f'{statistics.median(one):.0f} ({max(one):.0f})' for one in zip(*figures))
    short = name.split('=')[0]
    print('# {:12}{:>22}{:>24}{:>22}'.format(short, *texts), flush=True)
    work = min(own + of_tester for _, own, of_tester in figures)
    check(f'{short} takes at most {MAX_MS} ms of processor time', work <= MAX_MS, f'{work:.0f} ms')


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'plan.yaml'), 'w', encoding='utf-8') as file:
            file.write(PLAN)
        before, after = copy_runs(folder)
        pages = {'runs': '#runs tbody tr', 'history=kept': '.series svg', 'devices': '.device-runs tbody tr',
                 f'compare={before}&{after}': '.comparison tbody tr'}
        tester, page = Tester(folder, PLAN), Browser()
        try:
            page.call('Performance.enable', timeDomain='threadTicks')
            page.open(tester.urls['viewer'])
            page.wait("document.querySelector('#ports') !== null")
            start = time.monotonic(), used(tester.process.pid)
            tester.ask('/api/v1/runs', 'viewer')
            print(f'# {RUNS} runs, medians (longest) of {TIMES}; the first question, which indexes them: '
                  f"{time.monotonic() - start[0]:.1f} s, of the tester's processor time "
                  f'{used(tester.process.pid) - start[1]:.1f} s')
            print(f"# {'page':12}{'there after, ms':>22}{'its processor time':>24}{'of the tester':>22}")
            for name, ready in pages.items():
                look(tester, page, name, ready)
            for path in 'runs', 'history?plan=kept', 'devices', f'compare?before={before}&after={after}':
                size = len(tester.ask('/api/v1/' + path, 'viewer')[1]) / 1e3
                check(f"{path.split('?')[0]} is at most {MAX_KB} kB", size <= MAX_KB, f'{size:.0f} kB')
        finally:
            tester.close()
            page.close()
    end()


main()
