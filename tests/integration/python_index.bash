# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that need a package of Python's index: `from_index NAME MODULE REQUIREMENT` has it in a
# virtual environment beside the program, whose Python is then $python. False: it cannot be had. One of several
# tests at a time makes it.
. tests/integration/as_caller.bash
from_index() {
	local venv=$(dirname "$program")/../$1-venv
	python=$venv/bin/python3
	(
		flock 9
		! "$python" -c "import $2" 2>/dev/null || exit 0
		rm -rf "$venv"
		/usr/bin/python3 -m venv "$venv" >/dev/null 2>&1 &&
			as_caller timeout 120 "$python" -m pip install -q "$3" >/dev/null 2>&1
	) 9>"$venv.lock"
}
