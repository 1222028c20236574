-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/openapi.json:
-- build/app/framegauge script docs/generate/openapi.lua > docs/reference/openapi.json
io.write(require("framegauge.web.api").text())
