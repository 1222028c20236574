#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Have the program write the frames of every case (cases.py), and ask tshark and scapy what they are.

usage: check.py FRAMEGAUGE FOLDER [TSHARK...]

TSHARK is the command with what must stand before its options. Prints TAP: a line for each case and reader.
Without scapy its lines are skipped.
"""

import pathlib
import subprocess
import sys

from cases import CASES, FRAMES

HEAD = '''test: rfc2544
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24, ipv6: "2001:2:0:1::2/64"}
  west: {device: wire1, ipv4: 198.19.1.2/24, ipv6: "2001:2:0:2::2/64"}
streams:
'''
MALFORMED = '_ws.malformed'
STATUS = [
    'ip.checksum.status',
    'udp.checksum.status',
    'tcp.checksum.status',
    'sctp.checksum.status',
    'icmpv6.checksum.status',
]
BAD = '0'
TRUTH = {'True': '1', 'False': '0'}  # as tshark has it from version 4.2 on
PREFERENCES = [
    'ip.check_checksum:TRUE',
    'udp.check_checksum:TRUE',
    'tcp.check_checksum:TRUE',
    'sctp.checksum:crc-32c',
    'ip.defragment:FALSE',
    'ipv6.defragment:FALSE',
]


def values(expected):
    return expected if isinstance(expected, list) else [expected] * FRAMES


def write_capture(program, folder):
    plan, capture = folder / 'cases.yaml', folder / 'cases.pcap'
    lines = [f'  s{i}: {{rate: 1fps, {case.keys}}}\n' for i, case in enumerate(CASES)]
    plan.write_text(HEAD + ''.join(lines))
    subprocess.run(
        [program, 'frames', str(plan), '--count', str(FRAMES), '--pcap', str(capture)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return capture


def read_tshark(tshark, capture):
    """A dict of fields for each frame, in the order of the file: all streams' first frames, then their second
    ones."""
    fields = sorted({name for case in CASES for name in case.tshark} | set(STATUS) | {MALFORMED})
    command = [*tshark, '-r', str(capture), '-T', 'fields', '-E', 'separator=|', '-E', 'occurrence=a']
    for preference in PREFERENCES:
        command += ['-o', preference]
    for name in fields:
        command += ['-e', name]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [
        {
            name: ','.join(TRUTH.get(value, value) for value in values.split(','))
            for name, values in zip(fields, line.split('|'))
        }
        for line in out.splitlines()
    ]


def wrong_by_tshark(case, frames):
    for n, found in enumerate(frames):
        for name, expected in case.tshark.items():
            if found[name] not in (expected if isinstance(expected, set) else values(expected)[n : n + 1]):
                return f'frame {n}: {name} is {found[name]!r}, not {values(expected)[n]!r}'
        if not {'wrong', 'anything inside'} & set(case.flags) and found[MALFORMED]:
            return f'frame {n}: malformed'
        for name in STATUS:
            if 'wrong' not in case.flags and BAD in found[name].split(','):
                return f'frame {n}: {name} is bad'
    return None


def right(packet, layer):
    """Does scapy compute the checksum of a layer as it stands there?"""
    copy = packet.copy()
    before = copy[layer].chksum
    del copy[layer].chksum
    return copy.__class__(bytes(copy))[layer].chksum == before


def rebuilt(packet):
    """The octets as scapy lays them out itself, with its padding."""
    copy = packet.copy()
    copy.clear_cache()
    return bytes(copy)


def wrong_by_scapy(case, packets, names):
    for n, packet in enumerate(packets):
        for expression, expected in case.scapy.items():
            try:
                found = str(eval(expression, names, {'p': packet}))
            except (IndexError, AttributeError, TypeError, KeyError) as error:
                found = repr(error)
            if found != values(expected)[n]:
                return f'frame {n}: {expression} is {found}, not {values(expected)[n]}'
        for layer in ('IP', 'UDP', 'TCP', 'ICMP'):
            known = names[layer]
            if (
                'wrong' not in case.flags
                and known in packet
                and not (layer == 'ICMP' and 'error' in case.name)
                and not right(packet, known)
            ):
                return f'frame {n}: scapy computes another checksum of {layer}'
    return None


def scapy_names():
    try:
        import scapy.all
        from scapy.contrib import geneve, gtp, mpls
        from scapy.layers import sctp, vxlan
    except ImportError:
        return None
    names = {}
    for module in (scapy.all, geneve, gtp, mpls, sctp, vxlan):
        names.update({name: getattr(module, name) for name in dir(module) if not name.startswith('_')})
    names['right'], names['rebuilt'] = right, rebuilt
    return names


def main(program, folder, *tshark):
    capture = write_capture(program, pathlib.Path(folder))
    found = read_tshark(tshark, capture)
    names = scapy_names()
    packets = list(names['rdpcap'](str(capture))) if names else []
    failed = number = 0

    def tell(name, wrong):
        nonlocal failed, number
        number += 1
        failed += wrong is not None
        print(f'{"ok" if wrong is None else "not ok"} {number} - {name}')
        if wrong:
            print(f'# {wrong}')

    for i, case in enumerate(CASES):
        tell(f'tshark: {case.name}', wrong_by_tshark(case, found[i :: len(CASES)]))
        if names:
            tell(f'scapy: {case.name}', wrong_by_scapy(case, packets[i :: len(CASES)], names))
        else:
            number += 1
            print(f'ok {number} - scapy: {case.name} # SKIP python3-scapy is not installed')
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
