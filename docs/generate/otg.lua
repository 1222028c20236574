-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/otg.md: build/app/framegauge script docs/generate/otg.lua > docs/reference/otg.md
io.write(require("framegauge.services.otg.support").page())
