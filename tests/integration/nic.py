# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's 82599 driver, and the program on it, against a software model of the card (TAP).

usage: nic.py FRAMEGAUGE FOLDER-OF-THE-MODEL [driver|figures|faults|chaos]

Without a group all parts run. The groups can run side by side. Long tests (FRAMEGAUGE_LONG) play more seeds
of chaos.

What passes here was never seen on a card: the model knows no line rate, no jitter of PCIe and no silicon.
What it shows: which registers are written in which order, that frames and counts are right, and that faults
end in an honest verdict. Processor time is shared and each register access is a fault, so loads are small, a
trial may come out as tester-limited, and no figure is a speed.
"""

import os
import pathlib
import re
import sys
import time

import nic_ethdev
import nic_run
from claims import lies, rows
from nic_run import ALLOWED, FOLDER, PORTS, TRAFFIC, Run, plan
from tap import check, end, skip

PROGRAM = os.path.abspath(sys.argv[1])
MODEL = pathlib.Path(sys.argv[2]).resolve()
# a trial with a fault in its middle, and another
FAULTY = (TRAFFIC % ('4s', 128)).replace('drain:', 'retries: 1, drain:')
SEEDS = 40 if os.environ.get('FRAMEGAUGE_LONG') else 3


def framegauge(*arguments, **how):
    return Run(MODEL, PROGRAM, *arguments, **how)


def run(name, text, **how):
    return nic_run.run(MODEL, PROGRAM, name, text, **how)


def machine():
    for command in ('doctor', 'setup'):
        done = framegauge(command)
        check(
            f'{command} finds both cards ready',
            done.status == 0 and done.out.count('ready for DPDK: device 0000:11:00') == 2,
            done.detail(),
        )


def ports():
    """What doctor says of open ports, and what the report keeps of it."""
    text = TRAFFIC % ('1s', 128)
    done = framegauge('doctor', plan('doctor', text), options='optics=sr')
    for what in (
        'west   net_ixgbe, PCI 0000:11:00.0, link up, 10 Gbit/s, full duplex, NUMA node 0',
        'east   SFP 10GBASE-SR, MODEL SOFTWARE, 41.5 °C, sends -2.2 dBm, receives -3.0 dBm',
        'west   PCIe x8 at 5 GT/s carries 26.9 Gbit/s each way in packets of 128 bytes; ',
        "the card's ports need 20",
        'can: IEEE 1588, rate limit by queue, RSS, flow rules to a queue',
        'cannot, by this driver on this port: receive timestamps, launch times\n',
        'counters held against ours, module data',
        "this build of DPDK's driver takes no transmit timestamps",
    ):
        check(
            f'doctor on open ports: {what.strip()}',
            re.sub(' +', ' ', what) in re.sub(' +', ' ', done.out),
            done.detail(),
        )
    check(
        'doctor sends nothing and breaks no rule of the card',
        done.status == 0 and not done.breaches,
        done.detail(),
    )
    done = framegauge('doctor', plan('doctor', text), options='optics=none')
    check(
        'doctor names the port without a link',
        done.status == 4 and 'ports.west' in done.out,
        done.detail(),
    )
    done, result = run('module', text, options='optics=sr')
    port = (result or {}).get('ports', [{}])[0]
    check(
        'the report has module, duplex and slot of a port',
        port.get('duplex') == 'full'
        and port.get('module', {}).get('temperature_c') == 41.5
        and port['module']['media'] == '10GBASE-SR'
        and port['module']['serial'] == 'N1'
        and port.get('pcie', {}).get('lanes') == 8,
        port or done.detail(),
    )


def methods():
    tests = {
        'throughput': 'test: rfc2544\n'
        'rfc2544: {frame_sizes: [64, 1518], throughput: {max: 200fps, resolution: 100fps}}\n',
        'loss': 'test: rfc2544\n'
        'rfc2544: {frame_sizes: [256], tests: [frame_loss], frame_loss: {max: 200fps}}\n',
        # not --quick, which has half a minute of the performance test
        'y1564': 'test: y1564\ny1564: {services: {voice: {cir: 1Mbps, cbs: 8000, frame_size: 256}}, '
        'learning_wait: 100ms, drain: 300ms, settle: 0s, '
        'configuration: {steps: [50%, 100%], trial: 1s}, performance: {duration: 3s}}\n',
    }
    for name, text in tests.items():
        done, result = run(name, PORTS + f'name: {name}\n' + text, quick=name != 'y1564')
        check(
            f'{name}: every figure is right or the tester is named as its limit',
            done.status in (*ALLOWED, 1) and result and not lies(result) and not done.breaches,
            done.detail(),  # 1: nothing on the wire polices a service
        )
    for size in 3000, 9000:
        done, result = run('jumbo', TRAFFIC % ('1s', size))
        if done.status == 3 and not any(row.get('tx') for row in rows(result or {})):
            skip(f'frames of {size} bytes pass', 'this machine is too busy: nothing was sent in time')
            continue
        check(
            f'frames of {size} bytes pass',
            done.status in ALLOWED
            and not lies(result)
            and not done.breaches
            and any(row.get('rx') and row.get('frame_size') == size for row in rows(result)),
            done.detail(),
        )


def calibrate():
    done = framegauge(
        'calibrate',
        plan(
            'calibrate',
            PORTS + 'test: rfc2544\nrfc2544: {frame_sizes: [64], ' 'throughput: {max: 200fps}}\n',
        ),
        '--quick',
        '--out',
        str(FOLDER / 'calibration'),
    )
    check(
        'calibrate ends without a complaint of DPDK',
        done.status in ALLOWED and 'Invalid port_id' not in done.out and not done.breaches,
        done.detail(),
    )
    check(
        'calibrate says that not one departure was stamped, and where to read why',
        re.search('of [1-9][0-9]* frames not one had all of its stamps; .framegauge doctor', done.out),
        done.detail(),
    )


def order():
    """Of registers: nothing is sent before the link was seen up, and queues are off at the end."""
    trace = FOLDER / 'trace'
    done, _ = run('order', TRAFFIC % ('1s', 128), options=f'trace={trace}')
    lines = [line.split() for line in trace.read_text().splitlines()]
    up, sent_early, enabled = set(), [], {}
    for _, card, kind, name, value in lines:
        value = int(value, 16)
        if name == 'LINKS' and kind == 'R' and value >> 30 & 1:
            up.add(card)
        elif kind == 'W' and name.startswith('TDT[') and value and card not in up:
            sent_early.append((card, name))
        elif kind == 'W' and name.startswith(('TXDCTL[', 'RXDCTL[')):
            enabled[card, name] = value >> 25 & 1
    check(
        'no frame leaves before its port has seen the link up',
        done.status in ALLOWED and lines and not sent_early,
        sent_early or done.detail(),
    )
    check('every queue is off when the program ends', enabled and not any(enabled.values()), enabled)
    trace.unlink()
    done, _ = run(
        'refused', (TRAFFIC % ('1s', 128)).replace('isolated_network: true\n', ''), options=f'trace={trace}'
    )
    sent = (
        [
            line
            for line in trace.read_text().splitlines()
            if ' W TDT[' in line and not line.endswith('0x00000000')
        ]
        if trace.exists()
        else []
    )
    check('without isolated_network nothing is sent', done.status == 2 and not sent, done.detail())


def faults():
    done, _ = run('eeprom', TRAFFIC % ('1s', 128), options='eeprom=bad')
    check(
        'a card with a damaged EEPROM is an error that names it',
        done.status == 4 and '0000:11:00' in done.out,
        done.detail(),
    )
    done, _ = run('optics', TRAFFIC % ('1s', 128), options='optics=none')
    check(
        'a cage without a module is a link that is down',
        done.status == 4 and 'link' in done.out,
        done.detail(),
    )
    for what, orders in {
        'the cable is pulled in mid-trial': [(2, 'link 0 down')],
        'a transmit queue hangs in mid-trial': [(2, 'stuck 0 tx 0')],
        'a receive queue hangs in mid-trial': [(2, 'stuck 1 rx 0')],
    }.items():
        done, result = run('fault', FAULTY, quick=False, orders=orders)
        check(
            f'{what}: no figure, and the run ends',
            done.status == 3 and not lies(result) and 'traceback' not in done.out,
            done.detail(),
        )


def removal():
    """A card pulled: the kernel may keep its entry, which then reads as ones, or give it up at once"""
    for order in 'remove 1', 'remove 1 held':
        done, result = run('removal', FAULTY, quick=False, orders=[(2, order)])
        reasons = [why for row in rows(result) for why in row['reasons']]
        check(
            f'a card is pulled in mid-trial ({order}): no figure, and its port is named',
            done.status == 3
            and not lies(result)
            and 'east: the card or interface was removed' in reasons
            and not any('the peer of east' in why for why in reasons)
            and 'traceback' not in done.out,
            done.detail(),
        )


def short_outage():
    """A cable out for less time than passes between two looks at the link: only the card knows"""
    # in the middle of 1,600 frames; the order is there before the first of them
    orders, control = [(0.5, 'sent 0 800 link 0 out 5')], FOLDER / 'control'
    done, result = run('outage', TRAFFIC % ('4s', 128), quick=False, orders=orders, after=control)
    first = (result or {'trials': [{'validity': None, 'reasons': []}]})['trials'][0]
    noticed = re.compile('the card counted 2 faults of its link|the link changed')  # if it was out for longer
    check(
        'the cable is out for 5 ms in mid-trial: the trial is invalid by its link, and played again',
        done.status in ALLOWED
        and first['validity'] == 'invalid'
        and any(map(noticed.search, first['reasons']))
        and not lies(result),
        done.detail(),
    )


def swallowed(where):
    """A trial in which the card loses three frames; again where the tester sent none when they were due."""
    for _ in range(3):
        order = [(2, f'swallow 0 {where} 3')]
        done, result = run('swallowed', TRAFFIC % ('4s', 128), quick=False, orders=order)
        trials = (result or {}).get('trials', [])
        if any(trial['validity'] != 'tester-limited' for trial in trials):
            break
        print('# the tester was late: again')
    return done, trials, result


def counters():
    """The card's counters beside ours: they agree, or the trial is invalid and says by how much."""
    done, result = run('counters', TRAFFIC % ('1s', 128))
    cards = [card for trial in (result or {}).get('trials', []) for card in trial.get('cards', [])]
    check(
        'the counters of the cards stand beside ours, and agree',
        done.status in ALLOWED
        and [card['port'] for card in cards] == ['west', 'east']
        and all(
            card['tx'] == card['card_tx'] > 0  # how many a busy machine sends is not asked here
            and card['rx'] == card['card_rx'] == card['card_rx_total'] > 0
            and card['tx_unaccounted'] == card['rx_unaccounted'] == 0
            for card in cards
        ),
        cards or done.detail(),
    )
    for where, reason in {
        'tx': 'west: 3 frames of [0-9,]+ that were handed to the card it never counted as sent',
        'rx': 'west: 3 frames arrived at the card, reached no queue, and count neither',
        'dma': 'west: the card received 3 frames that never came out of it',
    }.items():
        done, trials, result = swallowed(where)
        check(
            f'a card that loses frames without a word ({where}) makes the trial invalid',
            done.status in ALLOWED
            and not lies(result)
            and any(
                trial['validity'] == 'invalid' and any(re.match(reason, one) for one in trial['reasons'])
                for trial in trials
            ),
            done.detail(),
        )


def totals():
    """The card's counters have 32 bits: what the driver adds up passes them within the second trial. In the
    first they are put forward, by frames that nobody sent."""
    forward = 2**32 - 2500
    orders = [(2, f'count {card} {side} {forward}') for card in (0, 1) for side in ('tx', 'rx')]
    done, result = run('totals', TRAFFIC % ('5s', 128), quick=False, orders=orders)
    first, second = ((result or {}).get('trials', []) + [{}, {}])[:2]
    check(
        'counters that are wrong by 2^32 frames make their trial invalid',
        first.get('validity') == 'invalid'
        and any(f'west: the card sent {forward:,} frames more than' in why for why in first['reasons']),
        done.detail(),
    )
    name = "the card's totals pass 32 bits within a trial: it agrees with the tester to the frame"
    cards = second.get('cards') or []
    passed = forward + sum(trial['cards'][0]['tx'] for trial in (first, second) if trial.get('cards'))
    if cards and passed < 2**32 and second['validity'] == 'tester-limited':
        skip(name, 'this machine is too busy')
        return
    check(
        name,
        done.status in ALLOWED
        and not lies(result)
        and not done.breaches
        and cards
        and all(
            card['tx'] == card['card_tx'] and card['tx_unaccounted'] == card['rx_unaccounted'] == 0
            and card['rx'] == card['card_rx'] == card['card_rx_total']
            for card in cards
        )
        and passed >= 2**32,
        f'{done.detail()}\n{cards}',
    )


def chaos():
    wrong = []
    for seed in range(1, SEEDS + 1):
        done, result = run('chaos', TRAFFIC % ('2s', 128), options=f'chaos={seed}')
        if done.status not in (0, 3, 4) or lies(result) or done.breaches or 'traceback' in done.out:
            wrong.append(f'seed {seed}: {done.detail()}')
    check(
        f'{SEEDS} seeds of late write-backs, flaps and removals: a right figure or an honest verdict',
        not wrong,
        '\n'.join(wrong),
    )


GROUPS = {
    'driver': (*nic_ethdev.parts(MODEL, PROGRAM), machine, ports, calibrate, order, short_outage),
    'figures': (methods, counters, totals),
    'faults': (faults,),
    'chaos': (removal, chaos),
}
for part in GROUPS[sys.argv[3]] if len(sys.argv) > 3 else sum(GROUPS.values(), ()):
    started = time.monotonic()
    part()
    print(f'# {part.__name__}: {time.monotonic() - started:.0f} s', flush=True)
end()
