-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold within the bandwidth profiles of the reference device. That a profile is wrong for a
-- service is no error: a device that is set up wrongly is what a test must find.
local units = require "framegauge.units"

local M = {}

local HIGHEST = { dscp = 63, pcp = 7, dei = 1 }

local function check_marks(profile, key, found)
   for _, mark in ipairs { "mark_green", "mark_yellow" } do
      local value, most = profile[mark], HIGHEST[profile.marking]
      if value and not most then
         found:add(key .. "." .. mark, "nothing says what it is", "marking: dscp, pcp or dei beside it")
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
      found:add(key .. ".shaping", "nothing leaves a shaper of rate 0", "a cir or eir beside it")
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
