-- SPDX-License-Identifier: BSD-3-Clause

-- Prints the names of the methods, for interruptions.py.
print(table.concat(require("framegauge.method").names(), " "))
