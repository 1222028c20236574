#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""campaign.py SEEDS PROGRAM MODEL [--keep DIR]: runs on two modelled 82599 whose chaos is seeded: write-backs
that come late, a cable that is out for 1 to 50 ms, a card that is pulled.

SEEDS is FIRST-LAST or one number; each is one run, of traffic, of a throughput or of a frame loss test in
turn. The wire between the cards loses nothing and carries any load, so every figure is known: a valid row
that claims a loss, or a throughput below the load that was asked for at most, is wrong. Prints a line for
each run and a table of the outcomes; the exit status is 1 if a run was wrong, broke a rule of the card,
crashed, did not end, or left something behind: a process, a file of the model or of DPDK. DIR keeps the
folders of such runs."""

import argparse
import collections
import glob
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'integration'))
import claims  # noqa: E402  (these lie with the tests that use them, too)
import nic_run  # noqa: E402

MAX_FPS = 200
OUTCOMES = 'right', 'tester-limited', 'invalid', 'error', 'wrong', 'breach', 'crash', 'hang', 'leak'
FAULTS = OUTCOMES[4:]
PLANS = (
    ('traffic', nic_run.TRAFFIC % ('2s', 128)),
    (
        'throughput',
        nic_run.PORTS
        + 'name: chaos\ntest: rfc2544\nrfc2544: {frame_sizes: [64, 1518], '
        + f'throughput: {{max: {MAX_FPS}fps, resolution: 100fps}}}}\n',
    ),
    (
        'frame_loss',
        nic_run.PORTS
        + 'name: chaos\ntest: rfc2544\nrfc2544: {frame_sizes: [256], tests: [frame_loss], '
        + f'frame_loss: {{max: {MAX_FPS}fps}}}}\n',
    ),
)


def leftovers():
    """What a run of DPDK may leave on this machine, by the process it was of"""
    return {
        *glob.glob(f'{nic_run.FOLDER}/dpdk/*'),
        *glob.glob('/dev/hugepages/*'),
        *glob.glob('/dev/shm/*'),
    }


def has_process(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wrong_rows(result):
    slow = [
        row
        for row in claims.rows(result)
        if row['validity'] == 'valid' and row.get('throughput_fps', MAX_FPS) < MAX_FPS
    ]
    return claims.lies(result) + slow


def outcome(done, result, left):
    """@return the word, and what there is to see"""
    if done.status is None:
        return 'hang', done.detail()
    if done.status not in (0, 3, 4) or 'traceback' in done.out or (done.status != 4 and result is None):
        return 'crash', done.detail()
    if wrong_rows(result):
        return 'wrong', f'{wrong_rows(result)}\n{done.detail()}'
    if done.breaches:
        return 'breach', done.detail()
    if left:
        return 'leak', f'{left}\n{done.detail()}'
    if done.status == 4:
        return 'error', done.out[-400:]
    return {'valid': 'right'}.get(result['validity'], result['validity']), ''


def play(seed, program, model):
    name, text = PLANS[seed // 3 % len(PLANS)]  # the model takes seed % 3 as the number of outages
    before = leftovers()
    done, result = nic_run.run(model, program, 'chaos', text, options=f'chaos={seed}')
    left = [
        path
        for path in leftovers() - before
        if path.rpartition('-')[2] == str(done.pid) or f'framegauge-{done.pid}' in path
    ]
    if has_process(done.pid):
        left.append(f'process group {done.pid}')
    return name, result, *outcome(done, result, left)


# What a trial was invalid for: shows that the chaos has met trials, and how it was noticed
REASONS = {
    'the link changed': 'a change of the link',
    'of its link during': "the card's count of faults",
    'the link was down': 'a link that was down at the end',
    'was removed': 'a card that was removed',
}


def count_trials(result, trials):
    for trial in (result or {}).get('trials', []):
        trials['trials'] += 1
        trials[trial['validity']] += 1
        for words, kind in REASONS.items():
            trials[kind] += any(words in why for why in trial['reasons'])


def table(counts):
    print('| Method |', ' | '.join(OUTCOMES), '|')
    print('|---|' + '---:|' * len(OUTCOMES))
    for name in [name for name, _ in PLANS]:
        print(f'| {name} |', ' | '.join(str(counts[name, word]) for word in OUTCOMES), '|')


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument('seeds')
    ask.add_argument('program', type=os.path.abspath)
    ask.add_argument('model', type=pathlib.Path)
    ask.add_argument('--keep', type=pathlib.Path)
    given = ask.parse_args()
    first, _, last = given.seeds.partition('-')
    counts, trials = collections.Counter(), collections.Counter()
    for seed in range(int(first), int(last or first) + 1):
        name, result, word, detail = play(seed, given.program, given.model.resolve())
        counts[name, word] += 1
        count_trials(result, trials)
        print(f'{seed} {name}: {word}', flush=True)
        if detail:
            print('\n'.join('    ' + line for line in detail.splitlines()), flush=True)
        if word in FAULTS and given.keep:
            shutil.copytree(nic_run.FOLDER, given.keep / str(seed), ignore=shutil.ignore_patterns('control'))
    table(counts)
    kinds = 'trials', 'tester-limited', 'invalid', *REASONS.values()
    print(', '.join(f'{kind}: {trials[kind]}' for kind in kinds))
    sys.exit(any(counts[name, word] for name, _ in PLANS for word in FAULTS))


main()
