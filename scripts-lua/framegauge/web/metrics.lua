-- SPDX-License-Identifier: BSD-3-Clause

--- The figures of a tester for Prometheus (docs/reference/metrics.md).
--
-- Counters are sums over all trials since the ports were opened (tester/totals.lua), the running one
-- included. Base units everywhere. Of many streams, those between the same ports are one, so that the number
-- of series stays small.
local build = require "framegauge.build"
local exposition = require "framegauge.web.exposition"
local Fleet = require "framegauge.web.fleet"
local fleet_metrics = require "framegauge.web.fleet_metrics"
local tables = require "framegauge.core.tables"
local totals = require "framegauge.tester.totals"

local M = {}

local MANY = 200 -- streams that are told apart

local SECONDS = tables.map(totals.BOUNDS, function(ns)
   return ns / 1e9
end)

local NUMBERS = { "tx", "rx", "tx_bytes", "rx_bytes", "duplicates", "reordered", "missing", "delay_sum_ns" }

local function add_stream(sum, stream)
   for _, key in ipairs(NUMBERS) do
      sum[key] = (sum[key] or 0) + (stream[key] or 0)
   end
   for i = 0, #totals.BOUNDS do
      sum.delays[i] = (sum.delays[i] or 0) + tonumber(stream.delays[i])
   end
end

-- Streams under these names; streams of the same ports together where there are many.
local function gathered(streams)
   local list, by_name = {}, {}
   for _, stream in ipairs(streams) do
      local name = #streams <= MANY and stream.name or "all"
      local key = ("%s %d %d"):format(name, stream.from, stream.to)
      if not by_name[key] then
         by_name[key] = { name = name, from = stream.from, to = stream.to, delays = {} }
         list[#list + 1] = by_name[key]
      end
      add_stream(by_name[key], stream)
   end
   return list
end

local function port_sums(ports, streams)
   return tables.map(ports, function(_, i)
      local sum = { tx = 0, rx = 0, tx_bytes = 0, rx_bytes = 0 }
      for _, stream in ipairs(streams) do
         if stream.from == i then
            sum.tx, sum.tx_bytes = sum.tx + stream.tx, sum.tx_bytes + stream.tx_bytes
         end
         if stream.to == i then
            sum.rx, sum.rx_bytes = sum.rx + stream.rx, sum.rx_bytes + stream.rx_bytes
         end
      end
      return sum
   end)
end

local function write_ports(out, ports, sums, kept)
   local function each(kind, name, help, value)
      out:family(kind, "framegauge_port_" .. name, help)
      for i, port in ipairs(ports) do
         out:add({ port = port.name }, value(port, sums[i], kept[port.name] or {}))
      end
   end
   out:family("info", "framegauge_port", "What a port is.")
   for _, port in ipairs(ports) do
      out:add({
         port = port.name, device = port.device, driver = port.driver or "", mode = port.mode or "",
         mac = port.mac or "", numa = port.numa or "",
      }, 1)
   end
   each("gauge", "speed_bytes", "Line rate, bytes per second.", function(port)
      return port.line_rate and port.line_rate / 8
   end)
   for _, way in ipairs { { "transmit", "tx" }, { "receive", "rx" } } do
      each("counter", way[1] .. "_frames", "Test frames, read while frames fly; results are in the report.",
         function(_, sum)
            return sum[way[2]]
         end)
      each("counter", way[1] .. "_bytes", "Bytes of test frames with FCS, read while frames fly.",
         function(_, sum)
            return sum[way[2] .. "_bytes"]
         end)
   end
   each("counter", "misdirected_frames", "Test frames of another port, of trials that have ended.",
      function(_, _, one)
         return one.misdirected
      end)
   out:family("counter", "framegauge_port_receive_drops",
      "Frames that the tester itself dropped, of trials that have ended.")
   for _, port in ipairs(ports) do
      for reason, key in pairs { missed = "rx_missed", no_mbuf = "rx_no_mbuf", overflow = "rx_overflow" } do
         out:add({ port = port.name, reason = reason }, (kept[port.name] or {})[key])
      end
   end
   out:family("counter", "framegauge_port_foreign_frames",
      "Frames that are no test frames, of trials that have ended.")
   for _, port in ipairs(ports) do
      for kind, n in pairs((kept[port.name] or {}).foreign or {}) do
         out:add({ port = port.name, kind = kind }, n)
      end
   end
end

local STREAM = {
   { "counter", "transmit_frames", "tx", "Test frames sent, read while frames fly." },
   { "counter", "receive_frames", "rx", "Different test frames received, read while frames fly." },
   { "counter", "duplicate_frames", "duplicates", "Test frames received again, of trials that have ended." },
   { "counter", "reordered_frames", "reordered", "Test frames received late, of trials that have ended." },
   { "gauge", "missing_frames", "missing",
     "Frames of the running trial below the highest number received: lost, or still to come." },
}

local function write_streams(out, ports, streams)
   local function labels(stream)
      return { stream = stream.name, from = ports[stream.from].name, to = ports[stream.to].name }
   end
   for _, row in ipairs(STREAM) do
      out:family(row[1], "framegauge_stream_" .. row[2], row[4])
      for _, stream in ipairs(streams) do
         out:add(labels(stream), stream[row[3]])
      end
   end
   out:family("histogram", "framegauge_stream_delay_seconds", "One-way delay of every test frame received.")
   for _, stream in ipairs(streams) do
      local counts = {}
      for i = 1, #SECONDS do
         counts[i] = stream.delays[i - 1]
      end
      out:histogram(labels(stream), SECONDS, counts, stream.delays[#SECONDS], stream.delay_sum_ns / 1e9)
   end
end

local function write_jobs(out, control)
   out:family("counter", "framegauge_trials", "Trials that have ended, by their verdict.")
   for _, one in pairs(control.tasks.trials) do
      out:add({ test = one.test, verdict = one.validity }, one.count,
         { labels = { run = M.run_name(one.task), trial = one.trial }, value = 1 })
   end
   local running = tables.map(control.tasks:running(), function(task)
      local event = task:progress()
      return event and event.trial and { run = M.run_name(task), event = event } or nil
   end)
   out:family("gauge", "framegauge_run_progress_ratio", "Share of a run's time that has passed.")
   for _, one in ipairs(running) do
      local left = one.event.left_s
      out:add({ run = one.run }, left and one.event.elapsed_s / math.max(1e-9, one.event.elapsed_s + left))
   end
   out:family("gauge", "framegauge_run_remaining_seconds", "Estimated time to the end of a run.")
   for _, one in ipairs(running) do
      out:add({ run = one.run }, one.event.left_s)
   end
end

--- What a run is called: its folder's name.
function M.run_name(task)
   return (task.folder or task.name):match "([^/]+)/*$"
end

-- Rows of the last finished run of each plan: { labels, row }.
local function result_rows(control)
   local rows, seen = {}, {}
   for i = #control.tasks.list, 1, -1 do
      local task = control.tasks.list[i]
      local key = task.result and task.result.plan.name .. " " .. task.name
      if key and not seen[key] then
         seen[key] = true
         for part, list in pairs(task.result.results) do
            for _, row in ipairs(type(list) == "table" and list or {}) do
               if type(row) == "table" and row.validity then
                  rows[#rows + 1] = { row = row, labels = {
                     plan = task.result.plan.name, part = part, frame_size = row.frame_size or "",
                     direction = row.direction or "",
                  } }
               end
            end
         end
      end
   end
   return rows
end

local RESULT = {
   { "throughput_frames_per_second", "Throughput of the device.", function(row)
      return row.throughput_fps
   end },
   { "loss_ratio", "Share of frames that the device lost.", function(row)
      return row.loss_ratio
   end },
   { "delay_seconds", "Mean delay through the device.", function(row)
      local latency = type(row.latency) == "table" and row.latency
      return latency and latency.mean_ns and latency.mean_ns / 1e9
   end },
}

local function write_results(out, control)
   local rows = result_rows(control)
   for _, figure in ipairs(RESULT) do
      out:family("gauge", "framegauge_result_" .. figure[1], figure[2] .. " Only of valid rows.")
      for _, one in ipairs(rows) do
         local value = one.row.validity == "valid" and figure[3](one.row)
         out:add(one.labels, type(value) == "number" and value or nil)
      end
   end
   out:family("stateset", "framegauge_result_verdict", "Whether a row of a result may be believed.")
   for _, one in ipairs(rows) do
      for _, verdict in ipairs { "valid", "tester-limited", "invalid", "not-applicable" } do
         local labels = tables.copy(one.labels)
         labels.framegauge_result_verdict = verdict
         out:add(labels, one.row.validity == verdict and 1 or 0)
      end
   end
end

--- The text.
-- @param control       framegauge.control
-- @param openmetrics  else Prometheus' 0.0.4
-- @param agents       what the agents of the plan answered (framegauge.fleet.overview), nil: it has none
function M.text(control, openmetrics, agents)
   local out, tester = exposition.writer(openmetrics), control.tester
   out:family("info", "framegauge_build", "Versions of the program.")
   out:add({ version = build.version, dpdk = build.dpdk, luajit = build.luajit }, 1)
   if tester then
      local all = tester.totals:read()
      write_ports(out, tester.ports, port_sums(tester.ports, all), tester.totals.ports)
      write_streams(out, tester.ports, gathered(all))
      out:family("gauge", "framegauge_lcore_poll_gap_seconds", "Longest time between two polls, last trial.")
      for _, lcore in ipairs(tester.totals.lcores) do
         out:add({ lcore = lcore.id }, lcore.poll_gap_max_ns / 1e9)
      end
   end
   write_jobs(out, control)
   write_results(out, control)
   if agents then
      fleet_metrics.write(out, agents)
   end
   return out:text()
end

--- Routes for the server (web/server.lua).
function M.routes(control)
   local agents = control.plan and control.plan.fleet.agents or {}
   local fleet = agents[1] and Fleet.new(agents)
   return {
      ["GET /metrics"] = function(request)
         local openmetrics = exposition.wants_openmetrics(request.headers.accept)
         return { type = openmetrics and exposition.OPENMETRICS or exposition.PLAIN,
            body = M.text(control, openmetrics, fleet and fleet:answers()) }
      end,
      ["GET /healthz"] = function()
         return "ok\n"
      end,
   }
end

return M
