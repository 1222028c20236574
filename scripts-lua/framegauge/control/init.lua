-- SPDX-License-Identifier: BSD-3-Clause

--- A tester under control: a plan, its ports, which are opened once, and the jobs on them.
--
--    local control = require("framegauge.control").new(plan)
--    local task = control:test("rfc2544", { frame_sizes = { 64 } }, { quick = true })
--    while not task.ended do
--       print(task)
--       job.sleep(1)
--    end
--    local results = task:wait()
--    control:close()
--
-- The console and attached sessions share one; a script makes its own. The ports are opened when they are
-- first needed and stay open. A test with a different plan uses them if that has the same ports; otherwise
-- they are opened again. A job owns its ports; other jobs that need them are rejected.
local Tester = require "framegauge.tester"
local Captures = require "framegauge.control.captures"
local job = require "framegauge.core.job"
local link_watch = require "framegauge.tester.link_watch"
local plans = require "framegauge.plan"
local settings = require "framegauge.control.settings"
local tables = require "framegauge.core.tables"
local tests = require "framegauge.control.tests"
local Tasks = require "framegauge.control.task"
local Totals = require "framegauge.tester.totals"
local Traffic = require "framegauge.control.traffic"
local user_error = require "framegauge.core.user_error"

local LOOK_SECONDS = 1

local Control = {}
Control.__index = Control

--- Make one. The ports are opened later.
-- @param plan  a loaded plan (framegauge.plan)
-- @return the tester: plan; traffic, its streams (start, stop, set_rate, history); tasks, its jobs; captures
-- @usage local one = control.new(tester.plan)
-- return one:port_names()[1], #one.tasks.list --> east 0
function Control.new(plan)
   local self = setmetatable({ plan = plan, listeners = {}, totals = Totals.new() }, Control)
   self.tasks = Tasks.new(function(task)
      self:announce(("job %d (%s) %s%s\n"):format(task.id, task.name, task:state(),
         task:line() ~= "" and ": " .. task:line() or ""), task)
      self.captures:warn()
   end)
   self.captures = Captures.new(self)
   self.traffic = Traffic.new(self)
   return self
end

--- Call a listener for each event: function(text, the task or {}). @return function that ends it
-- @usage local one, heard = control.new(tester.plan), nil
-- local stop = one:listen(function(text) heard = text end)
-- one:announce "ports closed"
-- stop()
-- return heard --> ports closed
function Control:listen(listener)
   self.listeners[listener] = true
   return function()
      self.listeners[listener] = nil
   end
end

-- Call the listeners.
function Control:announce(text, task)
   for listener in pairs(self.listeners) do
      listener(text, task or {})
   end
end

-- Whether a tester was opened for frames of all these sizes.
local function takes_frames(tester, sizes)
   for _, size in ipairs(sizes) do
      if not tables.contains(tester.frame_sizes, size) then
         return false
      end
   end
   return true
end

local function fits(tester, plan, sizes)
   return tables.same(tester.opened_for.ports, plan.ports) and tables.same(tester.opened_for.host, plan.host)
      and tables.same(tester.opened_for.reference_device, plan.reference_device)
      and tables.same(tester.opened_for.reference_switch, plan.reference_switch)
      and takes_frames(tester, sizes)
end

-- Announce what becomes of the links of the open ports, until close_ports().
function Control:watch_links()
   local links = link_watch.start(self.tester.opened_for.ports, self.tester.handles)
   self.links, self.watcher = links, job.spawn(job.until_interrupted, function()
      while true do
         job.sleep(LOOK_SECONDS)
         for _, sentence in ipairs(links:look()) do
            self:announce(sentence .. "\n")
         end
      end
   end)
end

-- The open ports (framegauge.tester) for a plan. Call it inside a job. Raises an error when they cannot be
-- opened.
-- @param plan   default: the tester's own
-- @param sizes  bytes with FCS of all frames; default: the sizes of the plan's method
function Control:tester_for(plan, sizes)
   plan = plan or self.plan
   sizes = sizes or plan.needs.frame_sizes
   if self.tester and not fits(self.tester, plan, sizes) then
      self:close_ports()
   end
   if not self.tester then
      local tester, err = Tester.open(plan, { frame_sizes = sizes })
      if not tester then
         error(err, 0)
      end
      tester.opened_for, self.tester, tester.trials = plan, tester, self.trials or 0
      tester.totals = self.totals
      if not tester.wires then -- a virtual wire does not go down
         self:watch_links()
      end
   end
   self.tester.plan = plan
   return self.tester
end

-- Close the ports; they are opened again when they are needed.
function Control:close_ports()
   if self.tester then
      if self.watcher then
         self.watcher:interrupt()
         self.links, self.watcher = nil, nil
      end
      self.captures:close()
      self.trials = self.tester.trials -- trials keep their numbers when the ports are opened again
      self.tester:close()
      self.tester = nil
   end
end

-- Names of the ports, in the plan's order.
function Control:port_names()
   return tables.field(self.plan.ports, "name")
end

local function load(plan, sets, quick)
   local loaded, errors = plans.load_text(plan.source.text, plan.file, {
      sets = sets, quick = quick, eal = plan.source.options.eal, on = plan.source.options.on,
   })
   if loaded then
      return loaded
   end
   local more = #errors > 1 and (" (and %d more)"):format(#errors - 1) or ""
   local first = tostring(errors[1])
   if errors[1].origin then
      first = first:sub(#errors[1].origin + #": " + 1) -- nobody typed that --set
   end
   user_error.raise("set", 2, "%s%s", first, more)
end

-- The plan with some keys changed.
-- @param values  a table as in a plan, or of dotted keys
-- @param method  a test method: the plan runs that, and the keys belong to its group; or nil
-- @param quick   trials of about a second
function Control:plan_with(values, method, quick)
   local sets = settings.of(values, method and method .. "." or "")
   if method then
      table.insert(sets, 1, "test=" .. method)
   end
   sets = settings.after(self.plan.source.options.sets, sets)
   return load(self.plan, sets, quick or self.plan.quick)
end

--- Change keys of the plan for later jobs. Raises an error while a job runs.
-- @usage local one = control.new(tester.plan)
-- one:set { ["reference_device.rate"] = "10Gbps" }
-- return one.plan.reference_device.rate --> 10,000,000,000
function Control:set(values)
   local running = self.tasks:running()[1]
   if running then
      user_error.raise("set", 2, "%s; 'wait %d' for it or 'stop %d'", tostring(running), running.id,
         running.id)
   end
   self.plan = self:plan_with(values)
   self.traffic:read_plan()
end

--- Start a test.
-- @param method  its name (framegauge.method.names())
-- @param values  keys of the method's group: a table as in a plan, or dotted
-- @param flags   quick = trials of about a second, out = the result folder; default: none
-- @return the job: state(), progress(), pause(), resume(), stop(); wait() returns its results
-- @usage local one = control.new(tester.plan)
-- local ok, err = pcall(one.test, one, "rfc2544", { frame_size = 64 })
-- return tostring(err):match "unknown key" --> unknown key
function Control:test(method, values, flags)
   return tests.start(self, method, values, flags or {})
end

--- Stop all jobs, wait for their ends, and close the ports. Call it inside a job.
-- @usage control.new(tester.plan):close()
function Control:close()
   for _, task in ipairs(self.tasks:running()) do
      task:stop()
      pcall(task.wait, task)
   end
   self:close_ports()
end

return Control
