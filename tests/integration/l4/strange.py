# SPDX-License-Identifier: BSD-3-Clause
"""Servers of HTTP that misbehave, each at a port of its own. strange.py prints `ready` and runs for an hour.

  7101  answers with half of the body, and ends in good order
  7102  accepts, and never answers
  7103  answers, and closes a long time after it has said that it would
  7104  answers half of the head, and ends
  7105  resets the connection in place of an answer
  7106  answers with half of the body, and no more
"""

import asyncio
import socket
import struct

BODY = b'x' * 1000
HEAD = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n'
LATE, LONG = 0.5, 60


async def serve(port, reader, writer):
    await reader.readuntil(b'\r\n\r\n')
    if port == 7105:
        linger = struct.pack('ii', 1, 0)
        writer.get_extra_info('socket').setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    answers = {7101: HEAD + BODY[:500], 7103: HEAD + BODY, 7104: HEAD[:20], 7106: HEAD + BODY[:500]}
    writer.write(answers.get(port, b''))
    await writer.drain()
    await asyncio.sleep({7102: LONG, 7103: LATE, 7106: LONG}.get(port, 0))
    writer.close()


async def main():
    for port in range(7101, 7107):
        await asyncio.start_server(lambda r, w, port=port: serve(port, r, w), '0.0.0.0', port, backlog=1024)
    print('ready', flush=True)
    await asyncio.sleep(3600)


asyncio.run(main())
