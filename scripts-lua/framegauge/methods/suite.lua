-- SPDX-License-Identifier: BSD-3-Clause

--- Methods that are several tests with rows of frame sizes, such as RFC 2889, 3918 and 8239: what these say
-- of themselves in the same way.
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.outlook"
local tables = require "framegauge.core.tables"

local M = {}

--- A test's key as a person reads it.
-- @usage suite.words "head_of_line" --> head of line
function M.words(key)
   return (key:gsub("_", " "))
end

--- Which tests there are.
-- @param tests  list of keys
function M.heading(tests)
   return table.concat(tables.map(tests, M.words), ", ")
end

--- By which module each test is made. @param list  of modules, each with KEYS
function M.modules(list)
   local of = {}
   for _, module in ipairs(list) do
      for _, key in ipairs(module.KEYS) do
         of[key] = module
      end
   end
   return of
end

--- What `run --dry-run` says.
-- @param parts  framegauge.methods.outlook
-- @param lines  what else is to be said, of the waits too
function M.outlook(parts, notes, lines)
   local bound = parts.bound or outlook.ABOUT
   return outlook.table({
      { "", "test", function(part) return M.words(part.test:match "[^.]+$") end, left = true },
      { "frame", "size", function(part) return tostring(part.frame_size or "-") end },
      { "trials", bound, function(part) return format.count(part.trials) end },
      { "time", bound, function(part) return format.clock(part.seconds) end },
   }, parts) .. outlook.text(lines, notes)
end

return M
