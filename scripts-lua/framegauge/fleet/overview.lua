-- SPDX-License-Identifier: BSD-3-Clause

--- The agents of a fleet at this moment, as plain data: what each answers, and how far two clocks may differ.
local Controller = require "framegauge.fleet.controller"
local format = require "framegauge.text.format"
local agent_names = require "framegauge.fleet.names"
local pair = require "framegauge.clock.pair"
local tables = require "framegauge.core.tables"

local M = {}

local function ask(control, name, steps, body, some)
   local out = { name = agent_names.short(name, control.agents), bus_name = name }
   local ok, err = pcall(function()
      for _, step in ipairs(steps) do
         out[step] = control:must(name, step, body)
      end
   end)
   if not ok and not some then
      error(err, 0)
   end
   return ok and out or { name = out.name, bus_name = name, problem = control.lost[name] or tostring(err) }
end

--- Ask every agent. Call it inside a job; raises when one does not answer, but for o.some.
-- @param agents  list of { name =, address = }
-- @param steps   commands, such as { "ports", "clock" }
-- @param o       body of the commands, default: {}; some, patience as Controller.connect takes them
-- @return for each agent, in their order: { name = in tables, bus_name =, and by step its answer },
-- or { name, bus_name, problem }
function M.ask(agents, steps, o)
   o = o or {}
   local control, names = Controller.connect(agents, o), tables.field(agents, "name")
   local ok, answers = pcall(Controller.together, names, function(name)
      return ask(control, name, steps, o.body or {}, o.some)
   end)
   control:close()
   if not ok then
      error(answers, 0)
   end
   return tables.map(names, function(name)
      return answers[name]
   end)
end

-- @return what is known, in words, and the bound in nanoseconds where there is one
local function compared(one, other)
   local here, there = one.clock, other.clock
   if here.boot ~= "" and here.boot == there.boot then
      return "one machine, one clock"
   elseif here.synchronised and there.synchronised then
      local bound, unknown = pair.bound(here, there)
      return bound and "within " .. format.nanoseconds(bound) or unknown, bound
   end
   local wrong = here.synchronised and other or one
   return ("no: on %s %s; %s"):format(wrong.name, wrong.clock.finding, wrong.clock.fix)
end

--- How far the clocks of each two agents may differ.
-- @param list  what ask() returned of the step "clock"
-- @return list of { agents = their names, sources, finding, bound_ns or nil }
function M.clocks(list)
   local out = {}
   for i, one in ipairs(list) do
      for k = i + 1, one.clock and #list or 0 do
         local other = list[k]
         if other.clock then
            local finding, bound = compared(one, other)
            out[#out + 1] = { agents = { one.name, other.name }, finding = finding, bound_ns = bound,
               sources = { one.clock.source, other.clock.source } }
         end
      end
   end
   return out
end

return M
