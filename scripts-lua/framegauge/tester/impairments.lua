-- SPDX-License-Identifier: BSD-3-Clause

--- The impairments of a path, from a plan (framegauge.plan.paths) to the structures of lib/path.
local api = require "framegauge.core.api"
local bit = require "bit"
local ffi = require "ffi"
local firewall = require "framegauge.plan.firewall"
local nat = require "framegauge.plan.nat"
local paths = require "framegauge.plan.paths"

local M = {}

-- A value of the plan in the unit of its member in C.
local CONVERT = {
   time = function(seconds) return seconds * 1e9 end,
   enum = function(value, row)
      for i, name in ipairs(row.values) do
         if name == value then
            return i - 1
         end
      end
   end,
}

local function set(out, row, value)
   local convert = CONVERT[row.type]
   local group, member = row.into:match "^([%w_]+)%.([%w_]+)$"
   if group then
      out = out[group]
   end
   out[member or row.into] = convert and convert(value, row) or value
end

local function fill(out, fields, values)
   for _, row in ipairs(fields) do
      local value = values[row.key]
      if value ~= nil and row.fields then
         fill(out, row.fields, value)
      elseif value ~= nil and row.into then
         set(out, row, value)
      end
   end
end

local function set_pattern(out, pattern)
   out.loss_pattern_length = #pattern
   for i = 1, #pattern do
      if pattern:sub(i, i) == "x" then
         out.loss_pattern = bit.bor(out.loss_pattern, bit.lshift(1ULL, i - 1))
      end
   end
end

--- Fill in a struct fg_impair_config that is all zero.
-- @param way  the keys of one direction
function M.fill(out, way)
   fill(out, paths.rows, way)
   set_pattern(out, way.loss_pattern or "")
   if way.jitter and not way.jitter.deviation then
      out.jitter_deviation_ns = out.jitter_mean_ns / 4
   end
end

--- Fill in a struct fg_firewall_config that is all zero.
-- @param values  the group firewall of a plan
function M.fill_firewall(out, values)
   fill(out, firewall.row.fields, values)
   out.resets = values.full == "reset"
end

--- Fill in a struct fg_nat_config that is all zero.
-- @param values  the group nat of a plan
function M.fill_nat(out, values)
   fill(out, nat.row.fields, values)
   out.replaces = values.full == "replace"
end

--- How many of n frames such a path loses: exactly where it is predictable, else on average.
function M.lost(way, frames)
   local lost = (way.loss_random or 0) * frames
   if (way.loss_every or 0) > 0 then
      lost = lost + math.floor(frames / way.loss_every) * (way.loss_run or 1)
   end
   if way.loss_pattern then
      local _, of_each = way.loss_pattern:gsub("x", "")
      lost = lost + frames * of_each / #way.loss_pattern
   end
   local bursts = way.loss_bursts
   if bursts then
      local sum = bursts.begin + bursts["end"]
      local bad = sum > 0 and bursts.begin / sum or 0
      lost = lost + frames * (bad * bursts.loss + (1 - bad) * bursts.between)
   end
   return math.min(frames, math.floor(lost + 0.5))
end

-- Bandwidth profiles of a plan's reference device, as the virtual wire takes them.

local C = api.C

-- Which code points are yellow when the plan does not say: drop precedence 2 and 3 (RFC 2597), and the
-- priorities that are drop eligible in IEEE 802.1Q's 5P3D.
local YELLOW = { dscp = { 12, 14, 20, 22, 28, 30, 36, 38 }, pcp = { 4, 2, 0 } }

local MARKS = { none = C.FG_MARK_NONE, dscp = C.FG_MARK_DSCP, pcp = C.FG_MARK_PCP, dei = C.FG_MARK_DEI }

local ALGORITHMS = { mef = C.FG_METER_MEF, rfc2698 = C.FG_METER_RFC2698 }

-- A set of small numbers as bits.
local function set_of(list)
   local bits = 0ULL
   for _, number in ipairs(list or {}) do
      bits = bit.bor(bits, bit.lshift(1ULL, number))
   end
   return bits
end

local function whole(value)
   return math.floor(value + 0.5)
end

local function fill_profile(out, profile)
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
function M.set_profiles(wire, side, profiles)
   local n, err = #(profiles or {}), api.error()
   local list = ffi.new("struct fg_device_profile[?]", n)
   for i = 1, n do
      fill_profile(list[i - 1], profiles[i])
   end
   api.check(C.fg_device_set_profiles(wire, side, list, n, err), err)
end

return M
