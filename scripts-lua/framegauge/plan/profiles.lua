-- SPDX-License-Identifier: BSD-3-Clause

--- Bandwidth profiles of the reference device: their keys, and what must hold within them. That a profile is
-- wrong for a service is no error: a device that is set up wrongly is what a test must find.
local units = require "framegauge.text.units"

local M = {}

local function code_points(key, most, help)
   return {
      key = key, type = "list", unique = true, default_help = "any",
      of = { type = "integer", min = "0", max = most }, help = help,
   }
end

local profile_row = {
   type = "group",
   fields = {
      { key = "vlan", type = "integer", min = "1", max = "4094", default_help = "any",
        help = "frames with this VLAN as the outermost tag" },
      { key = "inner_vlan", type = "integer", min = "1", max = "4094", default_help = "any",
        help = "and this one in the tag behind it" },
      code_points("pcp", "7", "and one of these priorities in the outermost tag"),
      code_points("dscp", "63", "and one of these DSCPs in the IP header"),
      { key = "cir", type = "bits", default = "0bps", max = "800Gbps",
        help = "committed information rate: bits of frames with FCS" },
      { key = "cbs", type = "size", default = "0", max = "1GiB", help = "committed burst size" },
      { key = "eir", type = "bits", default = "0bps", max = "800Gbps",
        help = "excess information rate; with rfc2698 the peak rate" },
      { key = "ebs", type = "size", default = "0", max = "1GiB",
        help = "excess burst size; with rfc2698 of the peak bucket" },
      { key = "algorithm", type = "enum", values = { "mef", "rfc2698" }, default = "mef",
        help = "mef: MEF 10, without coupling the same as RFC 4115; rfc2698: two rate three color marker" },
      { key = "colour", type = "enum", values = { "blind", "aware" }, default = "blind",
        help = "whether the colour a frame comes with counts" },
      { key = "coupling", type = "boolean", default = "false",
        help = "mef: whether what overflows the committed bucket goes to the excess bucket" },
      { key = "marking", type = "enum", values = { "none", "dscp", "pcp", "dei" }, default = "none",
        help = "what says that a frame comes as yellow" },
      { key = "yellow", type = "list", unique = true,
        of = { type = "integer", min = "0", max = "63" },
        default_help = "dscp: AFx2 and AFx3 (RFC 2597); pcp: 4, 2 and 0 (IEEE 802.1Q, 5P3D)",
        help = "DSCPs or PCPs that are yellow" },
      { key = "mark_green", type = "integer", min = "0", max = "63", default_help = "none: as it came",
        help = "DSCP, PCP or DEI, whichever is the marking, that green frames leave with" },
      { key = "mark_yellow", type = "integer", min = "0", max = "63", default_help = "none: as it came",
        help = "DSCP, PCP or DEI that yellow frames leave with" },
      { key = "shaping", type = "time", default = "0s", max = "10s",
        help = "a wrong profile: frames wait for tokens, so long at most, instead of being dropped" },
   },
}

M.row = {
   key = "profiles", type = "map", of = profile_row, name = "name", optional = true,
   names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
   expected = "profiles by name, such as voice: {vlan: 10, cir: 2Mbps, cbs: 16KiB}",
   default_help = "none",
   help = "bandwidth profiles it polices by; a frame belongs to the first that matches, and passes where none does",
}

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
