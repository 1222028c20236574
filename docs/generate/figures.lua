-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/figures.md: build/app/framegauge script docs/generate/figures.lua > docs/reference/figures.md
io.write(require("framegauge.report.reference").markdown())
