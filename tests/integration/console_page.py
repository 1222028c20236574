# SPDX-License-Identifier: BSD-3-Clause
"""docs/tutorials/console.md in a terminal of 80 by 24 (TAP): what it types gives what it shows. Numbers are a
session's own, so only their places are compared.

usage: console_page.py FRAMEGAUGE
"""

import pathlib
import re
import shlex
import sys
import tempfile
import time

from tap import check, end
from terminal import Terminal

PROMPT = "framegauge>"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorials/console.md"
# They go on until Ctrl-C, or show how far a test is.
LIVE = ("view line", "watch", "test rfc2544")
TRAFFIC_S = 1.2  # until there are losses and delays to show
LONGEST_S = 60


def shape(lines):
    """What stands there, without its numbers, its columns' widths and the bars; wrapped lines are one."""
    text = re.sub(r"\d[\d,.]*", "#", "".join(lines) if lines and len(lines[0]) == 80 else "\n".join(lines))
    return re.sub(r"[ \n]+", " ", text).strip()


def asked(terminal, line):
    """The lines that a command gives."""
    terminal.type("C-l")
    terminal.wait(lambda screen: screen == PROMPT)
    terminal.text(line)
    terminal.wait(
        lambda screen: screen.startswith(f"{PROMPT} {line}") and screen.splitlines()[-1] == PROMPT)
    lines = terminal.unwrapped()[1:-1]
    if lines and lines[0].endswith("own queue"):  # there only where frames waited for the tester
        lines = [line[:lines[0].index("own queue")].rstrip() for line in lines]
    return lines


def wait_for_triggers(terminal):
    """Wait until the list of captures has more than one trigger, as the page has."""
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        head, row, *_ = [*asked(terminal, "capture"), "", ""]
        cells = row[:head.find("triggers") + len("triggers")].split()
        if cells and cells[-1].replace(",", "").isdigit() and int(cells[-1].replace(",", "")) > 1:
            return
        time.sleep(0.1)


def commands(block):
    """What a block types, each with the lines below it."""
    found = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            found.append((line[len(PROMPT):].strip(), []))
        elif found:
            found[-1][1].append(line)
    return [one for one in found if one[0]]


def opened(folder, program, banner):
    terminal = Terminal(folder, f"{shlex.quote(program)} console; exec sleep 60")
    screen = terminal.prompt(PROMPT)
    check("the session begins as it is shown", shape(banner) == shape(screen.splitlines()[:-1]), screen)
    return terminal


def viewed(terminal, block):
    """The live view: its first line and the heads of its tables."""
    terminal.text("view")
    screen = terminal.wait(  # half a second after its start it shows ms
        lambda screen: re.match(r"Framegauge  console +running [\d.]+ s ", screen) and "stream " in screen)
    terminal.type("q")
    terminal.prompt(PROMPT)
    for word in "Framegauge", "port ", " stream ":
        wanted, *_ = [shape([line]) for line in block.splitlines() if line.startswith(word)]
        got = [shape([line]) for line in screen.splitlines() if line.startswith(word)]
        check(f"the view's line {word.strip()}", got and set(wanted.split()) <= set(got[0].split()), screen)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    terminal = None
    with tempfile.TemporaryDirectory() as folder:
        page = PAGE.read_text(encoding="utf-8")
        for kind, block in re.findall(r"^```([^\n]*)\n(.*?)^```", page, re.M | re.S):
            if kind:
                continue
            if block.startswith("Framegauge  console"):
                viewed(terminal, block)
            elif block.startswith("Framegauge "):
                if terminal:
                    terminal.close()
                terminal = opened(folder, program, block.splitlines()[:2])
            for line, wanted in commands(block):
                if line in LIVE:
                    continue
                if any("trigge" in shown for shown in wanted) and line == "capture stop":
                    wait_for_triggers(terminal)
                elif line in ("stop", "capture stop"):
                    time.sleep(TRAFFIC_S)
                got = asked(terminal, line)
                check(f"'{line}' gives what the page shows", shape(wanted) == shape(got),
                      (shape(wanted), shape(got)))
        terminal.close()
    end()


main()
