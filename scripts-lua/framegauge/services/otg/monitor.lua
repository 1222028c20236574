-- SPDX-License-Identifier: BSD-3-Clause

--- The calls that show what is: metrics and states. `calls` is framegauge.services.otg.calls.
local lag_rows = require "framegauge.services.otg.lag_rows"
local Link = require "framegauge.tester.link"
local Live = require "framegauge.tester.live"
local lldp = require "framegauge.services.otg.lldp"
local metrics = require "framegauge.services.otg.metrics"
local read = require "framegauge.services.otg.read"
local refusal = require "framegauge.services.otg.refusal"
local request_of = require "framegauge.services.otg.request_of"
local rows = require "framegauge.services.otg.rows"
local schema = require "framegauge.services.otg.schema"

local M = {}

-- A row of a port's metrics.
local function about_port(calls, port)
   local row = rows.port(calls.traffic, port)
   row.port, row.capturing = port, calls.captures:is_running(port.name)
   row.link = port.place ~= nil and Live.port(calls.tester, port.place).link
   row.changed_ns = 0 -- when the link changed last is not kept
   return row
end

-- Rows of each kind of metrics: function(calls, request, found).
local metrics_of = {}

function metrics_of.flow(calls, request, found)
   return metrics.flows(calls.traffic, request, calls.state.packet_loss_duration, found)
end

function metrics_of.port(calls, request, found)
   return metrics.ports(calls.state.ports, calls.state.order, request, function(port)
      return about_port(calls, port)
   end, found)
end

function metrics_of.lldp(calls, request, found)
   return lldp.metrics(calls.state.lldp, request, found)
end

function metrics_of.lag(calls, request, found)
   return lag_rows.lags(calls.state.lags, request, function(port)
      return rows.port(calls.traffic, port)
   end, found)
end

function metrics_of.lacp(calls, request, found)
   return lag_rows.lacp(calls.state.lags, request, found)
end

-- Rows of each kind of states; the same.
local states_of = {}

function states_of.ipv4_neighbors(calls, request)
   return calls.neighbours:states(4, request.ethernet_names, "ipv4_neighbors")
end

function states_of.ipv6_neighbors(calls, request)
   return calls.neighbours:states(6, request.ethernet_names, "ipv6_neighbors")
end

function states_of.lldp_neighbors(calls, request, found)
   return lldp.states(calls.state.lldp, request, Link.clock(), found)
end

local function rows_by(kinds, calls, request)
   local found = read.found()
   local list = kinds[request.choice](calls, request[request.choice], found)
   refusal.raise_found(found)
   return list
end

--- Metrics of flows, ports or protocols.
function M.metrics(calls, value)
   local kind = request_of.choice(value, "port")
   if schema.is_never_there("MetricsRequest", kind) then
      return metrics.none(kind)
   end
   local request = request_of.read("MetricsRequest", value)
   calls.traffic:refresh()
   local key = request.choice .. "_metrics"
   return { choice = key, [key] = rows_by(metrics_of, calls, request) }
end

--- States of neighbours.
function M.states(calls, value)
   local kind = request_of.choice(value, "ipv4_neighbors")
   if schema.is_never_there("StatesRequest", kind) then
      return { choice = kind, [kind] = {} }
   end
   local request = request_of.read("StatesRequest", value)
   return { choice = request.choice, [request.choice] = rows_by(states_of, calls, request) }
end

return M
