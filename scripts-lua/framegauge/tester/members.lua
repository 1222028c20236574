-- SPDX-License-Identifier: BSD-3-Clause

--- Ports that are members of multicast groups in a trial: the engine's configuration (struct fg_member), and
-- its results.
--
-- A membership: { port = its name, version = "igmpv2" | "igmpv3" | "mldv1" | "mldv2", group = octets, source
-- = octets or nil, join = and leave = seconds from the start of traffic, or nil: it says nothing, reports =
-- how often it says each (1), again = seconds from one to the next }
local api = require "framegauge.core.api"
local ffi = require "ffi"
local tables = require "framegauge.core.tables"

local C = api.C
local M = {}

local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS, and a report that was not sent

local VERSIONS = {
   igmpv2 = C.FG_IGMPV2, igmpv3 = C.FG_IGMPV3, mldv1 = C.FG_MLDV1, mldv2 = C.FG_MLDV2,
}

local function nanoseconds(seconds)
   return seconds and api.nanoseconds(seconds) or ENDLESS
end

--- The engine's array of memberships.
-- @return the array, to be kept until the trial has been prepared, and how many
function M.list(tester, wanted)
   local array = ffi.new("struct fg_member[?]", math.max(1, #wanted))
   for i, one in ipairs(wanted) do
      local out = array[i - 1]
      out.port, out.version = tables.index_of(tester.ports, one.port) - 1, VERSIONS[one.version]
      ffi.copy(out.group.group, one.group, #one.group)
      if one.source then
         out.group.has_source = true
         ffi.copy(out.group.source, one.source, #one.source)
      end
      out.join_ns, out.leave_ns = nanoseconds(one.join), nanoseconds(one.leave)
      out.reports, out.again_ns = one.reports or 1, nanoseconds(one.again or 0)
   end
   return array, #wanted
end

local function said(ns)
   return ns ~= ENDLESS and tonumber(ns) or nil
end

--- Their results.
-- @return { queries =, answers =, ports = list of { port =, joined_ns =, left_ns = of its first membership }
-- }
function M.results(engine, wanted)
   local out, seen, one = { queries = 0, answers = 0, ports = {} }, {}, ffi.new("struct fg_member_result")
   for i, member in ipairs(wanted) do
      if not seen[member.port] then
         C.fg_engine_member_result(engine, i - 1, one)
         seen[member.port] = true
         out.queries, out.answers = out.queries + tonumber(one.queries), out.answers + tonumber(one.answers)
         out.ports[#out.ports + 1] = {
            port = member.port, joined_ns = said(one.joined_ns), left_ns = said(one.left_ns),
         }
      end
   end
   return out
end

return M
