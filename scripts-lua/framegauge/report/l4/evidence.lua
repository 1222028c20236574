-- SPDX-License-Identifier: BSD-3-Clause

--- Why the figures of TCP and UDP tests are not the tester's own limits, and all trials they are of.
local h = require "framegauge.report.html.element"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {}

local count, field, nanoseconds = words.count, words.field, words.nanoseconds

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

-- Share of its polls that the busiest worker had something to do in.
local function busy(trial)
   local most = 0
   for _, side in ipairs(trial.sides) do
      most = math.max(most, side.station.busy)
   end
   return most
end

local function failures(trial)
   local sum = 0
   for _, side in ipairs(trial.sides) do
      for _, one in ipairs(side.apps) do
         for why, n in pairs(one.total.ended) do
            sum = sum + (why ~= "closed" and n or 0)
         end
         sum = sum + one.total.expired + one.total.refused
      end
   end
   return sum
end

local SUMS = {
   refused = station "refused", no_mbuf = station "no_mbuf", table_full = counter "table_full",
   no_ranges = counter "no_ranges", dropped = field("tester_drops", tonumber),
}

local function summed(group)
   local all = { name = group.name, trials = #group.rows, busy = 0, valid = 0, ["tester-limited"] = 0,
      invalid = 0 }
   for _, trial in ipairs(group.rows) do
      all[trial.verdict] = all[trial.verdict] + 1
      all.busy = math.max(all.busy, busy(trial))
      all.gap = trial.longest_poll_gap_ns and math.max(all.gap or 0, trial.longest_poll_gap_ns) or all.gap
      for key, read in pairs(SUMS) do
         all[key] = (all[key] or 0) + read(trial)
      end
   end
   return all
end

local function percent(ratio)
   return words.decimal(100 * ratio, 1)
end

local OVERALL = {
   { "Test", "", field "name", left = true },
   { "Trials", "", field("trials", count) },
   { "Valid", "", field("valid", count) },
   { "Tester-limited", "", field("tester-limited", count) },
   { "Invalid", "", field("invalid", count) },
   { "Busy polls", "%, at most", field("busy", percent) },
   { "Refused", "times", field("refused", count) },
   { "No buffer", "times", field("no_mbuf", count) },
   { "No room", "connections", field("table_full", count) },
   { "No memory", "of gaps", field("no_ranges", count) },
   { "Dropped", "frames", field("dropped", count) },
   { "Poll gap", "longest", field("gap", nanoseconds) },
}

local EXPLANATION = {
   { "Busy polls", "share of the looks at its port in which a worker found something to do. The rest is what "
      .. "the tester had left." },
   { "Refused", "times the port did not take a frame at once; it was kept and sent a moment later, as TCP's "
      .. "own windows then know." },
   { "No buffer, no room, no memory", "what the tester was short of. More than 0 makes a trial "
      .. "tester-limited." },
   { "Dropped", "frames that came back and that the tester's own ports lost. They make a trial "
      .. "tester-limited." },
   { "Poll gap", "the longest time no worker looked at its ports." },
}

--- The section.
function M.body(result)
   local rows = {}
   for _, group in ipairs(words.grouped(result.trials, "test")) do
      rows[#rows + 1] = group.rows[1].sides and summed(group) or nil
   end
   return {
      h.p {
         "Every octet that is received is compared with what was sent, and counted once. Each figure stands "
            .. "beside what the line allows at most, and a trial in which the tester was short of anything "
            .. "is marked.",
      },
      tables.build { caption = "The tester over all trials", columns = OVERALL, rows = rows },
      tables.definitions(EXPLANATION),
   }
end

local function per_trial(read)
   return function(trial)
      return count(read(trial))
   end
end

local function client(trial)
   return trial.sides[1].apps[1]
end

local COLUMNS = {
   { "Trial", "", field "trial" },
   { "Case", "", field "title", left = true },
   { "Length", "s", field("duration_s", function(s) return ("%g"):format(s) end) },
   { "Connections", "established", per_trial(function(trial) return client(trial).total.established end) },
   { "at a time", "most", per_trial(function(trial) return client(trial).concurrent_max end) },
   { "Sent", "frames", per_trial(station "tx_frames") },
   { "Received", "frames", per_trial(station "rx_frames") },
   { "Sent again", "segments", per_trial(counter "segments_retransmitted") },
   { "Time-outs", "", per_trial(counter "timeouts") },
   { "Failures", "", per_trial(failures) },
   { "Wrong", "octets", per_trial(counter "wrong_octets") },
   { "Busy polls", "%", function(trial) return percent(busy(trial)) end },
   { "Verdict", "", field("verdict", words.quiet_verdict), left = true },
}

--- The columns of a table of trials.
M.COLUMNS = COLUMNS

return M
