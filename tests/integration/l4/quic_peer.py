# SPDX-License-Identifier: BSD-3-Clause
"""aioquic as the other end of lib/quic, checking every octet.

  quic_peer.py serve FOLDER          listen (see PORTS) until a signal; then write counts to FOLDER/served
  quic_peer.py ask FOLDER ADDRESS    ask our servers (see CASES); prints TAP

A connection has one stream, the client's first bidirectional one, by the protocol `perf` (ALPN). The servers'
certificate is FOLDER/cert.pem, and our certificate is FOLDER/ca.pem's.
"""

import asyncio
import json
import signal
import socket
import sys

import aioquic
from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.packet import QuicProtocolVersion
from aioquic.tls import CipherSuite
from streams import CLIENT, SERVER, answer, ask, counts, sink, source

BULK = 500_000
CHANGES = {'new_keys', 'new_ids', 'new_port'}
V1, V2, NOBODYS = QuicProtocolVersion.VERSION_1, QuicProtocolVersion.VERSION_2, 0x5A5A5A5A

# port: what its streams are for, and how it differs
PORTS = {
    7450: ('sink', {}),
    7451: ('source', {}),
    7452: ('answer', {}),
    7453: ('answer', {'retry': True}),
    7454: ('answer', {'supported_versions': [V2]}),
    7455: ('source', {'new_keys': True}),
    7456: ('answer', {'tickets': True}),
}

# its name, the port of our server, what is done, and how the client differs
CASES = [
    ('a stream to our server', 6450, 'source', {}),
    ('a stream from our server', 6451, 'sink', {}),
    ('requests and responses', 6452, 'ask', {}),
    ('AES-256', 6452, 'ask', {'cipher_suites': [CipherSuite.AES_256_GCM_SHA384]}),
    ('ChaCha20', 6451, 'sink', {'cipher_suites': [CipherSuite.CHACHA20_POLY1305_SHA256]}),
    ('version 2 asked for, version 1 taken', 6452, 'ask', {'original_version': V2}),
    (
        'a version of nobody asked for, version 1 taken',
        6452,
        'ask',
        {'original_version': NOBODYS, 'supported_versions': [NOBODYS, V1]},
    ),
    ('Retry', 6453, 'ask', {}),
    ('in a session that is resumed, and early', 6455, 'early', {}),
    ('new keys under way, to our server', 6450, 'source', {'new_keys': True}),
    ('new keys under way, from our server', 6451, 'sink', {'new_keys': True}),
    ('a connection ID that changes under way', 6451, 'sink', {'new_ids': True}),
    ('another port under way, to our server', 6450, 'source', {'new_port': True}),
    ('another port under way, from our server', 6451, 'sink', {'new_port': True}),
    ('windows of 20,000 bytes', 6451, 'sink', {'max_data': 20000, 'max_stream_data': 20000}),
    ('a name that is not the certificate\'s', 6452, 'refuse', {'server_name': 'other.test'}),
    ('no protocol in common', 6452, 'refuse', {'alpn_protocols': ['h3']}),
]


class Ours(QuicConnectionProtocol):
    """A connection that changes something once under way; and sees empty streams."""

    new_keys = new_ids = new_port = False
    datagrams = 0

    def datagram_received(self, data, addr):
        super().datagram_received(data, addr)
        self.datagrams += 1
        if self.datagrams == 10:
            self.change()
        # aioquic tells nobody of a stream that has begun without any data
        if not self._quic.configuration.is_client and 0 in self._quic._streams and not self._stream_readers:
            self._stream_handler(*self._create_stream(0))

    def change(self):
        if self.new_keys:
            self.request_key_update()
        if self.new_ids:
            self.change_connection_id()
        if self.new_port:  # as behind a NAT that has forgotten it: the connection is not told
            self.moving = asyncio.get_running_loop().create_task(self.move())
        counts['changes'] = counts.get('changes', 0) + self.new_keys + self.new_ids + self.new_port

    async def move(self):
        old, here = self._transport, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        here.bind(('::', 0, 0, 0))
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, sock=here)
        old.close()
        # who only listens is not found: all that is under way may have gone to the old port
        self._quic.send_ping(1)
        self.transmit()


class Tickets:
    """What a server gave, each for one connection."""

    def __init__(self):
        self.given = {}

    def keep(self, ticket):
        self.given[ticket.ticket] = ticket

    def take(self, label):
        return self.given.pop(label, None)


def protocol_of(with_):
    return type('Changing', (Ours,), {key: with_.pop(key) for key in CHANGES if key in with_})


def configuration(is_client, with_):
    return QuicConfiguration(
        **{'alpn_protocols': ['perf'], 'server_name': 'fg.test', 'is_client': is_client, **with_}
    )


async def accepted(kind, reader, writer):
    counts['connections'] += 1
    if kind == 'sink':
        await sink(CLIENT, reader)
    elif kind == 'source':
        await source(SERVER, writer, BULK)
    else:
        await answer(reader, writer)
    writer.write_eof()


async def run_server(folder):
    done = asyncio.Event()
    tasks = set()
    for name in signal.SIGTERM, signal.SIGINT:
        asyncio.get_running_loop().add_signal_handler(name, done.set)
    for port, (kind, with_) in PORTS.items():
        retry, protocol = with_.pop('retry', False), protocol_of(with_)
        tickets = Tickets() if with_.pop('tickets', False) else None
        config = configuration(False, with_)
        config.load_cert_chain(f'{folder}/cert.pem', f'{folder}/key.pem')

        def begin(reader, writer, kind=kind):
            task = asyncio.get_running_loop().create_task(accepted(kind, reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        await serve(
            '198.18.1.1',
            port,
            configuration=config,
            create_protocol=protocol,
            retry=retry,
            session_ticket_fetcher=tickets and tickets.take,
            session_ticket_handler=tickets and tickets.keep,
            stream_handler=begin,
        )
    print('ready', aioquic.__version__, flush=True)
    await done.wait()
    counts['unfinished'] += len(tasks)
    with open(f'{folder}/served', 'w', encoding='ascii') as file:
        json.dump(counts, file)


async def one(folder, address, port, kind, with_):
    protocol = protocol_of(with_)
    config = configuration(True, with_)
    config.load_verify_locations(f'{folder}/ca.pem')
    async with connect(address, port, configuration=config, create_protocol=protocol) as client:
        reader, writer = await client.create_stream()
        length = BULK
        if kind == 'source':
            await source(CLIENT, writer, BULK)
            writer.write_eof()
            length = await sink(SERVER, reader)
        elif kind == 'sink':
            writer.write_eof()
            length = await sink(SERVER, reader)
        else:
            await ask(reader, writer)
            writer.write_eof()
            await reader.read()
    return length == (0 if kind == 'source' else BULK)


async def ask_early(folder, address, port):
    """The second connection asks before the handshake is over."""
    tickets = []
    config = configuration(True, {})
    config.load_verify_locations(f'{folder}/ca.pem')
    for _ in range(2):
        config.session_ticket = tickets[0] if tickets else None
        async with connect(
            address,
            port,
            configuration=config,
            session_ticket_handler=tickets.append,
            wait_connected=not tickets,
        ) as client:
            reader, writer = await client.create_stream()
            await ask(reader, writer)
            writer.write_eof()
            await reader.read()
            tls = client._quic.tls
    return tls.session_resumed and tls.early_data_accepted


async def try_one(folder, address, port, kind, with_):
    changing = bool(CHANGES & set(with_))
    wrong, changes = counts['wrong'], counts.get('changes', 0)
    try:
        if kind == 'early':
            whole = await asyncio.wait_for(ask_early(folder, address, port), 60)
        else:
            whole = await asyncio.wait_for(one(folder, address, port, kind, with_), 60)
    except (ConnectionError, asyncio.TimeoutError, asyncio.IncompleteReadError) as why:
        return kind == 'refuse', repr(why)
    wrong, changes = counts['wrong'] - wrong, counts.get('changes', 0) - changes
    good = kind != 'refuse' and whole and wrong == 0 and changes == changing
    return good, f'whole: {whole}, wrong: {wrong}, changes: {changes}'


async def ask_all(folder, address):
    for name, port, kind, with_ in CASES:
        good, why = await try_one(folder, address, port, kind, with_)
        print(f'ok - aioquic asks: {name}' if good else f'not ok - aioquic asks: {name}: {why}')


if sys.argv[1] == 'serve':
    asyncio.run(run_server(sys.argv[2]))
else:
    asyncio.run(ask_all(sys.argv[2], sys.argv[3]))
