-- SPDX-License-Identifier: BSD-3-Clause

--- The tester that sessions sit at: a plan, its ports opened once, and the jobs on them.
--
-- There is one, however many sessions there are. The ports are opened when they are first needed and stay
-- open; a test with a plan of its own gets them when its plan has the same ports, and has them opened anew
-- otherwise.
local Bench = require "framegauge.bench"
local Captures = require "framegauge.console.captures"
local Tasks = require "framegauge.console.task"
local methods = require "framegauge.method"
local plans = require "framegauge.plan"
local rows = require "framegauge.plan.rows"
local refusal = require "framegauge.refusal"
local Traffic = require "framegauge.console.traffic"
local settings = require "framegauge.console.settings"
local tables = require "framegauge.tables"

local Tester = {}
Tester.__index = Tester

--- Make one. Nothing is opened yet.
-- @param plan  a loaded plan (framegauge.plan)
function Tester.new(plan)
   local self = setmetatable({ plan = plan, listeners = {} }, Tester)
   self.tasks = Tasks.new(function(task)
      self:announce(("job %d (%s) %s%s\n"):format(task.id, task.name, task:state(),
         task:line() ~= "" and ": " .. task:line() or ""), task)
      self.captures:warn()
   end)
   self.captures = Captures.new(self)
   self.traffic = Traffic.new(self)
   return self
end

--- Be told what happens: function(text, the task that it is about, or {}). @return function that ends it
function Tester:listen(listener)
   self.listeners[listener] = true
   return function()
      self.listeners[listener] = nil
   end
end

function Tester:announce(text, task)
   for listener in pairs(self.listeners) do
      listener(text, task or {})
   end
end

-- A bench was opened for frames of some sizes (framegauge.bench): it takes these.
local function takes_frames(opened_for, plan)
   local known = {}
   for _, size in ipairs(methods.of(opened_for).frame_sizes(opened_for)) do
      known[size] = true
   end
   for _, size in ipairs(methods.of(plan).frame_sizes(plan)) do
      if not known[size] then
         return false
      end
   end
   return true
end

local function fits(bench, plan)
   return tables.same(bench.opened_for.ports, plan.ports) and tables.same(bench.opened_for.host, plan.host)
      and tables.same(bench.opened_for.reference_device, plan.reference_device)
      and takes_frames(bench.opened_for, plan)
end

--- The open ports, for a plan. Call it inside a job. Raises what keeps them from being opened.
-- @param plan  default: the tester's own
function Tester:bench_for(plan)
   plan = plan or self.plan
   if self.bench and not fits(self.bench, plan) then
      self:close_ports()
   end
   if not self.bench then
      local bench, err = Bench.open(plan)
      if not bench then
         error(err, 0)
      end
      bench.opened_for, self.bench, bench.trials = plan, bench, self.trials or 0
   end
   self.bench.plan = plan
   return self.bench
end

--- Close the ports; the next who needs them opens them.
function Tester:close_ports()
   if self.bench then
      self.captures:close()
      self.trials = self.bench.trials -- the next ones are others, on ports opened anew too
      self.bench:close()
      self.bench = nil
   end
end

--- Names of the ports, in the plan's order.
function Tester:port_names()
   local names = {}
   for i, port in ipairs(self.plan.ports) do
      names[i] = port.name
   end
   return names
end

local function load(plan, sets, quick)
   local loaded, errors = plans.load_text(plan.source.text, plan.file, {
      sets = sets, quick = quick, eal = plan.source.options.eal,
   })
   if loaded then
      return loaded
   end
   local more = #errors > 1 and (" (and %d more)"):format(#errors - 1) or ""
   refusal.raise("set", 2, "%s%s", tostring(errors[1]), more)
end

--- The plan with some keys changed.
-- @param values  a table as in a plan, or of dotted keys
-- @param method  a test method: the plan runs that, and the keys are those of its group; or nil
-- @param quick   trials of about a second
function Tester:plan_with(values, method, quick)
   local sets = settings.of(values, method and method .. "." or "")
   if method then
      table.insert(sets, 1, "test=" .. method)
   end
   sets = settings.after(self.plan.source.options.sets, sets)
   return load(self.plan, sets, quick or self.plan.quick)
end

--- Change keys of the plan for all that comes. Refused while a job runs.
function Tester:set(values)
   local running = self.tasks:running()[1]
   if running then
      refusal.raise("set", 2, "%s; 'wait %d' for it or 'stop %d'", tostring(running), running.id, running.id)
   end
   self.plan = self:plan_with(values)
   self.traffic:read_plan()
end

--- Streams, by name.
function Tester:streams()
   return self.traffic.list
end

--- Names of the test methods.
function Tester.methods()
   for _, row in ipairs(rows.fields) do
      if row.key == "test" then
         return row.values
      end
   end
end

--- Stop all jobs, wait for their ends, and close the ports. Call it inside a job.
function Tester:close()
   for _, task in ipairs(self.tasks:running()) do
      task:stop()
      pcall(task.wait, task)
   end
   self:close_ports()
end

return Tester
