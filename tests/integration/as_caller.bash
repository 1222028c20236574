# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that fetch a package: `as_caller COMMAND...` runs it in the environment of the caller,
# which says where the index is and how it is reached: settings below HOME, proxies, certificates. tests/watched
# keeps that from all else.
as_caller() {
	local environment=()
	[ -z "${FRAMEGAUGE_CALLER:-}" ] || mapfile -d '' environment <"$FRAMEGAUGE_CALLER"
	env "${environment[@]}" "TMPDIR=${TMPDIR:-/tmp}" "PATH=$PATH" "$@"
}
