# SPDX-License-Identifier: BSD-3-Clause
"""The part of nic.py in which a program of its own, nic_ethdev, asks DPDK's driver for all it can do."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import nic_rates
from claims import lies, rows
from nic_run import ALLOWED, FOLDER, LONGEST, TRAFFIC, Run, run
from tap import check, skip

PAGES = pathlib.Path('/proc/sys/vm/nr_hugepages')
NEEDED = 144  # of 2 MiB, beside those that others have taken
MEMORY = ('--no-huge', '-m', '256')


def eal(*memory):
    prefix = FOLDER.name
    return [*memory, '-l', '0', '--no-telemetry', '--file-prefix', prefix, '-d', 'librte_net_ixgbe.so', '--']


def play(model, *groups, memory=MEMORY, options='', title='ethdev'):
    """Some groups of its tests, or all; @return what it printed"""
    done = Run(model, str(model / 'nic_ethdev'), *eal(*memory), *groups, options=options)
    for good, what in re.findall(r'^(ok|not ok) \d+ - (.*)$', done.out, re.M):
        check(f'{title}: {what}', good == 'ok')
    check(
        f'{title}: the program ends, and the driver breaks no rule of the card',
        done.status == 0 and not done.breaches and '\n1..0\n' not in done.out,
        done.detail(),
    )
    return done.out


def ethdev(model):
    play(model)
    play(model, 'late', 'frames', 'rss', options='write_back=300', title='ethdev, write-backs that come late')


def paced(model):
    """In wire time: when frames of limited queues left, by the capture, and what pause frames do"""
    capture = FOLDER / 'capture'
    rows = nic_rates.measure(capture, play(model, 'rates', options=f'paced capture={capture}', title='paced'))
    for row in rows:
        check(
            'paced: {length} bytes at {rate} Mb/s leave as asked for'.format(**row),
            nic_rates.is_right(row),
            row,
        )
    print('\n'.join('# ' + line for line in nic_rates.table(rows)))
    capture.unlink()
    play(model, 'pause', options='paced', title='paced')


def unprivileged(model):
    if os.geteuid() != 0:
        return  # so is all of it
    home = pathlib.Path(tempfile.mkdtemp(prefix='framegauge-nic-user-'))
    for name in 'libnic82599.so', 'nic_ethdev':
        shutil.copy(model / name, home)
    home.chmod(0o755)
    (home / 'run').mkdir()
    os.chown(home / 'run', 65534, 65534)
    command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'env']
    user = subprocess.run(
        [*command, f'LD_PRELOAD={home}/libnic82599.so', str(home / 'nic_ethdev'), *eal(*MEMORY), 'frames'],
        env={**os.environ, 'NIC82599': 'cards=2', 'XDG_RUNTIME_DIR': str(home / 'run')},
        cwd=home,  # which that user may enter, where the source tree's folders may be another's own
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    check('ethdev: no privilege is needed', user.returncode == 0, user.stdout + user.stderr)
    shutil.rmtree(home)


def huge_pages(name):
    return int(re.search(rf'^HugePages_{name}: +(\d+)$', pathlib.Path('/proc/meminfo').read_text(), re.M)[1])


def reserve():
    """@return whether as many as are needed are free now"""
    PAGES.write_text(str(huge_pages('Total') + max(0, NEEDED - huge_pages('Free'))))
    return huge_pages('Free') >= NEEDED


def framegauge_on_huge_pages(model, program):
    text = (TRAFFIC % ('2s', 128)).replace('huge_pages: never', 'huge_pages: require')
    done, result = run(model, program, 'huge', text)
    check(
        'the program on huge pages: every figure is right or the tester is named as its limit',
        done.status in ALLOWED and any(row.get('rx') for row in rows(result)) and not lies(result)
        and not done.breaches,
        done.detail(),
    )


def physical(model, program):
    """On huge pages root's bus addresses are physical ones. The pages are put back at the end."""
    name = 'ethdev, on huge pages by physical addresses'
    if os.geteuid() != 0:
        skip(name, 'needs root')
        return
    before = int(PAGES.read_text())
    try:
        if not reserve():
            skip(name, 'this machine has no huge pages to give')
            return
        memory = '--in-memory', '--iova-mode=pa', '-m', '128'
        play(model, 'physical', 'frames', 'rss', 'jumbo', memory=memory, title=name)
        reserve()
        framegauge_on_huge_pages(model, program)
    except OSError as error:
        skip(name, f'this machine has no huge pages to give: {error.strerror}')
    finally:
        try:
            PAGES.write_text(str(before))
        except OSError:
            pass


def parts(model, program):
    for part in ethdev, paced, unprivileged, physical:
        bound = functools.partial(part, model, *[program] * (part is physical))
        bound.__name__ = part.__name__
        yield bound
