# SPDX-License-Identifier: BSD-3-Clause
"""Linux's own TCP as the other end of lib/tcp, checking every octet.

  peer.py serve FILE                         listen (see PORTS) until a signal; then write counts to FILE
  peer.py ask FILE ADDRESS PORT KIND N EACH  N connections, EACH at a time, then write counts to FILE
  peer.py http FILE ADDRESS PORT             requests by Python's client, curl and wget
  peer.py pages FOLDER [LENGTH...]           files for nginx, named after their length; those that are given
                                             by ten digits

What both sides send is as in streams.py.
"""

import asyncio
import http.client
import http.server
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from streams import BULK, CLIENT, SERVER, answer, ask, check, counts, octets, sink, source

PORTS = {5001: 'sink', 5002: 'source', 5003: 'answer'}


async def accepted(kind, reader, writer):
    counts['connections'] += 1
    try:
        if kind == 'sink':
            await sink(CLIENT, reader)
        elif kind == 'source':
            await source(SERVER, writer, BULK)
            writer.write_eof()
            await reader.read()
        else:
            await answer(reader, writer)
        writer.close()
        await writer.wait_closed()
    except (ConnectionError, asyncio.IncompleteReadError):
        counts['unfinished'] += 1


class Pages(http.server.BaseHTTPRequestHandler):
    """/octets/N is N octets; what is posted is checked."""

    protocol_version = 'HTTP/1.1'

    def answer(self, body):
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        counts['connections'] += 1
        self.answer(octets(SERVER, 0, int(self.path.rsplit('/', 1)[1])))

    def do_POST(self):
        check(CLIENT, 0, self.rfile.read(int(self.headers['Content-Length'])))
        self.answer(b'')

    def log_message(self, *args):
        pass


class Pages6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    request_queue_size = 1024

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def by_python(host, port):
    c = http.client.HTTPConnection(host, port, timeout=60)
    for size in 0, 1, 1448, 1449, 100000:
        for method in 'GET', 'HEAD', 'POST':
            body = octets(CLIENT, 0, size) if method == 'POST' else None
            c.request(method, f'/octets/{size}', body)
            r = c.getresponse()
            data = r.read()
            if r.status != 200 or int(r.headers['Content-Length']) != (0 if method == 'POST' else size):
                counts['failed'] += 1
            check(SERVER, 0, data)
            if method == 'GET' and len(data) != size:
                counts['unfinished'] += 1
            counts['connections'] += 1
    c.close()


# the fields of answers to a range, as they are read by somebody else
def by_range(host, port):
    c = http.client.HTTPConnection(host, port, timeout=60)
    for asked, status, expected in (
        ('bytes=3-9', 206, (3, 9, 1000)),
        ('bytes=995-2000', 206, (995, 999, 1000)),
        ('bytes=1000-', 416, (1000,)),
        ('bytes=-0', 416, (1000,)),
        ('bytes=9-3', 200, ()),
        ('lines=1-2', 200, ()),
    ):
        c.request('GET', '/octets/1000', headers={'Range': asked})
        r = c.getresponse()
        data = r.read()
        numbers = tuple(int(n) for n in re.findall('[0-9]+', r.headers.get('Content-Range', '')))
        first, last = expected[:2] if status == 206 else (0, 999 if status == 200 else -1)
        check(SERVER, first, data)
        if (r.status, numbers, len(data)) != (status, expected, last - first + 1):
            counts['failed'] += 1
            print(asked, r.status, r.headers, len(data), file=sys.stderr)
        counts['connections'] += 1
    c.close()


# a client that has sent all, and says so, still gets its answer
def half_closed(address, port, size, page):
    with socket.create_connection((address, port), timeout=60) as s:
        s.sendall(f'GET /octets/{size} HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
        s.shutdown(socket.SHUT_WR)
        answer = s.makefile('rb').read()
    counts['connections'] += 1
    if answer.partition(b'\r\n\r\n')[2] != page:
        counts['unfinished'] += 1


def by_tool(command, expected, data=b''):
    done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)
    counts['connections'] += 1
    if done.returncode != 0 or done.stderr or done.stdout != expected:
        counts['failed'] += 1
        print(command, done.returncode, done.stderr.decode(), len(done.stdout), file=sys.stderr)


def http_all(address, port):
    for _ in range(600):
        try:
            socket.create_connection((address, port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    by_python(address, port)
    host = f'[{address}]' if ':' in address else address
    url = f'http://{host}:{port}/octets/'
    curl = ['curl', '--silent', '--show-error', '--fail', '--globoff']
    wget = ['wget', '--quiet', '--output-document=-']
    size = 200_000
    page, large = octets(SERVER, 0, size), octets(SERVER, 0, 2_000_000)
    twice = [f'{url}{size}'] * 2
    by_tool([*curl, *twice], page * 2)
    by_tool([*wget, *twice], page * 2)
    by_tool([*curl, f'{url}{len(large)}'], large)
    by_tool([*wget, '--no-http-keep-alive', f'{url}{len(large)}'], large)
    by_tool([*curl, '--http1.0', f'{url}{size}'], page)
    for asked, part in (
        ('100-199', page[100:200]),
        ('199000-', page[199000:]),
        ('-7', page[-7:]),
        ('199999-300000', page[-1:]),
        ('0-1,5-6', page),  # a server may answer several with all there is (RFC 9110, 14.2)
    ):
        by_tool([*curl, '--range', asked, f'{url}{size}'], part)
    by_range(address, port)
    half_closed(address, port, size, page)
    # the second waits for 100 (Continue), the third comes in chunks
    for more in (
        [],
        ['--header', 'Expect: 100-continue', '--expect100-timeout', '5'],
        ['--header', 'Transfer-Encoding: chunked'],
    ):
        by_tool(
            [*curl, *more, '--data-binary', '@-', '--write-out', '%{http_code}', f'{url}9'], b'200', large
        )
    by_tool([*wget, '--post-data=' + 'x' * 1000, f'{url}9'], b'')


def pages(folder, *given):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    names = {f'{int(size):010}': int(size) for size in given}
    for name, size in (names or {str(size): size for size in (0, 1000, 20_000, 8_000_000)}).items():
        data = b''.join(octets(SERVER, at, min(50_000, size - at)) for at in range(0, size, 50_000))
        (folder / name).write_bytes(data)


async def serve(path):
    done = asyncio.Event()
    threading.Thread(target=Pages6(('::', 5080), Pages).serve_forever, daemon=True).start()
    for name in signal.SIGTERM, signal.SIGINT:
        asyncio.get_running_loop().add_signal_handler(name, done.set)
    for port, kind in PORTS.items():
        listener = socket.create_server(
            ('::', port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096
        )
        await asyncio.start_server(lambda r, w, kind=kind: accepted(kind, r, w), sock=listener, backlog=4096)
    print('ready', flush=True)
    await done.wait()


async def connect(address, port):
    for _ in range(1200):
        try:
            return await asyncio.open_connection(address, port)
        except OSError:
            await asyncio.sleep(0.05)
    raise ConnectionError('no answer')


async def one(address, port, kind, turn):
    async with turn:
        try:
            reader, writer = await connect(address, port)
            if kind == 'source':
                await source(CLIENT, writer, BULK)
                writer.write_eof()
                await sink(SERVER, reader)
            else:
                await ask(reader, writer)
            writer.close()
            await writer.wait_closed()
            counts['connections'] += 1
        except (OSError, asyncio.IncompleteReadError):
            counts['failed'] += 1


async def ask_all(address, port, kind, n, each):
    turn = asyncio.Semaphore(each)
    await asyncio.gather(*(one(address, port, kind, turn) for _ in range(n)))


if sys.argv[1] == 'pages':
    pages(*sys.argv[2:])
    sys.exit()
if sys.argv[1] == 'serve':
    asyncio.run(serve(sys.argv[2]))
elif sys.argv[1] == 'http':
    http_all(sys.argv[3], int(sys.argv[4]))
else:
    asyncio.run(ask_all(sys.argv[3], int(sys.argv[4]), sys.argv[5], int(sys.argv[6]), int(sys.argv[7])))
with open(sys.argv[2], 'w', encoding='ascii') as file:
    json.dump(counts, file)
