-- SPDX-License-Identifier: BSD-3-Clause

--- The path MTU (RFC 6349, 3.1), found by packets that come back or do not (packetization layer path MTU
-- discovery, RFC 4821): no router has to say anything. Datagrams with DF set go there and back at the same
-- size, so that it is that of both ways. First the sizes that links usually have are tried from the largest
-- on, then what lies between the largest that passed and the smallest that did not is halved.
local common = require "framegauge.methods.rfc6349.common"
local ethernet = require "framegauge.core.ethernet"

local M = {}

M.NAME = "rfc6349.path_mtu"

local USUAL = { 9000, 4470, 1500, 1492, 1480, 1400, 1280, 1024, 576 }
local SMALLEST = { ipv4 = 576, ipv6 = 1280 }

local function answered(sides)
   return sides[1].apps[1].total.transactions > 0
end

--- Sizes that are tried first, from the largest on.
-- @param most  the MTU of the tester's own link
function M.first(most, ip)
   local list = { most }
   for _, size in ipairs(USUAL) do
      list[#list + 1] = size < most and size >= SMALLEST[ip] and size or nil
   end
   return list
end

-- Whether packets of a size come back. One that is lost is asked again: it may have met congestion.
local function passes(plan, bench, session, size)
   local o, most = common.settings(plan, { mtu = plan.rfc6349.mtu }), plan.rfc6349.probe
   o.request = size - ethernet.header_octets(o.ip, "udp")
   o.response, o.timeout = o.request, most.timeout
   for _ = 1, most.tries do
      local record = common.trial(plan, bench, session, {
         test = M.NAME, title = ("path MTU, %d octets"):format(size), phase = "search", direction = "both",
         seconds = most.timeout, drain = 0, setting = { mtu = size },
         outcome = function(record)
            return answered(record.sides) and "passes" or "does not pass"
         end,
      }, "UDP_RR", o, function() return true end)
      if answered(record.sides) then
         return true, record
      end
   end
   return false
end

--- Find it.
-- @return { mtu =, probes = how many, validity =, reasons = }; mtu is nil when nothing came back
function M.run(plan, bench, session)
   local before, ip = #session.trials, common.settings(plan, {}).ip
   local passed, failed
   local function try(size)
      if passes(plan, bench, session, size) then
         passed = size
      else
         failed = size
      end
   end
   for _, size in ipairs(M.first(plan.rfc6349.mtu, ip)) do
      if not passed then
         try(size)
      end
   end
   while passed and failed and failed - passed > 1 do
      try(math.floor((passed + failed) / 2))
   end
   return {
      mtu = passed, tested_up_to = plan.rfc6349.mtu, probes = #session.trials - before,
      validity = passed and "valid" or "invalid",
      reasons = passed and {} or { "no probe came back" },
   }
end

return M
