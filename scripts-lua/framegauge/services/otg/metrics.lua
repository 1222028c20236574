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
local tags = require "framegauge.services.otg.tags"

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

local TAGGED_DEFAULT = { unpack(FLOW_DEFAULT, 2) }

-- The tags of a row, none of values that were too many; nil where a request does not ask for them.
local function shown_tags(stream, one, filters)
   local list, values = {}, one.value and tags.values(stream.tags, one.value) or {}
   for _, filter in ipairs(filters) do
      local value = filter.name == tags.RX_NAME and one.port and one.port.name or values[filter.name]
      local names = filter.values
      if names[1] and not (value and (filter.name == tags.RX_NAME and tables.contains(names, value)
         or filter.name ~= tags.RX_NAME and tags.is_named(value, names))) then
         return nil
      end
   end
   list[1] = one.port and json.object { name = tags.RX_NAME, value = json.object { choice = "str",
      str = one.port.name } } or nil
   for _, tag in ipairs(one.value and stream.tags or {}) do
      list[#list + 1] = json.object { name = tag.name, value = json.object { choice = "hex",
         hex = values[tag.name] } }
   end
   return list
end

-- A flow's metrics by the tags of its frames; a list.
local function tagged_rows(traffic, flow, row, request)
   local asked = request.tagged_metrics or NO_FILTER
   local names = asked.metric_names[1] and asked.metric_names or TAGGED_DEFAULT
   return tables.map(rows.flow_by_tags(traffic, flow, row), function(one)
      local shown = shown_tags(flow.stream, one, asked.filters)
      if not shown or (one.counts.rx == 0 and not asked.include_empty_metrics) then
         return nil
      end
      local lost = math.max(0, one.counts.tx - one.counts.rx)
      local out = { tags = shown, loss = one.counts.tx > 0 and number(100 * lost / one.counts.tx) or 0 }
      for _, name in ipairs(names) do
         out[name] = flow_figure[name](one)
      end
      put_measured(out, one.counts, flow)
      return json.object(out)
   end)
end

-- Is a flow told apart by tags?
local function has_tags(stream)
   local predefined = stream.metrics.predefined_metric_tags
   return stream.tags ~= nil or predefined ~= nil and predefined.rx_name
end

-- Names by which flows may be told apart, each once.
local function tag_names(flows)
   local names = { tags.RX_NAME }
   for _, flow in ipairs(flows) do
      for _, tag in ipairs(flow.stream.tags or {}) do
         names[#names + 1] = not tables.contains(names, tag.name) and tag.name or nil
      end
   end
   return names
end

local function flow_row(traffic, flow, names, durations, request)
   local row = rows.flow(traffic, flow)
   local rx = flow.stream.rx_places
   local out = {
      name = flow.name, port_tx = flow.stream.tx.name, port_rx = #rx == 1 and rx[1].name or "",
      loss = loss(row.counts, flow.stream),
   }
   for _, name in ipairs(names) do
      out[name] = flow_figure[name](row)
   end
   put_measured(out, row.counts, flow)
   if has_tags(flow.stream) and (request.tagged_metrics or NO_FILTER).include then
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
   local flows = found:named(request.flow_names, "flow.flow_names", function(name)
      return traffic.by_name[name], "is no flow"
   end)
   local known = tag_names(traffic.flows)
   for i, filter in ipairs((request.tagged_metrics or NO_FILTER).filters) do
      if not tables.contains(known, filter.name) then
         found:fault(("flow.tagged_metrics.filters[%d].name"):format(i - 1), "%s is no tag; there is %s",
            filter.name and ('"%s"'):format(filter.name) or "nothing", table.concat(known, ", "))
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
   return tables.map(found:named(names, "port.port_names", function(name)
      return ports[name], "is no port"
   end), function(port)
      local row = about(port)
      return rows.row({ name = port.name }, request.column_names, PORT_DEFAULT, function(column)
         return port_figure[column](row)
      end)
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
