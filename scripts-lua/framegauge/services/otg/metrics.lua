-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of metrics, as the API has them.
--
-- What is asked for is there, zero included: one client takes an absent figure for none, another one stops.
-- Counts of 64 bits are text, rates and times numbers.
local ethernet = require "framegauge.core.ethernet"
local json = require "framegauge.text.json"
local reverse = require "framegauge.services.otg.reverse"
local rows = require "framegauge.services.otg.rows"
local tables = require "framegauge.core.tables"

local M = {}

local function count(value)
   return ("%.0f"):format(value)
end

-- Four digits behind the point: clients do not read an exponent.
local function number(value)
   return math.floor(value * 1e4 + 0.5) / 1e4
end

local FLOW_DEFAULT = { "transmit", "frames_tx", "frames_rx", "bytes_tx", "bytes_rx", "frames_tx_rate",
   "frames_rx_rate" }
local NO_FILTER = { include = true, metric_names = {}, filters = {} }
local UNITS = { bytes = 1, bps = 8, kbps = 8e-3, mbps = 8e-6 }

local function rate_in(way, unit)
   return function(row)
      return number(row.rates[way .. "_bytes"] * UNITS[unit])
   end
end

local function l1_rate(way)
   return function(row)
      return number(8 * (row.rates[way .. "_bytes"] + ethernet.OVERHEAD * row.rates[way]))
   end
end

local flow_figure = {
   transmit = function(row) return row.transmit end,
   frames_tx = function(row) return count(row.counts.tx) end,
   frames_rx = function(row) return count(row.counts.rx) end,
   bytes_tx = function(row) return count(row.counts.tx_bytes) end,
   bytes_rx = function(row) return count(row.counts.rx_bytes) end,
   frames_tx_rate = function(row) return number(row.rates.tx) end,
   frames_rx_rate = function(row) return number(row.rates.rx) end,
   tx_l1_rate_bps = l1_rate "tx", rx_l1_rate_bps = l1_rate "rx",
}
for unit in pairs(UNITS) do
   flow_figure["tx_rate_" .. unit], flow_figure["rx_rate_" .. unit] = rate_in("tx", unit), rate_in("rx", unit)
end

-- How often a frame that is sent should come: by default once; or once at each port that receives the flow.
local function copies_of(stream)
   local ratio = stream.metrics.rx_tx_ratio
   return ratio and (ratio.choice == "rx_count" and math.max(1, #stream.rx_places) or ratio.value) or 1
end

-- Frames that should have come, and how many of them have not.
local function missing(counts, stream)
   local expected = counts.tx * copies_of(stream)
   return math.max(0, expected - counts.rx), expected
end

local function loss(counts, stream)
   local lost, expected = missing(counts, stream)
   return expected > 0 and number(100 * lost / expected) or 0
end

-- Milliseconds in which a flow sends as many frames as it has lost.
local function loss_duration(counts, stream)
   local lost = missing(counts, stream)
   return { value = number(1000 * lost / (stream.load.fps * copies_of(stream))) }
end

-- First bit to first bit (cut through) is what we measure; last bit in to first bit out is less by the
-- time of a frame.
local function latency(counts, flow)
   local cut = flow.stream.metrics.latency.mode == "store_forward"
      and flow.stream.about.mean * 8 * 1e9 / (flow.stream.tx.members or { flow.stream.tx })[1].line_rate
      or 0
   local function figure(value)
      return math.max(0, number(value - cut))
   end
   if counts.rx <= 0 then
      return { minimum_ns = 0, maximum_ns = 0, average_ns = 0 }
   end
   return {
      minimum_ns = figure(counts.delay_min), maximum_ns = figure(counts.delay_max),
      average_ns = figure(counts.delay_sum / counts.rx),
   }
end

-- What a flow shows besides the figures that were asked for.
local function put_measured(out, counts, flow)
   local metrics = flow.stream.metrics
   if metrics.latency and metrics.latency.enable then
      out.latency = latency(counts, flow)
   end
   if metrics.timestamps then
      out.timestamps = { first_timestamp_ns = counts.first, last_timestamp_ns = counts.last }
   end
end

local RX_NAME = "rx_name" -- the tag by which frames of each port are told apart
local TAGGED_DEFAULT = { unpack(FLOW_DEFAULT, 2) }

-- Is a port among those that a request asks for?
local function is_shown(port, filters)
   for _, filter in ipairs(filters) do
      if filter.values[1] and not tables.contains(filter.values, port.name) then
         return false
      end
   end
   return true
end

-- A flow's metrics by the port that has received its frames; a list.
local function tagged_rows(traffic, flow, row, request)
   local asked = request.tagged_metrics or NO_FILTER
   local names = asked.metric_names[1] and asked.metric_names or TAGGED_DEFAULT
   return tables.map(rows.flow_at_ports(traffic, flow, row), function(one, k)
      local port = flow.stream.rx[k]
      if not is_shown(port, asked.filters) or (one.counts.rx == 0 and not asked.include_empty_metrics) then
         return nil
      end
      local lost = math.max(0, one.counts.tx - one.counts.rx)
      local out = {
         tags = { json.object { name = RX_NAME, value = json.object { choice = "str", str = port.name } } },
         loss = one.counts.tx > 0 and number(100 * lost / one.counts.tx) or 0,
      }
      for _, name in ipairs(names) do
         out[name] = flow_figure[name](one)
      end
      put_measured(out, one.counts, flow)
      return json.object(out)
   end)
end

local function flow_row(traffic, flow, names, durations, request)
   local row, metrics = rows.flow(traffic, flow), flow.stream.metrics
   local rx, tags = flow.stream.rx_places, metrics.predefined_metric_tags
   local out = {
      name = flow.name, port_tx = flow.stream.tx.name, port_rx = #rx == 1 and rx[1].name or "",
      loss = loss(row.counts, flow.stream),
   }
   for _, name in ipairs(names) do
      out[name] = flow_figure[name](row)
   end
   put_measured(out, row.counts, flow)
   if tags and tags.rx_name and (request.tagged_metrics or NO_FILTER).include then
      out.tagged_metrics = tagged_rows(traffic, flow, row, request)
   end
   if durations then
      out.packet_loss_duration = loss_duration(row.counts, flow.stream)
   end
   return json.object(out)
end

--- Rows of flows.
-- @param request    FlowMetricsRequest that was read
-- @param durations  whether packet_loss_duration is asked for
-- @param found      collects names that are not there
function M.flows(traffic, request, durations, found)
   local flows = {}
   for i, name in ipairs(request.flow_names) do
      flows[i] = traffic.by_name[name]
         or found:fault(("flow.flow_names[%d]"):format(i - 1), '"%s" is no flow', name)
   end
   for i, filter in ipairs((request.tagged_metrics or NO_FILTER).filters) do
      if filter.name ~= RX_NAME then
         found:fault(("flow.tagged_metrics.filters[%d].name"):format(i - 1), "%s is no tag; there is rx_name",
            filter.name and ('"%s"'):format(filter.name) or "nothing")
      end
   end
   flows = reverse.both_ways(flows)
   if not request.flow_names[1] then
      flows = tables.map(traffic.flows, function(flow)
         return flow.stream.metrics.enable and flow or nil
      end)
   end
   local names = request.metric_names[1] and request.metric_names or FLOW_DEFAULT
   return found.errors[1] and {} or tables.map(flows, function(flow)
      return flow_row(traffic, flow, names, durations, request)
   end)
end

local PORT_DEFAULT = { "location", "link", "capture", "transmit", "frames_tx", "frames_rx", "bytes_tx",
   "bytes_rx", "frames_tx_rate", "frames_rx_rate", "bytes_tx_rate", "bytes_rx_rate" }

local port_figure = {
   location = function(row) return row.port.location or "" end,
   link = function(row) return row.link and "up" or "down" end,
   capture = function(row) return row.capturing and "started" or "stopped" end,
   transmit = function(row) return row.transmits and "started" or "stopped" end,
   frames_tx = function(row) return count(row.tx) end,
   frames_rx = function(row) return count(row.rx) end,
   bytes_tx = function(row) return count(row.tx_bytes) end,
   bytes_rx = function(row) return count(row.rx_bytes) end,
   frames_tx_rate = function(row) return number(row.tx_rate) end,
   frames_rx_rate = function(row) return number(row.rx_rate) end,
   bytes_tx_rate = function(row) return number(row.tx_bytes_rate) end,
   bytes_rx_rate = function(row) return number(row.rx_bytes_rate) end,
   last_change = function(row) return count(row.changed_ns) end,
   speed = function(row) return count((row.port.line_rate or 0) / 8000) end,
}

--- Rows of ports.
-- @param ports     by name, and their order (framegauge.services.otg.config)
-- @param request   PortMetricsRequest that was read
-- @param about     function(port) -> a row: port, link, capturing, and what rows.port() counts
function M.ports(ports, order, request, about, found)
   local names = request.port_names[1] and request.port_names or order
   local columns = request.column_names[1] and request.column_names or PORT_DEFAULT
   return tables.map(names, function(name, i)
      local port = ports[name]
      if not port then
         return found:fault(("port.port_names[%d]"):format(i - 1), '"%s" is no port', name)
      end
      local row, out = about(port), { name = name }
      for _, column in ipairs(columns) do
         out[column] = port_figure[column](row)
      end
      return json.object(out)
   end)
end

-- Metrics of kinds that are never configured are empty lists; the names of some keys have no rule.
local EMPTY_KEYS = {
   dhcpv4_client = { "dhcpv4_client", "dhcpv4client_metrics" },
   dhcpv4_server = { "dhcpv4_server", "dhcpv4server_metrics" },
   dhcpv6_client = { "dhcpv6_client", "dhcpv6client_metrics" },
   dhcpv6_server = { "dhcpv6_server", "dhcpv6server_metrics" },
   rocev2_ipv4 = { "rocev2_ipv4_per_peer_metrics", "rocev2_ipv4_per_peer_metrics" },
   rocev2_ipv6 = { "rocev2_ipv6_per_peer_metrics", "rocev2_ipv6_per_peer_metrics" },
   rocev2_flow = { "rocev2_flow_per_qp_metrics", "rocev2_flow_per_qp_metrics" },
}

--- Metrics of such a kind.
function M.none(kind)
   local keys = EMPTY_KEYS[kind] or { kind .. "_metrics", kind .. "_metrics" }
   return { choice = keys[1], [keys[2]] = {} }
end

return M
