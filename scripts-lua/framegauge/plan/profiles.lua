-- SPDX-License-Identifier: BSD-3-Clause

--- Bandwidth profiles of the reference device: their keys, and what must hold within them. A profile that is
-- wrong for a service is no error: a test must find a device that is set up wrongly.
local keys = require "framegauge.plan.keys"
local units = require "framegauge.text.units"

local M = {}

local function code_points(key, most, help)
   return { key, "list", help,
      unique = true, default_help = "any", of = { type = "integer", min = "0", max = most } }
end

local profile_row = keys.group(nil, nil, {
   { "vlan", "integer", "frames with this VLAN as the outermost tag",
     min = "1", max = "4094", default_help = "any" },
   { "inner_vlan", "integer", "and this VLAN in the second tag",
     min = "1", max = "4094", default_help = "any" },
   code_points("pcp", "7", "and one of these priorities in the outermost tag"),
   code_points("dscp", "63", "and one of these DSCPs in the IP header"),
   { "cir", "bits", "committed information rate: bits of frames with FCS",
     default = "0bps", max = "800Gbps" },
   { "cbs", "size", "committed burst size", default = "0", max = "1GiB" },
   { "eir", "bits", "excess information rate; with rfc2698 the peak rate",
     default = "0bps", max = "800Gbps" },
   { "ebs", "size", "excess burst size; with rfc2698 of the peak bucket", default = "0", max = "1GiB" },
   { "algorithm", { "mef", "rfc2698" }, "mef: MEF 10, without coupling the same as RFC 4115; rfc2698: two rate three color marker",
     default = "mef" },
   { "colour", { "blind", "aware" }, "whether the colour a frame comes with counts", default = "blind" },
   { "coupling", "boolean", "mef: whether what overflows the committed bucket goes to the excess bucket",
     default = "false" },
   { "marking", { "none", "dscp", "pcp", "dei" }, "the mark of frames that arrive as yellow",
     default = "none" },
   { "yellow", "list", "DSCPs or PCPs that are yellow",
     unique = true, of = { type = "integer", min = "0", max = "63" },
     default_help = "dscp: AFx2 and AFx3 (RFC 2597); pcp: 4, 2 and 0 (IEEE 802.1Q, 5P3D)" },
   { "mark_green", "integer", "DSCP, PCP or DEI, whichever is the marking, that green frames leave with",
     min = "0", max = "63", default_help = "none: as it came" },
   { "mark_yellow", "integer", "DSCP, PCP or DEI that yellow frames leave with",
     min = "0", max = "63", default_help = "none: as it came" },
   { "shaping", "time", "a wrong profile: frames wait for tokens, at most for this time, instead of being dropped",
     default = "0s", max = "10s" },
})

M.row = { "profiles", "map", "bandwidth profiles it polices by; a frame belongs to the first that matches, and passes where none does",
   of = profile_row, name = "name", optional = true, names = keys.NAMES,
   expected = "profiles by name, such as voice: {vlan: 10, cir: 2Mbps, cbs: 16KiB}", default_help = "none" }

local HIGHEST = { dscp = 63, pcp = 7, dei = 1 }

local function check_marks(profile, key, found)
   for _, mark in ipairs { "mark_green", "mark_yellow" } do
      local value, most = profile[mark], HIGHEST[profile.marking]
      if value and not most then
         found:add(key .. "." .. mark, "it has no meaning by itself", "marking: dscp, pcp or dei, too")
      elseif value and value > most then
         found:add(key .. "." .. mark, ("there is no %s %d"):format(profile.marking:upper(), value),
            "0 to " .. most)
      elseif value and profile.shaping > 0 then
         found:add(key .. "." .. mark, "a shaper has no colours", "no shaping, or no mark")
      end
   end
end

local function check(profile, key, found)
   if profile.shaping > 0 and profile.cir + profile.eir == 0 then
      found:add(key .. ".shaping", "nothing leaves a shaper of rate 0", "a cir or eir in addition")
   end
   if profile.algorithm == "rfc2698" and profile.eir < profile.cir then
      found:add(key .. ".eir", ("the peak rate (%s) is below cir (%s)"):format(units.format_bits(profile.eir),
         units.format_bits(profile.cir)), "at least cir")
   end
   if profile.yellow and profile.marking ~= "dscp" and profile.marking ~= "pcp" then
      found:add(key .. ".yellow", ("no code point says so with marking: %s"):format(profile.marking),
         "marking: dscp or marking: pcp")
   end
   for i, code in ipairs(profile.yellow or {}) do
      if profile.marking == "pcp" and code > HIGHEST.pcp then
         found:add(found:item(key .. ".yellow", i), ("there is no PCP %d"):format(code), "0 to 7")
      end
   end
end

local function profiles_are_whole(values, found)
   local device = values.reference_device
   for _, way in ipairs { { device, "" }, { device.reverse or {}, ".reverse" } } do
      for _, profile in ipairs(way[1].profiles or {}) do
         local key = ("reference_device%s.profiles.%s"):format(way[2], profile.name)
         check(profile, key, found)
         check_marks(profile, key, found)
      end
   end
end

M.rules = { profiles_are_whole }

return M
