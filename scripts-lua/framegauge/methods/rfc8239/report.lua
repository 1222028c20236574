-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239: the tests of a data centre switch, a section with a graph for each.
local format = require "framegauge.text.format"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.rfc8239.result"
local tiles = require "framegauge.report.html.tiles"

local M = {}

M.NAME = "RFC 8239 data centre benchmark"

function M.notes(result, add)
   local o = result.plan.rfc8239
   local filo = o.definition == "filo"
   for _, rows in pairs(result.results.rfc8239 or {}) do -- without a rate of the line it is FIFO
      local latency = rows[1] and rows[1].latency
      filo = filo and not (latency and latency.definition and not latency.definition:find "FILO")
   end
   add(("Latency is from the first bit in to the %s bit out (%s); jitter is the delay less the minimum."):format(
      filo and "last" or "first", filo and "FILO" or "FIFO"))
   add(("Line rate is %.6g %% of the line."):format(o.line * 100))
   add "Frames and buffers count with FCS. Bursts of several ports begin at one instant."
   add(o.cable > 0 and ("The cable of each port was taken off the latency: %s."):format(
      format.nanoseconds(o.cable * 1e9)) or "No cable was taken off the latency.")
   if (result.results.rfc8239 or {}).stateful_incast then
      local tcp = o.stateful_incast.tcp
      add(("TCP is Framegauge's own: %s, initial window of %d segments, SACK %s, ECN %s."):format(
         tcp.congestion, tcp.initial_window, tcp.sack and "on" or "off", tcp.ecn and "on" or "off"))
   end
   for _, text in ipairs(o.setup) do
      add(text)
   end
end

local function by(key, text)
   return function(row) return text:format(row[key]) end
end

-- Of each test: figure over the frame size, a line for each group.
local CHARTS = {
   line_rate = { y = "throughput_percent", label = "received of sent, %", group = by("pattern", "%s"),
      title = "Throughput at line rate" },
   buffer = { y = "buffer_octets", label = "buffer, bytes", group = by("egress", "to %s"), title = "Buffer",
      keep = function(row) return row.procedure == "efficiency" end },
   microburst = { y = "burst_frames", label = "frames of each ingress",
      group = function(row) return ("%d:%d"):format(row.ingresses, row.egresses) end,
      title = "Longest burst without loss" },
   head_of_line = { y = "innocent_loss_ratio", label = "loss to ports without congestion, %",
      group = by("arrangement", "%s"), title = "Head of line blocking",
      keep = function(row) return row.shift == 0 end },
   incast = { y = "latency_max_ns", label = "latency, max, µs", x = "senders", x_label = "senders",
      group = by("frame_size", "%d bytes"), title = "Latency of incast" },
   stateful_incast = { y = "goodput_percent", label = "goodput, % of ideal", x = "tcp_ports",
      x_label = "ports that send by TCP", group = by("frame_size", "%d bytes"),
      title = "Goodput of TCP with bursts", keep = function(row) return row.udp_ports == 1 end },
}

local function value(row, key)
   if key == "latency_max_ns" then
      return row.latency and row.latency.max_ns and row.latency.max_ns / 1e3
   end
   return key == "innocent_loss_ratio" and row[key] and row[key] * 100 or row[key]
end

function M.chart(one, rows)
   local c, kept = CHARTS[one.name], {}
   for _, row in ipairs(rows) do
      kept[#kept + 1] = (not c.keep or c.keep(row)) and value(row, c.y) and row or nil
   end
   local x = c.x or "frame_size"
   return kept[2] and lines.draw {
      id = one.name, title = c.title, rows = kept, group = c.group,
      description = c.title .. " over " .. (c.x_label or "frame sizes") .. ".",
      caption = c.title .. ".",
      x = { of = function(row) return row[x] end, label = c.x_label or "frame size, bytes" },
      y = { label = c.label },
      lines = { { y = function(row) return value(row, c.y) end, name = tostring } },
      say = function(row, y) return ("%s: %.6g"):format(row[x], y) end,
   } or nil
end

local TILES = {
   line_rate = { "throughput_percent", ">=", "% received" }, buffer = { "buffer_octets", "largest", "bytes" },
   microburst = { "burst_frames", ">=", "frames of each" },
   head_of_line = { "innocent_loss_ratio", "<=", "% lost, ports without congestion" },
   incast = { "loss_ratio", "<=", "% lost" }, stateful_incast = { "goodput_bps", ">=", "of TCP" },
}

--- Figures to remember: the worst row of each test, and the largest buffer.
function M.tiles(result)
   return tiles.of(result_rows.TABLES, result.results, TILES)
end

return M
