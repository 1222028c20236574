# SPDX-License-Identifier: BSD-3-Clause
"""What the applications of lib/apps say on a stream, by asyncio, and a check of every octet of theirs.

What both sides send follows from the position in the stream, as lib/apps/payload.c has it.
"""

PERIOD, CLIENT, SERVER = 65521, 11, 7919
REQUEST, RESPONSE, EXCHANGES, BULK = 100, 2000, 3, 2_000_000


def table():
    x, out = 2463534242, bytearray()
    for _ in range(PERIOD):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        out.append(x >> 24)
    return bytes(out)


TABLE = table() * 40
counts = {'connections': 0, 'octets': 0, 'wrong': 0, 'unfinished': 0, 'failed': 0}


def octets(stream, offset, length):
    at = (stream + offset) % PERIOD
    return TABLE[at : at + length]


def check(stream, offset, data):
    counts['octets'] += len(data)
    if data != octets(stream, offset, len(data)):
        counts['wrong'] += 1


async def sink(stream, reader):
    offset = 0
    while data := await reader.read(65536):
        check(stream, offset, data)
        offset += len(data)
    return offset


async def source(stream, writer, length):
    for offset in range(0, length, 50000):
        writer.write(octets(stream, offset, min(50000, length - offset)))
        await writer.drain()


async def answer(reader, writer):
    asked = answered = 0
    while data := await reader.read(65536):
        check(CLIENT, asked, data)
        asked += len(data)
        while answered < asked // REQUEST:
            writer.write(octets(SERVER, answered * RESPONSE, RESPONSE))
            answered += 1


async def ask(reader, writer):
    for i in range(EXCHANGES):
        writer.write(octets(CLIENT, i * REQUEST, REQUEST))
        check(SERVER, i * RESPONSE, await reader.readexactly(RESPONSE))
