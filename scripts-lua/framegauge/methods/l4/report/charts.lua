-- SPDX-License-Identifier: BSD-3-Clause

--- The chart of each campaign of TCP and UDP tests.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local kinds = require "framegauge.methods.l4.plan.kinds"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.l4.result"
local tables = require "framegauge.report.html.tables"
local transports = require "framegauge.methods.l4.report.transports"
local units = require "framegauge.text.units"
local waterfall = require "framegauge.methods.l4.report.waterfall"

local M = {}

local IP = { ipv4 = "IPv4", ipv6 = "IPv6" }

local function value_of(row)
   return (result_rows.figure(row))
end

local function at(path)
   return function(row, y)
      local x = type(path) == "function" and path(row) or row.parameters[path]
      return ("%s: %s"):format(tostring(x), result_rows.plain(row, y))
   end
end

-- --- goodput against the MTU

local function mtu_chart(test, rows)
   local words = kinds.of(test).figure:match "_bps$" and { "Payload bits", "goodput", "payload, bit/s" }
      or { "Replies, or responses,", "rate", "a second" }
   local function named(what)
      return function(ip) return what .. ", " .. IP[ip] end
   end
   return lines.draw {
      id = "mtu-" .. test, title = test .. " against the MTU", rows = rows,
      description = words[1] .. " per second that came through at each MTU, and what the line allows.",
      x = { of = "parameters.mtu", label = "MTU, bytes of the IP packet", scale = "values" },
      y = { label = words[3], scale = "between" }, group = function(row) return row.parameters.ip end,
      lines = {
         { y = "theoretical_legacy", class = "s7", plain = true, name = named "legacy formula" },
         { y = "theoretical", class = "theory", plain = true, name = named "exact maximum" },
         { y = value_of, name = named "measured" },
      },
      say = at "mtu",
      caption = test .. ": measured " .. words[2] .. " and the exact maximum of the line (MTU less headers, over MTU and 38 bytes of Ethernet)"
      .. (rows[1].theoretical_legacy and "; the legacy formula takes preamble, MAC header and FCS for part of the MTU and is shown for comparison only."
         or "."),
   }
end

-- --- goodput against the buffers

local function buffer_of(row)
   return row.parameters.tcp.receive_buffer / 1024
end

-- The limit by the window and the line.
local function allowed(row)
   return row.theoretical and math.min(row.theoretical, row.window_bps or math.huge)
end

local function buffer_chart(test, rows)
   return test ~= "UDP_STREAM" and lines.draw {
      id = "buffer-" .. test, title = test .. " against the buffers", rows = rows,
      description = "Payload bits per second with buffers of each size, for messages of several sizes.",
      x = { of = buffer_of, label = "send and receive buffer, KiB", scale = "between" },
      y = { label = "payload, bit/s" }, group = function(row) return row.parameters.message end,
      lines = {
         { y = allowed, class = "theory", plain = true, once = true,
            name = "a window of this size each round trip, up to what the line allows" },
         { y = value_of, name = function(message) return ("messages of %s bytes"):format(format.count(message)) end },
      },
      say = at(buffer_of),
      caption = test .. ": at most the smaller of both buffers is under way at a time, and arrives within a round trip. A message that does not fit waits until it does.",
   }
end

-- --- datagrams below and above a limit

local function policer_charts(rows)
   local sent = { of = "sent_bps", label = "offered, payload bit/s" }
   local function percent(row, y)
      return ("%s: %.4g %%"):format(result_rows.plain(row, row.sent_bps), y)
   end
   return {
      lines.draw {
         id = "policer", title = "Received against offered rate", rows = rows, x = sent,
         y = { label = "received, bit/s" },
         description = "Payload bits per second that came through at each rate offered.",
         lines = { { y = "theoretical", class = "theory", plain = true, name = "expected" },
            { y = value_of, class = "s1", name = "received" } },
         say = function(row, y) return ("%s: %s"):format(result_rows.plain(row, row.sent_bps),
            result_rows.plain(row, y)) end,
         caption = "The received traffic, and what the limit lets pass.",
      },
      lines.draw {
         id = "policer-loss", title = "Loss against offered rate", rows = rows, x = sent,
         y = { label = "lost, %" },
         description = "Share of datagrams lost at each rate.",
         lines = {
            { y = function(row) return 100 * (1 - row.theoretical / row.sent_bps) end, class = "theory",
               plain = true,
               name = "expected" },
            { y = function(row) return 100 * row.loss_ratio end, class = "s2", name = "measured" },
         },
         say = percent, caption = "What was lost.",
      },
   }
end

-- --- a figure against how many there are

local function clients_chart(test, rows)
   local most, alone = 0, value_of(rows[1]) / rows[1].parameters.connections
   for _, row in ipairs(rows) do
      most = math.max(most, value_of(row), row.theoretical or 0)
   end
   local function many(row)
      local value = alone * row.parameters.connections
      return value <= most and value or nil
   end
   local unit = select(2, result_rows.figure(rows[1])):gsub("_per_s$", " per second"):gsub("_bps$", ", bit/s")
   return lines.draw {
      id = "clients-" .. test, title = test .. " against the number of clients", rows = rows,
      description = "What the clients get together, by their number at a time.",
      x = { of = "parameters.connections", label = "clients at a time", scale = "values" },
      y = { label = unit, scale = "fitting" },
      lines = {
         { y = many, class = "s7", plain = true, name = "multiples of the first" },
         { y = "theoretical", class = "theory", plain = true, name = "most that the line allows" },
         { y = value_of, class = "s1", name = "measured" },
      },
      say = at "connections",
      caption = test .. ": one client has one transaction at a time, so few of them are limited by the round trip and many by the line or the device.",
   }
end

-- --- each test compared with what is possible

local function battery_chart(rows)
   return lines.bars {
      id = "battery", title = "Share of what is possible", left = 110, rows = rows,
      value = "theoretical_percent",
      description = "For each test the figure as a share of the most that the line or the round trip allows.",
      label = "% of what is possible", name = function(row) return row.test end,
      say = function(row) return ("%s: %.2f %%"):format(row.test, row.theoretical_percent) end,
      caption = "What the line allows, or the round trip where each transaction waits for the one before.",
   }
end

-- --- searches: the result of each load that was tried

local function search_chart(test, trials, campaign)
   local concurrency, tried = campaign == "concurrency", { { asked = 0, line = 0 } }
   for _, trial in ipairs(trials) do
      local client, load = trial.sides[1].apps[1], trial.setting.load or {}
      local asked = concurrency and (trial.setting.connections or 0)
         or (load.rate or 0) * (load.requests or 0)
      tried[#tried + 1] = {
         trial = trial.trial, asked = asked, line = asked,
         [trial.fell_short and "short" or "passed"] = concurrency and client.concurrent_max
            or client.measured.transactions / client.measured_s,
      }
   end
   return lines.draw {
      id = "search-" .. test, title = test .. ": loads that were tried", rows = tried,
      description = "The result of each load that was tried, and whether it passed.",
      x = { of = "asked", label = "load" }, y = { label = "achieved" },
      lines = {
         { y = "line", class = "theory", plain = true, name = "as asked" }, { y = "passed", class = "s1",
            name = "passed" },
         { y = "short", class = "s2", name = "fell short" },
      },
      say = function(row, y)
         return row.trial and ("trial %d: %s of %s"):format(row.trial, format.count(y),
            format.count(row.asked)) or ""
      end,
      caption = test .. ": every load of the search, and its result. A device beyond its limit may well do less than at it.",
   }
end

local function search_charts(rows, result)
   local list = {}
   for i, group in ipairs(formatters.grouped(rows, "test")) do
      local trials = {}
      for _, trial in ipairs(result.trials) do
         trials[#trials + 1] = trial.test == "l4." .. group.name and trial or nil
      end
      list[i] = search_chart(group.name, trials, result.plan.l4.campaign)
   end
   return list
end

local SEARCH = { "The search", search_charts }

-- --- how flows were spread

local function balance_chart(rows)
   local row = rows[1]
   local function share(path) return 100 * path.share end
   return {
      lines.bars {
         id = "balance", title = "Share of each path", left = 110, rows = row.paths, value = share,
         description = "For each path its share of all datagrams that came through.", label = "% of the datagrams",
         name = function(path) return path.port end,
         say = function(path) return ("%s: %.2f %%, %d of %d flows"):format(path.port, share(path),
            path.flows, row.flows) end,
         caption = ("%d flows, spread: %s. %d of them were seen on more than one path."):format(row.flows,
            row.spreading,
            row.flows_split),
      },
      tables.of { result_rows.PATH, "html", row.paths, caption = "The paths" },
   }
end

local function of_each(chart)
   return function(rows)
      local list = {}
      for i, group in ipairs(formatters.grouped(rows, "test")) do
         list[i] = chart(group.name, group.rows)
      end
      return list
   end
end

local CAMPAIGNS = {
   battery = { "Compared with what is possible", battery_chart },
   ["mtu-sweep"] = { "Results by MTU", of_each(mtu_chart) },
   ["buffer-sweep"] = { "Results by buffer size", of_each(buffer_chart) },
   policer = { "Below and above the limit", policer_charts },
   balance = { "How the flows were spread", balance_chart },
   clients = { "Many clients", of_each(clients_chart) },
   transports = { "Transports compared", transports.body },
   ["connection-rate"] = SEARCH, ["transaction-rate"] = SEARCH, concurrency = SEARCH,
}

--- Sections of the page with the charts of a result.
function M.sections(result)
   local rows, campaign = result.results.l4 or {}, CAMPAIGNS[result.plan.l4.campaign]
   local body = #rows > 0 and campaign[2](rows, result)
   local list, pages = {}, waterfall.charts(rows)
   list[1] = body and { campaign[1], nil, body } or nil
   list[#list + 1] = pages[1] and { "Pages", "one of each test, object by object", pages } or nil
   return list
end

-- --- results of a trial over time

-- Where l4.interval asked for it: the figure, how many connections were open, and the windows of the sender.
local MAX_TRIALS = 12 -- that have charts

-- A small chart of figures of one side of a trial over time; false without intervals.
-- @param side  1 the client, 2 the server
-- @param o     id, title, label, lines as framegauge.report.chart.lines has them; write = value -> text
local function small_chart(trial, side, o)
   local series = trial.sides[side] and trial.sides[side].apps[1].series or {}
   local step = ((trial.setting.duration_s or trial.duration_s) - (trial.setting.omit_s or 0)) / #series
   local points = {}
   for i, interval in ipairs(series) do
      points[i] = setmetatable({ at = i * step, step = step }, { __index = interval })
   end
   o.rows, o.x, o.y = points, { of = "at", label = "seconds", scale = "exact" }, { label = o.label }
   o.description, o.caption, o.height, o.width = o.title .. ", by interval.", o.title, 230, 620
   function o.say(point, value) return ("%.4g s: %s"):format(point.at, o.write(value)) end
   for _, line in ipairs(o.lines) do
      line.plain = true
   end
   return #series > 1 and lines.draw(o)
end

local function figure_chart(kind, trial, name, id)
   local what = kind.receiver and "payload, bit/s" or "transactions a second"
   return small_chart(trial, kind.receiver or 1, {
      id = id .. "-figure", title = name .. ": " .. what, label = what,
      write = kind.receiver and units.format_bits or format.count,
      lines = { { y = function(point)
         return (kind.receiver and 8 * point.octets_in or point.transactions) / point.step
      end } },
   })
end

local function open_chart(trial, name, id)
   return trial.sides[1].apps[1].concurrent_max > 1 and small_chart(trial, 1, {
      id = id .. "-open", title = name .. ": connections open", label = "connections", write = format.count,
      lines = { { y = "open" } },
   })
end

local function window_chart(kind, trial, name, id)
   return kind.receiver and not kind.udp and small_chart(trial, kind.receiver == 1 and 2 or 1, {
      id = id .. "-windows", title = name .. ": windows of the sender, mean of the connections",
      label = "bytes",
      write = units.format_size,
      lines = {
         { y = "cwnd", name = "congestion window" }, { y = "window", name = "peer's window" },
         { y = "flight", name = "in flight" },
      },
   })
end

--- The section on trials over time, or nil when no trial has a series.
function M.over_time(result)
   local charts = {}
   for i, row in ipairs(result.results.l4 or {}) do
      local trial = result.trials[row.trials[#row.trials]]
      if i <= MAX_TRIALS and trial and trial.sides and not trial.sides[1].flows then
         local kind, name, id = kinds.of(row.test), result_rows.name(row), "series-" .. i
         charts[#charts + 1] = figure_chart(kind, trial, name, id) or nil
         charts[#charts + 1] = open_chart(trial, name, id) or nil
         charts[#charts + 1] = window_chart(kind, trial, name, id) or nil
      end
   end
   return #charts > 0 and { "Over time", nil, h.div { class = "four", charts } } or nil
end

return M
