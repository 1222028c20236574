-- SPDX-License-Identifier: BSD-3-Clause

--- Replays of capture files (framegauge.tester.replay) as jobs of a tester.
local differences = require "framegauge.tester.replay.differences"
local failure = require "framegauge.core.failure"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local remarks = require "framegauge.tester.replay.remarks"
local replay = require "framegauge.tester.replay"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local M = {}

local function summary(result, facts, max_frame)
   local parts = {
      ("sent %s, %s"):format(format.plural(result.frames, "frame"), units.format_size(result.octets)),
      result.verified and differences.verdict(result.verified),
   }
   tables.append(parts, remarks.of(facts, max_frame))
   parts[#parts + 1] = result.slips > 0
      and ("the schedule slipped %s"):format(format.plural(result.slips, "time")) or nil
   return table.concat(parts, "; ")
end

-- "2x" is a speed, all other text a rate.
local function pace(o)
   local text = table.concat(o.pace or {}, " ")
   if text == "" or text:find "^[%d.]+x$" then
      return text ~= "" and text or nil, nil
   end
   local rate, wrong = units.parse_rate(text)
   return nil, rate and text or user_error.raise("replay", 2, "%s; expected a speed such as 2x, or %s", wrong,
      units.expected.rate)
end

--- Start one.
-- @param o  port, file, pace = words or nil, loops, duration, verify: as framegauge.tester.replay takes them
-- @return the job; its results come from framegauge.tester.replay's run()
function M.start(control, o)
   local speed, rate = pace(o)
   return control.tasks:start("replay", control:port_names(), function(task)
      local tester = control.traffic:tester()
      local one = replay.open(tester, {
         port = o.port, file = o.file, speed = speed, rate = rate, loops = tonumber(o.loops) or o.loops,
         duration = o.duration, verify = o.verify,
      })
      task.look = function()
         return { test = "replay", sent = one:counts().frames, of = one.facts.frames }
      end
      return failure.finally(function()
         task.look = nil
         one:close()
      end, function()
         local done, result = job.until_interrupted(one.run, one)
         result = done and result or one:counts()
         return result, summary(result, one.facts, tester.max_frame)
      end)
   end)
end

return M
