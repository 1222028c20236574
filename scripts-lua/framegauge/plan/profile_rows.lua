-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a bandwidth profile of the reference device, in the notation of plan/rows.lua.
local function code_points(key, most, help)
   return {
      key = key, type = "list", unique = true, default_help = "any",
      of = { type = "integer", min = "0", max = most }, help = help,
   }
end

local profile = {
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
        help = "the same of yellow frames" },
      { key = "shaping", type = "time", default = "0s", max = "10s",
        help = "a wrong profile: frames wait for tokens, so long at most, instead of being dropped" },
   },
}

return {
   key = "profiles", type = "map", of = profile, name = "name", optional = true,
   names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
   expected = "profiles by name, such as voice: {vlan: 10, cir: 2Mbps, cbs: 16KiB}",
   default_help = "none",
   help = "bandwidth profiles it polices by; a frame belongs to the first that matches, and passes where "
      .. "none does",
}
