-- SPDX-License-Identifier: BSD-3-Clause

--- Fields that are there even when there is nothing to say: null in JSON.
local json = require "framegauge.report.json"

local M = {}

--- A copy in which each of these keys is there.
function M.fill(t, keys)
   local copy = {}
   for key, value in pairs(t) do
      copy[key] = value
   end
   for _, key in ipairs(keys) do
      if copy[key] == nil then
         copy[key] = json.null
      end
   end
   return copy
end

--- The list of what a function makes of each item.
function M.each(list, fn)
   local out = {}
   for i, item in ipairs(list) do
      out[i] = fn(item)
   end
   return out
end

return M
