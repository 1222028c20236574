-- SPDX-License-Identifier: BSD-3-Clause

--- The throughput search of RFC 2544 on an open tester. Scripts and the console have it without a require.
local Session = require "framegauge.trial.session"
local Tester = require "framegauge.tester"
local arguments = require "framegauge.plan.arguments"
local plans = require "framegauge.plan"
local search = require "framegauge.search"
local search_throughput = require "framegauge.methods.rfc2544.throughput"
local user_error = require "framegauge.core.user_error"

local ROWS = {
   { "frame_size", "frame_size" }, { "directions", "table" }, { "search", search.names() }, { "min", "rate" },
   { "max", "rate" }, { "initial", "rate" }, { "resolution", "load_step" }, { "backoff", "load_step" },
   { "trial", "time" }, { "search_trial", "time" }, { "loss_tolerance", "ratio" },
   { "max_trials", "integer", min = 2 }, { "learning_wait", "time" }, { "drain", "time" },
   { "settle", "time" },
}

--- Search for the highest load that loses no frame. Call it inside a job where the ports are real.
-- @param o.frame_size   bytes with FCS, or a mix of sizes by its name (default: 64)
-- @param o.directions   list of "east->west", loaded alike and at once (default: as in the plan)
-- @param o.search, o.min, o.max, o.initial, o.resolution, o.backoff, o.trial, o.search_trial, o.max_trials
--                       as in rfc2544.throughput of a plan (framegauge help rfc2544.throughput)
-- @param o.loss_tolerance  share of the frames that may be lost
-- @param o.learning_wait, o.drain, o.settle  as in rfc2544; all defaults are the plan's, or RFC 2544's
-- @return the row of result.json (docs/reference/results.md): throughput_fps, nil where no load passed,
--         throughput_percent, validity, reasons; and the records of its trials
-- @usage local row = tester:throughput { frame_size = 512, max = "100kfps", trial = "100ms" }
-- return row.throughput_fps, row.validity --> 100,000 valid
function Tester:throughput(o)
   o = arguments.read("tester:throughput", o or {}, ROWS)
   local group = self.plan.rfc2544 or plans.defaults("rfc2544", false)
   local settings = setmetatable(o, { __index = group.throughput })
   settings.search_trial = math.min(settings.search_trial, settings.trial)
   local size, phases = o.frame_size or 64, {}
   for _, key in ipairs { "learning_wait", "drain", "settle" } do
      phases[key] = o[key] or group[key]
   end
   local _, problem = search_throughput.goal(settings, size, self:max_fps(size))
   if problem then
      user_error.raise(nil, 2, "tester:throughput: %s", problem)
   end
   local directions, name = search_throughput.directions(self.plan)
   if o.directions then
      directions, name = o.directions, table.concat(o.directions, ", ")
   end
   local session = Session.new {
      tester = self, retries = group.retries, phases = phases, sink = function() end,
   }
   return search_throughput.rows(settings, session, directions, name, size, self:max_fps(size))[1],
      session.trials
end

return { throughput = Tester.throughput }
