-- SPDX-License-Identifier: BSD-3-Clause

--- The gateways of a tester's ports: their MAC addresses, which the engine resolves.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

local TRY_NS, TRIES = 500000000, 6

--- MAC of a port's gateway for an IP version, six octets: the plan's, else the gateway's reply; nil without
-- a reply.
function M.mac(tester, i, version)
   local port = tester.plan.ports[i]
   if port.gateway_mac then
      return port["gateway" .. version] and octets.mac(port.gateway_mac) or nil
   end
   local mac = ffi.new("uint8_t[6]")
   return C.fg_engine_gateway(tester.engine, i - 1, version, mac) and ffi.string(mac, 6) or nil
end

-- The first gateway that has not replied, as a sentence.
local function silent(tester)
   for i, port in ipairs(tester.plan.ports) do
      for version = 4, 6, 2 do
         local address = port["gateway" .. version]
         if address and not M.mac(tester, i, version) then
            return ("ports.%s.%s: %s does not answer on %s"):format(port.name,
               version == 4 and "gateway" or "gateway6", address, port.device)
         end
      end
   end
end

--- Resolve the MACs of all gateways; raises when a gateway does not reply. The wait ends with the last reply,
-- except where time runs free: there the trial runs to its set end, which costs no real time.
function M.resolve(tester)
   local answered = tester.time ~= C.FG_TIME_WIRE_FREE and function()
      return not silent(tester)
   end
   for _ = 1, TRIES do
      tester:start(ffi.new("struct fg_trial_config", { drain_ns = TRY_NS }))
      tester:await(answered)
      if not silent(tester) then
         return
      end
   end
   user_error.raise("run", 4, "%s", silent(tester))
end

return M
