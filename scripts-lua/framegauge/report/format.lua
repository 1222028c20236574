-- SPDX-License-Identifier: BSD-3-Clause

--- Numbers as a person reads them.
local M = {}

--- Whole number with thousands separated: 1488095 -> "1,488,095". Rounds down: a figure is never made better.
function M.count(value)
   local digits = string.format("%.0f", math.floor(value))
   local sign, rest = digits:match "^(%-?)(%d+)$"
   rest = rest:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
   return sign .. rest
end

--- Number with thousands separated and so many decimals.
function M.decimal(value, decimals)
   local scale = 10 ^ decimals
   local whole = math.floor(value * scale + 0.5)
   local text = M.count(math.floor(whole / scale))
   if decimals == 0 then
      return text
   end
   return string.format("%s.%0" .. decimals .. ".0f", text, whole % scale)
end

--- "1 frame", "2 frames", "1,234 frames".
function M.plural(value, noun)
   return M.count(value) .. " " .. noun .. (value == 1 and "" or "s")
end

local TIMES = { { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } }

--- Nanoseconds with the unit that suits: "20.67 us".
function M.nanoseconds(ns)
   for _, time in ipairs(TIMES) do
      if math.abs(ns) >= time[1] then
         return string.format("%.4g %s", ns / time[1], time[2])
      end
   end
   return string.format("%.4g ns", ns)
end

--- Seconds as a clock shows them: "0:07", "12:34", "1:02:03".
function M.clock(seconds)
   local s = math.floor(seconds + 0.5)
   if s >= 3600 then
      return string.format("%d:%02d:%02d", math.floor(s / 3600), math.floor(s / 60) % 60, s % 60)
   end
   return string.format("%d:%02d", math.floor(s / 60), s % 60)
end

return M
