-- SPDX-License-Identifier: BSD-3-Clause

--- Flows and ports as they are now, in numbers: what rows of metrics are made of.
local json = require "framegauge.text.json"
local slots_of = require "framegauge.services.otg.slots"
local spread = require "framegauge.services.otg.spread"
local tables = require "framegauge.core.tables"

local M = {}

--- A row of metrics, with the columns that are asked for.
-- @param row     what it has anyway
-- @param asked   names of columns; none: all
-- @param figure  function(column) -> value
function M.row(row, asked, all, figure)
   for _, column in ipairs(asked[1] and asked or all) do
      row[column] = figure(column)
   end
   return json.object(row)
end

-- A rate: whole where it is within a frame of that.
local function per_second(difference, seconds)
   local rate = seconds > 0 and difference / seconds or 0
   local whole = math.floor(rate + 0.5)
   return whole > 0 and whole or math.floor(rate * 1000 + 0.5) / 1000
end

local NO_RATES = { tx = 0, rx = 0, tx_bytes = 0, rx_bytes = 0 }

-- Counts per second since the first of some samples.
local function rates_of(counts, samples, now)
   local before, rates = samples[1], {}
   for key in pairs(before.counts) do
      if NO_RATES[key] then
         rates[key] = per_second(math.max(0, counts[key] - before.counts[key]), now - before.time)
      end
   end
   return rates
end

--- A flow now: its state, counts and rates.
-- @param traffic  framegauge.services.otg.traffic
-- @return { transmit =, counts = { tx, rx, tx_bytes, rx_bytes, delay_* }, rates = the same per second }
function M.flow(traffic, flow)
   local counts, rates = traffic:counts(flow), NO_RATES
   if flow.state == "started" then
      rates = rates_of(counts, flow.samples, traffic.time)
   end
   return { transmit = flow.state, counts = counts, rates = rates }
end

-- Counts of a part of what has come, with the rates of the flow it is of.
-- @param before  the same at the first sample; nil: the flow is not running
local function part(row, counts, before, seconds)
   local one, rates = tables.copy(counts), tables.copy(row.rates)
   for _, key in ipairs { "rx", "rx_bytes" } do
      rates[key] = before and per_second(math.max(0, counts[key] - before[key]), seconds) or 0
   end
   one.tx, one.tx_bytes = row.counts.tx, row.counts.tx_bytes
   return { transmit = row.transmit, counts = one, rates = rates }
end

-- The same for each value of the flow's tags, in their order; at the end for values that were too many.
local function parts_by_value(row, counts, before, seconds, port)
   local found = counts.values or {}
   local keys = tables.keys(found)
   table.sort(keys, function(a, b)
      local one, other = found[a].value, found[b].value
      return one ~= nil and (other == nil or one < other)
   end)
   return tables.map(keys, function(key)
      local earlier = before and (before.values and before.values[key] or slots_of.NOTHING)
      local one = part(row, found[key], earlier, seconds)
      one.port, one.value = port, found[key].value
      return one
   end)
end

--- A flow now by its tags: by the port that has received its frames, by values of these, or both.
-- @param row  of flow()
-- @return list of the same, each with counts and rates of what has been received of all that was sent, with
-- port = in the order of its ports, and value =
function M.flow_by_tags(traffic, flow, row)
   local list, stream, sample = {}, flow.stream, flow.state == "started" and flow.samples[1] or nil
   local seconds = sample and traffic.time - sample.time
   local predefined = stream.metrics.predefined_metric_tags
   local by_port = predefined and predefined.rx_name
   for k, port in ipairs(by_port and stream.rx or { false }) do
      local function of(counts)
         return not by_port and counts or counts.ports and counts.ports[k] or slots_of.NOTHING
      end
      local counts, before = of(row.counts), sample and of(sample.counts)
      if stream.tags then
         tables.append(list, parts_by_value(row, counts, before, seconds, port))
      else
         list[#list + 1] = part(row, counts, before, seconds)
         list[#list].port = port
      end
   end
   return list
end

-- What a port has sent of a flow: all of it, or its share where it is one of a LAG.
local function sent_from(traffic, flow, port)
   local row = M.flow(traffic, flow)
   if flow.stream.tx == port then
      return row
   end
   local counts = row.counts.sent and row.counts.sent[port.name]
   if not counts then
      return nil
   end
   local first = flow.state == "started" and flow.samples[1]
   local before = first and first.counts.sent and first.counts.sent[port.name] or { tx = 0, tx_bytes = 0 }
   return { counts = counts, rates = first and rates_of(counts, { { time = first.time, counts = before } },
      traffic.time) or NO_RATES }
end

--- What a port of the configuration has sent and received since ports were cleared, and sends now.
function M.port(traffic, port)
   local sent = traffic.carried[port.name] or { tx = 0, tx_bytes = 0 }
   local row = { tx = sent.tx, tx_bytes = sent.tx_bytes, tx_rate = 0, tx_bytes_rate = 0,
      transmits = false }
   for _, flow in ipairs(traffic.flows) do
      local one = spread.sends_from(flow.stream, port) and sent_from(traffic, flow, port)
      if one then
         row.tx, row.tx_bytes = row.tx + one.counts.tx, row.tx_bytes + one.counts.tx_bytes
         row.tx_rate, row.tx_bytes_rate = row.tx_rate + one.rates.tx, row.tx_bytes_rate + one.rates.tx_bytes
         row.transmits = row.transmits or flow.state == "started"
      end
   end
   local received = port.place and traffic:received(port.place) or NO_RATES
   local rates = port.place and traffic.live
      and rates_of(received, traffic.ports[port.place].samples, traffic.time) or NO_RATES
   row.rx, row.rx_bytes, row.rx_rate, row.rx_bytes_rate = received.rx, received.rx_bytes, rates.rx,
      rates.rx_bytes
   return row
end

return M
