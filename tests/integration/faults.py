# SPDX-License-Identifier: BSD-3-Clause
"""The campaign of faults (TAP): what the system refuses or takes away at one moment, and the outcome.

usage: faults.py FRAMEGAUGE [--all [--every]] [--seed N] [--jobs N] [--only PART]

Each fault is one run of the program that meets it at one place: the n-th allocation of its own code is
refused (refuse.c), it is killed after a while, the disk becomes full, few files may be open, little address
space is left (which is what refuses LuaJIT's memory). It must end with 0, or with 4 and a message; where a
folder of results is left, resuming must give the bytes of an undisturbed run. Without --all a few places are
drawn by the seed; docs/explanation/campaigns.md keeps the outcome of all.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 600  # seconds of one run, which takes one or two, and on a machine with other work a hundred
SMALL = ['--quick', '--set', 'rfc2544.frame_sizes=[512]', '--set', 'rfc2544.throughput.resolution=5%']
PROGRAMS = {  # name: arguments, with {out} for the folder of results
    'check': ['check', 'configs/y1564-three-services-reference.yaml'],
    'frames': ['frames', 'configs/traffic-errors-reference.yaml', '--pcap', '{out}'],
    'throughput': ['run', 'configs/rfc2544-reference.yaml', *SMALL, '--out', '{out}'],
    'streams': ['run', 'configs/traffic-errors-reference.yaml', '--quick', '--out', '{out}'],
    'replay': ['run', 'configs/replay-reference.yaml', '--quick', '--out', '{out}'],
    'captured': [
        'run',
        'configs/replay-reference.yaml',
        '--quick',
        '--out',
        '{out}',
        '--capture',
        'west={out}.pcapng',
    ],
    'tcp': ['run', 'configs/l4-clients-reference.yaml', '--quick', '--out', '{out}'],
    'service': ['run', 'configs/y1564-one-service-reference.yaml', '--quick', '--out', '{out}'],
}
KEPT = ('result.json', 'trials.jsonl')


class Campaign:
    def __init__(self, options, root):
        self.options, self.root = options, root
        self.program = os.path.abspath(options.program)
        self.shim = root / 'librefuse.so'  # LD_PRELOAD is a list: a path in it has no space
        self.shim.symlink_to(pathlib.Path(self.program).parents[1] / 'tests/integration' / self.shim.name)
        self.random = random.Random(options.seed)
        self.numbers = itertools.count()
        self.undisturbed, self.lock = {}, threading.Lock()

    def folder(self):
        return self.root / str(next(self.numbers))

    def start(self, arguments, environment=None, before=None):
        return subprocess.Popen(
            [self.program, *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            preexec_fn=before,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def finish(self, process):
        """@return exit status, None when it does not end, and what it said"""
        try:
            return process.returncode, process.communicate(timeout=LONGEST)[1] or ''
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, 'does not end'

    def command(self, name, out, **more):
        process = self.start([a.format(out=out) for a in PROGRAMS[name]], **more)
        _, said = self.finish(process)
        return process.returncode, said

    def reference(self, name):
        """The folder of a run that nothing disturbs; made once."""
        with self.lock:
            if name not in self.undisturbed:
                out = self.folder()
                status, said = self.command(name, out)
                assert status == 0, said
                self.undisturbed[name] = out
            return self.undisturbed[name]

    def differs(self, name, out):
        """What of an interrupted run is lost: resuming must give the undisturbed bytes."""
        if not (out / 'run.json').exists():
            return ''
        facts = json.loads((out / 'run.json').read_text())
        if facts['ended'] is None or json.loads((out / 'result.json').read_text())['interrupted']:
            process = self.start(['run', '--resume', str(out)])
            _, said = self.finish(process)
            if process.returncode != 0:
                return f'resuming ends with {process.returncode}: {said[:200]}'
        return ''.join(
            f'{f} differs' for f in KEPT if (out / f).read_bytes() != (self.reference(name) / f).read_bytes()
        )

    def judge(self, name, out, status, said):
        """@return what is wrong, or nothing"""
        if status not in (0, 4) or 'traceback' in said or (status == 4 and not said.strip()):
            return f'status {status}: {said[:300]!r}'
        return self.differs(name, out) if PROGRAMS[name][0] == 'run' else ''

    def drawn(self, places, few):
        places = list(places)
        return places if self.options.all else sorted(self.random.sample(places, min(few, len(places))))

    def sweep(self, what, places, fault):
        """Meet the fault at every place; of --all tell each as it ends. @return whether all went well"""
        wrong, refused, survived = 0, 0, 0
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for place, (status, problem) in zip(places, pool.map(fault, places)):
                wrong += bool(problem)
                refused += status == 4 and not problem
                survived += status != 4 and not problem
                if problem or self.options.all:
                    done = wrong + refused + survived
                    print(f'# {done} of {len(places)}, {place}: {problem or f"status {status}"}', flush=True)
        print(
            ('not ok' if wrong else 'ok')
            + f' - {what}: {len(places)} faults, {refused} refused with status 4, '
            f'{survived} survived, {wrong} wrong',
            flush=True,
        )
        return not wrong

    def memory(self, name):
        log = self.root / f'{name}.count'
        preload = {'LD_PRELOAD': str(self.shim), 'FG_REFUSE_LOG': str(log)}
        status, said = self.command(name, self.folder(), environment=preload)
        assert status == 0, said
        callers = log.read_text().split()
        total = len(callers)
        sites = {caller: n for n, caller in reversed(list(enumerate(callers, 1)))}  # the first time of each
        sites = set(sites.values()) | {n for n, caller in enumerate(callers, 1) if caller not in callers[n:]}
        places = range(1, total + 1) if self.options.every else sites

        def fault(n):
            out = self.folder()
            status, said = self.command(
                name, out, environment={'LD_PRELOAD': str(self.shim), 'FG_REFUSE': str(n)}
            )
            return status, self.judge(name, out, status, said)

        return self.sweep(
            f'memory refused to {name}, {total} allocations at {len(set(callers))} places',
            self.drawn(sorted(places), 4),
            fault,
        )

    def limits(self, name, what, which, values):
        def fault(value):
            out = self.folder()
            status, said = self.command(name, out, before=lambda: resource.setrlimit(which, (value, value)))
            return status, self.judge(name, out, status, said)

        return self.sweep(f'{what} of {name}', self.drawn(values, 5), fault)

    def kills(self, name):
        began = time.monotonic()
        self.command(name, self.folder())
        lasts = time.monotonic() - began

        def fault(moment):
            out = self.folder()
            process = self.start([a.format(out=out) for a in PROGRAMS[name]])
            try:
                process.wait(moment * lasts)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            self.finish(process)
            return process.returncode, self.differs(name, out)

        moments = [round(self.random.uniform(0.1, 1), 3) for _ in range(50 if self.options.all else 4)]
        return self.sweep(f'kills of {name} (moments in lengths of the run)', moments, fault)

    def disks(self, name):
        def fault(kib):
            out = self.folder()
            out.mkdir()
            subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={kib}k', 'faults', str(out)], check=True)
            try:
                status, said = self.command(name, out / 'o')
                subprocess.run(['mount', '-o', 'remount,size=32m', str(out)], check=True)
                return status, self.judge(name, out / 'o', status, said)
            finally:
                subprocess.run(['umount', str(out)], check=True)

        return self.sweep(f'full disks of {name} (KiB)', self.drawn(range(4, 124, 8), 4), fault)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument(
        '--all', action='store_true', help='all places, not a few: the first and last time of each'
    )
    parser.add_argument(
        '--every', action='store_true', help='with --all, every allocation and not only those'
    )
    parser.add_argument('--seed', type=int, default=2544)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--only', help='sweeps whose name has this in it')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='framegauge-faults-') as name:
        c = Campaign(options, pathlib.Path(name))
        sweeps = [(f'memory {one}', lambda one=one: c.memory(one)) for one in PROGRAMS]
        sweeps += [
            (
                'descriptors',
                lambda: c.limits('throughput', 'limits of open files', resource.RLIMIT_NOFILE, range(4, 64)),
            ),
            (
                'space check',
                lambda: c.limits(
                    'check',
                    'limits of address space',
                    resource.RLIMIT_AS,
                    range(44 << 20, 140 << 20, 2 << 20),
                ),
            ),
            (
                'space run',
                lambda: c.limits(
                    'throughput',
                    'limits of address space',
                    resource.RLIMIT_AS,
                    range(60 << 20, 1800 << 20, 20 << 20),
                ),
            ),
            ('kills throughput', lambda: c.kills('throughput')),
            ('kills tcp', lambda: c.kills('tcp')),
        ]
        if os.geteuid() == 0:
            sweeps.append(('disks', lambda: c.disks('throughput')))
        sweeps = [  # runs of TCP take longest
            one for one in sweeps if (options.only or '') in one[0] and (options.all or 'tcp' not in one[0])
        ]
        print(f'1..{len(sweeps)}\n# seed {options.seed}', flush=True)
        good = [run() for _, run in sweeps]
    sys.exit(not all(good))


main()
