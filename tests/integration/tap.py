# SPDX-License-Identifier: BSD-3-Clause
"""Test Anything Protocol: a line for each result as it comes, and at the end how many there were. A script
that dies on its way has no such line, which tools/test takes for a failure."""
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


def end():
    """The plan, and the exit status."""
    print(f"1..{results}", flush=True)
    sys.exit(failed > 0)
