# SPDX-License-Identifier: BSD-3-Clause
"""Test Anything Protocol: a line for each result as it comes, and at the end how many there were. A script
that dies on its way has no such line, which tools/test takes for a failure."""
import contextlib
import pathlib
import subprocess
import sys

results = failed = 0


def check(what, holds, detail=""):
    global results, failed
    results += 1
    failed += not holds
    print(("ok" if holds else "not ok") + " - " + what, flush=True)
    if not holds:
        print("\n".join("# " + line for line in str(detail).splitlines()), flush=True)


def skip(what, why):
    global results
    results += 1
    print(f"ok - {what} # SKIP {why}", flush=True)


def ended(process, seconds=60):
    """The exit status of a process that was told to end. One that has not by then is killed: what each of its
    threads did instead, with the ticks of user and system that it had."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        threads = []
        for thread in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # it has just ended
                name, rest = (thread / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
                state, wchan = rest.split(), (thread / "wchan").read_text()
                threads.append(f"{name} {state[0]} in {wchan}, ran {state[11]} + {state[12]}")
        process.kill()
        process.wait()
        return threads


def end():
    """The plan, and the exit status."""
    print(f"1..{results}", flush=True)
    sys.exit(failed > 0)
