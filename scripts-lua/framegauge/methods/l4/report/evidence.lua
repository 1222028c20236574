-- SPDX-License-Identifier: BSD-3-Clause

--- Evidence that the figures of TCP and UDP tests are not the tester's own limits, and all their trials.
local common = require "framegauge.report.html.evidence"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local tables = require "framegauge.report.html.tables"

local M = {}

local count = formatters.count

local function of_sides(trial, read)
   local sum = 0
   for _, side in ipairs(trial.sides) do
      sum = sum + read(side)
   end
   return sum
end

local function station(key)
   return function(trial)
      return of_sides(trial, function(side) return side.station[key] end)
   end
end

local function counter(key)
   return function(trial)
      return of_sides(trial, function(side) return side.counters[key] or 0 end)
   end
end

-- Share of polls that found work, of the busiest worker, percent.
local function busy(trial)
   local most = 0
   for _, side in ipairs(trial.sides) do
      most = math.max(most, side.station.busy)
   end
   return 100 * most
end

local function failures(trial)
   return of_sides(trial, function(side)
      local sum = 0
      for _, one in ipairs(side.apps) do
         for why, n in pairs(one.total.ended) do
            sum = sum + (why ~= "closed" and why ~= "expired" and n or 0)
         end
         sum = sum + one.total.expired + one.total.refused
      end
      return sum
   end)
end

local SUMS = {
   refused = station "refused", no_mbuf = station "no_mbuf", table_full = counter "table_full",
   no_ranges = counter "no_ranges", dropped = function(trial) return trial.tester_drops end,
}
local MAXIMA = { busy = busy, gap = function(trial) return trial.poll_gap_max_ns end }

local function column(heading, unit, read, write)
   return { heading, unit, function(row)
      local value
      if type(read) == "string" then
         value = row[read]
      else
         value = read(row)
      end
      return value and (write or count)(value)
   end, left = write == tostring }
end

local function percent(value)
   return formatters.decimal(value, 1)
end

local OVERALL = {
   common.COUNTS[1], common.COUNTS[2], common.COUNTS[3], common.COUNTS[4], common.COUNTS[5],
   column("Busy polls", "%, at most", "busy", percent), column("Refused", "times", "refused"),
   column("No buffer", "times", "no_mbuf"), column("No room", "connections", "table_full"),
   column("No memory", "of gaps", "no_ranges"), column("Dropped", "frames", "dropped"),
   column("Poll gap", "longest", "gap", formatters.nanoseconds),
}

local EXPLANATION = {
   { "Busy polls", "share of the polls in which a worker found something to do. The rest was the reserve of the tester." },
   { "Refused", "how often the port did not accept a frame at once. The frame was kept and sent a moment later." },
   { "No buffer, no room, no memory", "resources that the tester lacked. More than 0 makes a trial tester-limited." },
   { "Dropped", "frames that arrived and were lost in the tester's own ports. They make a trial tester-limited." },
   { "Poll gap", "the longest time in which no worker polled its ports." },
}

--- The section.
function M.body(result)
   local lines = {}
   for _, group in ipairs(formatters.grouped(result.trials, "test")) do
      lines[#lines + 1] = group.rows[1].sides and common.summed(group, SUMS, MAXIMA) or nil
   end
   return {
      h.p {
         "Every byte that is received is compared with what was sent, and counted once. Each figure stands with what the line allows at most, and a trial in which the tester was short of anything is marked.",
      },
      tables.build { caption = "The tester over all trials", columns = OVERALL, rows = lines },
      tables.definitions(EXPLANATION),
   }
end

local function client(trial)
   return trial.sides[1].apps[1]
end

--- The columns of a table of trials.
M.COLUMNS = {
   column("Trial", "", "trial"), column("Case", "", "title", tostring),
   column("Length", "s", "duration_s", function(s) return ("%g"):format(s) end),
   column("Connections", "established", function(trial) return client(trial).total.established end),
   column("at a time", "most", function(trial) return client(trial).concurrent_max end),
   column("Sent", "frames", station "tx_frames"), column("Received", "frames", station "rx_frames"),
   column("Retransmitted", "segments", counter "segments_retransmitted"), column("Time-outs", "",
      counter "timeouts"),
   column("Failures", "", failures), column("Wrong", "bytes", counter "wrong_octets"), column("Busy polls",
      "%", busy, percent),
   { "Verdict", "", function(trial) return trial.validity end, kind = "quiet", left = true },
}

return M
