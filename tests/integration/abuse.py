# SPDX-License-Identifier: BSD-3-Clause
"""What a careless or unlucky user does to the program and its files (TAP).

usage: abuse.py FRAMEGAUGE

Closed streams, full disks, few descriptors, files of another kind, records of trials that somebody changed:
each must end with the documented exit status (`framegauge help exit`) and a message, never with a crash, an
internal error (70) or a wait that has no end; and what was measured must be there.
"""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = str(ROOT / 'configs/rfc2544-reference.yaml')
RUN = ['run', PLAN, '--quick', '--set', 'rfc2544.frame_sizes=[64, 1518]']
LONGEST = 120  # seconds; no case takes more than a few on an idle machine
CASES = []
UNSHARED = subprocess.run(['unshare', '-m', 'true'], stderr=subprocess.DEVNULL, check=False).returncode == 0


def case(needs_root=False):
    def add(function):
        CASES.append((function, needs_root))
        return function

    return add


class Done:
    """How a command ended, and what it said."""

    def __init__(self, *arguments, before=None, wrap=(), text=None, environment=None):
        try:
            done = subprocess.run(
                [*wrap, PROGRAM, *arguments],
                capture_output=True,
                text=True,
                input=text,
                timeout=LONGEST,
                preexec_fn=before,
                check=False,
                env={**os.environ, **(environment or {})},
            )
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.status, self.out, self.err = None, '', 'does not end'

    def must(self, status, *words):
        """@return what is wrong with it, or nothing"""
        missing = [word for word in words if word not in self.err]
        if self.status == status and not missing and 'traceback' not in self.err:
            return ''
        return f'status {self.status}, not {status}; missing {missing} in: {self.err[:300]!r}'


def limit(which, value):
    return lambda: resource.setrlimit(which, (value, value))


def same(folder, other, *names):
    wrong = [
        n
        for n in names or ('result.json', 'trials.jsonl')
        if (folder / n).read_bytes() != (other / n).read_bytes()
    ]
    return f'{wrong} differ from the undisturbed run' if wrong else ''


def killed(undisturbed, folder, trials=10):
    """The folder as a run leaves it that is killed."""
    shutil.copytree(undisturbed, folder)
    facts = json.loads((folder / 'run.json').read_text())
    facts['ended'] = facts['elapsed_s'] = None
    (folder / 'run.json').write_text(json.dumps(facts))
    lines = (folder / 'trials.jsonl').read_text().splitlines(keepends=True)
    (folder / 'trials.jsonl').write_text(''.join(lines[:trials]))
    for name in ('result.json', 'report.html', 'junit.xml', 'throughput.csv'):
        (folder / name).unlink()
    return folder


@case()
def modules_missing(folder, _):
    """without luv and cjson every command and doctor name the module and its package"""
    nothing = {'LUA_CPATH': '/none/?.so'}
    doctor = Done('doctor', environment=nothing)
    return (
        Done('check', PLAN, environment=nothing).must(4, "'luv' is missing", 'lua-luv', 'lua-cjson')
        or Done(*RUN, '--out', str(folder / 'o'), environment=nothing).must(4, "'luv' is missing")
        or doctor.must(4)
        or ('' if "'luv' is missing" in doctor.out else doctor.out)
    )


@case()
def stdout_closed(folder, undisturbed):
    """a closed standard output costs the output and not the result"""
    return Done(*RUN, '--out', str(folder / 'o'), before=lambda: os.close(1)).must(
        4, 'cannot write the output'
    ) or same(folder / 'o', undisturbed)


@case()
def all_closed(folder, undisturbed):
    """nor do all three closed streams"""
    done = Done(*RUN, '--out', str(folder / 'o'), before=lambda: os.closerange(0, 3))
    return done.must(4) or same(folder / 'o', undisturbed)


@case()
def reader_leaves(folder, undisturbed):
    """`| head -1` costs a run neither its result nor its exit status"""
    with subprocess.Popen(
        [PROGRAM, *RUN, '--out', str(folder / 'o')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        run.stdout.readline()
        run.stdout.close()
        status = run.wait(LONGEST)
    return f'status {status}' if status != 0 else same(folder / 'o', undisturbed)


@case()
def output_full(folder, undisturbed):
    """a full device at the standard output"""
    with open('/dev/full', 'wb') as full:
        status = subprocess.run(
            [PROGRAM, *RUN, '--out', str(folder / 'o')],
            stdout=full,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        ).returncode
    return f'status {status}' if status != 4 else same(folder / 'o', undisturbed)


@case(needs_root=True)
def disk_full(folder, undisturbed):
    """a disk that becomes full: the file is named, and with room again the run goes on to the same bytes"""
    out = folder / 'mounted'
    out.mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'abuse', str(out)], check=True)
    try:
        wrong = Done(*RUN, '--out', str(out / 'o')).must(4, 'cannot write', 'no space left')
        subprocess.run(['mount', '-o', 'remount,size=8m', str(out)], check=True)
        return wrong or Done('run', '--resume', str(out / 'o')).must(0) or same(out / 'o', undisturbed)
    finally:
        subprocess.run(['umount', str(out)], check=True)


@case()
def file_size_limit(folder, _):
    """a limit of the size of files (SIGXFSZ)"""
    # a file of huge pages would be too large, too
    plan = [*RUN, '--set', 'host.huge_pages=never', '--out', str(folder / 'o')]
    return Done(*plan, before=limit(resource.RLIMIT_FSIZE, 20000)).must(4, 'cannot write', 'file too large')


@case(needs_root=True)
def read_only(folder, undisturbed):
    """resuming in a folder that is read-only"""
    out = killed(undisturbed, folder / 'o')
    return Done(
        '-c',
        f'mount --bind {out} {out} && mount -o remount,ro,bind {out} && exec {PROGRAM} run --resume {out}',
        wrap=('unshare', '-m', 'sh', '-c', 'shift; exec sh "$@"', 'sh'),
    ).must(4, 'cannot write', 'read-only')


@case()
def trials_folder(folder, undisturbed):
    """a folder in the place of trials.jsonl"""
    out = killed(undisturbed, folder / 'o')
    (out / 'trials.jsonl').unlink()
    (out / 'trials.jsonl').mkdir()
    return Done('run', '--resume', str(out)).must(2, 'trials.jsonl')


FORGED = [
    ('"lost":', '"lost":-', 'lost: -'),
    ('"tx":', '"tx":null,"rx":', 'tx: null'),
    ('"rx":', '"rx":"abc","late":', 'rx: "abc"'),
    ('"refused":', '"refused":0.5,"lost":', 'refused: 0.5'),
    ('"offered_fps":', '"offered_fps":NaN,"lost":', 'offered_fps'),
    ('"reasons":[', '"reasons":[7', 'reasons[1]: 7'),
    ('"validity":"', '"validity":"very ', 'validity: "very'),
    ('"late":', '"later":', 'late: missing'),
    ('"directions":[{', '"directions":[7,{', 'directions[1]: 7'),
]


@case()
def trials_forged(folder, undisturbed):
    """wrong values in trials.jsonl are refused, with their line and key"""
    for i, (old, new, words) in enumerate(FORGED):
        out = killed(undisturbed, folder / str(i))
        lines = (out / 'trials.jsonl').read_text().splitlines()
        assert old in lines[6], old
        lines[6] = lines[6].replace(old, new, 1)
        (out / 'trials.jsonl').write_text('\n'.join(lines) + '\n')
        wrong = Done('run', '--resume', str(out)).must(2, 'line 7 of trials.jsonl', words)
        if wrong:
            return f'{new}: {wrong}'
    return ''


@case()
def huge_tail(folder, undisturbed):
    """30 MB without an end behind the last trial are cut off in no time"""
    out = killed(undisturbed, folder / 'o')
    with open(out / 'trials.jsonl', 'a', encoding='ascii') as trials:
        trials.write('[' * 30_000_000)
    return Done('run', '--resume', str(out)).must(0) or same(out, undisturbed)


@case()
def few_descriptors(folder, _):
    """any limit of open files from 4 to 23 is told, as is what to do about it"""
    for n in range(4, 24):
        done = Done(*RUN, '--out', str(folder / str(n)), before=limit(resource.RLIMIT_NOFILE, n))
        wrong = done.status != 0 and done.must(4, 'ulimit -n')
        if wrong:
            return f'{n}: {wrong}'
    return ''


@case()
def huge_pages_unknown(folder, _):
    """a word of the environment about huge pages that is not one of the three is told"""
    done = Done(*RUN, '--out', str(folder / 'o'), environment={'FRAMEGAUGE_HUGE_PAGES': 'maybe'})
    return done.must(4, 'FRAMEGAUGE_HUGE_PAGES: "maybe" is not auto, never or require')


@case(needs_root=True)
def no_proc(folder, undisturbed):
    """without /proc a test on the virtual wire runs, or is refused for the lack of it"""
    done = Done(
        '-c',
        f'umount -l /proc; exec {PROGRAM} {" ".join(repr(a) for a in RUN)} --out {folder}/o',
        wrap=('unshare', '-m', 'sh', '-c', 'shift; exec sh "$@"', 'sh'),
    )
    return same(folder / 'o', undisturbed) if done.status == 0 else done.must(4, '/proc')


@case()
def many_ports(folder, _):
    """2000 ports are too many, and that is the only error"""
    plan = folder / 'ports.yaml'
    plan.write_text(
        'test: rfc2544\nports:\n' + ''.join(f'  p{i}: {{device: wire{i}}}\n' for i in range(2000))
    )
    return Done('check', str(plan)).must(2, '2000 given; expected at most 64')


@case()
def named_pipes(folder, _):
    """a pipe without a writer is no plan, no capture and no script; one with a writer is a plan"""
    fifo = folder / 'fifo'
    os.mkfifo(fifo)
    replay = str(ROOT / 'configs/replay-reference.yaml')
    plan = pathlib.Path(PLAN).read_text()
    return (
        Done('check', str(fifo)).must(2, 'no process writes')
        or Done('run', str(fifo)).must(2, 'no process writes')
        or Done('script', str(fifo)).must(2, 'no process writes')
        or Done('replay', replay, str(fifo)).must(2, 'no regular file')
        or Done('run', replay, '--set', f'replay.file={fifo}', '--out', str(folder / 'o')).must(
            2, 'no regular file'
        )
        or Done('check', '/dev/stdin', text=plan).must(0)
    )


@case()
def terminals(folder, undisturbed):
    """a terminal that nobody types at is no plan, no capture, no script, no key and no page; nor is a socket"""
    fifo, result = folder / 'fifo', str(undisturbed)
    os.mkfifo(fifo)
    socket.socket(socket.AF_UNIX).bind(str(folder / 's'))
    for path in ('/dev/ptmx', str(folder / 's')):
        for words in (['check'], ['run'], ['console'], ['script'], ['sign', result, '--key']):
            if wrong := Done(*words, path).must(2, 'no regular file'):
                return f'{words} {path}: {wrong}'
        for words in (['report', result, result, '--html'], ['compare', result, result, '--html']):
            if wrong := Done(*words, path).must(4, 'no regular file'):
                return f'{words} {path}: {wrong}'
        for key in ('lab.logo', 'l4.file', 'l4.tls.ca_file', 'l4.dns.queries', 'replay.file', 'calibration'):
            if wrong := Done('check', PLAN, '--set', f'{key}={path}').must(2, 'no regular file'):
                return f'{key}={path}: {wrong}'
    tls = str(ROOT / 'configs/l4-tls-reference.yaml')
    log = ['run', tls, '--out', str(folder / 'keys'), '--set']
    return (
        Done('compare', result, result, '--html', str(fifo)).must(4, 'no process reads')
        or Done('compare', result, result, '--html', '/dev/ptmx').must(4, 'cannot write /dev/ptmx: it is no')
        or Done('compare', result, result, '--html', '/dev/null').must(0)
        or Done('report', result, result, '--html', '/dev/stdout').must(0)
        or Done(*log, 'l4.tls.key_log=/dev/ptmx').must(4, 'l4.tls.key_log: /dev/ptmx: it is no regular file')
        or Done(*log, 'l4.tls.key_log=/nowhere/log').must(4, '/nowhere/log: there is no such folder')
        or Done(*log, f'l4.tls.key_log={folder}').must(4, 'it is a folder')
        or Done(*log, 'l4.tests=[TCP_RR]', '--set', 'l4.duration=100ms', '--set', 'l4.tls.key_log=/nowhere/log').must(0)
        or Done('check', tls, '--set', 'l4.tls.key_log=/nowhere/log').must(0)
        or Done('check', tls, '--set', 'l4.tls.key_log=/dev/null').must(0)
        or Done('run', '--resume', str(fifo)).must(2, 'cannot open the result folder')
        or Done(*RUN, '--out', str(folder / 'o'), '--capture', 'east=/dev/ptmx').must(4, 'it is a terminal')
    )


@case()
def long_lines(folder, _):
    """lines of more than 64 KiB at a piped console are told to be too long, and those behind them are done"""
    text = ''.join(f'print(#"{"x" * n}")\nprint("behind {n}")\n' for n in (60000, 66000, 3_000_000))
    done = Done('console', text=text)
    if done.out != '60000\nbehind 60000\nbehind 66000\nbehind 3000000\n':
        return repr(done.out[:200])
    return done.must(1) or ('' if done.err.count('longer than 64 KiB') == 2 else done.err[:300])


@case()
def long_socket(folder, _):
    """a path that is too long for a socket"""
    path = f'{folder}/{"x" * 200}'
    return Done('serve', '--socket', path).must(2, 'at most 107 bytes') or Done('attach', path).must(
        2, '107 bytes'
    )


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    failed = 0
    print(f'1..{len(CASES)}', flush=True)
    with tempfile.TemporaryDirectory(prefix='framegauge-abuse-') as name:
        root = pathlib.Path(name)
        undisturbed = root / 'undisturbed'
        first = Done(*RUN, '--out', str(undisturbed))
        assert first.status == 0, first.err
        for function, needs_root in CASES:
            if needs_root and not UNSHARED:
                print(f'ok - {function.__doc__} # SKIP needs root', flush=True)
                continue
            folder = root / function.__name__
            folder.mkdir()
            wrong = function(folder, undisturbed)
            failed += bool(wrong)
            print(
                ('not ok' if wrong else 'ok') + ' - ' + function.__doc__ + (f' # {wrong}' if wrong else ''),
                flush=True,
            )
    sys.exit(failed > 0)


main()
