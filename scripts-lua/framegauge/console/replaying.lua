-- SPDX-License-Identifier: BSD-3-Clause

--- A capture sent again (framegauge.replay) as a job of the tester.
local format = require "framegauge.report.format"
local refusal = require "framegauge.refusal"
local replay = require "framegauge.replay"
local units = require "framegauge.units"

local M = {}

local count, plural = format.count, format.plural

-- What was received, where that was looked at.
local function verified(v)
   if not v then
      return ""
   elseif v.unchecked > 0 then
      return (", NOT KNOWN what arrived: %s unchecked"):format(count(v.unchecked))
   elseif v.whole then
      return ", all arrived, unchanged and in order"
   end
   return (", %s arrived unchanged, %s lost, %s out of order, %s more than once, %s that were not sent so")
      :format(count(v.same), count(v.lost), count(v.reordered), count(v.duplicates), count(v.foreign))
end

local function in_words(result, facts)
   local said = ("sent %s, %s%s"):format(plural(result.frames, "frame"), units.format_size(result.octets),
      verified(result.verified))
   if facts.oversize > 0 then
      said = ("%s; %s left out: too large"):format(said, plural(facts.oversize, "frame"))
   end
   if result.slips > 0 then
      said = ("%s; the schedule slipped %s"):format(said, plural(result.slips, "time"))
   end
   return said
end

-- "2x" is a speed, and all else a rate.
local function pace(o)
   local text = table.concat(o.pace or {}, " ")
   if text == "" then
      return nil, nil
   elseif text:find "^[%d.]+x$" then
      return text, nil
   end
   local rate, wrong = units.parse_rate(text)
   return nil, rate and text or refusal.raise("replay", 2, "%s; expected a speed such as 2x, or %s", wrong,
      units.expected.rate)
end

--- Begin to send one.
-- @param o  port, file, pace = words or nil, loops, duration, verify: as framegauge.replay takes them
-- @return the job; its results are those of framegauge.replay's run()
function M.start(tester, o)
   local speed, rate = pace(o)
   local task
   task = tester.tasks:start("replay", tester:port_names(), function()
      local bench = tester:bench_for(tester.traffic:plan())
      local one = replay.open(bench, {
         port = o.port, file = o.file, speed = speed, rate = rate, loops = tonumber(o.loops) or o.loops,
         duration = o.duration, verify = o.verify,
      })
      task.progress = { ask = true, line = function()
         return ("%s of %s sent"):format(count(one:counts().frames), count(one.facts.frames))
      end }
      local ok, result = pcall(one.run, one)
      if not ok and type(result) == "table" and result.interrupted then
         ok, result = true, one:counts()
      end
      local words = ok and in_words(result, one.facts)
      task.progress = nil
      one:close()
      return ok and result or error(result, 0), words
   end)
   return task
end

return M
