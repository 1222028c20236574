-- SPDX-License-Identifier: BSD-3-Clause

--- A request of a call, read by its message; what is wrong with it is raised.
local read = require "framegauge.services.otg.read"
local refusal = require "framegauge.services.otg.refusal"
local tables = require "framegauge.core.tables"

local M = {}

function M.read(name, value)
   local found = read.found()
   local request = read.message(name, value, found)
   refusal.raise_found(found)
   return request
end

--- Which alternative of a request is asked for, before it is read.
function M.choice(value, default)
   if type(value) ~= "table" then
      return default
   end
   local given = type(value.choice) == "string" and value.choice or nil
   return given or tables.keys(value)[1] or default
end

return M
