-- SPDX-License-Identifier: BSD-3-Clause

--- Runs a plan by the program that runs this script, for those who write pages of results.
-- @param path  of the plan
-- @param sets  list of keys with other values than there: "l4.duration=1s"
-- @param out   folder of the run
-- @return      its result.json, decoded
local json = require "framegauge.text.json"
local uv = require "luv"

return function(path, sets, out)
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), path, out) }
   for i, set in ipairs(sets) do
      words[1 + i] = ("--set '%s'"):format(set)
   end
   local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
   local text = pipe:read "*a"
   pipe:close()
   local file = io.open(out .. "/result.json")
   if not file then
      error(text, 0)
   end
   local result = json.decode(file:read "*a")
   file:close()
   return result
end
