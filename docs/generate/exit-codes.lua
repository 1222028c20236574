-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/exit-codes.md:
-- build/app/framegauge script docs/generate/exit-codes.lua > docs/reference/exit-codes.md
io.write "# Exit statuses\n\n| Status | Meaning |\n|---:|---|\n"
for _, row in ipairs(require "framegauge.cli.exit") do
   io.write(("| %d | %s |\n"):format(row[1], row[2]))
end
io.write "\nThis page is generated from scripts-lua/framegauge/cli/exit.lua: `build/app/framegauge script "
io.write "docs/generate/exit-codes.lua > docs/reference/exit-codes.md`.\n"
