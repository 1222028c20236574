-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 4: the longest microburst of several ports at once that a switch forwards without loss.
--
-- m ports send b frames each at one instant, to the other e ports in turn, after a silence in which the
-- switch has forwarded all frames. b is doubled until a frame is lost, and then searched for between the last
-- two. Every burst has to pass several times. All ratios m : e of N ports in which an egress is congested (m
-- > e) are tried, with the ports in every place.
local common = require "framegauge.methods.rfc8239.common"
local lag = require "framegauge.traffic.lag"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

M.NAME = "rfc8239.microburst"

-- The ports in the order of the plan, rotated to begin with another one.
local function rotated(ports, by)
   return tables.map(ports, function(_, i) return ports[(i - 1 + by) % #ports + 1] end)
end

--- The streams of a burst: ingress i sends its frame k to egress (i + k) mod e.
-- @param m       how many of the ports send; all others receive
-- @param frames  of each
-- @return list of { from =, to =, frames =, first = frame of the ingress with which it begins }
-- @usage #microburst.turns({ 1, 2, 3, 4, 5, 6 }, 4, 3) --> 8
function M.turns(ports, m, frames)
   local list, e = {}, #ports - m
   for i = 0, m - 1 do
      for k = 0, math.min(e, frames) - 1 do
         list[#list + 1] = {
            from = ports[i + 1], to = ports[m + 1 + (i + k) % e], first = k,
            frames = math.floor((frames - 1 - k) / e) + 1,
         }
      end
   end
   return list
end

local function burst(c, frames)
   local e, fps = #c.ports - c.m, c.fps
   local seconds = frames / fps
   local streams = tables.map(M.turns(c.ports, c.m, frames), function(turn)
      return common.stream(c.plan, c.tester, turn.from, turn.to, c.frame_size, {
         fps = fps / e, seconds = turn.frames * e / fps, phase = turn.first / e,
         max_lag = lag.of_burst(seconds, fps),
      })
   end)
   return c.session:trial {
      test = M.NAME, phase = ("%d:%d"):format(c.m, e), frame_size = c.frame_size,
      direction = ("%d:%d from %s"):format(c.m, e, c.ports[1].name), fps = fps, seconds = seconds,
      line_fps = c.whole, streams = streams, any_loss = true, setting = tostring(frames),
      outcome = function(record)
         return ("bursts of %d frames: lost %d"):format(frames, record.lost)
      end,
   }
end

-- Does a burst pass as often as it must?
local function passes(c, frames)
   for _ = 1, c.plan.rfc8239.microburst.verify do
      local record = burst(c, frames)
      c.records[#c.records + 1] = record
      if record.lost > 0 or record.validity ~= "valid" then
         return false
      end
   end
   return true
end

-- @return the longest burst that passes, and whether the limit ended the search
local function search(c)
   local limit, passed, failed, frames = c.plan.rfc8239.microburst.limit, 0, nil, 1
   while not failed do
      if passes(c, frames) then
         passed = frames
         if frames == limit then
            return limit, true
         end
         frames = math.min(2 * frames, limit)
      else
         failed = frames
      end
   end
   while failed - passed > 1 do
      local middle = math.floor((passed + failed) / 2)
      if passes(c, middle) then
         passed = middle
      else
         failed = middle
      end
   end
   return passed, false
end

local function measure(plan, tester, session, m, frame_size)
   local o, n = plan.rfc8239, #tester.ports
   local whole = tester:max_fps(frame_size)
   local found, records, worst, at_limit = {}, {}, nil, false
   local e = n - m
   for _ = 1, o.iterations do
      for by = 0, o.microburst.rotations == "all" and n - 1 or 0 do
         local c = { plan = plan, tester = tester, session = session, ports = rotated(tester.ports, by),
            m = m,
            frame_size = frame_size, whole = whole, fps = whole * o.microburst.intensity, records = records }
         local frames, limited = search(c)
         found[#found + 1], at_limit = frames, at_limit or limited
         if not worst or frames < worst.frames then
            worst = { frames = frames, egress = common.names({ unpack(c.ports, m + 1) }) }
         end
      end
   end
   local total = worst.frames * m
   local row = common.row(records, {
      test = "microburst", ingresses = m, egresses = e, frame_size = frame_size, burst_frames = worst.frames,
      burst_max_frames = stats.max(found), burst_mean_frames = stats.mean(found), burst_total_frames = total,
      burst_octets = total * frame_size, intensity_percent = o.microburst.intensity * 100,
      implied_buffer_frames = worst.frames * math.max(0, m * o.microburst.intensity / e - 1),
      limited_by = at_limit and "limit" or "loss", worst_port = worst.egress,
   })
   common.repeated(plan, row, found)
   row.iterations = o.iterations
   return row
end

-- How many ports send, of n.
local function ratios(plan)
   local n, list = #plan.ports, {}
   for m = n - 1, math.floor(n / 2) + 1, -1 do
      list[#list + 1] = m
   end
   return plan.rfc8239.microburst.ingresses or list
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, m in ipairs(ratios(plan)) do
      for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
         rows[#rows + 1] = measure(plan, tester, session, m, frame_size)
      end
   end
end

--- The trials to come, at most, with bursts of a tenth of a second: as common.parts().
function M.parts(plan)
   local o = plan.rfc8239
   local halvings = 2 * math.ceil(math.log(o.microburst.limit) / math.log(2)) * o.microburst.verify
   local rotations = o.microburst.rotations == "all" and #plan.ports or 1
   return common.parts(plan, M.NAME, #ratios(plan) * rotations * o.iterations * halvings, 0.1)
end

return M
