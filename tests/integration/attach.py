# SPDX-License-Identifier: BSD-3-Clause
"""A tester to which many are attached (TAP): a test runs beside clients that work, die, flood, stall or send
nonsense.

usage: attach.py FRAMEGAUGE

The test's result must be the same without them, byte for byte: time is free-running.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

import tap
from tap import check

program = os.path.abspath(sys.argv[1])


class Client:
    """One who speaks the protocol."""

    def __init__(self, path, **hello):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(300)  # no assertion on speed but an end to a test that hangs
        self.text = b""
        self.send(hello=2, **hello)
        self.welcome = self.receive("welcome")

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def next(self):
        while b"\n" not in self.text:
            piece = self.socket.recv(65536)
            if not piece:
                return None
            self.text += piece
        line, self.text = self.text.split(b"\n", 1)
        return json.loads(line)

    def receive(self, key):
        self.output = ""
        while True:
            message = self.next()
            if message is None or key in message:
                return message and message[key]
            self.output += message.get("out", "") + message.get("err", "")

    def do(self, line):
        self.send(line=line)
        outcome = self.receive("done")
        return self.output, outcome

    def ended(self):
        """The reason the tester gave, or "" without one, when it has let us go."""
        reason = ""
        try:
            while (message := self.next()) is not None:
                reason = message.get("bye", reason)
        except ConnectionError:
            pass
        return reason


def start(folder, output=subprocess.PIPE):
    path = folder + "/socket"
    process = subprocess.Popen(
        [program, "serve", "--socket", path, "--set", "reference_device.time=free"],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=folder,
    )
    if process.stdout:
        process.stdout.readline()
    return process, path


def nuisances(path):
    """Clients that behave badly; each is a function that returns what should come of it."""
    half = socket.socket(socket.AF_UNIX)
    half.connect(path)
    half.sendall(b'{"hello": 2}\n{"line": "por')
    half.close()

    Client(path).socket.close()

    deaf = Client(
        path
    )  # does not read what it asks for; one that never waits would be stopped on a busy machine
    deaf.send(line="for i = 1, 2000 do print(('x'):rep(10000)) job.sleep(0) end")

    talker = Client(path)
    talker.send(line="job.sleep(60)")
    try:
        for _ in range(5000):
            talker.send(line="nothing")
    except OSError:
        pass
    check("who floods is let go", talker.ended() in ("too many of its lines are waiting", ""))

    for nonsense in (
        b"\0\1\2\n",
        b"[]\n",
        b'"hello"\n',
        b"{}\n",
        b'{"line": "1"}\n',
        b"\xff" * 300000,
        b'{"hello": 1}\n',
        b'{"hello": ' + b"[" * 5000 + b"\n",
    ):
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(path)
        stranger.settimeout(60)
        try:
            stranger.sendall(nonsense)
            while stranger.recv(65536):
                pass
            gone = True
        except ConnectionError:
            gone = True
        except socket.timeout:
            gone = False
        check(f"who sends {nonsense[:12]!r} is let go", gone)
    return deaf


# What ends the process or reaches behind Lua, by every way to it that we know; none of it may come through.
FATAL = [
    "os.exit(3)",
    "os['ex' .. 'it'](3)",
    "os.execute('true')",
    "io.popen('true')",
    "io.stdout:close()",
    "io.stdin:read()",
    "require('ffi').cast('int *', 0)[0] = 1",
    "require 'luv'.stop()",
    "require 'framegauge.core.api'",
    "require 'debug'",
    "package.loaded.ffi",
    "package.loaded.os.exit(3)",
    "debug.getregistry()",
    "debug.sethook()",
    "jit.off()",
    "getfenv(0).os.exit(3)",
    "getfenv(job.spawn).os.exit(3)",
    "setfenv(0, {})",
    "newproxy(true)",
    "module('x')",
    "getmetatable('').__index.rep = nil",
    "load(string.dump(function() end))()",
    "loadstring('os.exit(3)')()",
    "load('return _G')().os.exit(3)",
    "_G.os.exit(3)",
    "loadfile('/dev/null', 'b', _G)().x()",
    "setmetatable({}, {__index = function(_, k) return os[k] end}).exit(3)",
    "coroutine.wrap(os.exit)(3)",
    "(function(...) return select('#', ...) end)(os.exit)",
    "rawget(_G, 'os').exit(3)",
]


def guarded(path):
    """One who is attached tries to end the tester, and to spoil what the others use."""
    attacker, other = Client(path), Client(path)
    through = [line for line in FATAL if attacker.do(line)[1] != "failed"]
    check("nothing that ends or corrupts the tester comes through", not through, through)
    output, _ = attacker.do("os.exit(3)")
    check("and the error says why", "os.exit is not available in attached sessions" in output, output)
    attacker.do(
        "for _, library in pairs {string, table, math, os, io} do "
        "for k in pairs(library) do library[k] = nil end end"
    )
    check(
        "what one spoils the others have",
        other.do("=('x'):rep(3) .. table.concat({1, 2}) .. math.floor(2.5)")[0] == "xxx122\n",
    )
    answer = other.do("local f = load('return bit.bor(1, 4), type(os.time())') return f()")[0]
    check("the rest of Lua is there", answer == "5\nnumber\n", answer)
    check("and so is the tester", "east" in other.do("ports")[0])


def slow_pattern(path):
    """A pattern whose matching takes exponential time, in C, which nothing interrupts."""
    attacker, other = Client(path), Client(path)
    attacker.send(line='return ("a"):rep(40):find(("a*"):rep(25) .. "b")')
    other.socket.settimeout(60)
    check("a slow pattern of one stops nobody else", other.do("=6 * 7")[0] == "42\n")
    outcome = attacker.receive("done")
    check(
        "and is itself stopped, with the reason",
        outcome == "failed" and "the pattern took more than" in attacker.output,
        attacker.output,
    )


def stuck(folder):
    """The tester waits in the kernel for the other end of a pipe: SIGTERM ends it all the same."""
    process, path = start(folder)
    fifo = folder + "/fifo"
    os.mkfifo(fifo)
    client = Client(path)
    client.send(line=f"io.open('{fifo}')")
    attached = subprocess.Popen([program, "attach", path], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    attached.stdin.write(b"=1\n")
    attached.stdin.flush()
    time.sleep(2)
    attached.terminate()
    process.terminate()
    try:
        check("an attached session that gets no answer ends at SIGTERM", attached.wait(30) != 0)
        check("and so does a tester that is stuck", process.wait(60) == 130)
    except subprocess.TimeoutExpired as late:
        check("SIGTERM ends what waits", False, late)
    finally:
        for one in (attached, process):
            one.kill()
            one.wait()


def unread(folder):
    """Nobody reads what the tester prints, and its pipe is full: it works on, and says so later."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b"x" * 4096)
    process, path = start(folder, writer)
    try:
        while not os.path.exists(path) and process.poll() is None:
            time.sleep(0.05)
        client = Client(path)
        outcomes = [client.do(line)[1] for line in ("start", "stop", "start", "stop")]
        check("a tester whose output nobody reads works on", outcomes == ["done"] * 4, outcomes)
        os.read(reader, 4096)
        client.do("start")
        client.do("stop")
        text = os.read(reader, 4096).decode()
        check("and says how often it was not read", "3 messages were left out" in text, text)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x")
        process.terminate()
        check("and ends at SIGTERM", process.wait(60) == 0)
    finally:
        process.kill()
        process.wait()


def hung_up(folder):
    """The terminal is closed."""
    process, path = start(folder)
    process.send_signal(signal.SIGHUP)
    check("a tester whose terminal is closed ends", process.wait(60) == 0)
    check("and takes its socket away, too", not os.path.exists(path))


def results(client, name):
    client.do(f"job = test.rfc2544{{quick=true, frame_sizes={{64, 512}}, out='{name}'}}")


def main(folder):
    process, path = start(folder)
    try:
        check("the socket is its user's alone", stat.S_IMODE(os.stat(path).st_mode) == 0o600)
        first = Client(path)
        check("who comes is told what is here", "wire0" in first.welcome)
        results(first, "alone")
        first.do("job:wait()")

        results(first, "beside")
        many = [Client(path) for _ in range(20)]
        for i, client in enumerate(many):
            client.do(f"mine = {i}")
        answers = [client.do("=mine")[0] for client in many]
        check("20 have names of their own", answers == [f"{i}\n" for i in range(20)], answers)
        jobs = {client.do("jobs")[0].splitlines()[2].split()[1] for client in many}
        check("and see the same jobs", jobs == {"rfc2544"}, jobs)
        guarded(path)
        slow_pattern(path)
        deaf = nuisances(path)
        many[0].send(line="while true do end")
        many[1].socket.sendall(b'{"line": "jo')
        many[1].socket.close()
        outcome = many[0].receive("done")
        check(
            "Lua that never waits is stopped",
            outcome == "failed" and "without waiting" in many[0].output,
            many[0].output,
        )
        many[2].send(line="job = require 'framegauge.core.job' job.sleep(60)")
        many[2].send(interrupt=True)
        check(
            "an interrupt comes through",
            many[2].receive("done") == "failed" and "interrupted" in many[2].output,
        )
        many[2].do("job = nil")
        many[2].send(complete="lat")
        check("Tab is answered", many[2].receive("completion") == "ency ")
        looker = Client(path, read_only=True)
        output, outcome = looker.do("pause")
        check("who may only look cannot pause", outcome == "failed" and "read-only" in output, output)
        check("but look", "east" in looker.do("ports")[0])
        check("and cannot run Lua", looker.do("os.exit(1)")[1] == "failed")

        output, _ = first.do("job:wait().throughput[1].throughput_fps")
        figure = output.split()[-1]
        check(
            "the test beside them has its figure",
            figure.isdigit() and abs(int(figure) - 900000) < 2000,
            output,
        )
        same = [open(f"{folder}/{name}/trials.jsonl", "rb").read() for name in ("alone", "beside")]
        check("and the same trials to the byte", same[0] == same[1] and len(same[0]) > 1000)
        check("who does not read is let go", deaf.ended() is not None)
        check(
            "who leaves is not missed",
            first.do("quit")[1] == "quit" and many[3].do("=mine")[0].endswith("\n3\n"),
        )

        attached = subprocess.run(
            [program, "attach", path],
            input="ports\n=1+1\nnonsense here\n",
            capture_output=True,
            text=True,
            timeout=120,
        )
        check(
            "framegauge attach does what it is told",
            "east" in attached.stdout and attached.stdout.endswith("2\n"),
            attached.stdout,
        )
        check(
            "and tells of errors",
            attached.returncode == 1 and attached.stderr.startswith("error: "),
            (attached.returncode, attached.stderr),
        )
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none"
    check("the tester ends when told to", status == 0, (status, process.stdout.read()[-2000:]))
    check("and takes its socket away", not os.path.exists(path))
    late = subprocess.run([program, "attach", path], input="", capture_output=True, text=True)
    check(
        "attaching to nobody is an error of its own",
        late.returncode == 4 and "no tester listens" in late.stderr,
    )


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
with tempfile.TemporaryDirectory() as scratch:
    stuck(scratch)
with tempfile.TemporaryDirectory() as scratch:
    unread(scratch)
with tempfile.TemporaryDirectory() as scratch:
    hung_up(scratch)
tap.end()
