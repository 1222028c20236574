-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/plan.md: build/app/framegauge script docs/plan.lua > docs/plan.md
io.write(require("framegauge.plan.help").markdown())
