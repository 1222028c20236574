-- SPDX-License-Identifier: BSD-3-Clause

--- Convergence: how long routes were without traffic, the rate around each event, and the slowest routes.
local csv = require "framegauge.text.csv"
local format = require "framegauge.text.format"
local h = require "framegauge.text.xml"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.convergence.result"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "Convergence"

local DRAWN, SLOWEST, POINTS = 12, 20, 300 -- events, routes and points that are shown at most

local function rows_of(result)
   return result.results.convergence or {}
end

function M.test_names(result)
   return format.plural(result.plan.convergence.routes.count, "route")
end

--- Routes have a file of their own.
function M.files(result)
   local routes = result.results.convergence_routes or {}
   return routes[1] and { { "routes.csv", csv.rows(result_rows.ROUTE, routes) } } or {}
end

function M.notes(result, add)
   local row = rows_of(result)[1]
   if not row then
      return
   end
   add(("A frame of each route every %s: by loss a time is known to within that%s."):format(
      format.nanoseconds(row.tau_ns), row.event_error_ns and row.event_error_ns > 0
      and ", and the time the command took" or ""))
   add(("By rate: intervals of %s; a full convergence time is up to two of them too long."):format(
      format.nanoseconds(row.sampling_ns)))
   add "Times are of departures; what the paths' delays differ by is in none of them."
end

-- From which sample to which: the loss, and some time before and after it.
local function around(row, sampled)
   local n, first, last = #sampled.tx, nil, nil
   for i = 1, n do
      if sampled.rx[i] < sampled.tx[i] then
         first, last = first or i, i
      end
   end
   local event = row.cei_ns and math.floor(row.cei_ns / 1e9 / sampled.interval_s) + 1
   first, last = math.min(first or event or 1, event or n), math.max(last or event or n, event or 1)
   local margin = math.max(10, math.ceil((last - first) / 2))
   return math.max(1, first - margin), math.min(n, last + margin)
end

-- Points of the chart: the mean of the intervals put together, in frames per second.
local function points_of(row, sampled)
   local from, to = around(row, sampled)
   local each, list = math.ceil((to - from + 1) / POINTS), {}
   for i = from, to, each do
      local tx, rx, n = 0, 0, 0
      for k = i, math.min(i + each - 1, to) do
         tx, rx, n = tx + sampled.tx[k], rx + sampled.rx[k], n + 1
      end
      local seconds = (i - 1 + n / 2) * sampled.interval_s
      for name, frames in pairs { offered = tx, received = rx } do
         list[#list + 1] = { seconds = seconds, fps = frames / n / sampled.interval_s, line = name }
      end
   end
   table.sort(list, function(a, b)
      return a.line > b.line or a.line == b.line and a.seconds < b.seconds
   end)
   return list, each * sampled.interval_s
end

local function rate_chart(row, sampled)
   local points, interval = points_of(row, sampled)
   return lines.draw {
      id = ("rate-%s-%d"):format(row.event, row.repetition),
      title = ("Received rate around the %s, no. %d"):format(row.event, row.repetition),
      description = "Frames per second of all routes that were received, and that were offered.",
      rows = points, group = "line",
      x = { of = "seconds", label = "departure, s since the start of the load", scale = "fitting" },
      y = { label = "frames/s" },
      lines = { { y = "fps", name = tostring, plain = true } },
      say = function(point) return ("%.4g s: %s frames/s"):format(point.seconds, format.count(point.fps)) end,
      caption = ("By the time at which a frame was sent, in intervals of %s%s."):format(
         units.format_time(interval), row.cei_ns and (". The event: at %s s"):format(
         format.decimal(row.cei_ns / 1e9, 4)) or ""),
   }
end

local function restored_chart(row)
   return row.restored and row.restored[2] and lines.draw {
      id = ("restored-%s-%d"):format(row.event, row.repetition),
      title = ("Routes restored after the %s, no. %d"):format(row.event, row.repetition),
      description = "How many routes were restored by when.", rows = row.restored,
      x = { of = function(point) return point.time_ns / 1e6 end, label = "convergence time, ms",
         scale = "exact" },
      y = { label = "routes" }, lines = { { y = "routes", plain = true } },
      say = function(point) return ("%d routes by %s"):format(point.routes,
         format.nanoseconds(point.time_ns)) end,
      caption = row.bound_ns and ("Each is known to within %s."):format(format.nanoseconds(row.bound_ns)),
   } or nil
end

local function charts(result)
   local out, rows = {}, rows_of(result)
   for i = 1, math.min(DRAWN, #rows) do
      local sampled = result.trials[rows[i].trial].sampled
      out[#out + 1] = { rate_chart(rows[i], sampled), restored_chart(rows[i]) }
   end
   return {
      #rows > DRAWN and h.p { ("The first %d of %d events."):format(DRAWN, #rows) } or nil,
      out,
   }
end

local function slowest(result)
   local list = { unpack(result.results.convergence_routes or {}) }
   table.sort(list, function(a, b)
      local x, y = a.connectivity_ns or 0, b.connectivity_ns or 0
      if x ~= y then
         return x > y
      elseif a.repetition ~= b.repetition then
         return a.repetition < b.repetition
      end
      return a.event .. a.route < b.event .. b.route
   end)
   return { unpack(list, 1, math.min(SLOWEST, #list)) }, #list
end

local DEFINITIONS = {
   { "Loss of connectivity", "lost frames of a route times the time between two of its frames (route-specific, RFC 6412)." },
   { "First route, full", "the minimum and the maximum convergence time of the affected routes." },
   { "Mean, by loss", "lost frames of all routes over the load: unaffected routes are in it." },
   { "Full, by rate", "from the first interval in which not all arrived to the first of those in which all did." },
}

function M.summary(result)
   return tables.of { result_rows.SUMMARY, "summary", result.results.convergence_summary or {},
      caption = "All events" }
end

function M.sections(result)
   local rows = rows_of(result)
   if #rows == 0 then
      return {}
   end
   local timers, routes, all = result.plan.convergence.timers or {}, slowest(result)
   return {
      { "Events", "RFC 6412", {
         tables.of { result_rows.EVENT, "html", rows, caption = "Convergence times", below = tables.reasons },
         tables.of { result_rows.EVENT, "times", rows, caption = "When, and what else was seen" },
         tables.definitions(DEFINITIONS),
         timers[1] and h.p { "Timers of the device: ", table.concat(timers, "; "), "." } or nil,
      } },
      { "Received rate around the events", "RFC 6413", charts(result) },
      { "Routes", nil, {
         tables.of { result_rows.ROUTE, "html", routes, caption = "Those that were longest without traffic" },
         all > #routes and h.p { ("The first %d of %s; routes.csv has them all."):format(#routes,
            format.count(all)) } or nil,
      } },
   }
end

function M.tiles(result)
   local list = {}
   for _, row in ipairs(result.results.convergence_summary or {}) do
      list[#list + 1] = row.connectivity and {
         "Loss of connectivity, " .. row.event, format.decimal(row.connectivity.max_ns / 1e6, 3), "ms",
         "the longest of any route", row = row,
      } or nil
      list[#list + 1] = row.full and {
         "Full convergence, " .. row.event, format.decimal(row.full.max_ns / 1e6, 3), "ms", "the longest",
         row = row,
      } or nil
   end
   return list
end

return M
