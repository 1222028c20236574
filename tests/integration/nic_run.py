# SPDX-License-Identifier: BSD-3-Clause
"""What nic.py and the chaos campaign (tests/nic82599/campaign.py) share: the program on the model of the
82599, and what its results claim."""

import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LONGEST = 120  # seconds
ALLOWED = (0, 3)  # exit statuses: valid, or tester-limited and invalid
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='framegauge-nic-'))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the default action runs nothing at exit
PORTS = '''isolated_network: true
ports:
  west: {device: '0000:11:00.0', ipv4: 198.18.1.2/24}
  east: {device: '0000:11:00.1', ipv4: 198.18.1.3/24}
host: {huge_pages: never, max_lag: 1s}
'''
TRAFFIC = PORTS + '''name: nic
test: traffic
traffic: {duration: %s, learning_wait: 100ms, drain: 200ms}
streams:
  there: {from: west, to: east, rate: 400fps, size: %d}
  back: {from: east, to: west, rate: 400fps, size: 128}
'''


class Run:
    """A command on the model: how it ended, what it printed, and what the card had to say of it."""

    def __init__(self, model, *command, options='', orders=(), text=None, after=None):
        """orders: list of (seconds, order), counted from the start or from when the file @p after is there"""
        self.report = FOLDER / 'report'
        control = FOLDER / 'control'
        words = [f'cards=2,report={self.report},control={control}', *(options.split() if options else [])]
        self.report.unlink(missing_ok=True)
        shim = FOLDER / 'libnic82599.so'  # LD_PRELOAD is a list: a path in it has no space
        if not shim.exists():
            shim.symlink_to((model / shim.name).resolve())
        env = {**os.environ, 'NIC82599': ','.join(words), 'LD_PRELOAD': str(shim)}
        # where DPDK and the model have their files, of root, too; /tmp/dpdk, else, is the first user's
        env['XDG_RUNTIME_DIR'] = env['RUNTIME_DIRECTORY'] = str(FOLDER)
        process = subprocess.Popen(
            command,
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.pid = process.pid
        for delay, order in orders:
            threading.Thread(target=self.later, args=(after, delay, control, order), daemon=True).start()
        try:
            self.out, _ = process.communicate(text, timeout=LONGEST)
            self.status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.out, _ = process.communicate()
            self.status = None
        self.card = self.report.read_text() if self.report.exists() else ''

    def later(self, after, delay, control, order):
        limit = time.monotonic() + LONGEST
        while after is not None and not after.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(delay)
        self.order(control, order)

    @staticmethod
    def order(control, order):
        try:
            fd = os.open(control, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return  # the command has ended before
        os.write(fd, f'{order}\n'.encode())
        os.close(fd)

    @property
    def breaches(self):
        return [line for line in self.card.splitlines() if ' ended: ' not in line]

    def detail(self):
        return f'status {self.status}\n{self.out[-2000:]}\n{self.card}'


def plan(name, text):
    path = FOLDER / f'{name}.yaml'
    path.write_text(text)
    return str(path)


def run(model, program, name, text, quick=True, **how):
    """Run a plan into a folder of its own; @return the command and its result, None without one"""
    out = FOLDER / name
    shutil.rmtree(out, ignore_errors=True)
    how.setdefault('after', out / 'run.json')  # which is written when the ports are open
    done = Run(model, program, 'run', plan(name, text), *['--quick'] * quick, '--out', str(out), **how)
    result = out / 'result.json'
    return done, json.loads(result.read_text()) if result.exists() else None
