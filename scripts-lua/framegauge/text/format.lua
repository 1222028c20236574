-- SPDX-License-Identifier: BSD-3-Clause

--- Numbers as a person reads them, beyond what framegauge.text.units has.
local units = require "framegauge.text.units"

local M = {}

--- Whole number with its thousands separated. Rounds down: a figure is never made better than it is.
function M.count(value)
   return units.format_count(math.floor(value))
end

--- Number with thousands separated, and its decimals.
function M.decimal(value, decimals)
   local scale = 10 ^ decimals
   if value <= -0.5 / scale then -- digits are taken apart, so the sign goes first
      return "-" .. M.decimal(-value, decimals)
   end
   local whole = math.floor(value * scale + 0.5)
   local text = M.count(whole / scale)
   if decimals == 0 then
      return text
   end
   return string.format("%s.%0" .. decimals .. ".0f", text, whole % scale)
end

--- A number above 0 with three significant digits and no exponent, rounded down like count().
-- @usage format.small(0.00056789) --> 0.000567
function M.small(value)
   local decimals = math.max(0, 2 - math.floor(math.log10(value)))
   local scale = 10 ^ decimals
   local text = ("%%.%df"):format(decimals):format(math.floor(value * scale + 1e-6) / scale)
   return (text:find(".", 1, true) and text:gsub("0+$", ""):gsub("%.$", "") or text)
end

--- Frames in a second: whole, but with three digits where there are few.
-- @usage format.frame_rate(1488095.9) --> 1,488,095
-- @usage format.frame_rate(0.5) --> 0.5
function M.frame_rate(value)
   return value > 0 and value < 10 and M.small(value) or M.count(value)
end

--- How many in a second: whole, but with two decimals where there are few.
function M.rate(value)
   return value < 10 and value % 1 ~= 0 and M.decimal(value, 2) or M.count(math.floor(value + 0.5))
end

--- A figure that the tester kept from being higher: what is shown must not look exact.
-- @param row   of a result
-- @param text  its figure
-- @usage format.at_least({ validity = "tester-limited" }, "63") --> at least 63
function M.at_least(row, text)
   return row.validity == "tester-limited" and "at least " .. text or text
end

--- "1 frame", "2 frames", "1,234 frames".
function M.plural(value, noun)
   return M.count(value) .. " " .. noun .. (value == 1 and "" or "s")
end

--- Nanoseconds with the unit that suits: "20.67 us".
function M.nanoseconds(ns)
   return units.format_time(ns / 1e9)
end

--- Seconds as a clock shows them: "0:07", "12:34", "1:02:03".
function M.clock(seconds)
   local s = math.floor(seconds + 0.5)
   if s >= 3600 then
      return string.format("%d:%02d:%02d", math.floor(s / 3600), math.floor(s / 60) % 60, s % 60)
   end
   return string.format("%d:%02d", math.floor(s / 60), s % 60)
end

local DAYS_BEFORE = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 }

--- Seconds since 1970 of "2026-11-20T12:34:56Z"; nil of anything else.
function M.epoch(date)
   local y, mo, d, h, mi, s = date:match "^(%d+)%-(%d+)%-(%d+)T(%d+):(%d+):(%d+)Z$"
   if not y then
      return nil
   end
   local before = tonumber(y) - (tonumber(mo) < 3 and 1 or 0) -- the last year whose February is over
   local leaps = math.floor(before / 4) - math.floor(before / 100) + math.floor(before / 400) - 477
   local days = (y - 1970) * 365 + leaps + (DAYS_BEFORE[tonumber(mo)] or 0) + d - 1
   return ((days * 24 + h) * 60 + mi) * 60 + s
end

return M
