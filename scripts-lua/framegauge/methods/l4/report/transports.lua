-- SPDX-License-Identifier: BSD-3-Clause

--- The campaign transports in a report: goodput against loss, a chart for each delay with a line for each
-- transport, and the table of all paths.
local formatters = require "framegauge.report.html.formatters"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.l4.result"
local tables = require "framegauge.report.html.tables"
local transports = require "framegauge.methods.l4.plan.transports"
local units = require "framegauge.text.units"

local M = {}

-- All of a path but for its losses.
local function path_name(row)
   local path = row.parameters.path
   local reordered = path.reorder_ratio > 0
      and (", %.3g %% reordered"):format(100 * path.reorder_ratio) or ""
   local rate = transports.rate_in_words(path.rate_bps, path.back_bps)
   return ("%s, %s of round trip%s, queue of %d %s"):format(rate, units.format_time(path.delay_s),
      reordered, path.queue, path.queue_unit)
end

local NAMES = {
   TCP_STREAM = "TCP", TLS_STREAM = "TLS", QUIC_STREAM = "QUIC", TCP_MAERTS = "TCP", TLS_MAERTS = "TLS",
   QUIC_MAERTS = "QUIC", HTTP = "HTTP/1.1", HTTPS = "HTTP/1.1 over TLS", HTTP2 = "HTTP/2",
   HTTPS2 = "HTTP/2 over TLS", HTTP3 = "HTTP/3",
}

-- What a line of the chart is of.
local function transport(row)
   local streams = row.parameters.http and row.test ~= "HTTP" and row.test ~= "HTTPS"
      and row.parameters.http.streams
   local with = streams and (streams == 1 and ", 1 stream" or (", %d streams"):format(streams)) or ""
   return NAMES[row.test] .. with .. (row.parameters.path.bursts and ", in bursts" or "")
end

local function loss_percent(row)
   return 100 * row.parameters.path.loss_ratio
end

-- What headers, window and loss allow together.
local function allowed(row)
   local t = row.transport
   return math.min(t.theoretical_bps, t.window_bps or math.huge, t.loss_bps or math.huge)
end

local function judged(row)
   return row.validity == "valid" and row.transport.goodput_bps or nil
end

local function chart(number, name, rows)
   return lines.draw {
      id = "transports-" .. number, title = "Goodput against loss: " .. name, rows = rows,
      description = "Payload bits per second of each transport at each share of loss.",
      x = { of = loss_percent, label = "frames lost, %", scale = "even" },
      y = { label = "payload, bit/s" }, group = transport,
      lines = {
         { y = allowed, class = "theory", plain = true, once = true,
            name = function(first) return "theory for " .. first end },
         { y = judged, name = function(test) return test end },
      },
      say = function(row, y) return ("%s, %.4g %%: %s"):format(transport(row), loss_percent(row),
         units.format_bits(y)) end,
      caption = name .. ". Each test has the same losses by number of the frame. Dashed: what the headers of the first one leave, a window each round trip, or in the long run the mean of its congestion control with this random loss, whichever is the least. What is not valid is left out.",
   }
end

--- Charts and table.
function M.body(rows)
   local list = {}
   for i, group in ipairs(formatters.grouped(rows, path_name)) do
      list[i] = chart(i, group.name, group.rows) or nil
   end
   list[#list + 1] = tables.of { result_rows.ROW, "transports", rows, caption = "Transports on each path",
      below = tables.reasons, class = "compact" }
   return list
end

return M
