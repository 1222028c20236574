-- SPDX-License-Identifier: BSD-3-Clause

--- The chart of each campaign of TCP and UDP tests.
local Plot = require "framegauge.report.chart.plot"
local fields = require "framegauge.report.l4.fields"
local format = require "framegauge.report.format"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.units"
local words = require "framegauge.report.html.words"

local M = {}

local IP = { ipv4 = "IPv4", ipv6 = "IPv6" }

local PATHS = {
   { "Path", "", words.field "port", left = true },
   { "Datagrams", "", words.field("received", words.count) },
   { "Share", "%", words.field("share", function(share) return words.decimal(100 * share, 2) end) },
   { "Flows", "", words.field("flows", words.count) },
   { "Reordered", "within a flow", words.field("reordered", words.count) },
   { "Twice", "datagrams", words.field("duplicates", words.count) },
}

local function value_of(row)
   return (fields.figure(row))
end

-- "941.5 Mbit/s" or "12,345": what is said of a point.
local function in_words(row, value)
   local _, key = fields.figure(row)
   return key:match "_bps$" and units.format_bits(value) or format.count(math.floor(value + 0.5))
end

-- Values of a parameter over some rows, ascending, each once.
local function values(rows, parameter)
   local list, seen = {}, {}
   for _, row in ipairs(rows) do
      local value = row.parameters[parameter]
      if not seen[value] then
         seen[value], list[#list + 1] = true, value
      end
   end
   table.sort(list)
   return list
end

-- @param x  function of a row, or the name of a parameter
local function points(rows, x, y)
   local list = {}
   for _, row in ipairs(rows) do
      local at, value = type(x) == "function" and x(row) or row.parameters[x], y(row)
      list[#list + 1] = value and { at, value, ("%s: %s"):format(tostring(at), in_words(row, value)) } or nil
   end
   table.sort(list, function(a, b) return a[1] < b[1] end)
   return list
end

local function field(key)
   return function(row)
      return row[key]
   end
end

local function extent(rows, ...)
   local least, most = math.huge, 0
   for _, row in ipairs(rows) do
      for _, y in ipairs { ... } do
         local value = y(row)
         if value then
            least, most = math.min(least, value), math.max(most, value)
         end
      end
   end
   return least, most
end

-- Rows by a function of them, in the order they first appear.
local function grouped(rows, key)
   local list, by_name = {}, {}
   for _, row in ipairs(rows) do
      local name = key(row)
      if not by_name[name] then
         by_name[name] = { name = name, rows = {} }
         list[#list + 1] = by_name[name]
      end
      table.insert(by_name[name].rows, row)
   end
   return list
end

local function by_test(rows)
   return grouped(rows, field "test")
end

local function line_of(plot, group, parameter, y, class, shape, name)
   plot:series { points = points(group.rows, parameter, y), class = class, shape = shape, name = name }
end

-- --- goodput against the MTU

local function mtu_chart(test, rows)
   local theoretical, legacy = field "theoretical", field "theoretical_legacy"
   local plot = Plot.new {
      id = "mtu-" .. test, title = test .. " against the MTU",
      description = "Payload bits per second that came through at each MTU, and what the line allows. The "
         .. "table has the figures.",
      x = { scale = scale.points(values(rows, "mtu"), 0.05), label = "MTU, octets of the IP packet" },
      y = { scale = scale.between(extent(rows, value_of, theoretical, legacy)),
         label = "payload, bit/s" },
   }
   for i, group in ipairs(grouped(rows, function(row) return IP[row.parameters.ip] end)) do
      line_of(plot, group, "mtu", legacy, "s" .. 6 + i, nil, "legacy formula, " .. group.name)
      line_of(plot, group, "mtu", theoretical, "theory", nil, "exact maximum, " .. group.name)
      line_of(plot, group, "mtu", value_of, "s" .. i, i, "measured, " .. group.name)
   end
   return plot:figure(test .. ": measured goodput, the exact maximum of the line (MTU less headers, over MTU "
      .. "and 38 octets of Ethernet) and the legacy formula, which takes preamble, MAC header and FCS for "
      .. "part of the MTU and is shown for comparison only.")
end

-- --- goodput against the buffers

local function buffer_of(row)
   return row.parameters.tcp.receive_buffer / 1024
end

-- What the window and the line allow.
local function allowed(row)
   return row.theoretical and math.min(row.theoretical, row.window_bps or math.huge)
end

local function buffer_chart(test, rows)
   if test == "UDP_STREAM" then
      return false
   end
   local least, most = math.huge, 0
   for _, row in ipairs(rows) do
      least, most = math.min(least, buffer_of(row)), math.max(most, buffer_of(row))
   end
   local plot = Plot.new {
      id = "buffer-" .. test, title = test .. " against the buffers",
      description = "Payload bits per second with buffers of each size, for messages of several sizes.",
      x = { scale = scale.between(least, most), label = "send and receive buffer, KiB" },
      y = { scale = scale.linear(select(2, extent(rows, value_of, allowed))), label = "payload, bit/s" },
   }
   local groups = grouped(rows, function(row) return row.parameters.message end)
   plot:series {
      points = points(groups[1].rows, buffer_of, allowed), class = "theory",
      name = "a window of this size each round trip, up to what the line allows",
   }
   for i, group in ipairs(groups) do
      plot:series {
         points = points(group.rows, buffer_of, value_of), class = "s" .. i, shape = i,
         name = ("messages of %s octets"):format(format.count(group.name)),
      }
   end
   return plot:figure(test .. ": at most the smaller of both buffers is under way at a time, and arrives "
      .. "within a round trip. A message that does not fit waits until it does.")
end

-- --- datagrams below and above a limit

local function policer_charts(rows)
   local theoretical, sent = field "theoretical", field "sent_bps"
   local most = select(2, extent(rows, sent))
   local passed = Plot.new {
      id = "policer", title = "Received against offered rate",
      description = "Payload bits per second that came through at each rate offered.",
      x = { scale = scale.linear(most), label = "offered, payload bit/s" },
      y = { scale = scale.linear(select(2, extent(rows, value_of, theoretical))), label = "received, bit/s" },
   }
   passed:series { points = points(rows, sent, theoretical), class = "theory", name = "expected" }
   passed:series { points = points(rows, sent, value_of), class = "s1", shape = 1, name = "received" }
   local lost = Plot.new {
      id = "policer-loss", title = "Loss against offered rate", description = "Share of datagrams lost at "
         .. "each rate.",
      x = { scale = scale.linear(most), label = "offered, payload bit/s" },
      y = { scale = scale.linear(math.max(1, 100 * select(2, extent(rows, field "loss_ratio")))),
         label = "lost, %" },
   }
   lost:series {
      points = points(rows, sent, function(row) return 100 * (1 - row.theoretical / row.sent_bps) end),
      class = "theory", name = "expected",
   }
   lost:series {
      points = points(rows, sent, function(row) return 100 * row.loss_ratio end), class = "s2", shape = 2,
      name = "measured",
   }
   return { passed:figure "What came through, and what the limit lets pass.", lost:figure "What was lost." }
end

-- --- a figure against how many there are

local function clients_chart(test, rows)
   local theoretical = field "theoretical"
   local plot = Plot.new {
      id = "clients-" .. test, title = test .. " against the number of clients",
      description = "What so many clients at a time get together. The table has the figures.",
      x = { scale = scale.points(values(rows, "connections"), 0.05), label = "clients at a time" },
      y = { scale = scale.fitting(extent(rows, value_of, theoretical)),
         label = (select(2, fields.figure(rows[1])):gsub("_per_s$", " per second"):gsub("_bps$", ", "
            .. "bit/s")) },
   }
   local first = rows[1]
   local alone = value_of(first) / first.parameters.connections
   local most = select(2, extent(rows, value_of, theoretical))
   line_of(plot, { rows = rows }, "connections", function(row)
      local many = alone * row.parameters.connections
      return many <= most and many or nil
   end, "s7", nil, "so many times the first")
   line_of(plot, { rows = rows }, "connections", theoretical, "theory", nil, "most that the line allows")
   line_of(plot, { rows = rows }, "connections", value_of, "s1", 1, "measured")
   return plot:figure(test .. ": one client has one transaction at a time, so few of them are limited by the "
      .. "round trip and many by the line or the device.")
end

-- --- each test beside what the line allows

local ROW, AROUND = 30, 14 + 52 + 10 -- pixels

local function battery_chart(rows)
   local names, shown = {}, {}
   for _, row in ipairs(rows) do
      if row.percent then
         shown[#shown + 1], names[#names + 1] = row, row.test
      end
   end
   if #shown == 0 then
      return false
   end
   local plot = Plot.new {
      id = "battery", title = "Share of what the line allows", left = 110, height = AROUND + ROW * #shown,
      description = "For each test the figure as a share of the most that the line allows.",
      x = { scale = scale.linear(100, nil, true), label = "% of what the line allows" },
      y = { scale = scale.names(names) },
   }
   for i, row in ipairs(shown) do
      plot:bar(0, math.min(row.percent, 100), i, "s1", ("%s: %.2f %%"):format(row.test, row.percent))
   end
   return plot:figure("Transactions one after the other wait for the round trip, so that few connections do "
      .. "not fill a line with them.")
end

-- --- searches: what came of each load that was tried

local function offered(trial, campaign)
   local load = trial.setting.load
   return campaign == "concurrency" and trial.setting.connections or load.rate * load.requests
end

local function achieved(trial, campaign)
   local client = trial.sides[1].apps[1]
   return campaign == "concurrency" and client.concurrent_max
      or client.measured.transactions / client.measured_s
end

local function search_chart(test, trials, campaign)
   local passed, short, most = {}, {}, 0
   for _, trial in ipairs(trials) do
      local x, y = offered(trial, campaign), achieved(trial, campaign)
      local list = trial.fell_short and short or passed
      local text = ("trial %d: %s of %s"):format(trial.trial, format.count(y), format.count(x))
      list[#list + 1] = { x, y, text }
      most = math.max(most, x, y)
   end
   table.sort(passed, function(a, b) return a[1] < b[1] end)
   table.sort(short, function(a, b) return a[1] < b[1] end)
   local plot = Plot.new {
      id = "search-" .. test, title = test .. ": loads that were tried",
      description = "What came of each load that was tried, and whether it passed.",
      x = { scale = scale.linear(most), label = "load" },
      y = { scale = scale.linear(most), label = "achieved" },
   }
   plot:series { points = { { 0, 0 }, { most, most } }, class = "theory", name = "as asked" }
   plot:series { points = passed, class = "s1", shape = 1, name = "passed" }
   plot:series { points = short, class = "s2", shape = 2, name = "fell short" }
   return plot:figure(test .. ": every load of the search, and what came of it. A device beyond its limit "
      .. "may well do less than at it.")
end

local function search_charts(rows, result)
   local list = {}
   for i, group in ipairs(by_test(rows)) do
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
   local row, names = rows[1], {}
   for i, path in ipairs(row.paths) do
      names[i] = path.port
   end
   local plot = Plot.new {
      id = "balance", title = "Share of each path", left = 110, height = AROUND + ROW * #names,
      description = "For each path its share of all datagrams that came through.",
      x = { scale = scale.linear(100, nil, true), label = "% of the "
         .. "datagrams" }, y = { scale = scale.names(names) },
   }
   for i, path in ipairs(row.paths) do
      plot:bar(0, 100 * path.share, i, "s1", ("%s: %.2f %%, %d of %d "
         .. "flows"):format(path.port, 100 * path.share,
         path.flows, row.flows))
   end
   return {
      plot:figure(("%d flows, spread: %s. %d of them were seen on more than one path."):format(row.flows,
         row.spreading, row.flows_split)),
      tables.build { caption = "The paths", columns = PATHS, rows = row.paths },
   }
end

local function of_each(chart)
   return function(rows)
      local list = {}
      for i, group in ipairs(by_test(rows)) do
         list[i] = chart(group.name, group.rows)
      end
      return list
   end
end

local CAMPAIGNS = {
   battery = { "Beside the line", battery_chart },
   ["mtu-sweep"] = { "Goodput against the MTU", of_each(mtu_chart) },
   ["buffer-sweep"] = { "Goodput against the buffers", of_each(buffer_chart) },
   policer = { "Below and above the limit", policer_charts },
   balance = { "How the flows were spread", balance_chart },
   clients = { "Many clients", of_each(clients_chart) },
   ["connection-rate"] = SEARCH, ["transaction-rate"] = SEARCH, concurrency = SEARCH,
}

--- Sections of the page with the charts of a result.
function M.sections(result)
   local rows, campaign = result.results.l4 or {}, CAMPAIGNS[result.plan.l4.campaign]
   local body = #rows > 0 and campaign[2](rows, result)
   return body and { { campaign[1], nil, body } } or {}
end

return M
