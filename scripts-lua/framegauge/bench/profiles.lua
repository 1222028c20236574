-- SPDX-License-Identifier: BSD-3-Clause

--- Bandwidth profiles of a plan's reference device, as the virtual wire takes them.
local api = require "framegauge.api"
local bit = require "bit"
local ffi = require "ffi"

local C = api.C
local M = {}

-- Which code points are yellow when the plan does not say: drop precedence 2 and 3 (RFC 2597), and the
-- priorities that are drop eligible in IEEE 802.1Q's 5P3D.
local YELLOW = { dscp = { 12, 14, 20, 22, 28, 30, 36, 38 }, pcp = { 4, 2, 0 } }

local MARKS = { none = C.FG_MARK_NONE, dscp = C.FG_MARK_DSCP, pcp = C.FG_MARK_PCP, dei = C.FG_MARK_DEI }

local ALGORITHMS = { mef = C.FG_METER_MEF, rfc2698 = C.FG_METER_RFC2698 }

-- A set of small numbers as bits.
local function set_of(list)
   local set = 0ULL
   for _, number in ipairs(list or {}) do
      set = bit.bor(set, bit.lshift(1ULL, number))
   end
   return set
end

local function whole(value)
   return math.floor(value + 0.5)
end

local function fill(out, profile)
   local yellow = profile.yellow or YELLOW[profile.marking]
   out.class_ = {
      vlan = profile.vlan or 0, inner = profile.inner_vlan or 0, pcps = tonumber(set_of(profile.pcp)),
      dscps = set_of(profile.dscp),
   }
   out.colouring = {
      dscps = profile.marking == "dscp" and set_of(yellow) or 0,
      pcps = profile.marking == "pcp" and tonumber(set_of(yellow)) or 0,
      dei = profile.marking == "dei",
   }
   out.meter = {
      kind = ALGORITHMS[profile.algorithm], aware = profile.colour == "aware", coupling = profile.coupling,
      cir_bps = whole(profile.cir), eir_bps = whole(profile.eir), cbs = profile.cbs, ebs = profile.ebs,
   }
   local marks = profile.mark_green or profile.mark_yellow
   out.marking = {
      kind = marks and MARKS[profile.marking] or MARKS.none, green = profile.mark_green or -1,
      yellow = profile.mark_yellow or -1,
   }
   out.shaping_ns = profile.shaping * 1e9
end

--- Give a wire its profiles.
-- @param side      0 or 1: of the frames that enter there
-- @param profiles  of the plan, or nil
function M.set(wire, side, profiles)
   local n, err = #(profiles or {}), api.error()
   local list = ffi.new("struct fg_device_profile[?]", n)
   for i = 1, n do
      fill(list[i - 1], profiles[i])
   end
   api.check(C.fg_wire_set_profiles(wire, side, list, n, err), err)
end

return M
