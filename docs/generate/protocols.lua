-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/protocols.md: build/app/framegauge script docs/generate/protocols.lua > docs/reference/protocols.md
io.write(require("framegauge.cli.protocols").markdown())
