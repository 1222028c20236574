# SPDX-License-Identifier: BSD-3-Clause
"""`framegauge iperf3` as an ordinary host sees it: the real client in one network namespace, our server
behind the other end of a veth pair. What the client says of each test is held against what the server says.
Prints TAP.

usage: iperf3.py FRAMEGAUGE

IPERF3 is the client's command, "iperf3" unless the environment says otherwise, or several of them with ":"
between; each makes all tests. Since version 3.16 it writes in threads that it cancels at the end, and what
its kernel has taken of the block that a thread was writing it does not count.
"""

import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
COMMANDS = [shlex.split(command) for command in os.environ.get('IPERF3', 'iperf3').split(':')]
BLOCK = 131072  # bytes of a write, by default
ID = secrets.token_hex(3)
TESTER, HOST = f'fgi3t-{ID}', f'fgi3h-{ID}'
ADDRESS = {4: '198.18.1.2', 6: '2001:2::2'}
PLAN = '''
test: iperf3
isolated_network: true
ports:
  server: {device: 'kernel:fgi3,af_packet', ipv4: 198.18.1.2/24, ipv6: "2001:2::2/64"}
'''
NAMESPACES = f'''
netns add {TESTER}
netns add {HOST}
-n {TESTER} link add fgi3 type veth peer name peer netns {HOST}
-n {TESTER} link set fgi3 up
-n {HOST} link set peer up
-n {HOST} address add 198.18.1.1/24 dev peer
-n {HOST} address add 2001:2::1/64 dev peer nodad
'''


CHECKS = []
USED = {}  # of the client that makes the tests: command, version, uncounted


def check(name, ok, *facts):
    name = f'{USED["version"]}: {name}'
    CHECKS.append(name)
    print(f'ok - {name}' if ok else f'not ok - {name}: ' + ' '.join(str(f) for f in facts), flush=True)


def ip(*words):
    subprocess.run(['ip', *words], check=True)


def inside(namespace, *command):
    return ['ip', 'netns', 'exec', namespace, *command]


def network():
    for line in NAMESPACES.strip().splitlines():
        ip(*line.split())
    no_ipv6 = [f'net.ipv6.conf.{which}.disable_ipv6=1' for which in ('all', 'default')]
    subprocess.run(inside(TESTER, 'sysctl', '-qw', *no_ipv6), check=True)
    # what Linux leaves to a card that there is not: checksums, and segments of the size of a window
    subprocess.run(
        inside(HOST, 'ethtool', '-K', 'peer', 'tx', 'off', 'tso', 'off', 'gso', 'off', 'gro', 'off'),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def use(command):
    """Make the tests with this client. Uncounted: bytes of a stream that it may have sent but not counted."""
    said = subprocess.run([*command, '--version'], capture_output=True, text=True, check=True).stdout
    version = re.match(r'iperf (\d+)\.(\d+)', said)
    threads = tuple(int(number) for number in version.groups()) >= (3, 16)
    USED.update(command=command, version=version.group(), uncounted=BLOCK if threads else 0)


def client(*options, version=4):
    """Run iperf3's client; returns what it says."""
    done = subprocess.run(
        inside(HOST, *USED['command'], '-J', '-c', ADDRESS[version], *options),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return json.loads(done.stdout)


def is_connected():
    """Wait until a client has a connection to ours: from then on it is the one who is served."""
    for _ in range(1200):
        command = inside(HOST, 'ss', '-Htn', 'state', 'established', 'dport', '=', ':5201')
        if subprocess.run(command, capture_output=True, check=True).stdout:
            return
        time.sleep(0.05)


class Server:
    """Ours; tests() are those that have ended, in its words."""

    def __init__(self, folder):
        plan = os.path.join(folder, 'plan.yaml')
        with open(plan, 'w', encoding='ascii') as file:
            file.write(PLAN)
        self.path = os.path.join(folder, 'server')
        with open(self.path, 'w', encoding='ascii') as out:
            self.process = subprocess.Popen(inside(TESTER, PROGRAM, 'iperf3', plan, '--json'), stdout=out)
        for _ in range(600):
            if 'error' not in client('-n', '1000'):
                break
            time.sleep(0.1)
        self.next(0)

    def tests(self):
        with open(self.path, encoding='ascii') as file:
            text = file.read().strip()
        list_, at, decoder = [], 0, json.JSONDecoder()
        while at < len(text):
            try:
                value, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                break  # it is being written
            list_.append(value)
            at += len(text[at:]) - len(text[at:].lstrip())
        return list_

    def next(self, seen):
        """The test that follows on those seen."""
        for _ in range(3000):
            if len(self.tests()) > seen:
                return self.tests()[seen]
            time.sleep(0.02)
        return {}

    def serve(self, *options, version=4):
        """One test. @return what the client says of it, and what the server does"""
        seen = len(self.tests())
        theirs = client(*options, version=version)
        return theirs, self.next(seen)

    def stop(self):
        """@return its exit status"""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def has_arrived(sent, received, streams):
    """What our server says it received of what the client says it sent."""
    return 0 <= received - sent <= streams * USED['uncounted']


def compare_tcp(name, theirs, ours, suffix, streams, we_receive):
    """One direction: the sender's and the receiver's octets, as each side says them."""
    sent, received = (theirs['end'][f'sum_{what}{suffix}'] for what in ('sent', 'received'))
    sent_, received_ = (ours['end'][f'sum_{what}{suffix}'] for what in ('sent', 'received'))
    check(
        f'{name}: both sides say the same',
        (sent['bytes'], received['bytes']) == (sent_['bytes'], received_['bytes']) and sent['bytes'] > 1e6,
        sent,
        received,
        sent_,
        received_,
    )
    # what Linux receives it counts until its time is over; what we receive we wait for
    check(
        f'{name}: it has arrived',
        has_arrived(sent['bytes'], received['bytes'], streams)
        if we_receive
        else 0.5 * sent['bytes'] < received['bytes'] <= sent['bytes'],
        sent,
        received,
    )


def tcp(server, version, options, suffixes, ours_receives):
    name = f'TCP over IPv{version} {" ".join(options)}'
    theirs, ours = server.serve('-t', '1', *options, version=version)
    if 'error' in theirs or 'error' in ours or not ours:
        check(name, False, theirs.get('error'), ours)
        return
    streams = sum(int(option) for option, before in zip(options[1:], options) if before == '-P') or 1
    for suffix, receives in zip(suffixes, ours_receives):
        compare_tcp(name + suffix, theirs, ours, suffix, streams, receives)
    check(
        f'{name}: every stream',
        len(theirs['end']['streams']) == streams * len(suffixes) == len(ours['end']['streams']),
        theirs['end']['streams'],
        ours['end']['streams'],
    )


def udp(server, version, options, streams):
    name = f'UDP over IPv{version} {" ".join(options)}'
    theirs, ours = server.serve('-t', '1', '-u', '-b', '4M', '-l', '1000', *options, version=version)
    if 'error' in theirs or 'error' in ours or not ours:
        check(name, False, theirs.get('error'), ours)
        return
    pairs = list(zip((s['udp'] for s in theirs['end']['streams']), ours['end']['streams']))
    check(f'{name}: every stream', len(pairs) == streams == len(ours['end']['streams']), theirs['end'])
    for their, our in pairs:
        sent, received = our['sender'], our['receiver']
        check(
            f'{name}: datagrams of a stream',
            20 < their['packets'] <= 505 * max(their['seconds'], 1)  # a busy machine ends it late
            and abs(their['packets'] - sent['packets']) <= 2
            and received['lost_packets'] == their['lost_packets']
            and received['packets'] * 1000 - received['lost_packets'] * 1000 == received['bytes']
            and abs(received['jitter_ms'] - their['jitter_ms']) < 1e-5,
            their,
            our,
        )


def limited(server):
    """The client wants a number of bytes: the server sends no more. The client may end the test before."""
    for options in ['-n', '3M', '-R'], ['-k', '25', '-R', '-P', '2'], ['-n', '3M', '--bidir']:
        theirs, ours = server.serve(*options)
        suffix = '_bidir_reverse' if '--bidir' in options else ''
        wanted = 25 * BLOCK if '-k' in options else 3 << 20
        said, said_ = (side.get('end', {}).get(f'sum_sent{suffix}', {}) for side in (theirs, ours))
        check(
            f'TCP {" ".join(options)}: no more than was wanted',
            0 < said.get('bytes', 0) <= wanted and said['bytes'] == said_.get('bytes'),
            said,
            said_,
        )


def one_at_a_time(server):
    seen = len(server.tests())
    with subprocess.Popen(
        inside(HOST, *USED['command'], '-J', '-c', ADDRESS[4], '-t', '5', '-b', '10M'), stdout=subprocess.PIPE
    ) as first:
        is_connected()
        for version in 4, 6:
            check(
                f'a second client over IPv{version} hears that the server is busy',
                'busy' in client('-t', '1', version=version).get('error', ''),
            )
        theirs = json.loads(first.stdout.read())
    ours = server.next(seen)
    check(
        'and the first one does not mind',
        'error' not in theirs
        and 'error' not in ours
        and has_arrived(theirs['end']['sum_sent']['bytes'], ours['end']['sum_received']['bytes'], 1),
        theirs,
        ours,
    )


def killed(server):
    for name, number in ('interrupted', signal.SIGINT), ('killed', signal.SIGKILL):
        seen = len(server.tests())
        command = inside(HOST, *USED['command'], '-c', ADDRESS[6], '-u', '--bidir', '-t', '10')
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            is_connected()
            time.sleep(0.3)
            process.send_signal(number)
        ours = server.next(seen)
        check(f'a client that is {name} ends its test', 'client' in ours.get('error', ''), ours)
        check('and the next one is served', 'error' not in server.serve('-n', '100K')[0])


def refused(server):
    theirs, ours = server.serve('-u', '-l', '2000', '-t', '1')
    check(
        'datagrams larger than the MTU are refused in words',
        'block size' in theirs['error'] and 'MTU' in ours['error'],
        theirs,
        ours,
    )
    theirs, ours = server.serve('-n', '2M', '--get-server-output')
    said, octets = theirs.get('server_output_text', ''), ours['end']['sum_received']['bytes']
    check(
        'the client gets our output', f'received {octets} bytes' in said and octets >= 2 << 20, said, octets
    )


def stopped(server):
    with subprocess.Popen(
        inside(HOST, *USED['command'], '-J', '-c', ADDRESS[4], '-t', '10', '-b', '1M'), stdout=subprocess.PIPE
    ) as process:
        is_connected()
        time.sleep(0.5)
        status = server.stop()
        said = json.loads(process.stdout.read()).get('error', '')
    check('a client hears that the server has ended', status == 0 and 'terminated' in said, status, said)


def all_tests(server):
    tcp(server, 4, ['-P', '3'], [''], [True])
    tcp(server, 6, [], [''], [True])
    tcp(server, 6, ['-R', '-P', '2'], [''], [False])
    tcp(server, 4, ['--bidir'], ['', '_bidir_reverse'], [True, False])
    udp(server, 6, ['-P', '2'], 2)
    udp(server, 4, ['-R', '-P', '2'], 2)
    udp(server, 4, ['--bidir', '--udp-counters-64bit'], 2)
    limited(server)
    one_at_a_time(server)
    killed(server)
    refused(server)


with tempfile.TemporaryDirectory() as work:
    try:
        network()
        use(COMMANDS[0])
        the_server = Server(work)
        try:
            for each in COMMANDS:
                use(each)
                all_tests(the_server)
            stopped(the_server)
        finally:
            if the_server.process.poll() is None:
                the_server.stop()
    finally:
        for each in TESTER, HOST:
            subprocess.run(['ip', 'netns', 'del', each], check=False)
print(f'1..{len(CHECKS)}')
