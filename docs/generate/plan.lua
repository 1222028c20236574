-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/plan.md: build/app/framegauge script docs/generate/plan.lua > docs/reference/plan.md
io.write(require("framegauge.plan.help").markdown())
