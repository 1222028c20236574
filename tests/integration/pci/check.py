# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of guest.sh in the machine of tools/lab-pci (TAP).

usage: check.py CARD FOLDER

An emulated processor stops for tens of milliseconds, so a trial may be tester-limited, and no figure is a
speed. What is asked: that a link that was down makes its trial invalid by name, that nothing is ever claimed
of the device that it did not do, and that with several queues each frame is counted, once.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from claims import lies, rows  # noqa: E402
from tap import check, end  # noqa: E402

CARD, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
DRIVER = {'e1000e': 'net_e1000_em', 'igb': 'net_e1000_igb', 'vmxnet3': 'net_vmxnet3'}[CARD]
QUEUES = {'e1000e': 2, 'igb': 16, 'vmxnet3': 16}[CARD]  # that the driver has
FRAMES = 8 * 10  # of a trial, each way
FLOW_FRAMES, FLOWS = 8 * 2, 8
PULLED = re.compile('east: the link changed|the peer of east is gone: the link was down')


def text(name):
    path = FOLDER / name
    return path.read_text() if path.exists() else ''


class Run:
    def __init__(self, name):
        self.name, self.status, self.log = name, text(f'{name}.status').strip(), text(f'{name}.log')
        result = text(f'{name}/result.json')
        self.result = json.loads(result) if result else None
        self.trials = (self.result or {}).get('trials', [])

    def pulled(self):
        return [
            trial['validity'] == 'invalid' and any(map(PULLED.search, trial['reasons']))
            for trial in self.trials
        ]

    def honest(self):
        return self.status in ('0', '3') and not lies(self.result)

    def detail(self):
        return f'status {self.status}\n{self.log}'


def whole(trial, frames):
    """Each frame of all streams arrived, and is counted once; a tester that is late may have sent fewer"""
    late = trial['validity'] == 'tester-limited'
    return all(
        way['tx'] == way['rx'] and (way['tx'] == frames or late and way['tx'] < frames)
        for way in trial['directions']
    ) and not (trial['lost'] or trial['duplicates'] or trial['tester_drops'])


def links():
    for name in 'still', 'back', 'short', 'gone':
        run = Run(name)
        if name == 'still':
            check(
                'while the cable is in, no frame is lost and no link changes',
                run.honest() and run.trials and not any(run.pulled()) and whole(run.trials[0], FRAMES),
                run.detail(),
            )
        elif name == 'back':
            check(
                'the cable is out for a second: the trial is invalid by the link of east',
                run.honest() and any(run.pulled()),
                run.detail(),
            )
        elif name == 'short':
            check(
                'the cable is out for 5 ms: the trial is invalid by the link of east, or lost nothing',
                run.honest() and (any(run.pulled()) or run.trials and whole(run.trials[0], FRAMES)),
                run.detail(),
            )
            print(f'# seen: {any(run.pulled())}')
        else:
            check(
                'the cable stays out: no trial has a figure, and the run ends with 3',
                run.status == '3'
                and run.trials
                and all(run.pulled())
                and all(row['validity'] == 'invalid' for row in rows(run.result)),
                run.detail(),
            )


def queues(count):
    for name, streams, frames in ('pair', 1, FRAMES), ('flows', FLOWS, FLOW_FRAMES):
        run = Run(f'{name}{count}')
        if count > QUEUES:
            check(
                f'{count} queues ({name}): an error, because the driver has {QUEUES}',
                run.status == '4' and f'{count} queues: 0000:00:02.0 has {QUEUES}' in run.log,
                run.detail(),
            )
            continue
        trial = (run.trials or [{}])[0]
        queue = trial.get('queues', [])
        sent = sum(way['tx'] for way in trial.get('directions', []))
        # what a late tester left out is missing at the end of each stream
        missing = 2 * streams * frames - sent
        check(
            f'{count} queues ({name}): each sends its share, and every frame is counted once',
            run.honest()
            and not any(run.pulled())
            and len(queue) == 2 * count
            and whole(trial, frames)
            and all(0 <= streams * frames / count - one['tx'] <= missing for one in queue)
            and sum(one['rx'] for one in queue) == sum(one['tx'] for one in queue) == sent,
            f'{run.detail()}\n{queue}',
        )
        used = sum(one['rx'] > 0 for one in queue)
        lcores = {one[key] for one in queue for key in ('tx_lcore', 'rx_lcore')}
        print(f'# {count} queues ({name}): frames arrived at {used} of {len(queue)}, {len(lcores)} lcores')
        if CARD == 'igb' and name == 'flows':
            check(f'{count} queues: RSS spreads flows over them', used > 2, queue)


check(
    f'doctor opens the ports: {DRIVER}, with a link',
    len(re.findall(f'(?:east|west) +{DRIVER}, PCI 0000:00:0[24].0, link up', text('doctor'))) == 2,
    text('doctor'),
)
links()
queues(2)
queues(4)
if CARD == 'vmxnet3':
    three = Run('pair3')
    check(
        'three queues: an error with the reason of the driver, which wants a power of two',
        three.status == '4' and 'ports.east.device' in three.log and 'power of 2' in three.log,
        three.detail(),
    )
check(
    'the cards are given back to the kernel',
    text('before') and text('before') == text('after'),
    text('after'),
)
end()
