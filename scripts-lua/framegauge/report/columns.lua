-- SPDX-License-Identifier: BSD-3-Clause

--- The tables a terminal shows of each test: title and columns (framegauge.report.grid).
local fields = require "framegauge.report.fields"
local format = require "framegauge.report.format"

local M = {}

local count, decimal = format.count, format.decimal

-- A column's function: one field of a row, a dash where it is not known. "a.b" is b in a.
local function field(path, show)
   return function(row)
      local value = row
      for key in path:gmatch "[^.]+" do
         value = value and value[key]
      end
      return value ~= nil and (show or tostring)(value) or "-"
   end
end

-- A figure that the tester kept from being higher, or lower: what is shown must not look exact.
local function bound(row, sign, text)
   return row.verdict == "tester-limited" and text ~= "-" and sign .. text or text
end

-- A field with such a figure.
local function at_least(path, show)
   local text = field(path, show)
   return function(row)
      return bound(row, ">=", text(row))
   end
end

-- Of one that says nothing unless the row is exact.
local function exact(path, show)
   local text = field(path, show)
   return function(row)
      return row.verdict == "tester-limited" and "-" or text(row)
   end
end

local function fixed(decimals)
   return function(value)
      return decimal(value, decimals)
   end
end

local function mbps(value)
   return decimal(value, value < 10000 and 2 or 1)
end

local function microseconds(ns)
   return decimal(ns / 1e3, 2)
end

local function milliseconds(ns)
   return decimal(ns / 1e6, 3)
end

local SIZE = { "frame", "size", field "frame_size" }
local DIRECTION = { "", "direction", field "direction", left = true }
local TRIALS = { "", "trials", field("trials", count) }
local VERDICT = { "", "verdict", field "verdict", left = true, verdict = true }
local GOAL = { "", "goal", field "goal", left = true }

local function throughput(row)
   return row.throughput_fps and bound(row, ">=", count(row.throughput_fps)) or "no pass"
end

local THROUGHPUT = {
   SIZE, DIRECTION,
   { "theoretical", "fps", field("theoretical_fps", count) },
   { "throughput", "fps", throughput },
   { "L1", "Mbit/s", field("mbps_l1", mbps) },
   { "L2", "Mbit/s", field("mbps_l2", mbps) },
   { "of line", "%", field("percent", fixed(2)) },
   TRIALS, VERDICT,
}

-- Where the search had goals, each with its row.
local GOALS = {
   SIZE, DIRECTION, GOAL,
   { "throughput", "fps", throughput },
   { "conditional", "fps", field("conditional_fps", count) },
   { "of line", "%", field("percent", fixed(2)) },
   { "", "result", function(r) return r.regular and "regular" or "irregular" end, left = true },
   TRIALS, VERDICT,
}

local AT_THROUGHPUT = {
   SIZE, DIRECTION,
   { "frames", "measured", field("latency.count", count) },
   { "min", "us", field("latency.min_ns", microseconds) },
   { "mean", "us", field("latency.mean_ns", microseconds) },
   { "median", "us", field("latency.p50_ns", microseconds) },
   { "p99", "us", field("latency.p99_ns", microseconds) },
   { "p99.9", "us", field("latency.p999_ns", microseconds) },
   { "max", "us", field("latency.max_ns", microseconds) },
}

local LATENCY = {
   SIZE, DIRECTION,
   { "load", "fps", field("rate_fps", count) },
   { "tagged", "frames", field("tagged_frames", count) },
   { "mean of", "tags, us", field("latency_ns_mean", microseconds) },
   { "all: min", "us", field("every_frame.min_ns", microseconds) },
   { "median", "us", field("every_frame.p50_ns", microseconds) },
   { "p99.9", "us", field("every_frame.p999_ns", microseconds) },
   { "max", "us", field("every_frame.max_ns", microseconds) },
   VERDICT,
}

local BACK_TO_BACK = {
   SIZE, DIRECTION,
   { "burst", "frames", at_least("burst_frames_mean", fixed(1)) },
   { "", "min", exact("burst_frames_min", count) },
   { "", "max", exact("burst_frames_max", count) },
   { "", "stddev", exact("burst_frames_stddev", fixed(1)) },
   { "buffer", "us", at_least("buffer_time_ns", microseconds) },
   { "corrected", "us", at_least("corrected_buffer_time_ns", microseconds) },
   TRIALS, VERDICT,
}

-- Where the tester's own latency is known.
local CORRECTED = { "corrected", "mean, us", field("latency.corrected.mean_ns", microseconds) }
local CORRECTED_TAGS = { "corrected", "mean, us", field("latency_ns_mean_corrected", microseconds) }

local SYSTEM_RECOVERY = {
   SIZE, DIRECTION,
   { "throughput", "fps", field("throughput_fps", count) },
   { "overload", "fps", field("overload_fps", count) },
   { "recovery", "ms", field("recovery_ns", milliseconds) },
   { "min", "ms", field("recovery_ns_min", milliseconds) },
   { "max", "ms", field("recovery_ns_max", milliseconds) },
   TRIALS, VERDICT,
}

local RESET = {
   SIZE, DIRECTION,
   { "load", "fps", field("rate_fps", count) },
   { "lost", "frames", field("lost", count) },
   { "by loss", "ms", field("reset_ns_by_loss", milliseconds) },
   { "by stamps", "ms", field("reset_ns_by_timestamps", milliseconds) },
   { "", "reset by", field "by", left = true },
   { "", "outcome", field "outcome", left = true },
   VERDICT,
}

local BURSTY_TRAFFIC = {
   SIZE, DIRECTION,
   { "burst", "frames", field("burst_frames", count) },
   { "interval", "us", function(row)
      return row.interval_ns and bound(row, "<=", microseconds(row.interval_ns)) or "no pass"
   end },
   { "pause", "us", exact("gap_ns", microseconds) },
   { "mean load", "fps", at_least("mean_load_fps", count) },
   { "of line", "%", exact("mean_load_percent", fixed(2)) },
   TRIALS, VERDICT,
}

local MOST_LOADS = 10

-- One line for each frame size and direction, one column for each load.
local function by_load(rows)
   local lines, by_key, loads, seen = {}, {}, {}, {}
   for _, row in ipairs(rows) do
      local key = row.frame_size .. row.direction
      if not by_key[key] then
         by_key[key] = { frame_size = row.frame_size, direction = row.direction, verdict = "valid" }
         lines[#lines + 1] = by_key[key]
      end
      by_key[key][row.load_percent] = (row.verdict == "valid" and "%s" or "(%s)"):format(
         decimal(row.loss_percent, 2))
      by_key[key].verdict = row.verdict ~= "valid" and row.verdict or by_key[key].verdict
      if not seen[row.load_percent] then
         seen[row.load_percent], loads[#loads + 1] = true, row.load_percent
      end
   end
   table.sort(loads, function(a, b)
      return a > b
   end)
   return lines, loads
end

local function frame_loss(rows)
   local lines, loads = by_load(rows)
   local columns = { SIZE, DIRECTION }
   for i = 1, math.min(#loads, MOST_LOADS) do
      columns[#columns + 1] = { i == 1 and "load" or "", ("%g %%"):format(loads[i]), function(line)
         return line[loads[i]] or "-"
      end }
   end
   columns[#columns + 1] = VERDICT
   return columns, lines
end

local function has(rows, key)
   for _, row in ipairs(rows) do
      if row[key] then
         return true
      end
   end
   return false
end

local function has_limits(rows)
   for _, row in ipairs(rows) do
      if row.verdict ~= "valid" then
         return true
      end
   end
   return false
end

local function is_corrected(rows, key)
   for _, row in ipairs(rows) do
      if row[key] and row[key].corrected then
         return true
      end
   end
   return false
end

local function with(columns, place, column)
   local list = { unpack(columns) }
   table.insert(list, place, column)
   return list
end

local tables = {}

function tables.throughput(rows)
   local goals = rows[1].goal
   local list = { { title = "Throughput", columns = goals and GOALS or THROUGHPUT, rows = rows } }
   if has(rows, "latency") then
      local columns = goals and { SIZE, DIRECTION, GOAL, unpack(AT_THROUGHPUT, 3) } or AT_THROUGHPUT
      columns = is_corrected(rows, "latency") and with(columns, #columns + 1, CORRECTED) or columns
      list[2] = { title = "Latency at that load", columns = columns, rows = rows }
   end
   return list
end

function tables.latency(rows)
   local columns = is_corrected(rows, "every_frame") and with(LATENCY, 6, CORRECTED_TAGS) or LATENCY
   return { { title = "Latency", columns = columns, rows = rows } }
end

function tables.frame_loss(rows)
   local columns, lines = frame_loss(rows)
   return { { title = has_limits(rows) and "Frame loss, % of the frames sent (in brackets: not the device's)"
         or "Frame loss, % of the frames sent", columns = columns, rows = lines } }
end

function tables.back_to_back(rows)
   return { { title = "Back-to-back", columns = BACK_TO_BACK, rows = rows } }
end

function tables.system_recovery(rows)
   return { { title = "System recovery", columns = SYSTEM_RECOVERY, rows = rows } }
end

function tables.reset(rows)
   return { { title = "Reset", columns = RESET, rows = rows } }
end

function tables.bursty_traffic(rows)
   return { { title = "Bursty traffic", columns = BURSTY_TRAFFIC, rows = rows } }
end

--- The tables of a result, in the order of the tests.
-- @param results  rows by test
-- @return list of { test =, title =, columns =, rows = }
function M.of(results)
   local list = {}
   for _, test in ipairs(fields.TESTS) do
      local rows = results[test]
      for _, one in ipairs(rows and rows[1] and tables[test](rows) or {}) do
         one.test = test
         -- the latency test says it better than the trials of another
         if not (test == "throughput" and #list > 0 and results.latency) then
            list[#list + 1] = one
         end
      end
   end
   return list
end

return M
