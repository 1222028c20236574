-- SPDX-License-Identifier: BSD-3-Clause

--- Commands for interactive traffic.
local follow = require "framegauge.console.follow"
local format = require "framegauge.text.format"
local show = require "framegauge.console.show"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local view = require "framegauge.console.view"
local watching = require "framegauge.console.watching"

local TARGET = { "target", "a stream, or a port (all streams that it sends); default: all",
   optional = true, complete = "target" }

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
   return session.control.plan.ports[i].name
end

-- The shape of a load whose frames are not evenly spaced.
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

-- How many frames a stream sends, where it does not go on.
local function count_of(stream)
   return stream.frames and ", " .. format.plural(stream.frames, "frame") or ""
end

local function streams(session)
   local rows = {}
   for i, stream in ipairs(session.control.traffic.list) do
      rows[i] = {
         name = stream.name, from = port_name(session, stream.from), to = port_name(session, stream.to),
         size = stream.size,
         rate = shape(stream.load) .. units.format_rate(stream.rate) .. count_of(stream.plan),
         state = stream.running and "running" or "stopped",
      }
   end
   return show.as_table(rows, {
      { "name", "stream" }, { "from", "from" }, { "to", "to" }, { "size", "bytes" }, { "rate", "rate" },
      { "state", "state" },
   })
end

-- { name =, counts } of the streams of a target, of the current or the last traffic.
local function rows_of(session, target)
   local traffic, rows = session.control.traffic, {}
   if not traffic.history then
      user_error.raise("stats", 2, "no traffic yet; 'start' starts it")
   end
   for i, stream in ipairs(traffic:of(target)) do
      rows[i] = traffic.history:stream(stream.index)
      rows[i].name = stream.name
   end
   return rows
end

local function port_rows(session)
   local rows = {}
   for i, port in ipairs(session.control.plan.ports) do
      rows[i] = session.control.traffic.history:port(i)
      rows[i].name = "port " .. port.name
   end
   return rows
end

local COUNTS = {
   { "name", "" }, { "tx", "sent", format = units.format_count },
   { "rx", "received", format = units.format_count }, { "lost", "missing", format = units.format_count },
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

-- How long frames waited in the tester's own port, where several streams share it.
local OWN_QUEUE = { "own_queue_max_ns", "own queue", format = time }

local function latency(session, o)
   local rows = {}
   for i, row in ipairs(rows_of(session, o.target)) do
      rows[i] = row.latency or {}
      rows[i].name = row.name
   end
   local waited = #tables.field(rows, "own_queue_max_ns") > 0
   return show.as_table(rows, waited and tables.joined(LATENCY, { OWN_QUEUE }) or LATENCY)
end

-- "10" or "10s"
local function seconds_of(text)
   if text == nil or tonumber(text) then
      return tonumber(text)
   end
   local seconds, wrong, expected = units.parse_time(text)
   return seconds or user_error.raise("start", 2, "%s; expected %s", wrong, expected)
end

local function start(session, o)
   local seconds = seconds_of(o["for"])
   local task = session.control.traffic:start(o.target, seconds)
   if seconds and not o.background then
      follow.foreground(session, task)
      return stats(session, {})
   end
end

-- The default streams become streams of the plan when one of them is changed.
local function materialise(session, values)
   for _, one in ipairs(session.control.traffic.list) do
      values["streams." .. one.name .. ".from"] = port_name(session, one.from)
      values["streams." .. one.name .. ".to"] = port_name(session, one.to)
   end
end

local function stream(session, o)
   local values, control = {}, session.control
   if not control.plan.streams[1] and control.traffic.by_name[o.name] then
      materialise(session, values)
   end
   values[("streams.%s.from"):format(o.name)] = values[("streams.%s.from"):format(o.name)]
      or not control.traffic.by_name[o.name] and control.plan.ports[1].name or nil
   for key, value in pairs(o.keys) do
      values[("streams.%s.%s"):format(o.name, key)] = value
   end
   control:set(values)
end

local function view_lines(session)
   if not session.control.traffic.history then
      user_error.raise("view", 2, "no traffic yet; 'start' starts it")
   elseif session.terminal then
      return watching.lines(session)
   end
   return table.concat(view.lines(session.control, { columns = 80 }), "\n")
end

return {
   { "streams", "list the streams",
      "List the streams: the plan's, or one per direction. 'stream' creates or changes one.",
      looks = true, run = streams },
   { "stream", "create or change a stream",
      "Create or change a stream. Keys, as in a plan's streams ('help keys'): from, to, size, rate, frames (how many, then no more) and frame (its protocols from the outside in). No job may be running. The default streams are removed when the first stream is created.",
      arguments = { { "name", "name of the stream", complete = "stream" } },
      keys = function()
         return { "from", "to", "size", "rate", "frames", "frame" }
      end,
      examples = {
         "stream voice from=east to=west size=218 rate='10Mbps L2'",
         "stream {name = 'tagged', from = 'west', frame = {'ethernet', {vlan = 7}, 'ipv4', 'udp'}}",
      },
      run = stream,
   },
   { "start", "start streams",
      "Start streams: all, one, or those that a port sends. They run until they are stopped or have sent their `frames`, or for a time: then the command waits for the end and shows the counts.",
      arguments = {
         TARGET, { "for", "duration, such as 10s; default: until stopped", named = true },
         { "background", "do not wait for the end", flag = true },
      },
      examples = { "start", "start east", "start east-west for=10s" }, run = start,
   },
   { "stop", "stop streams or a job",
      "Stop streams, or a job by its number. With the last stream the traffic ends: frames in flight are waited for, then the counts are final. A stopped test keeps its results so far.",
      arguments = {
         { "target", "a stream, a port, or the number of a job; default: all streams",
           optional = true, complete = "stoppable" },
      },
      run = function(session, o)
         local number = tonumber(o.target)
         if not number then
            return session.control.traffic:stop(o.target)
         end
         local task = session.control.tasks:get(number)
         task:stop()
         task:wait()
      end,
   },
   { "rate", "change the load of streams",
      "Change the load of a stream, or of a port (its streams share it evenly). Running streams continue at the new rate.",
      arguments = {
         { "target", "a stream, a port, or all", complete = "target" },
         { "rate", "the load: 40%, 100kfps, or 1Gbps followed by L1, L2 or L3", rest = true },
      },
      examples = { "rate east 40%", "rate east-west 1Mbps L2", "rate all 100kfps" },
      run = function(session, o)
         session.control.traffic:set_rate(o.target, table.concat(o.rate, " "))
      end,
   },
   { "stats", "show counts and rates",
      "Show what was sent and received since the start of traffic or 'clear'. During traffic, 'missing' are frames not yet received although later ones have been: lost or in flight. After the end they are lost.",
      looks = true, arguments = { TARGET }, run = stats },
   { "latency", "show the delays of streams",
      "Show the delays of streams, from first bit to first bit. Percentiles and jitter (RFC 3550) cover the time since the start of traffic.",
      looks = true, arguments = { TARGET }, run = latency },
   { "view", "live view, full-screen or in lines",
      "Show ports, streams and jobs on a page that is redrawn twice a second. q leaves it, c clears the counts, the arrow keys scroll. Without a terminal it is shown once. 'view line' does not use the whole screen; it ends with the traffic, or with Ctrl-C.",
      looks = true,
      arguments = { { "line", "one line per port, redrawn in place", flag = true } },
      run = function(session, o)
         if o.line then
            return view_lines(session)
         elseif session.terminal then
            return watching.run(session.control, session.terminal)
         end
         return table.concat((view.page(session.control, { columns = 80, rows = 1000 })), "\n")
      end,
   },
   { "clear", "clear the counts",
      "Count from now on. Minimum and maximum delay still cover the time since the start of traffic.",
      run = function(session)
         local history = session.control.traffic.history
         if history then
            history:clear()
         end
      end,
   },
}
