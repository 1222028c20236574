-- SPDX-License-Identifier: BSD-3-Clause

--- The live view: ports, streams and jobs on a page that fits the terminal.
--
-- This module only makes the page, as a list of lines (console/terminal.lua shows it). It costs the packet
-- lcores nothing: it reads the history's copies of the counters. Of many streams it shows as many as fit; the
-- arrow keys scroll.
local format = require "framegauge.text.format"
local units = require "framegauge.text.units"

local M = {}

local BARS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local PLAIN_BARS = { ".", ":", "-", "=", "+", "*", "#", "@" }

local GREEN, YELLOW, RED, BOLD, PLAIN = "\27[32m", "\27[33m", "\27[31m", "\27[1m", "\27[0m"

-- Columns of the terminal that a text takes: escape sequences none, a character of UTF-8 one.
local function width_of(text)
   return #text:gsub("\27%[[%d;]*m", ""):gsub("[\128-\191]", "")
end

-- Cut to a width; escape sequences stay whole, and none stays open.
local function fit(text, width)
   if width_of(text) <= width then
      return text
   end
   local out, columns, at, coloured = {}, 0, 1, false
   while at <= #text and columns < width do
      local escape = text:match("^\27%[[%d;]*m", at)
      local char = escape or text:match("^[%z\1-\127\194-\244][\128-\191]*", at) or text:sub(at, at)
      out[#out + 1] = char
      at, columns, coloured = at + #char, columns + (escape and 0 or 1), coloured or escape ~= nil
   end
   return table.concat(out) .. (coloured and PLAIN or "")
end

local function padded(text, width)
   return text .. (" "):rep(math.max(0, width - width_of(text)))
end

-- With all digits up to a limit; with a unit prefix above it.
local function count(n, most)
   if n < (most or 1e7) then
      return units.format_count(n)
   end
   return (units.format_frame_rate(n):gsub("fps$", ""):gsub("%s", ""))
end

local function mbit(bps)
   return ("%.1f"):format(bps / 1e6)
end

-- Microseconds in six columns, or seconds where they do not fit.
local function micro(ns)
   if not ns then
      return "-"
   end
   return (ns < 1e6 and "%.1f" or ns < 1e9 and "%.0f" or "%.2fs"):format(ns < 1e9 and ns / 1e3 or ns / 1e9)
end

local function bar_chart(points, key, most, width, utf8)
   local bars, out = utf8 and BARS or PLAIN_BARS, {}
   for i = math.max(1, #points - width + 1), #points do
      local share = most > 0 and points[i][key] / most or 0
      out[#out + 1] = share <= 0 and " " or bars[math.max(1, math.min(8, math.ceil(share * 8)))]
   end
   return (" "):rep(width - #out) .. table.concat(out)
end

-- The state of a stream: a colour, and a word with the same meaning.
local function light(history, counts)
   if not history.running and counts.tx == 0 then
      return PLAIN, "idle"
   elseif counts.lost == 0 then
      return GREEN, "ok"
   end
   return history.final and RED or YELLOW, "loss"
end

local function coloured(colour, text, o)
   return o.colour and colour .. text .. PLAIN or text
end

local PORT = "%-10s %12s %9s %12s %9s %9s  %s"
local STREAM = "%s%s %9s %7s %7s %6s %6s %6s %6s %6s %s"
local NAME = 12
local MOST_MISSING = 1e5 -- that are shown with all digits

local function port_lines(traffic, o, lines)
   local history = traffic.history
   lines[#lines + 1] = coloured(BOLD, PORT:format("port", "sent", "Mbit/s L1", "received", "Mbit/s L1",
      "missing", "history"), o)
   for i, port in ipairs(history.ports) do
      local sums = history:port(i)
      local chart_width = math.max(4, o.columns - 70)
      local most = history.line_rates[i] or math.max(1, sums.rx_bps)
      local chart = bar_chart(history.points[i], "rx_bps", most, chart_width, o.utf8)
      lines[#lines + 1] = PORT:format(port.name:sub(1, 10), count(sums.tx), mbit(sums.tx_bps), count(sums.rx),
         mbit(sums.rx_bps), count(sums.lost), chart)
   end
end

local function stream_lines(traffic, o, lines, room)
   local history = traffic.history
   local waited, of = history:own_queue()
   room = math.max(3, waited and room - 1 or room)
   local first = math.max(1, math.min(o.first or 1, #traffic.list - (room - 2) + 1))
   lines[#lines + 1] = coloured(BOLD, STREAM:format(" ", padded("stream", NAME), "sent", "missing", "Mb/s L1",
      "min us", "mean", "p99", "max", "jitter", ""), o)
   local shown = 0
   for i = first, math.min(#traffic.list, first + room - 3) do
      local stream = traffic.list[i]
      local counts = history:stream(i)
      local delay, colour, word = counts.latency or {}, light(history, counts)
      lines[#lines + 1] = STREAM:format(stream.running and ">" or " ", padded(stream.name:sub(1, NAME), NAME),
         count(counts.tx), count(counts.lost, MOST_MISSING), mbit(counts.rx_bps), micro(delay.min_ns),
         micro(delay.mean_ns), micro(delay.p99_ns), micro(delay.max_ns), micro(delay.jitter_ns),
         coloured(colour, word, o))
      shown = shown + 1
   end
   if waited and #lines < o.rows then
      lines[#lines + 1] = ("own queue: a frame of %s waited %s in the tester's port"):format(
         traffic.list[of].name, format.nanoseconds(waited))
   end
   if shown < #traffic.list then
      lines[#lines + 1] = ("streams %d to %d of %d; arrow keys scroll"):format(first, first + shown - 1,
         #traffic.list)
   end
   return first
end

local function job_lines(control, o, lines)
   for _, task in ipairs(control.tasks:running()) do
      if task ~= control.traffic.task then
         lines[#lines + 1] = coloured(BOLD, ("job %d"):format(task.id), o) .. "  " .. task.name .. "  "
            .. task:line()
      end
   end
end

local function heading(control, o)
   local traffic = control.traffic
   local state = "no traffic yet"
   if traffic.history then
      state = (traffic.history.running and "running " or "ended after ")
         .. units.format_time(traffic.history.time - traffic.history.base_time)
   end
   local left = ("Framegauge  %s  %s"):format(control.plan.name, state)
   local right = "q: quit"
   return coloured(BOLD, padded(left, o.columns - #right) .. right, o)
end

--- The ports in a line each, without a page around them.
-- @return list of lines, at most o.columns wide; empty before the first traffic
function M.lines(control, o)
   local lines, history = {}, control.traffic.history
   for i, port in ipairs(history and history.ports or {}) do
      local sums = history:port(i)
      lines[i] = fit(("%-8s %s  tx %s Mbit/s L1  rx %s Mbit/s L1  missing %s"):format(port.name:sub(1, 8),
         units.format_time(history.time - history.base_time), mbit(sums.tx_bps), mbit(sums.rx_bps),
         count(sums.lost)), o.columns)
   end
   return lines
end

--- The page at this moment.
-- @param control    framegauge.control
-- @param o.columns, o.rows  of the terminal
-- @param o.first   number of the first stream to show
-- @param o.colour, o.utf8   what the terminal can
-- @return list of lines, at most o.rows, each at most o.columns wide; and the first stream that is shown
function M.page(control, o)
   local lines, traffic, first = { heading(control, o), "" }, control.traffic, 1
   job_lines(control, o, lines)
   if traffic.history then
      port_lines(traffic, o, lines)
      lines[#lines + 1] = ""
      first = stream_lines(traffic, o, lines, o.rows - #lines)
   end
   for i = 1, #lines do
      lines[i] = i <= o.rows and fit(lines[i], o.columns) or nil
   end
   return lines, first
end

return M
