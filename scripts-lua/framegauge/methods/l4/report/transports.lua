-- SPDX-License-Identifier: BSD-3-Clause

--- The campaign transports in a report: goodput against loss, a chart for each delay with a line for each
-- transport, or against the round trip where no loss differs; and the table of all paths.
local formatters = require "framegauge.report.html.formatters"
local html_tables = require "framegauge.report.html.tables"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.l4.result"
local tables = require "framegauge.core.tables"
local transports = require "framegauge.methods.l4.plan.transports"
local units = require "framegauge.text.units"

local M = {}

-- All parameters of a path except its losses, and except the round trip where the chart has it.
local function path_name(row, without_delay)
   local path = row.parameters.path
   local reordered = path.reorder_ratio > 0
      and (", %.3g %% reordered"):format(100 * path.reorder_ratio) or ""
   local rate = transports.rate_in_words(path.rate_bps, path.back_bps)
   local delay = without_delay and "" or (", %s of round trip"):format(units.format_time(path.delay_s))
   return ("%s%s%s, queue of %d %s"):format(rate, delay, reordered, path.queue, path.queue_unit)
end

local NAMES = {
   TCP_STREAM = "TCP", TLS_STREAM = "TLS", QUIC_STREAM = "QUIC", TCP_MAERTS = "TCP", TLS_MAERTS = "TLS",
   QUIC_MAERTS = "QUIC", HTTP = "HTTP/1.1", HTTPS = "HTTP/1.1 over TLS", HTTP2 = "HTTP/2",
   HTTPS2 = "HTTP/2 over TLS", HTTP3 = "HTTP/3",
}

-- The name of a line of the chart.
local function transport(row)
   local streams = row.parameters.http and row.test ~= "HTTP" and row.test ~= "HTTPS"
      and row.parameters.http.streams
   local with = streams and (streams == 1 and ", 1 stream" or (", %d streams"):format(streams)) or ""
   return NAMES[row.test] .. with .. (row.parameters.path.bursts and ", in bursts" or "")
end

-- The horizontal axes of charts: the figure, and which rows share a chart.
local AGAINST = {
   { "loss", of = function(row) return 100 * row.parameters.path.loss_ratio end, unit = "%",
      label = "frames lost, %", scale = "even", group = path_name },
   { "round trip", of = function(row) return 1e3 * row.parameters.path.delay_s end, unit = "ms",
      label = "round trip, ms", scale = "values", group = function(row) return path_name(row, true) end },
}

-- The first axis that differs between rows; nil: one path, which the table shows.
local function against(rows)
   for _, one in ipairs(AGAINST) do
      if tables.any(rows, function(row) return one.of(row) ~= one.of(rows[1]) end) then
         return one
      end
   end
end

-- The limit by headers, window and loss together.
local function allowed(row)
   local t = row.transport
   return math.min(t.theoretical_bps, t.window_bps or math.huge, t.loss_bps or math.huge)
end

local function judged(row)
   return row.validity == "valid" and row.transport.goodput_bps or nil
end

local function chart(number, x, name, rows)
   return lines.draw {
      id = "transports-" .. number, title = ("Goodput against %s: %s"):format(x[1], name), rows = rows,
      description = ("Payload bits per second of each transport at each %s."):format(x[1]),
      x = { of = x.of, label = x.label, scale = x.scale },
      y = { label = "payload, bit/s" }, group = transport,
      lines = {
         { y = allowed, class = "theory", plain = true, once = true,
            name = function(first) return "theory for " .. first end },
         { y = judged, name = function(test) return test end },
      },
      say = function(row, y) return ("%s, %.4g %s: %s"):format(transport(row), x.of(row), x.unit,
         units.format_bits(y)) end,
      caption = name .. ". Each test has the same losses by number of the frame. Dashed: what the headers of the first one leave, a window each round trip, or in the long run the mean of its congestion control with this random loss, whichever is the least. What is not valid is left out.",
   }
end

--- Charts and table.
function M.body(rows)
   local list, x = {}, against(rows)
   for i, group in ipairs(x and formatters.grouped(rows, x.group) or {}) do
      list[i] = chart(i, x, group.name, group.rows) or nil
   end
   list[#list + 1] = html_tables.of { result_rows.ROW, "transports", rows, caption = "Transports on each path",
      below = html_tables.reasons, class = "compact" }
   return list
end

return M
