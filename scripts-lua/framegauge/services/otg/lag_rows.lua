-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of metrics of LAGs, and of LACP on their ports (framegauge.services.otg.lags).
local rows = require "framegauge.services.otg.rows"
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

--- Rows of LAGs.
-- @param state    of framegauge.services.otg.lags
-- @param request  LagMetricsRequest that was read
-- @param about    function(port) -> its row (framegauge.services.otg.rows)
function M.lags(state, request, about, found)
   return tables.map(found:named_among(state.list, request.lag_names, "lag.lag_names", "LAG"), function(lag)
      lag:refresh()
      local ports = tables.map(lag.members, about)
      return rows.row({ name = lag.name }, request.column_names, LAG_FIGURES, function(key)
         return lag_figure(key, lag, ports)
      end)
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
   local lags = found:named_among(state.list, request.lag_names, "lacp.lag_names", "LAG")
   local agents = found:named_among(state.agents, request.lag_member_port_names,
      "lacp.lag_member_port_names", "port of a LAG with LACP")
   return tables.map(agents, function(one)
      return tables.contains(lags, one.lag) and rows.row({
         lag_name = one.lag.name, lag_member_port_name = one.name,
      }, request.column_names, tables.keys(lacp_figure), function(key)
         return lacp_figure[key](one.agent)
      end) or nil
   end)
end

return M
