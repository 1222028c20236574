-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/result.schema.json:
-- build/app/framegauge script docs/generate/result.schema.lua > docs/reference/result.schema.json
io.write(require("framegauge.report.schema").text())
