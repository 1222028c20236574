#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Limit how many addresses a Linux bridge learns: fdb_limit.py BRIDGE ADDRESSES.

The kernel has it since 6.7 (IFLA_BR_FDB_MAX_LEARNED of linux/if_link.h), iproute2 of Debian 12 has not. An
older kernel ignores the attribute: then the exit status is 1.
"""
import socket
import struct
import sys

NEWLINK, GETLINK = 16, 18
REQUEST, ACKNOWLEDGE, NESTED = 1, 4, 0x8000
LINKINFO, KIND, DATA = 18, 1, 2
MAX_LEARNED = 49


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack("=HH", data[:4])
        found[kind & ~NESTED] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def ask(kind, body):
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    link.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | ACKNOWLEDGE, 1, 0) + body)
    return link.recv(65536)


def main():
    bridge, addresses = sys.argv[1], int(sys.argv[2])
    index = struct.pack("=BxHiII", 0, 0, socket.if_nametoindex(bridge), 0, 0)
    limit = attribute(MAX_LEARNED, struct.pack("=I", addresses))
    info = attribute(LINKINFO | NESTED, attribute(KIND, b"bridge") + attribute(DATA | NESTED, limit))
    error = -struct.unpack("=i", ask(NEWLINK, index + info)[16:20])[0]
    if error:
        raise OSError(error, "the bridge takes no limit")
    answer = attributes(ask(GETLINK, index)[32:])
    learned = attributes(attributes(answer[LINKINFO])[DATA]).get(MAX_LEARNED)
    sys.exit(learned is None or struct.unpack("=I", learned)[0] != addresses)


main()
