#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Give the program bad plans, and see that it says what is wrong, where, and does nothing else.

usage: check.py FRAMEGAUGE

The plans lie beside this file, what must be said of them in expected.txt; a few that nobody wants in a
repository are made here. Each must end `check` and `run` with exit status 2 and exactly the expected errors,
one a line, on standard error; `run` must not leave a result folder. Prints TAP, one line per case.
"""

import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ERROR = re.compile(r'(?P<place>\d+:\d+): (?:(?P<key>[a-z][\w .\[\]]*): )?(?P<message>.*)')
GOOD = 'test: rfc2544\nports:\n  east: {device: wire0}\n  west: {device: wire1}\n'

# --set on a good plan: the setting, and what must be said of it.
SETTINGS = [
    ('rfc2544.throughput.resolutoin=1%', 'rfc2544.throughput.resolutoin: unknown key; expected resolution'),
    ('reference_device.capacity=fast', 'reference_device.capacity: "fast" is not a frame rate; expected'),
    ('rfc2544.frame_sizes=[64, 1]', 'rfc2544.frame_sizes[2]: "1" is out of range; expected 64 to 16128'),
    ('ports.east.device=kernel:eth1', 'ports.east.device: kernel:eth1 '),
    ('rfc2544', 'not a setting; expected path=value'),
    ('test=[', 'test: '),
]


def expectations():
    table = collections.defaultdict(list)
    for line in (HERE / 'expected.txt').read_text().splitlines():
        if not line.startswith('#'):
            name, place, key, message = (part.strip() for part in line.split('|', 3))
            table[name].append((place, '' if key == '-' else key, message))
    return table


def generate(folder):
    """The plans made here, by their names in the table."""
    (folder / 'folder').mkdir()
    nonsense = random.Random(2544)
    contents = {
        'ten-megabytes': ''.join(nonsense.choices('abcdefgh: \n-[]{}', k=10 * 1024 * 1024)).encode(),
        'nested': b'[' * 100000,
        'program': pathlib.Path(sys.executable).read_bytes()[:65536],
        'latin-1': 'name: Pr\xfcfling\n'.encode('latin-1') + GOOD.encode(),
        'utf-16': GOOD.encode('utf-16'),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def wrong_with(program, command, path, *options):
    """Exit status and lines of standard error; a line that is no error of the file counts as a failure."""
    done = subprocess.run(
        [program, command, str(path), *options], capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stderr.decode().splitlines()


def check_lines(path, lines, expected):
    """None, or what is not as it should be."""
    if len(lines) != len(expected):
        return f'{len(lines)} errors instead of {len(expected)}: {lines}'
    for line, (place, key, message) in zip(lines, expected):
        if not line.startswith(f'{path}:'):
            return f'does not begin with the file: {line}'
        rest = line[len(str(path)) + 1 :]
        if place == '-':
            found = ('-', '', rest)
        else:
            match = ERROR.fullmatch(rest)
            if not match:
                return f'no place: {line}'
            found = (match['place'], match['key'] or '', match['message'])
        if found[:2] != (place, key) or message not in found[2]:
            return f'expected {place}: {key}: ...{message}..., got: {line}'
    return None


def check_plan(program, path, expected, out):
    for command, options in (('check', []), ('run', ['--out', str(out)])):
        status, lines = wrong_with(program, command, path, *options)
        if status != 2:
            return f'{command} ended with {status} instead of 2: {lines}'
        wrong = check_lines(path, lines, expected)
        if wrong:
            return f'{command}: {wrong}'
    return f'{out} was made' if out.exists() else None


def check_setting(program, path, setting, expected):
    status, lines = wrong_with(program, 'check', path, '--set', setting)
    if status != 2 or not lines or not lines[0].startswith(f'--set {setting}: {expected}'):
        return f'status {status}: {lines}'
    return None


def cases(program, folder):
    generate(folder)
    for name, expected in sorted(expectations().items()):
        path = folder / name[1:] if name.startswith('!') else HERE / name
        yield name.lstrip('!'), check_plan(program, path, expected, folder / 'out')
    good = folder / 'good.yaml'
    good.write_text(GOOD)
    for setting, expected in SETTINGS:
        yield '--set ' + setting, check_setting(program, good, setting, expected)
    untold = {path.name for path in HERE.glob('*.yaml')} - set(expectations())
    yield 'every plan here is in the table', f'{sorted(untold)} are not' if untold else None


def main(program):
    failed = number = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, wrong) in enumerate(cases(program, pathlib.Path(folder)), 1):
            failed += wrong is not None
            print(f'{"ok" if wrong is None else "not ok"} {number} - {name}', flush=True)
            if wrong:
                print(f'# {wrong}')
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
