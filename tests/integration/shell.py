# SPDX-License-Identifier: BSD-3-Clause
"""Tab in zsh and bash, in a terminal (TAP): what `framegauge completion` says to them.

usage: shell.py FRAMEGAUGE
"""

import os
import shutil
import subprocess
import sys
import tempfile

import tap
from tap import check
from terminal import Terminal

program = os.path.abspath(sys.argv[1])
PROMPT = "ready>"
# How each begins, and reads its completion: in a file of its own, and from the program.
SHELLS = {
    "zsh": [
        ("zsh -f", "PS1='ready> ' fpath=($PWD/zsh $fpath); autoload -Uz compinit; compinit -u -D; clear"),
        ("zsh -f", "PS1='ready> '; autoload -Uz compinit; compinit -u -D; source zsh/_framegauge; clear"),
    ],
    "bash": [("bash --norc --noprofile", "PS1='ready> '; PATH=$PWD:$PATH; source bash/_framegauge; clear")],
}


def completes(terminal, shell):
    def typed(text, wanted):
        terminal.type("C-u")
        terminal.type("C-l")
        terminal.prompt(PROMPT)
        terminal.type(text, "Tab")
        screen = terminal.wait(
            lambda screen: screen.endswith(wanted) or screen.startswith(PROMPT + " " + wanted), 10
        )
        check(f"{shell} makes '{wanted}' of '{text}'", PROMPT + " " + wanted in screen, screen)

    typed("framegauge theo", "framegauge theory")
    typed("framegauge capture --tr", "framegauge capture --trigger")
    typed("framegauge replay lab.yaml --ve", "framegauge replay lab.yaml --verify")
    typed("framegauge completion z", "framegauge completion zsh")
    typed("framegauge check la", "framegauge check lab.yaml")


def lists(terminal, shell):
    """All commands with what they do: nothing of the table is lost on the way."""
    terminal.type("C-u")
    terminal.type("C-l")
    terminal.prompt(PROMPT)
    terminal.type("framegauge re", "Tab", "Tab")
    screen = terminal.wait(lambda screen: "replay" in screen and "report" in screen)
    check(
        f"{shell} lists what it could be",
        all(word in screen for word in ("reflect", "replay", "report")),
        screen,
    )
    if shell == "zsh":
        check("and what that is", "replay   -- replay a capture file and verify" in screen, screen)


def run(folder, shell, command, begin):
    terminal = Terminal(folder, command)
    try:
        terminal.text(begin)
        screen = terminal.prompt(PROMPT)
        check(f"{shell} takes it", screen.splitlines()[-1:] == [PROMPT], screen)
        completes(terminal, shell)
        lists(terminal, shell)
    finally:
        terminal.close()


with tempfile.TemporaryDirectory() as scratch:
    os.symlink(program, scratch + "/framegauge")
    open(scratch + "/lab.yaml", "w", encoding="utf-8").close()
    os.environ["PATH"] = scratch + ":" + os.environ["PATH"]
    for name, ways in SHELLS.items():
        if shutil.which(name) is None:
            tap.skip(name, f"there is no {name}")
            continue
        os.mkdir(f"{scratch}/{name}")
        with open(f"{scratch}/{name}/_framegauge", "w", encoding="utf-8") as out:
            subprocess.run([program, "completion", name], stdout=out, check=True)
        for way in ways:
            run(scratch, name, *way)
tap.end()
