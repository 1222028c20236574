-- SPDX-License-Identifier: BSD-3-Clause

--- Commands for traffic by hand.
local follow = require "framegauge.console.follow"
local refusal = require "framegauge.refusal"
local show = require "framegauge.console.show"
local view = require "framegauge.console.view"
local watching = require "framegauge.console.watching"
local units = require "framegauge.units"

local TARGET = {
   name = "target", help = "a stream, or a port: all streams it sends; default: all", optional = true,
   complete = "target",
}

local function bits(value)
   return value > 0 and ("%.2f"):format(value / 1e6) or "0"
end

local function percent(value)
   return value == 0 and "0" or value < 1e-4 and ("%.2g"):format(value * 100) or ("%.2f"):format(value * 100)
end

local function time(ns)
   return ns and units.format_time(ns / 1e9) or "-"
end

local function port_name(session, i)
   return session.tester.plan.ports[i].name
end

-- How the times of its frames are shaped, where they are not evenly spaced.
local function shape(load)
   local shapes = { "profile", "poisson", "from", "burst" }
   local words = { profile = "profile from ", poisson = "Poisson ", from = "ramp from ", burst = "bursts " }
   for _, key in ipairs(shapes) do
      if load[key] and (key ~= "profile" or load.profile[1]) then
         return words[key]
      end
   end
   return ""
end

local function streams(session)
   local rows = {}
   for i, stream in ipairs(session.tester.traffic.list) do
      rows[i] = {
         name = stream.name, from = port_name(session, stream.from), to = port_name(session, stream.to),
         size = stream.size, rate = shape(stream.load) .. units.format_rate(stream.rate),
         state = stream.running and "running" or "stopped",
      }
   end
   return show.as_table(rows, {
      { "name", "stream" }, { "from", "from" }, { "to", "to" }, { "size", "bytes" }, { "rate", "rate" },
      { "state", "state" },
   })
end

-- { name =, counts } of every stream that is meant; those of the last traffic when none runs.
local function rows_of(session, target)
   local traffic, rows = session.tester.traffic, {}
   if not traffic.history then
      refusal.raise("stats", 2, "nothing was sent yet; 'start' begins")
   end
   for i, stream in ipairs(traffic:of(target)) do
      rows[i] = traffic.history:stream(stream.index)
      rows[i].name = stream.name
   end
   return rows
end

local function port_rows(session)
   local rows = {}
   for i, port in ipairs(session.tester.plan.ports) do
      rows[i] = session.tester.traffic.history:port(i)
      rows[i].name = "port " .. port.name
   end
   return rows
end

local COUNTS = {
   { "name", "" }, { "tx", "sent" }, { "rx", "received" }, { "lost", "missing" },
   { "loss_ratio", "%", format = function(value)
      return value and percent(value) or ""
   end },
   { "tx_bps", "tx Mb/s L1", format = bits }, { "rx_bps", "rx Mb/s L1", format = bits },
   { "latency", "delay", format = function(value, row)
      return value and time(value.mean_ns) or row.loss_ratio and "-" or ""
   end },
}

local function stats(session, o)
   local rows = rows_of(session, o.target)
   if not o.target then
      for i, row in ipairs(port_rows(session)) do
         table.insert(rows, i, row)
      end
   end
   return show.as_table(rows, COUNTS)
end

local LATENCY = { { "name", "stream" } }
for _, key in ipairs { "min", "mean", "p50", "p99", "p999", "max", "jitter" } do
   LATENCY[#LATENCY + 1] = { key .. "_ns", key == "p999" and "p99.9" or key, format = time }
end

local function latency(session, o)
   local rows = {}
   for i, row in ipairs(rows_of(session, o.target)) do
      rows[i] = row.latency or {}
      rows[i].name = row.name
   end
   return show.as_table(rows, LATENCY)
end

-- "10" or "10s"
local function seconds_of(text)
   if text == nil or tonumber(text) then
      return tonumber(text)
   end
   local seconds, wrong, expected = units.parse_time(text)
   return seconds or refusal.raise("start", 2, "%s; expected %s", wrong, expected)
end

local function start(session, o)
   local seconds = seconds_of(o["for"])
   local task = session.tester.traffic:start(o.target, seconds)
   if seconds and not o.background then
      follow.foreground(session, task)
      return stats(session, {})
   end
end

-- Streams that stand there for want of others become real when one of them is changed.
local function materialise(session, values)
   for _, one in ipairs(session.tester.traffic.list) do
      values["streams." .. one.name .. ".from"] = port_name(session, one.from)
      values["streams." .. one.name .. ".to"] = port_name(session, one.to)
   end
end

local function stream(session, o)
   local values, tester = {}, session.tester
   if not tester.plan.streams[1] and tester.traffic.by_name[o.name] then
      materialise(session, values)
   end
   values[("streams.%s.from"):format(o.name)] = values[("streams.%s.from"):format(o.name)]
      or not tester.traffic.by_name[o.name] and tester.plan.ports[1].name or nil
   for key, value in pairs(o.keys) do
      values[("streams.%s.%s"):format(o.name, key)] = value
   end
   tester:set(values)
end

local function view_lines(session)
   if not session.tester.traffic.history then
      refusal.raise("view", 2, "nothing was sent yet; 'start' begins")
   elseif session.terminal then
      return watching.lines(session)
   end
   return table.concat(view.lines(session.tester, { columns = 80 }), "\n")
end

return {
   {
      name = "streams", looks = true, summary = "the streams there are", arguments = {}, run = streams,
      help = "The streams: those of the plan, or one for each direction. 'stream' makes one or changes it.",
   },
   {
      name = "stream", summary = "make a stream, or change one",
      help = "Make a stream or change it. Keys are those of streams in a plan ('help plan'): from, to,\n"
         .. "size, rate and frame, its protocols from the outside in. Nothing may run meanwhile. The\n"
         .. "streams that are there for want of others go when the first one of your own is made.",
      arguments = { { name = "name", help = "of the stream", complete = "stream" } },
      keys = function()
         return { "from", "to", "size", "rate", "frame" }
      end,
      examples = {
         "stream voice from=east to=west size=218 rate='10Mbps L2'",
         "stream {name = 'tagged', from = 'west', frame = {'ethernet', {vlan = 7}, 'ipv4', 'udp'}}",
      },
      run = stream,
   },
   {
      name = "start", summary = "start streams",
      help = "Start streams: all of them, one, or those that a port sends. They run until they are\n"
         .. "stopped, or for a time: then the command waits for its end and shows the counts.",
      arguments = {
         TARGET, { name = "for", named = true, help = "how long, such as 10s; default: until stopped" },
         { name = "background", flag = true, help = "do not wait for the end" },
      },
      examples = { "start", "start east", "start east-west for=10s" }, run = start,
   },
   {
      name = "stop", summary = "stop streams, or a job",
      help = "Stop streams, or the job of a number. With the last stream the traffic ends: what is on its\n"
         .. "way is waited for, and the counts are final. A test that is stopped keeps what it found.",
      arguments = {
         {
            name = "target", help = "a stream, a port, or the number of a job; default: all streams",
            optional = true, complete = "stoppable",
         },
      },
      run = function(session, o)
         local number = tonumber(o.target)
         if not number then
            return session.tester.traffic:stop(o.target)
         end
         local task = session.tester.tasks:get(number)
         task:stop()
         task:wait()
      end,
   },
   {
      name = "rate", summary = "change a load, at once",
      help = "Change the load of a stream, or of a port: then its streams share it evenly. What runs goes\n"
         .. "on at the new rate.",
      arguments = {
         { name = "target", help = "a stream, a port, or all", complete = "target" },
         { name = "rate", help = "the load: 40%, 100kfps, 1Gbps with L1, L2 or L3 behind it",
            rest = true },
      },
      examples = { "rate east 40%", "rate east-west 1Mbps L2", "rate all 100kfps" },
      run = function(session, o)
         session.tester.traffic:set_rate(o.target, table.concat(o.rate, " "))
      end,
   },
   {
      name = "stats", looks = true, summary = "counts and rates of ports and streams", arguments = { TARGET },
      help = "What was sent and received since traffic began or was cleared. 'missing' are frames that\n"
         .. "others have overtaken: lost, or still on their way; once all has stopped, those that are lost.",
      run = stats,
   },
   {
      name = "latency", looks = true, summary = "delays of streams", arguments = { TARGET },
      help = "Delays of streams, from first bit to first bit. Percentiles and jitter (RFC 3550) are of all\n"
         .. "the traffic since its start.",
      run = latency,
   },
   {
      name = "view", looks = true, summary = "the live view, full-screen or in lines",
      arguments = { { name = "line", flag = true, help = "a line for each port, drawn anew in its place" } },
      help = "Ports, streams and jobs on a page that is drawn anew twice a second. q leaves it, c counts\n"
         .. "from here on, the arrow keys move through the streams. Without a terminal it is shown once.\n"
         .. "'view line' leaves the screen as it is; it ends with the traffic, or with Ctrl-C.",
      run = function(session, o)
         if o.line then
            return view_lines(session)
         elseif session.terminal then
            return watching.run(session.tester, session.terminal)
         end
         return table.concat((view.page(session.tester, { columns = 80, rows = 1000 })), "\n")
      end,
   },
   {
      name = "clear", summary = "count from here on", arguments = {},
      help = "Begin to count from here on. The smallest and the largest delay stay those of all the traffic.",
      run = function(session)
         local history = session.tester.traffic.history
         if history then
            history:clear()
         end
      end,
   },
}
