# SPDX-License-Identifier: BSD-3-Clause
"""aioquic as the other end of our HTTP/3, checking every octet.

  http3_peer.py serve FOLDER          listen (see PORTS) until a signal; then write counts to FOLDER/served
  http3_peer.py ask FOLDER ADDRESS    ask our servers (see CASES); prints TAP

A path that ends in a number N is answered with N octets of our server's stream, as streams.py has them.
"""

import asyncio
import json
import signal
import sys

import aioquic
from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamReset
from aioquic.tls import CipherSuite
from streams import CLIENT, SERVER, check, counts, octets

PART = 50_000
RESERVED = 0x21 + 0x1F * 7  # of frames and of streams (RFC 9114, 7.2.8, 6.2.3)
GOAWAY_AT, LAST = 5, 40

# port: how the server differs
PORTS = {7470: {}, 7471: {'retry': True}, 7472: {'chatty': True}, 7473: {'goes': True}}


def number(path):
    digits = path.rpartition(b'/')[2]
    return int(digits) if digits.isdigit() else None


class Server(QuicConnectionProtocol):
    chatty = goes = False

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http, self.asked, self.came, self.answered = None, {}, {}, 0

    def quic_event_received(self, event):
        if self.http is None:
            self.http = H3Connection(self._quic)
        for one in self.http.handle_event(event):
            if isinstance(one, HeadersReceived):
                self.asked[one.stream_id] = dict(one.headers)
                self.came[one.stream_id] = 0
            elif isinstance(one, DataReceived):
                check(CLIENT, self.came[one.stream_id], one.data)
                self.came[one.stream_id] += len(one.data)
            if getattr(one, 'stream_ended', False):
                self.answer(one.stream_id)
        self.transmit()

    def answer(self, stream):
        fields = self.asked.pop(stream)
        length = number(fields[b':path'])
        if fields[b':method'] == b'POST' and self.came[stream] != int(fields[b'content-length']):
            counts['unfinished'] += 1
        counts['requests'] = counts.get('requests', 0) + 1
        self.answered += 1
        if self.goes and self.answered == GOAWAY_AT:
            self.say(self.http._local_control_stream_id, FrameType.GOAWAY, encode_uint_var(LAST))
        if length is None:
            self.http.send_headers(stream, [(b':status', b'404'), (b'content-length', b'0')], end_stream=True)
            return
        if self.chatty:
            self.talk(stream)
        head = [(b':status', b'200'), (b'content-length', b'%d' % length), (b'server', b'aioquic')]
        empty = length == 0 or fields[b':method'] == b'HEAD'
        self.http.send_headers(stream, head, end_stream=empty)
        if not empty:
            for at in range(0, length, PART):
                part = octets(SERVER, at, min(PART, length - at))
                self.http.send_data(stream, part, at + len(part) == length and not self.chatty)
            if self.chatty:
                self.http.send_headers(stream, [(b'x-checksum', b'none')], end_stream=True)

    def say(self, stream, kind, data):
        self._quic.send_stream_data(stream, encode_frame(kind, data))

    def talk(self, stream):
        """What a client is to read over."""
        self.say(stream, RESERVED, b'hello')
        early = self.http._encode_headers(stream, [(b':status', b'103'), (b'link', b'</octets/1>')])
        self.say(stream, FrameType.HEADERS, early)
        if stream == 0:
            self.say(self.http._local_control_stream_id, RESERVED, b'')


class Client(QuicConnectionProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http, self.waiting = H3Connection(self._quic), {}
        self.terminated = None

    def quic_event_received(self, event):
        if isinstance(event, ConnectionTerminated):
            self.terminated = event.error_code
        if isinstance(event, (ConnectionTerminated, StreamReset)):
            for one in list(self.waiting.values()):
                one['done'].cancel()
        for one in self.http.handle_event(event):
            state = self.waiting.get(one.stream_id)
            if isinstance(one, HeadersReceived):
                state['head'] = dict(one.headers)
            elif isinstance(one, DataReceived):
                check(SERVER, state['length'], one.data)
                state['length'] += len(one.data)
            if getattr(one, 'stream_ended', False) and not state['done'].done():
                state['done'].set_result(state)

    async def request(self, method, length, body=b'', trailers=False):
        stream = self._quic.get_next_available_stream_id()
        fields = [
            (b':method', method),
            (b':scheme', b'https'),
            (b':authority', b'fg.test'),
            (b':path', b'/octets/%d' % length),
            (b'x-number', b'%d' % stream),
        ]
        state = {'done': asyncio.get_running_loop().create_future(), 'length': 0}
        self.waiting[stream] = state
        self.http.send_headers(stream, fields, end_stream=not body)
        if body:
            self.http.send_data(stream, body, not trailers)
        if trailers:
            self.http.send_headers(stream, [(b'x-checksum', b'none')], end_stream=True)
        self.transmit()
        await state['done']
        return state

    def raw(self, stream, data, fin=False):
        self._quic.send_stream_data(stream, data, fin)
        self.transmit()


async def gets(client, requests, length):
    done = await asyncio.gather(*[client.request(b'GET', length) for _ in range(requests)])
    return all(one['head'][b':status'] == b'200' and one['length'] == length for one in done)


async def many(client):
    return await gets(client, 100, 20_000)


async def posts(client):
    done = await asyncio.gather(
        *[client.request(b'POST', 0, b'x' * 100_000, trailers=one % 2 == 1) for one in range(6)]
    )
    return all(one['head'][b':status'] == b'200' and one['length'] == 0 for one in done)


async def reserved(client):
    client.raw(client.http._local_control_stream_id, encode_frame(RESERVED, b'hello'))
    client.raw(client.http._create_uni_stream(RESERVED), b'of nobody')
    return await gets(client, 10, 1000)


async def ended_with(client, code):
    while client.terminated is None:
        await asyncio.sleep(0.02)
    return client.terminated == code


async def settings_twice(client):
    client.raw(client.http._local_control_stream_id, encode_frame(FrameType.SETTINGS, b''))
    return await ended_with(client, ErrorCode.H3_FRAME_UNEXPECTED)


async def data_first(client):
    client.raw(client._quic.get_next_available_stream_id(), encode_frame(FrameType.DATA, b'x'))
    return await ended_with(client, ErrorCode.H3_FRAME_UNEXPECTED)


# its name, the port of our server, what is done, and how the client differs
CASES = [
    ('one page', 6470, lambda client: gets(client, 1, 20_000), {}),
    ('a hundred at a time', 6470, many, {}),
    ('three hundred at a time', 6470, lambda client: gets(client, 300, 100), {}),
    ('a large page', 6470, lambda client: gets(client, 1, 2_000_000), {}),
    ('bodies and trailers sent', 6470, posts, {}),
    ('AES-256', 6470, many, {'cipher_suites': [CipherSuite.AES_256_GCM_SHA384]}),
    ('ChaCha20', 6470, many, {'cipher_suites': [CipherSuite.CHACHA20_POLY1305_SHA256]}),
    ('frames and streams that are reserved', 6470, reserved, {}),
    ('Retry', 6471, many, {}),
    ('windows of its own of 20,000 bytes', 6470, many, {'max_data': 20000, 'max_stream_data': 15000}),
    ('windows of the server of 16 KiB', 6472, posts, {}),
    ('SETTINGS twice', 6470, settings_twice, {}),
    ('DATA before HEADERS', 6470, data_first, {}),
]


def configuration(is_client, with_):
    return QuicConfiguration(
        **{'alpn_protocols': ['h3'], 'server_name': 'fg.test', 'is_client': is_client, **with_}
    )


async def run_server(folder):
    done = asyncio.Event()
    for name in signal.SIGTERM, signal.SIGINT:
        asyncio.get_running_loop().add_signal_handler(name, done.set)
    for port, with_ in PORTS.items():
        config = configuration(False, {})
        config.load_cert_chain(f'{folder}/cert.pem', f'{folder}/key.pem')
        retry = with_.pop('retry', False)
        await serve(
            '198.18.1.1',
            port,
            configuration=config,
            create_protocol=type('Differing', (Server,), with_),
            retry=retry,
        )
    print('ready', aioquic.__version__, flush=True)
    await done.wait()
    with open(f'{folder}/served', 'w', encoding='ascii') as file:
        json.dump(counts, file)


async def one(folder, address, port, what, with_):
    config = configuration(True, with_)
    config.load_verify_locations(f'{folder}/ca.pem')
    async with connect(address, port, configuration=config, create_protocol=Client) as client:
        return await what(client)


async def ask_all(folder, address):
    for name, port, what, with_ in CASES:
        wrong, why = counts['wrong'], ''
        try:
            good = await asyncio.wait_for(one(folder, address, port, what, with_), 60)
        except (ConnectionError, asyncio.TimeoutError, asyncio.CancelledError) as error:
            good, why = False, repr(error)
        good = good and counts['wrong'] == wrong
        print(f'ok - aioquic asks: {name}' if good else f'not ok - aioquic asks: {name}: {why}')


if sys.argv[1] == 'serve':
    asyncio.run(run_server(sys.argv[2]))
else:
    asyncio.run(ask_all(sys.argv[2], sys.argv[3]))
