# SPDX-License-Identifier: BSD-3-Clause
# How tools/test reads the output of a step: what passed, failed and was skipped, and whether it may have been skipped.
# Each count_* takes an exit status and a log. It adds to the log what it has to complain of, and a line "skipped: WHAT"
# for each skip; then it prints "PASSED FAILED SKIPPED".

count_one() { # by the exit status; 77 is a skip, with its reason on the last line
	case $1 in
	0) echo 1 0 0 ;;
	77)
		sed -i '$ s/^\(skipped: \)\?/skipped: /' "$2"
		echo 0 0 1
		;;
	*) echo 0 1 0 ;;
	esac
}

count_gtest() {
	sed -n 's/^\[  SKIPPED \] \(.*\) ([0-9]* ms)$/skipped: \1/p' "$2" >"$2.skipped"
	cat "$2.skipped" >>"$2"
	rm "$2.skipped"
	awk '/^\[  PASSED  \]/ { p = $4 } /^\[  FAILED  \] [0-9]+ tests?, listed/ { f = $4 }
		/^\[  SKIPPED \] [0-9]+ tests?, listed/ { s = $4 } END { print p + 0, f + 0, s + 0 }' "$2"
}

count_line() { # "N passed, N failed[, N skipped]" on the last line; 77 as above
	local counts
	counts=$(sed -nE '$ s/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$2")
	if [ -z "$counts" ]; then
		count_one "$([ "$1" -eq 77 ] && echo 77 || echo 1)" "$2"
	else
		awk '{ print $1, $2, $3 + 0 }' <<<"$counts"
	fi
}

# Test Anything Protocol: as many results as the plan says, which may come first or last. A program that ends early, or
# whose loop never ran, is so found out. "1..0 # SKIP why" is a program that cannot run here.
count_tap() {
	local found
	found=$(awk '
		/^1\.\.[0-9]+/ { plans++; planned = substr($1, 4) + 0 }
		/^1\.\.0 *# *[Ss][Kk][Ii][Pp]/ { s++; print "skipped: " $0; next }
		/^Bail out!/ { f++ }
		/^(not )?ok( |$)/ { results++ }
		/^(not )?ok .*# *[Ss][Kk][Ii][Pp]/ { s++; print "skipped: " $0; next }
		/^ok( |$)/ { p++ }
		/^not ok( |$)/ { f++ }
		END {
			if (plans != 1) { f++; print "expected one plan, a line 1..N; there are " plans + 0 }
			else if (planned != results + 0) { f++; print "planned are " planned " results; there are " results + 0 }
			print p + 0, f + 0, s + 0
		}' "$2")
	sed '$ d' <<<"$found" >>"$2"
	tail -n 1 <<<"$found"
}

# What tests/skips.txt may name as a reason, looked at and not believed: does it hold here?
holds() {
	case $1 in
	no-root) [ "$(id -u)" -ne 0 ] && ! "${as_root[@]}" true 2>/dev/null ;;
	no-realtime) ! chrt -f 1 true 2>/dev/null ;;
	one-cpu) [ "$(nproc)" -lt 2 ] ;;
	shared-cpu) grep -q '^flags.* hypervisor' /proc/cpuinfo || [ "$(nproc)" -lt 4 ] ;;
	lab-up) [ "$(tools/lab status)" != "no lab is up" ] ;;
	lacks:python:*) ! /usr/bin/python3 -c "import ${1##*:}" 2>/dev/null ;;
	lacks:*) ! PATH=$PATH:/usr/sbin:/sbin command -v "${1#*:}" >/dev/null ;;
	*) return 1 ;;
	esac
}

# may_skip STEP LINE: whether a line of tests/skips.txt covers it
may_skip() {
	local step text condition
	while IFS='|' read -r step text condition _; do
		read -r step <<<"$step"
		read -r text <<<"$text"
		read -r condition <<<"$condition"
		[[ -n $condition && ${1##* } == $step && $2 == *"$text"* ]] && holds "$condition" && return 0
	done < <(grep -v '^#' tests/skips.txt)
	return 1
}

# refused_skips STEP LOG: how many of its skips are not allowed, each of them told in the log
refused_skips() {
	local line refused=0
	while read -r line; do
		if [ -n "$strict" ]; then
			echo "with --strict nothing may be skipped: $line" >>"$2"
		elif ! may_skip "$1" "$line"; then
			echo "tests/skips.txt does not allow this here: $line" >>"$2"
		else
			continue
		fi
		refused=$((refused + 1))
	done < <(sed -n 's/^skipped: //p' "$2")
	echo "$refused"
}
