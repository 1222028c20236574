-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of metrics of LAGs, and of LACP on their ports (framegauge.services.otg.lags).
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"

local M = {}

local function count(value)
   return ("%.0f"):format(value)
end

local LAG_FIGURES = { "oper_status", "member_ports_up", "frames_tx", "frames_rx", "bytes_tx", "bytes_rx",
   "frames_tx_rate", "frames_rx_rate", "bytes_tx_rate", "bytes_rx_rate" }

-- Of a port's row what each figure of a LAG adds up.
local SUMS = {
   frames_tx = "tx", frames_rx = "rx", bytes_tx = "tx_bytes", bytes_rx = "rx_bytes",
   frames_tx_rate = "tx_rate", frames_rx_rate = "rx_rate", bytes_tx_rate = "tx_bytes_rate",
   bytes_rx_rate = "rx_bytes_rate",
}

local function lag_figure(key, lag, ports)
   if key == "oper_status" then
      return lag.now[1] and "up" or "down"
   elseif key == "member_ports_up" then
      return lag.ready
   end
   local sum = 0
   for _, row in ipairs(ports) do
      sum = sum + row[SUMS[key]]
   end
   return key:find "_rate$" and math.floor(sum * 1e4 + 0.5) / 1e4 or count(sum)
end

-- The items of a list of names; nil where none is named.
local function named(list, names, path, what, found)
   return names[1] and tables.map(names, function(name, i)
      local at = tables.index_of(list, name)
      return at and list[at] or found:fault(("%s[%d]"):format(path, i - 1), '"%s" is no %s', name, what)
   end) or nil
end

--- Rows of LAGs.
-- @param state    of framegauge.services.otg.lags
-- @param request  LagMetricsRequest that was read
-- @param about    function(port) -> its row (framegauge.services.otg.rows)
function M.lags(state, request, about, found)
   local columns = request.column_names[1] and request.column_names or LAG_FIGURES
   local lags = named(state.list, request.lag_names, "lag.lag_names", "LAG", found) or state.list
   return tables.map(lags, function(lag)
      lag:refresh()
      local row, ports = { name = lag.name }, tables.map(lag.members, about)
      for _, key in ipairs(columns) do
         row[key] = lag_figure(key, lag, ports)
      end
      return json.object(row)
   end)
end

local lacp_figure = {
   lacp_packets_rx = function(one) return count(one.counts.rx) end,
   lacp_packets_tx = function(one) return count(one.counts.tx) end,
   lacp_rx_errors = function(one) return count(one.counts.errors) end,
   activity = function(one) return one.actor.activity and "active" or "passive" end,
   timeout = function(one) return one.actor.timeout and "short" or "long" end,
   synchronization = function(one) return one.actor.synchronization and "in_sync" or "out_sync" end,
   aggregatable = function(one) return one.actor.aggregation end,
   collecting = function(one) return one.actor.collecting end,
   distributing = function(one) return one.actor.distributing end,
   system_id = function(one) return one.actor.system end,
   oper_key = function(one) return one.actor.key end,
   partner_id = function(one) return one.partner.system end,
   partner_key = function(one) return one.partner.key end,
   port_num = function(one) return one.actor.port end,
   partner_port_num = function(one) return one.partner.port end,
}

--- Rows of the ports of LAGs with LACP.
-- @param request  LacpMetricsRequest that was read
function M.lacp(state, request, found)
   local lags = named(state.list, request.lag_names, "lacp.lag_names", "LAG", found)
   local agents = named(state.agents, request.lag_member_port_names, "lacp.lag_member_port_names",
      "port of a LAG with LACP", found) or state.agents
   local columns = request.column_names[1] and request.column_names or tables.keys(lacp_figure)
   return tables.map(agents, function(one)
      if lags and not tables.contains(lags, one.lag) then
         return nil
      end
      local row = { lag_name = one.lag.name, lag_member_port_name = one.name }
      for _, key in ipairs(columns) do
         row[key] = lacp_figure[key](one.agent)
      end
      return json.object(row)
   end)
end

return M
