-- SPDX-License-Identifier: BSD-3-Clause

-- A plan of TCP through the reference device at 100 Mbit/s, for specs that vary single keys of it.
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uv = require "luv"

local M = {}

local PLAN = [[
test: l4
ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {rate: 100Mbps}
l4: {%s}
]]

--- Call the program with the plan.
-- @param keys  of l4
-- @param ...   further ones, as --set takes them
-- @return its output and exit status
function M.call(keys, command, ...)
   local plan = scratch.path()
   scratch.write(plan, PLAN:format(keys))
   local words = { ("'%s' %s '%s'"):format(uv.exepath(), command, plan) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   return scratch.shell(table.concat(words, " ") .. " 2>&1")
end

--- Run it. @return the rows, the exit status, what was printed
function M.run(keys, ...)
   local folder = scratch.path()
   local output, status = M.call(keys, ("run --out '%s'"):format(folder), ...)
   return json.decode(scratch.read(folder .. "/result.json")).results.l4, status, output
end

return M
