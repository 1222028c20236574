-- SPDX-License-Identifier: BSD-3-Clause

--- The common work of all testers with a part at agents: ports with the addresses of another's plan, and
-- ids of streams that each part knows.
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local ADDRESSES = { "ipv4", "prefix4", "gateway4", "ipv6", "prefix6", "gateway6", "gateway_mac", "vlan" }

--- The number of ids of streams.
M.MAX_IDS = 60000

local function with_addresses(port, from)
   for _, key in ipairs(ADDRESSES) do
      port[key] = from[key]
   end
   return port
end

--- What a plan says of the addresses of a port; the owner of the port decides the rest.
function M.addresses(port)
   return with_addresses({}, port)
end

--- A port of an agent's plan with the addresses of the controller's plan.
-- @param wanted  of addresses(), or a port that has them; nil: none
function M.addressed(port, wanted)
   return with_addresses(tables.copy(port), wanted or {})
end

--- The gateways that a port of a tester has found, by version and as text.
function M.gateways(tester, i)
   local out = {}
   for version = 4, 6, 2 do
      local mac = tester:gateway_mac(i, version)
      out["gateway" .. version] = mac and octets.mac_text(mac) or nil
   end
   return out
end

--- One of gateways(), as gateway_mac() of a tester has it.
function M.gateway_mac(gateways, version)
   local text = gateways["gateway" .. version]
   return text and octets.mac(text) or nil
end

--- Ids of a trial's streams, the same in all parts; never 0.
-- @param tester  has next_id @return the first one
function M.take_ids(tester, n)
   if n > M.MAX_IDS then
      user_error.raise("run", 2, "%d streams in one trial; agents share at most %d", n, M.MAX_IDS)
   elseif tester.next_id + n > M.MAX_IDS then
      tester.next_id = 1
   end
   local first = tester.next_id
   tester.next_id = first + n
   return first
end

return M
