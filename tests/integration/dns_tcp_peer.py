# SPDX-License-Identifier: BSD-3-Clause
"""A peer of our DNS server over TCP that says bad things. Arguments: address, port. For dns_tcp.sh."""
import socket
import struct
import sys

WHERE = (sys.argv[1], int(sys.argv[2]))
PATIENCE = 60  # seconds, on a machine that is very busy


def query(number, name=b"h1"):
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + bytes([len(name)]) + name + \
        b"\x02fg\x04test\0" + struct.pack("!2H", 1, 1)


def framed(message):
    return struct.pack("!H", len(message)) + message


def connect():
    peer = socket.create_connection(WHERE, PATIENCE)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def exactly(peer, octets):
    out = b""
    while len(out) < octets:
        part = peer.recv(octets - len(out))
        assert part, "it closed"
        out += part
    return out


def answer(peer):
    return exactly(peer, struct.unpack("!H", exactly(peer, 2))[0])


def until_closed(peer):
    """What still comes, until the server has closed."""
    out = b""
    while True:
        part = peer.recv(65536)
        if not part:
            return out
        out += part


def goes_on_behind_nonsense():
    peer = connect()
    peer.sendall(framed(b"") + framed(b"abc") + framed(query(7)))
    assert answer(peer)[:2] == b"\0\7"


def reads_byte_by_byte():
    peer = connect()
    for byte in framed(query(8)):
        peer.sendall(bytes([byte]))
    assert answer(peer)[:2] == b"\0\x08"


def answers_all_before_it_closes():
    peer = connect()
    peer.sendall(framed(query(1)) + framed(query(2)) + struct.pack("!H", 500) + b"the begin of more")
    peer.shutdown(socket.SHUT_WR)
    rest = until_closed(peer)
    first = struct.unpack("!H", rest[:2])[0]
    assert rest[2:4] == b"\0\1" and rest[4 + first:6 + first] == b"\0\2"
    assert len(rest) == 2 * (2 + first)


def closes_who_is_idle():
    peer = connect()
    peer.sendall(struct.pack("!H", 500) + b"never whole")
    assert until_closed(peer) == b""


def waits_for_who_does_not_read():
    """More queries than may wait at a time; all are answered when the peer reads."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.settimeout(PATIENCE)
    peer.connect(WHERE)
    sent = 0
    many = b"".join(framed(query(i)) for i in range(4000))
    peer.setblocking(False)
    try:
        while sent < len(many):
            sent += peer.send(many[sent:])
    except BlockingIOError:
        pass
    peer.settimeout(PATIENCE)
    whole = sent - sent % len(framed(query(0)))
    for i in range(whole // len(framed(query(0)))):
        assert answer(peer)[:2] == struct.pack("!H", i), i


def survives_resets():
    for octets in (1, 2, 20):
        peer = connect()
        peer.sendall(framed(query(3))[:octets])
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
    goes_on_behind_nonsense()


for case in (goes_on_behind_nonsense, reads_byte_by_byte, answers_all_before_it_closes, closes_who_is_idle,
             waits_for_who_does_not_read, survives_resets):
    print(case.__name__, flush=True)
    case()
