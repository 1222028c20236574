# SPDX-License-Identifier: BSD-3-Clause
"""The console in a terminal of 80 by 24 (TAP): tmux types and reads the screen.

usage: console.py FRAMEGAUGE
"""

import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import tap
from tap import check
from terminal import Terminal

program = os.path.abspath(sys.argv[1])
PROMPT = "framegauge>"


def at_prompt(screen):
    return screen.splitlines()[-1:] == [PROMPT]


def asked(terminal, line):
    """What a line gives, the screen cleared before."""
    terminal.type("C-l")
    terminal.wait(lambda screen: screen.startswith(PROMPT))
    terminal.text(line)
    return terminal.wait(lambda screen: screen.startswith(f"{PROMPT} {line}") and at_prompt(screen))


def lines(terminal):
    screen = asked(terminal, "ports")
    check("ports are a table", "east  wire0   open    1 Gbit/s" in screen, screen)
    screen = asked(terminal, "prots")
    check(
        "an error is one line",
        "error: 'prots' is not defined; did you mean 'ports'?\n" + PROMPT in screen,
        screen,
    )
    terminal.text("for i = 1, 3 do")
    screen = terminal.wait(lambda screen: screen.endswith("..>"))
    check("a text that is only begun goes on", screen.endswith("..>"), screen)
    terminal.text("print(i) end")
    check("and is done when it is whole", "\n1\n2\n3\n" + PROMPT in terminal.prompt(PROMPT))
    terminal.type("C-l", "l", "a", "t", "Tab")
    screen = terminal.wait(lambda screen: screen.startswith(PROMPT + " latency"))
    check("Tab completes a command", screen.strip() == PROMPT + " latency", screen)
    terminal.type("C-u")
    asked(terminal, "x = {fields = 1, fieldless = 2}")
    terminal.type(*"x.fi", "Tab", "Tab")
    screen = terminal.wait(lambda screen: "fieldless  fields" in screen)
    check("and shows the fields there are", "fieldless  fields" in screen, screen)
    terminal.type("C-c")
    terminal.prompt(PROMPT)
    terminal.type("Up")
    screen = terminal.wait(lambda screen: screen.endswith("fieldless = 2}"))
    check("the last line comes back", screen.endswith("fieldless = 2}"), screen)
    terminal.type("C-c")
    check("Ctrl-C gives a line up", at_prompt(terminal.prompt(PROMPT)))


def loops(terminal):
    for name, line in (
        ("a loop", "while true do end"),
        ("a loop of calls", "while true do string.rep('x', 5) end"),
        ("a loop that catches errors", "while true do pcall(error) end"),
        (
            "loops in each other that catch errors",
            "while true do pcall(function() while true do "
            "pcall(function() while true do end end) end end) end",
        ),
        ("a wait", "job.sleep(100)"),
        ("a recursion", "(function f() return f() end)()"),
        ("coroutines", "while true do coroutine.wrap(function() while true do end end)() end"),
    ):
        terminal.type("C-l")
        terminal.text(line)
        typed = "".join(f"{PROMPT}{line}".split())  # a line that is wrapped has lost the spaces there
        terminal.wait(lambda screen, typed=typed: "".join(screen.split()).startswith(typed))
        time.sleep(0.2)
        terminal.type("C-c")
        screen = terminal.prompt(PROMPT)
        check(f"Ctrl-C gets the prompt back from {name}", at_prompt(screen), screen)


def jobs(terminal):
    terminal.type("C-l")
    screen = asked(terminal, "test rfc2544 quick background frame_sizes=64")
    check("a test in the background gives the prompt back", "job 1: rfc2544 quick, running" in screen, screen)
    screen = asked(terminal, "1 + 1")
    check("which is alive beside it", "\n2\n" in screen, screen)
    screen = asked(terminal, "test rfc2544")
    check("another one on its ports is refused", "error: port east is in use by job 1" in screen, screen)
    asked(terminal, "pause 1")
    check("it is held", "paused" in asked(terminal, "jobs"))
    asked(terminal, "resume 1")
    terminal.type("C-l")
    terminal.text("watch 1")
    screen = terminal.wait(lambda screen: "missing" in screen)
    check("watching it shows its progress", "throughput  64 bytes" in screen and "missing" in screen, screen)
    terminal.type("C-c")
    terminal.prompt(PROMPT)
    screen = asked(terminal, "jobs")
    check("no longer watching it leaves it alone", "running" in screen, screen)
    asked(terminal, "stop 1")
    screen = terminal.wait(lambda screen: "stopped" in screen)
    check("stopping it keeps what it has", "stopped: incomplete; framegauge-runs/" in screen, screen)
    terminal.prompt(PROMPT)
    terminal.type("C-l")
    terminal.text("test rfc2544 quick frame_sizes=64")
    screen = terminal.wait(lambda screen: "missing" in screen)
    check("a test in the foreground shows its progress", "trial" in screen, screen)
    terminal.type("C-c")
    screen = terminal.prompt(PROMPT)
    check("Ctrl-C stops it with what it has", "the results so far are kept" in screen, screen)


def traffic(terminal):
    screen = asked(terminal, "streams")
    check("there is a stream each way", "east-west  east  west     64  10 %" in screen, screen)
    asked(terminal, "start")
    before = asked(terminal, "rate east 20%")
    terminal.text("view")
    screen = terminal.wait(lambda screen: ">east-west" in screen and " 200.0 " in screen)
    check("the live view shows the rate that was set", " 200.0 " in screen and "q: quit" in screen, screen)
    check(
        "on 24 lines of 80 columns",
        max(map(len, screen.splitlines())) <= 80 and len(screen.splitlines()) <= 24,
    )
    terminal.type("q")
    screen = terminal.prompt(PROMPT)
    check("and leaves the prompt as it was", screen == before + " view\n" + PROMPT, screen)
    terminal.type("C-l")
    terminal.text("view line")
    screen = terminal.wait(
        lambda screen: len([line for line in screen.splitlines() if "tx 200.0 Mbit/s" in line]) > 0
    )
    time.sleep(1.2)
    screen = terminal.screen()
    check(
        "the view in lines redraws one for each port",
        [line.split()[0] for line in screen.splitlines()[1:]] == ["east", "west"],
        screen,
    )
    terminal.type("C-c")
    check("and Ctrl-C leaves it", at_prompt(terminal.prompt(PROMPT)), screen)
    screen = asked(terminal, "stop")
    check("stopping ends the traffic", ": sent " in screen and "lost 0" in screen, screen)
    screen = asked(terminal, "latency")
    check("and gives percentiles", "20.51 us" in screen.split("east-west")[1], screen)


def nonsense():
    """Lines nobody should type; the same every time."""
    chance = random.Random(4)
    words = [
        "ports",
        "test",
        "rfc2544",
        "quick",
        "jobs",
        "help",
        "wait",
        "stop",
        "pause",
        "set",
        "=",
        "(",
        ")",
        "{",
        "}",
        "[[",
        "]]",
        "--",
        "'",
        '"',
        "end",
        "do",
        "function",
        "nil",
        "0/0",
        "...",
        "%d",
        "\\",
        ";",
        "~",
        "#",
        "x",
        "east",
        "40%",
        "-1",
        "1e999",
        "\t",
        "==",
        "..",
        ":",
        "local",
        "return",
        "goto",
        "::a::",
        "setmetatable",
        "error",
        "rate",
        "start",
        "streams",
        "stats",
        "frame_sizes=",
        "throughput.trial=-1s",
        "reference_device.x=1",
    ]
    for _ in range(150):
        yield " ".join(chance.choice(words) for _ in range(chance.randint(1, 8)))
    for _ in range(50):
        yield "".join(chr(chance.randint(32, 126)) for _ in range(chance.randint(1, 70)))
    for _ in range(20):
        yield bytes(chance.choice(range(128, 256)) for _ in range(30)).decode("latin-1")
    yield from (
        "error()",
        "error(nil)",
        "error({})",
        "_G = nil",
        "setmetatable(_G, nil)",
        "print = 5",
        "print(print)",
        "string.rep('x', 1e6)",
        "('x'):rep(-1)",
        "for i = 1, 300 do print(i) end",
        "return return",
        "()()()",
        "coroutine.yield()",
        "error(setmetatable({}, {__tostring = error}))",
        "x = {} x[1] = x; =x",
        "setmetatable({}, {__tostring = function() return 5 end})",
        "io.write(nil)",
        "string.dump(print)",
        "local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x",
        "require 'framegauge.nothing'",
        "require 'ffi'.cdef 'nonsense'",
        "loadstring('\\27Lua')()",
        "help " + "x" * 500,
        "set " + "a." * 200 + "b=1",
        "x" * 5000,
        "(" * 300,
        "{" * 300,
    )


def survives_nonsense(folder):
    """Each line is answered within a second, or as many times of a plain line, and the prompt goes on."""
    typed = [line for line in nonsense() if "\n" not in line]
    environment = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder)
    process = subprocess.Popen(
        [program, "console", "--set", "reference_device.time=free"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
    )
    worst, text, number, plain = ("", 0.0), b"", 0, 0.0

    def answered(line):
        """Seconds that a line takes; infinite when nothing answers."""
        nonlocal text, number
        # what a line has begun is ended, and a mark tells that it was dealt with
        number += 1
        mark = b"mark %d!\n" % number
        start = time.monotonic()
        process.stdin.write(line.encode() + b"\n]] --]]\n;;end end end ) } ;\n='mark %d!'\n" % number)
        process.stdin.flush()
        while mark not in text:
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                return float("inf")
            text += piece
        text = text[text.index(mark) + len(mark) :]
        return time.monotonic() - start

    for line in typed:
        took = answered(line)
        if 1 <= took < float("inf"):  # a busy machine takes its time once, a line that hangs always does
            took = min(took, answered(line), answered(line))
            plain = max(plain, answered("=1"))
        worst = max(worst, (line, took), key=lambda one: one[1])
        if took == float("inf"):
            break
    process.stdin.close()
    text += process.stdout.read()
    status = process.wait(60)
    check(
        f"{len(typed)} lines of nonsense are answered",
        status == 1 and worst[1] < float("inf"),
        (worst, status, text[-2000:]),
    )
    # a plain line takes some milliseconds: a machine on which it takes a second is as slow in all
    check("each within a second", worst[1] < max(1, 100 * plain), (worst, plain))


def terminated(folder):
    """SIGTERM ends the console wherever it is, with its socket taken away."""
    terminal = Terminal(folder, f"{shlex.quote(program)} console; echo left with $?; exec sleep 60")
    try:
        terminal.prompt(PROMPT)
        asked(terminal, "start")
        screen = asked(terminal, "require('luv').os_getpid()")
        os.kill(int(screen.splitlines()[1].replace(",", "")), signal.SIGTERM)
        screen = terminal.wait(lambda screen: "left with" in screen)
        check("SIGTERM ends it", "left with 130" in screen, screen)
    finally:
        terminal.close()


def attached(folder):
    """Somebody else's console on a tester that runs: what is drawn there, and captures while traffic runs."""
    environment = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder, XDG_RUNTIME_DIR=folder)
    tester = subprocess.Popen(
        [program, "serve"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    tester.stdout.readline()
    terminal = Terminal(folder, f"{shlex.quote(program)} attach; exec sleep 60")
    try:
        terminal.prompt(PROMPT)
        asked(terminal, "start")
        screen = asked(terminal, "capture west west.pcap udp")
        check(
            "one who is attached begins a capture while streams run",
            "frames that west receives from now on" in screen,
            screen,
        )
        terminal.type("C-l")
        terminal.text("view line")
        screen = terminal.wait(lambda screen: screen.count("tx 100.0 Mbit/s") == 2)
        time.sleep(1.2)
        screen = terminal.screen()
        check(
            "the view in lines redraws there, too",
            [line.split()[0] for line in screen.splitlines()[1:]] == ["east", "west"],
            screen,
        )
        terminal.type("C-c")
        check("and Ctrl-C leaves it", at_prompt(terminal.prompt(PROMPT)), screen)
        screen = asked(terminal, "capture stop")
        check("and the capture ends", " written" in screen and "DROPPED" not in screen, screen)
        size = os.path.getsize(folder + "/west.pcap")
        check("with frames in it", size > 24 and (size - 24) % 76 == 0, size)
    finally:
        terminal.close()
        tester.send_signal(signal.SIGTERM)
        tester.wait()


def main(folder):
    start = time.monotonic()
    terminal = Terminal(folder, f"{shlex.quote(program)} console; echo left with $?; exec sleep 60")
    try:
        screen = terminal.prompt(PROMPT)
        check("there is a prompt", at_prompt(screen) and "'help' lists" in screen, screen)
        print(f"# after {time.monotonic() - start:.2f} s")
        lines(terminal)
        loops(terminal)
        jobs(terminal)
        traffic(terminal)
        terminal.type("C-l", "C-d")
        screen = terminal.wait(lambda screen: "left with" in screen)
        check("Ctrl-D leaves", "left with 0" in screen, screen)
    finally:
        terminal.close()
    history = open(folder + "/framegauge/history", encoding="utf-8").read()
    check("the history is kept", "fieldless" in history, history)
    check(
        "no socket is left",
        not [name for name in os.listdir(folder + "/framegauge") if name.endswith(".sock")],
    )
    survives_nonsense(folder)
    terminated(folder)
    attached(folder)


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
tap.end()
