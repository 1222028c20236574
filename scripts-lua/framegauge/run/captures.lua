-- SPDX-License-Identifier: BSD-3-Clause

--- The captures of a run, from its plan and --capture PORT=FILE: begun before its first trial, ended
-- after its last one.
--
-- Their counts are no result, which must not depend on a disk; they are in run.json, and the report shows
-- them with the evidence.
local capture = require "framegauge.tester.capture"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local Captures = {}
Captures.__index = Captures

local BAD_INPUT = 2

-- What the plan says of a port, as framegauge.tester.capture takes it.
local function of_plan(one)
   local o = tables.copy(one)
   if not o.trigger then
      o.before, o.after = nil, nil
   end
   return o
end

--- Read the captures of a plan and of the options of a run; an option replaces the plan's capture of its
-- port.
-- @param plan   the loaded plan
-- @param texts  list of "PORT=FILE"
-- @return list of arguments for framegauge.tester.capture; what is wrong raises an error with a status
function M.read(plan, texts)
   local known, names, list = {}, {}, {}
   for i, port in ipairs(plan.ports) do
      known[port.name], names[i] = true, port.name
   end
   for i, text in ipairs(texts or {}) do
      local port, file = text:match "^([^=]+)=(.+)$"
      if not known[port or false] then
         user_error.raise("run", BAD_INPUT, "run: --capture '%s': expected PORT=FILE with one of the ports %s", text, table.concat(names, ", "))
      elseif known[port] == "captured" then
         user_error.raise("run", BAD_INPUT, "run: --capture '%s': %s is captured already", text, port)
      end
      known[port], list[i] = "captured", { port = port, file = file }
   end
   for _, one in ipairs(plan.captures or {}) do
      if known[one.port] ~= "captured" then
         list[#list + 1] = of_plan(one)
      end
   end
   return list
end

--- Begin them, all or none.
function M.start(tester, list)
   local self = setmetatable({ list = {} }, Captures)
   local ok, why = pcall(function()
      for i, one in ipairs(list) do
         self.list[i] = capture.start(tester, one)
      end
   end)
   if not ok then
      self:stop()
      error(why, 0)
   end
   return self
end

--- End them. May be called twice.
-- @return list of { port =, file =, seen =, filtered =, dropped =, written =, octets =, triggers =,
--         failure = nil or what went wrong }; nil where there were none
function Captures:stop()
   self.facts = self.facts or {}
   for i, one in ipairs(self.list) do
      local counts, failure = one:stop()
      if not self.facts[i] then
         counts.port, counts.file, counts.failure = one.name, one.file, failure and tostring(failure) or nil
         self.facts[i] = counts
      end
   end
   return self.facts[1] and self.facts or nil
end

return M
