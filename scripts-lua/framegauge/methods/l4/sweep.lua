-- SPDX-License-Identifier: BSD-3-Clause

--- Campaigns: the cases of a plan. A case is a test with its own settings (framegauge.methods.l4.test).
local ethernet = require "framegauge.core.ethernet"
local kinds = require "framegauge.methods.l4.plan.kinds"
local settings = require "framegauge.methods.l4.settings"
local tables = require "framegauge.core.tables"
local transports = require "framegauge.methods.l4.plan.transports"
local units = require "framegauge.text.units"

local M = {}

local NAMES = { ipv4 = "IPv4", ipv6 = "IPv6" }
local IPV6_MIN_MTU = 1280
local MAC_AND_FCS = 18

-- The payload that fits into one packet.
local function datagram(mtu, ip)
   return mtu - ethernet.header_octets(ip, "udp")
end

local of = {}

function of.battery(plan)
   return tables.map(plan.l4.tests, function(test) return { test = test } end)
end

for _, other in ipairs { "balance", "connection-rate", "transaction-rate", "concurrency" } do
   of[other] = of.battery
end

of.transports = transports.cases

of["mtu-sweep"] = function(plan)
   local list = {}
   for _, test in ipairs(plan.l4.tests) do
      for _, ip in ipairs(settings.versions(plan)) do
         for _, mtu in ipairs(plan.l4.sweep.mtu) do
            local most = datagram(mtu, ip)
            list[#list + 1] = (ip == "ipv4" or mtu >= IPV6_MIN_MTU) and {
               test = test, name = ("%s, MTU %d"):format(NAMES[ip], mtu), legacy = kinds.of(test).receiver,
               set = { ip = ip, mtu = mtu, datagram = most, ping = { size = most } },
            } or nil
         end
      end
   end
   return list
end

local function kibibytes(octets)
   return ("%g KiB"):format(octets / 1024)
end

-- Goodput against the buffers of both ends. UDP has no buffers of its own: there only the messages vary.
of["buffer-sweep"] = function(plan)
   local list, ip = {}, settings.versions(plan)[1]
   local function tcp(test, message)
      for _, buffer in ipairs(plan.l4.sweep.buffer) do
         list[#list + 1] = {
            test = test, name = ("buffers of %s, messages of %d bytes"):format(kibibytes(buffer), message),
            window = buffer,
            set = { message = message, tcp = { receive_buffer = buffer, send_buffer = buffer } },
         }
      end
   end
   for _, test in ipairs(plan.l4.tests) do
      local seen = {}
      for _, message in ipairs(plan.l4.sweep.message) do
         local fits = math.min(message, datagram(plan.l4.mtu, ip))
         if not kinds.of(test).udp then
            tcp(test, message)
         elseif not seen[fits] then
            seen[fits] = true
            list[#list + 1] = {
               test = test, name = ("messages of %d bytes"):format(fits), set = { datagram = fits },
            }
         end
      end
   end
   return list
end

-- UDP below and above the limit of a device.
function of.policer(plan)
   local list, o, ip = {}, plan.l4, settings.versions(plan)[1]
   local frame = o.datagram + ethernet.header_octets(ip, "udp") + MAC_AND_FCS
   for i, rate in ipairs(o.sweep.rate) do
      local passes = math.min(rate, o.sweep.limit or rate)
      list[i] = {
         test = "UDP_STREAM", name = units.format_bits(rate) .. " offered",
         theoretical = passes * o.datagram / frame, set = { datagram_rate = rate / (8 * frame) },
      }
   end
   return list
end

function of.clients(plan)
   local list = {}
   for _, test in ipairs(plan.l4.tests) do
      for _, clients in ipairs(plan.l4.sweep.clients) do
         list[#list + 1] = {
            test = test, name = clients == 1 and "1 client" or ("%d clients"):format(clients),
            set = { connections = clients },
         }
      end
   end
   return list
end

--- The cases of a plan, in order.
function M.cases(plan)
   return of[plan.l4.campaign](plan)
end

return M
