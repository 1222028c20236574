-- SPDX-License-Identifier: BSD-3-Clause

--- Service demand: processor time for a unit of work, as netperf has it, a transaction or 1024 octets of
-- payload. netperf takes it from the load of the whole machine; our lcores poll and are never idle, so it is
-- the time of the polls that had something to do (method "P"). On the virtual wire, where nothing may depend
-- on the machine, there is none.
local kinds = require "framegauge.methods.l4.kinds"

local M = {}

local KIB = 1024

-- Units that a side has dealt with in the whole of a trial.
local function work(row, record, side)
   local t, kind = side.apps[1].total, kinds.of(row.test)
   if not kind.receiver then
      return record.sides[1].apps[1].total.transactions
   elseif kind.udp then
      return (t.datagrams_out * row.parameters.datagram + t.datagram_octets_in) / KIB
   end
   return (t.octets_out + t.octets_in) / KIB
end

--- Of a row and the records of its trials.
-- @return { per = "transaction" or "KiB", method = "P", client_us =, server_us = }, without the server where
-- it is not ours; nil on the virtual wire, and where nothing was done
function M.of(row, list)
   local demand = { per = kinds.of(row.test).receiver and "KiB" or "transaction", method = "P" }
   for i, role in ipairs { "client", "server" } do
      local seconds, units = 0, 0
      for _, record in ipairs(list) do
         local side = record.sides[i]
         seconds = seconds + (side and side.station.busy_s or 0)
         units = units + (side and work(row, record, side) or 0)
      end
      demand[role .. "_us"] = seconds > 0 and units > 0 and seconds * 1e6 / units or nil
   end
   return demand.client_us and demand
end

return M
