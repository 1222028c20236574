# SPDX-License-Identifier: BSD-3-Clause
"""Linux's TCP on both ends, for tools/compare-tcp.

  goodput.py sink PORT                                   for each line on the input: octets that came since,
  and seconds goodput.py send ADDRESS PORT CONNECTIONS SECONDS NAME  send with this congestion control for so
  long, then reset
"""
import selectors
import socket
import struct
import sys
import time

ready = selectors.DefaultSelector()


class Sink:
    """Takes all data; the seconds are those between the first octet and the last."""

    def __init__(self):
        self.octets, self.first, self.last = 0, 0.0, 0.0

    def accept(self, listener):
        s, _ = listener.accept()
        s.setblocking(False)
        ready.register(s, selectors.EVENT_READ, self.take)

    def take(self, s):
        try:
            data = s.recv(1 << 16)
        except ConnectionError:
            data = b''
        if not data:
            ready.unregister(s)
            s.close()
            return
        self.last = time.monotonic()
        self.first = self.first or self.last
        self.octets += len(data)

    def tell(self, stream):
        if not stream.readline():
            sys.exit(0)
        print(self.octets, self.last - self.first, flush=True)
        self.__init__()


def sink(port):
    here = Sink()
    listener = socket.create_server(('', port), backlog=1024)
    ready.register(listener, selectors.EVENT_READ, here.accept)
    ready.register(sys.stdin, selectors.EVENT_READ, here.tell)
    print('ready', flush=True)
    while True:
        for key, _ in ready.select():
            key.data(key.fileobj)


def send(address, port, connections, seconds, congestion):
    block = bytes(1 << 16)
    for _ in range(connections):
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        s.connect((address, port))
        # what is not sent at the end never will be
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        s.setblocking(False)
        ready.register(s, selectors.EVENT_WRITE)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in ready.select(0.05):
            try:
                key.fileobj.send(block)
            except BlockingIOError:
                pass


if sys.argv[1] == 'sink':
    sink(int(sys.argv[2]))
else:
    send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), sys.argv[6])
