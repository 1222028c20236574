-- SPDX-License-Identifier: BSD-3-Clause

--- run.json: what belongs to the moment of a run and not to its result.
--
-- When, where and how it was started. It is written when the run begins and again when it ends, so that a run
-- that was killed is recognised by the end it does not have. What it was started with stands there, too: only
-- with all of that the same can the run be resumed (framegauge.run.resume).
local json = require "framegauge.text.json"
local uv = require "luv"

local Moment = {}
Moment.__index = Moment

local ORDER = {
   "plan_file", "folder", "command_line", "started", "ended", "elapsed_s", "resumed", "trials", "known_by",
   "host",
   "kernel", "cpu", "cpus", "generator", "name", "version", "ports", "options", "expect",
   "calibration", "captures", "port", "file", "seen", "filtered", "dropped", "written", "octets",
   "triggers", "plan",
}

local function now_utc()
   return os.date "!%Y-%m-%dT%H:%M:%SZ"
end

local function command_line()
   local arguments = {}
   local file = io.open "/proc/self/cmdline"
   for argument in (file and file:read "*a" or ""):gmatch "[^%z]+" do
      arguments[#arguments + 1] = argument
   end
   if file then
      file:close()
   end
   return arguments
end

--- The run begins.
-- @param plan, folder
-- @param request  what a resumed run must have in common with this one: generator, ports, options,
--                 expect, plan
function Moment.begin(plan, folder, request)
   local system, cpus = uv.os_uname(), uv.cpu_info() or {} -- without /proc
   local facts = {
      plan_file = plan.file or json.null,
      folder = folder,
      command_line = command_line(),
      started = now_utc(),
      ended = json.null,
      elapsed_s = json.null,
      host = uv.os_gethostname(),
      kernel = system.sysname .. " " .. system.release,
      cpu = cpus[1] and cpus[1].model or json.null,
      cpus = #cpus,
   }
   for key, value in pairs(request) do
      facts[key] = value
   end
   return setmetatable({ began = uv.hrtime(), facts = facts }, Moment)
end

--- The run goes on after it was ended early.
-- @param facts   run.json as it was left
-- @param trials  how many were made before
function Moment.resume(facts, trials)
   facts.resumed = facts.resumed or {}
   table.insert(facts.resumed, { started = now_utc(), command_line = command_line(), trials = trials })
   facts.ended, facts.elapsed_s = json.null, json.null
   return setmetatable({ began = uv.hrtime(), facts = facts }, Moment)
end

--- Text of run.json while the run is under way.
function Moment:started()
   return json.encode(self.facts, { order = ORDER, pretty = true }) .. "\n"
end

--- Text of run.json at its end.
function Moment:finished()
   self.facts.ended = now_utc()
   self.facts.elapsed_s = math.floor((uv.hrtime() - self.began) / 1e6) / 1e3
   return self:started()
end

return Moment
