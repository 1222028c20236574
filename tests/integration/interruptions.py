# SPDX-License-Identifier: BSD-3-Clause
"""What a run that is interrupted leaves (TAP): each method of the registry, in each phase, by each signal.

usage: interruptions.py FRAMEGAUGE [--all | METHOD,PHASE,SIGNAL... | [METHOD | PHASE | SIGNAL]...]

The ports are veth pairs behind a bridge, in a namespace of this test. A run meets a signal in one of its
phases. After INT, TERM and HUP it must end with 130, leave a result that `report` reads, and the host as it
was before: links, addresses, features, promiscuous flags, XDP programs, the runtime folder. After KILL
`doctor` must name what is left, and `doctor --restore` put it back. Then the run is resumed, interrupted
again once it has made another trial, and the host must be as before. Without --all a few points are played
that have each phase and each signal; with it, or where FRAMEGAUGE_LONG is set, there are all of them. The
last lines are a table of methods and phases, with the signals of each after which all was as before.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 180  # seconds; the plan of Y.1564 takes 20 on a machine with nothing else to do
PATIENCE = 3  # seconds until a link is up again
SIGNALS = ['INT', 'TERM', 'HUP', 'KILL']
# a file, and ms behind its writing, for interrupt.c; a test that looks for a trial itself may be late
AT = {
    'before': ('run.json',),
    'trial': ('run.json', '200'),
    'between': ('trials.jsonl',),
    'report': ('result.json',),
}
PHASES = ['before', 'trial', 'between', 'down', 'report']  # down: only of tests that take a link down
HEAD = """isolated_network: true
host: {huge_pages: never, max_lag: 1s}
ports: {%s}
test: %s
%s: {%s}
"""
TWO = (
    "a: {device: 'kernel:p0', ipv4: 198.18.1.2/24}, "
    "b: {device: 'kernel:p1,af_packet', ipv4: 198.18.1.99/24}"
)
LINE = ', '.join(
    f"{name}: {{device: 'kernel:p{i},af_packet', line_rate: 10Mbps}}" for i, name in enumerate('abc')
)
PAIR = TWO.replace('ipv4', 'line_rate: 10Mbps, ipv4')
SHORT = 'learning_wait: 50ms, drain: 50ms, settle: 0s'
EVENT = (
    'from: a, preferred: b, next_best: c, routes: {count: 2}, rate: 2kfps, sampling: 10ms, at: 300ms,'
    ' watch: 1s, validation: 200ms, repetitions: 2, '
)
PLANS = {  # ports, keys of the test, other groups; behind a + is what one plan of a method is about
    'rfc2544': (PAIR, 'tests: [throughput], frame_sizes: [512], ' + SHORT, ''),
    'rfc2889': (LINE, 'tests: [fully_meshed], frame_sizes: [512], ' + SHORT, ''),
    'rfc3918': (LINE, 'tests: [aggregated], frame_sizes: [512], ' + SHORT, ''),
    'traffic': (TWO, 'duration: 1s, ' + SHORT, 'streams: {s: {from: a, to: b, rate: 400fps, size: 128}}'),
    'mesh': (LINE, 'trial: 300ms, ' + SHORT, ''),
    'y1564': (
        PAIR,
        'services: {data: {frame_size: 512, cir: 1Mbps, cbs: 4096, acceptance: {flr: 10%}}}, ' + SHORT,
        '',
    ),
    'l4': (TWO, 'tests: [TCP_STREAM], duration: 1s', ''),
    'rfc6349': (PAIR, 'path_mtu: 1500, connections: 1, windows: [50%], directions: [forward]', ''),
    'replay': (TWO, f'file: {ROOT}/configs/replay-reference.pcap, repetitions: 2', ''),
    'convergence': (LINE, 'link: b, ' + EVENT + SHORT, ''),
    'convergence+command': (
        LINE,
        'command: [ip, link, set, p1, down], revert_command: [ip, link, set, p1, up], ' + EVENT + SHORT,
        '',
    ),
    'rfc8239': (LINE, 'tests: [line_rate], frame_sizes: [512], ' + SHORT, ''),
    'rfc9411': (TWO, 'objects: [1KiB], target: {connections: 50, transactions: 50, concurrent: 50}', ''),
    'rfc9693': (TWO, 'tests: [connection_rate], connections: [50], timeout: 500ms, gap: 10ms', ''),
    'characterise': (PAIR, '', ''),
    'oam': (TWO, 'tests: [stamp], frame_sizes: [128], count: 20, interval: 10ms', ''),
}
FEW = [  # points of the ordinary test
    ('rfc2544', 'before', 'KILL'),
    ('l4', 'trial', 'HUP'),
    ('mesh', 'between', 'TERM'),
    ('convergence', 'down', 'INT'),
    ('convergence', 'down', 'KILL'),
    ('convergence+command', 'down', 'TERM'),
    ('traffic', 'report', 'TERM'),
]


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Host:
    """The namespace, and what a run may change in it."""

    def __init__(self, name, runtime):
        self.name, self.runtime = name, runtime
        said_by('ip', 'netns', 'add', name)
        said_by('ip', 'netns', 'exec', name, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1')
        self.ip('link', 'add', 'br0', 'type', 'bridge')
        for i in range(3):
            self.ip('link', 'add', f'p{i}', 'type', 'veth', 'peer', 'name', f'q{i}')
            self.ip('link', 'set', f'q{i}', 'master', 'br0')
        self.ip('addr', 'add', '192.0.2.1/32', 'dev', 'p1')
        self.ip('link', 'set', 'p2', 'promisc', 'on')
        for name in ('br0', 'p0', 'p1', 'p2', 'q0', 'q1', 'q2'):
            self.ip('link', 'set', name, 'up')

    def ip(self, *arguments):
        return said_by('ip', '-n', self.name, *arguments)

    def close(self):
        said_by('ip', 'netns', 'del', self.name)

    def state(self):
        """As text; what the kernel counts is left out."""
        links = json.loads(self.ip('-j', '-d', 'link', 'show'))
        for link in links:
            for key in ('br_info', 'info_slave_data', 'hello_timer', 'linkinfo', 'num_rx_queues'):
                link.pop(key, None)
        features = [
            said_by('ip', 'netns', 'exec', self.name, 'ethtool', '-k', f'p{i}') for i in range(3)
        ]
        files = [str(path) for path in self.runtime.glob('**/*') if not path.is_dir()]
        processes = said_by('ip', 'netns', 'pids', self.name).split()
        return json.dumps(
            [links, json.loads(self.ip('-j', 'addr', 'show')), features, files, processes], indent=1
        )

    def difference(self, before):
        """From an earlier state; a link takes a moment to be up."""
        until = time.monotonic() + PATIENCE
        while (now := self.state()) != before and time.monotonic() < until:
            time.sleep(0.05)
        old, new = before.splitlines(), now.splitlines()
        return '\n'.join([f'- {x}' for x in old if x not in new] + [f'+ {x}' for x in new if x not in old])


class Run:
    def __init__(self, program, host, folder, name):
        self.program, self.host, self.folder, self.name = program, host, folder, name
        self.out, self.plan = folder / 'out', folder / 'plan.yaml'
        ports, keys, more = PLANS[name]
        method = name.split('+')[0]
        self.plan.write_text(HEAD % (ports, method, method, keys) + more + '\n')
        self.log, self.processes = open(folder / 'log', 'w+'), []

    def start(self, *arguments, **environment):
        self.processes.append(subprocess.Popen(
            ['ip', 'netns', 'exec', self.host.name, self.program, *arguments],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=self.folder,
            env={**os.environ, 'XDG_RUNTIME_DIR': str(self.host.runtime), **environment},
        ))
        return self.processes[-1]

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.command('doctor', '--restore')

    def said(self, most=3000):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()[-most:]

    def command(self, *arguments):
        self.log.seek(0)
        self.log.truncate()
        return self.start(*arguments).wait(LONGEST)

    def await_until(self, process, holds):
        until = time.monotonic() + LONGEST
        while process.poll() is None and not holds():
            assert time.monotonic() < until, 'the run does not come to this phase:\n' + self.said()
            time.sleep(0.01)

    def trials(self):
        path = self.out / 'trials.jsonl'
        return path.read_text().count('\n') if path.exists() else 0

    def is_down(self):
        return any('UP' not in link['flags'] for link in json.loads(self.host.ip('-j', 'link', 'show', 'p1')))

    def interrupted_in(self, phase, number):
        # a trial that a busy machine does not end before the signal comes
        pace = ['--set', 'l4.duration=10s'] if (self.name, phase) == ('l4', 'trial') else ['--quick']
        arguments = ['run', str(self.plan), *pace, '--out', str(self.out)]
        if phase in AT:
            process = self.start(
                *arguments, **dict(zip(('FG_SIGNAL_AT', 'FG_SIGNAL_AFTER'), AT[phase])),
                FG_SIGNAL=str(int(number)), LD_PRELOAD=str(self.folder.parent / 'libinterrupt.so'),
            )
        else:
            process = self.start(*arguments)
            self.await_until(process, lambda: (self.out / 'run.json').exists())
            self.await_until(process, self.is_down)
            process.send_signal(number)
        return process.wait(LONGEST)

    def is_complete(self):
        facts, path = json.loads((self.out / 'run.json').read_text()), self.out / 'result.json'
        return facts['ended'] is not None and not json.loads(path.read_text())['interrupted']

    def resume(self):
        """@return what is wrong with it"""
        before, late = self.trials(), time.monotonic() + PATIENCE
        process = self.start('run', '--resume', str(self.out))
        self.await_until(process, lambda: self.trials() > before or time.monotonic() > late)
        process.send_signal(signal.SIGINT)
        status = process.wait(LONGEST)
        resumed = f'Resumed: {before} trial' in self.said(10**6)
        if status in (0, 1, 3, 130) and self.trials() >= before and resumed:
            return ''
        return f'status {status}, {before} trials before, {self.trials()} now: {self.said()}'


def judge(run, before, phase, name):
    """What is wrong with a run that meets a signal; nothing when all is well."""
    number = getattr(signal, 'SIG' + name)
    status = run.interrupted_in(phase, number)
    # after its last trial a run has all that it wants
    wanted = [-9, 137] if name == 'KILL' else [0, 1, 3, 130] if phase in ('between', 'report') else [130]
    if status not in wanted or 'traceback' in run.said():
        return f'status {status}, expected {wanted}:\n{run.said()}'
    if name == 'KILL':
        status = run.command('doctor')
        if 'left behind' not in run.said() or 'doctor --restore' not in run.said():
            return f'doctor does not name what is left:\n{run.said()}'
        status = run.command('doctor', '--restore')
        # the folder in /tmp is everybody's: another test may have left something there
        left = [line for line in run.said().splitlines() if not line.endswith(': put back')]
        others = left and all('another network namespace' in line for line in left)
        if status != 0 and not (status == 4 and others):
            return f'doctor --restore ends with {status}:\n{run.said()}'
    elif status != 130 and not run.is_complete():
        return f'the run ends with {status} and is not complete'
    elif run.command('report', str(run.out)) != 0:
        return 'the result cannot be read:\n' + run.said()
    if found := run.host.difference(before):
        return 'the host is another one:\n' + found
    if run.is_complete():
        return ''
    if found := run.resume():
        return 'resuming: ' + found
    if found := run.host.difference(before):
        return 'the host is another one after resuming:\n' + found
    return ''


def points(arguments):
    chosen = [a for a in arguments if not a.startswith('-')]
    if '--all' not in arguments and not chosen and not os.environ.get('FRAMEGAUGE_LONG'):
        return FEW
    if chosen and ',' in chosen[0]:
        return [tuple(point.split(',')) for point in chosen]
    every = [
        (method, phase, name)
        for method in PLANS for phase in PHASES for name in SIGNALS
        if phase != 'down' or method.startswith('convergence')
    ]
    for kind in (PLANS, PHASES, SIGNALS):  # of several of one kind each
        names = [c for c in chosen if c in kind]
        every = [point for point in every if not names or set(names) & set(point)]
    return every


def print_table(good):
    """@param good  points after which all was as before"""
    print('# {:<20}'.format('') + ''.join(f'{phase:<18}' for phase in PHASES))
    for method in PLANS:
        cells = [' '.join(n for n in SIGNALS if (method, phase, n) in good) or '-' for phase in PHASES]
        print(f'# {method:<20}' + ''.join(f'{cell:<18}' for cell in cells), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    if os.geteuid() != 0:
        print('1..0 # SKIP needs root, for a network namespace')
        return
    with tempfile.TemporaryDirectory(prefix='framegauge-interruptions-') as name:
        folder = pathlib.Path(name)
        runtime = folder / 'run'
        runtime.mkdir(mode=0o700)
        # LD_PRELOAD is a list: a path in it has no space
        (folder / 'libinterrupt.so').symlink_to(
            pathlib.Path(program).parents[1] / 'tests/integration/libinterrupt.so'
        )
        host = Host('fgint-' + os.path.basename(name)[-6:], runtime)
        try:
            time.sleep(0.1)
            methods = said_by(program, 'script', str(ROOT / 'tests/integration/methods.lua')).split()
            known = {plan.split('+')[0] for plan in PLANS}
            tap.check('each method has a plan here', set(methods) == known, methods)
            before, good = host.state(), set()
            for i, point in enumerate(points(sys.argv[2:])):
                here = folder / str(i)
                here.mkdir()
                run = Run(program, host, here, point[0])
                try:
                    found = judge(run, before, *point[1:])
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    found = str(error)
                finally:
                    run.close()
                tap.check('{}, {}, {}'.format(*point), not found, found)
                good |= set() if found else {point}
                shutil.rmtree(here)
            print_table(good)
        finally:
            for pid in said_by('ip', 'netns', 'pids', host.name).split():
                os.kill(int(pid), signal.SIGKILL)
            host.close()
    tap.end()


main()
