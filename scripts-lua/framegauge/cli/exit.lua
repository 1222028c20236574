-- SPDX-License-Identifier: BSD-3-Clause

--- Exit statuses: what a CI job may rely on.
return {
   { 0, "success" },
   { 1, "the device fell short of a criterion (of the plan or --expect) or a --verify, also where another result is tester-limited or invalid; or a script raised an error" },
   { 2, "bad plan or bad usage: nothing was sent" },
   { 3, "tester-limited or invalid: some result cannot be called the device's; or a criterion is not decided; of compare: nothing could be compared, or a run was interrupted" },
   { 4, "the machine: a port, memory, a permission" },
   { 70, "internal error of Framegauge; please report it" },
   { 130, "interrupted by Ctrl-C, SIGTERM or SIGHUP; what was measured until then is kept" },
}
