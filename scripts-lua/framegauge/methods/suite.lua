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

local function joined(list, of)
   local out = {}
   for _, one in ipairs(list) do
      out = tables.joined(out, of(one))
   end
   return out
end

--- What --expect can be about: a figure of all rows that have it, or of those of one frame size or one test.
-- @param list          the tables of the method's result (framegauge.report.view)
-- @param o.examples    as in framegauge.methods.expect
-- @param o.sizes(plan) frame sizes that rows may have
-- @param o.tests(plan) what rows may have as `test`, or as `procedure`
function M.expectations(list, o)
   return {
      examples = o.examples,
      figures = function()
         return joined(list, function(one) return one.record.rows end)
      end,
      rows = function(results)
         return joined(list, function(one) return one.rows(results) end)
      end,
      subject = function() return function() return true end end,
      of = function(plan, text)
         local size = tonumber(text)
         if size and not tables.contains(o.sizes(plan), size) then
            return nil, ("the plan has no frame size %s"):format(text)
         elseif not size and not tables.contains(o.tests(plan), text) then
            return nil, ("the plan has no test %s"):format(text)
         end
         return function(row)
            return size and row.frame_size == size or row.test == text or row.procedure == text
         end
      end,
   }
end

--- What `run --dry-run` says.
-- @param parts  framegauge.methods.outlook
-- @param o      exact = "at most" or "about", lines = what else is to be said, of the waits too
function M.outlook(parts, notes, o)
   local trials, seconds = 0, 0
   for _, part in ipairs(parts) do
      trials, seconds = trials + part.trials, seconds + part.seconds
   end
   return outlook.table({
      { "", "test", function(part) return M.words(part.test:match "[^.]+$") end, left = true },
      { "frame", "size", function(part) return tostring(part.frame_size or "-") end },
      { "trials", o.exact, function(part) return format.count(part.trials) end },
      { "time", o.exact, function(part) return format.clock(part.seconds) end },
   }, parts) .. outlook.text(o.lines, notes, { "", ("Estimate: %s %s in %s."):format(o.exact,
      format.plural(trials, "trial"), format.clock(seconds)) })
end

return M
