-- SPDX-License-Identifier: BSD-3-Clause

-- Writes docs/reference/api, or another folder: build/app/framegauge script docs/generate/api.lua [FOLDER]
local doc = require "framegauge.cli.script_api"

local folder = arg[1] or arg[0]:match "^(.*)/[^/]*$" .. "/../reference/api"

local function write(name, text)
   local file = assert(io.open(folder .. "/" .. name .. ".md", "w"))
   file:write(text)
   file:close()
end

local list = {}
for i, module in ipairs(doc.MODULES) do
   write(module[1], doc.markdown(module[1]))
   list[i] = ("- [framegauge.%s](%s.md): %s\n"):format(module[1], module[1], doc.of(module[1]).intro[1])
end
write("README", "# Modules for scripts\n\nThe console knows them by their short names; a script requires them.\n\n"
   .. table.concat(list))
