-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 section 4.4: by which tunnels the frames of a test go, and how long they are there.
local tables = require "framegauge.core.tables"
local tunnel = require "framegauge.traffic.tunnel"

local M = {}

--- The tests through tunnels.
M.TESTS = { "encapsulation", "decapsulation", "re_encapsulation" }

local INGRESS = { decapsulation = true, re_encapsulation = true }
local EGRESS = { encapsulation = true, re_encapsulation = true }

--- Formats of the tunnels of a test: of the source's, and of the receivers'; nil: no tunnel.
-- @param o  the plan's rfc3918
function M.of(o, key)
   return INGRESS[key] and o.tunnel.ingress or nil, EGRESS[key] and o.tunnel.egress or nil
end

--- Bytes of a frame as the source sends it, and as receivers get it.
-- @param frame_size  without tunnels
-- @param version     of IP
function M.sizes(o, key, frame_size, version)
   local ingress, egress = M.of(o, key)
   return frame_size + tunnel.overhead(ingress, version), frame_size + tunnel.overhead(egress, version)
end

--- The most groups that a plan joins, as far as it says so itself.
-- @param o  the plan's rfc3918
function M.most_groups(o)
   local most = o.groups
   if tables.contains(o.tests, "group_capacity") then
      most = math.max(most, o.capacity_max)
   end
   if tables.contains(o.tests, "group_matrix") then
      most = math.max(most, o.matrix_first, o.matrix_max or 0)
   end
   return most
end

return M
