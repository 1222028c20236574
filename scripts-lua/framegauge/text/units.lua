-- SPDX-License-Identifier: BSD-3-Clause

--- Quantities as people write and read them.
--
-- Reading goes through fg_units_parse(), so that "10Gbps" means the same everywhere. A bare number is refused
-- where it could be taken for another unit (is a time of 60 seconds or minutes?), save 0, which is the same
-- in all of them, and save sizes, which are always bytes. Values come back in base units: seconds, bits per
-- second, frames per second, bytes, 1.0 for 100 %. What cannot be read comes back as nil, what is wrong with
-- it and what was expected.
--
-- Writing gives four significant digits and a unit with its layer, for tables and messages; what machines
-- read keeps the plain numbers.
require "framegauge.core.api"
local ffi = require "ffi"

local M = {}

--- What each reader below expects, for messages.
M.expected = {
   rate = "frames (900kfps), bits with their layer (5Gbps L1, L2 or L3) or percent of the line (40%)",
   frame_rate = "frames per second, such as 900kfps",
   bits = "bits per second, such as 10Gbps",
   time = "a time with its unit, such as 60s or 20us",
   ratio = "a share with its unit, such as 0.1% or 10ppm",
   size = "a number of bytes, such as 64 or 2GiB",
   buffer = "a number of frames or bytes, such as 512 or 64KiB",
}

local unit_names = {
   [tonumber(ffi.C.FG_UNIT_NONE)] = "none",
   [tonumber(ffi.C.FG_UNIT_FPS)] = "fps",
   [tonumber(ffi.C.FG_UNIT_BPS)] = "bps",
   [tonumber(ffi.C.FG_UNIT_RATIO)] = "ratio",
   [tonumber(ffi.C.FG_UNIT_NS)] = "ns",
   [tonumber(ffi.C.FG_UNIT_BYTES)] = "bytes",
   [tonumber(ffi.C.FG_UNIT_FRAMES)] = "frames",
}

local quantity = ffi.new("struct fg_quantity")

-- Value, name of the unit and layer; nil when the text is no quantity at all.
local function read(text)
   text = tostring(text)
   -- C would stop reading at a NUL and take the rest for right
   if text:find("\0", 1, true) or ffi.C.fg_units_parse(text, quantity, nil) ~= 0 or quantity.value < 0 then
      return nil
   end
   return quantity.value, unit_names[tonumber(quantity.unit)], quantity.layer
end

local nouns = {
   rate = "a rate", frame_rate = "a frame rate", bits = "a bit rate", time = "a time", ratio = "a share",
   size = "a number of bytes", buffer = "a number of frames or bytes",
}

-- nil, what is wrong and what was expected.
local function refuse(text, kind, unit)
   local wrong = unit == "none" and "has no unit" or "is not " .. nouns[kind]
   return nil, ('"%.60s" %s'):format(text, wrong), M.expected[kind]
end

-- A reader of one unit.
local function reader(kind, unit, per_base)
   return function(text)
      local value, got, layer = read(text)
      if not value or layer ~= 0 or (got ~= unit and not (got == "none" and value == 0)) then
         return refuse(text, kind, got)
      end
      return value / per_base
   end
end

--- Read a time. @return seconds
-- @usage units.parse_time "1.5ms" --> 0.0015
M.parse_time = reader("time", "ns", 1e9)

--- Read a bit rate whose layer is known from its place. @return bits per second
-- @usage units.parse_bits "10Gbps" --> 10,000,000,000
M.parse_bits = reader("bits", "bps", 1)

--- Read a frame rate. @return frames per second
-- @usage units.parse_frame_rate "900kfps" --> 900,000
M.parse_frame_rate = reader("frame_rate", "fps", 1)

--- Read a share of a whole. @return 1.0 for 100 %
-- @usage units.parse_ratio "0.1%" --> 0.001
M.parse_ratio = reader("ratio", "ratio", 1)

--- Read a number of bytes. @return a whole number
-- @usage units.parse_size "2KiB" --> 2048
function M.parse_size(text)
   local value, unit = read(text)
   if value and (unit == "bytes" or unit == "none") and value % 1 == 0 then
      return value
   end
   return refuse(text, "size")
end

--- Read the depth of a buffer. @return { value =, unit = "frames" or "bytes" }
-- @usage units.parse_buffer("64KiB").unit --> bytes
function M.parse_buffer(text)
   local value, unit = read(text)
   if unit == "none" then
      unit = "frames"
   end
   if value and (unit == "frames" or unit == "bytes") and value % 1 == 0 then
      return { value = value, unit = unit }
   end
   return refuse(text, "buffer")
end

--- Read a load: frames per second, bits per second with their layer, or a share of the line.
-- @return { unit = "fps", "bps" or "ratio", value =, layer = 1, 2, 3 or nil, text = as it was written }
-- @usage units.parse_rate("5Gbps L1").layer --> 1
-- @usage units.parse_rate("40%").value --> 0.4
function M.parse_rate(text)
   local value, unit, layer = read(text)
   if unit == "none" and value == 0 then
      unit = "ratio"
   end
   if unit == "bps" and layer == 0 then
      return nil, ('"%.60s" does not say its layer'):format(text), M.expected.rate
   end
   if unit == "bps" or unit == "fps" or unit == "ratio" then
      return { unit = unit, value = value, layer = layer ~= 0 and layer or nil, text = tostring(text) }
   end
   return refuse(text, "rate", unit)
end

-- Four significant digits, or others, with the largest prefix that leaves at least 1; prefixes = { {scale,
-- "text"}, ... } upwards.
local function with_prefix(value, prefixes, significant)
   local digits, text
   for i = 1, #prefixes do
      digits = ("%%.%dg"):format(significant or 4):format(value / prefixes[i][1])
      text = digits .. " " .. prefixes[i][2]
      if math.abs(tonumber(digits)) < 1000 then
         break
      end
   end
   return text
end

local frame_prefixes = { { 1, "fps" }, { 1e3, "kfps" }, { 1e6, "Mfps" }, { 1e9, "Gfps" } }
local bit_prefixes = {
   { 1, "bit/s" }, { 1e3, "kbit/s" }, { 1e6, "Mbit/s" }, { 1e9, "Gbit/s" }, { 1e12, "Tbit/s" },
}
local time_prefixes = { { 1e-9, "ns" }, { 1e-6, "us" }, { 1e-3, "ms" } }
local size_prefixes = { { 1, "B" }, { 1e3, "kB" }, { 1e6, "MB" }, { 1e9, "GB" }, { 1e12, "TB" } }

--- "1.488 Mfps"
-- @usage units.format_frame_rate(1488095) --> 1.488 Mfps
function M.format_frame_rate(fps)
   return with_prefix(fps, frame_prefixes)
end

--- "987.6 Mbit/s L2"
-- @param layer  1, 2 or 3; nil when the place says it
-- @usage units.format_bits(987.6e6, 2) --> 987.6 Mbit/s L2
function M.format_bits(bps, layer)
   return with_prefix(bps, bit_prefixes) .. (layer and " L" .. layer or "")
end

--- Two bit rates with as many digits as it takes to see that they differ.
-- @usage units.format_bits_apart(1000000512, 1e9) --> 1.000001 Gbit/s 1 Gbit/s
function M.format_bits_apart(one, other)
   for significant = 4, 15 do
      local a, b = with_prefix(one, bit_prefixes, significant), with_prefix(other, bit_prefixes, significant)
      if a ~= b or significant == 15 then
         return a, b
      end
   end
end

--- "20 us", "1.5 s", "3 min 20 s", "2 h 5 min"
-- @usage units.format_time(20e-6) --> 20 us
function M.format_time(seconds)
   if math.abs(seconds) < 0.99995 then
      return seconds == 0 and "0 s" or with_prefix(seconds, time_prefixes)
   elseif math.abs(seconds) < 120 then
      return ("%.4g s"):format(seconds)
   end
   local minutes = math.floor((seconds + 0.5) / 60)
   if minutes < 120 then
      return ("%d min %d s"):format(minutes, math.floor(seconds + 0.5) % 60)
   end
   return ("%d h %d min"):format(math.floor(minutes / 60), minutes % 60)
end

--- "73.44 %"
-- @usage units.format_ratio(0.7344) --> 73.44 %
function M.format_ratio(ratio)
   return ("%.4g %%"):format(ratio * 100)
end

--- "1.518 kB"
-- @usage units.format_size(1518) --> 1.518 kB
function M.format_size(bytes)
   return with_prefix(bytes, size_prefixes)
end

--- "1,488,095"
-- @usage units.format_count(1488095) --> 1,488,095
function M.format_count(n)
   local text = ("%.0f"):format(n)
   local more = 1
   while more > 0 do
      text, more = text:gsub("^(-?%d+)(%d%d%d)", "%1,%2")
   end
   return text
end

--- A load as parse_rate() gives it, for people.
-- @usage units.format_rate(units.parse_rate "40%") --> 40 %
function M.format_rate(rate)
   if rate.unit == "ratio" then
      return M.format_ratio(rate.value)
   elseif rate.unit == "fps" then
      return M.format_frame_rate(rate.value)
   end
   return M.format_bits(rate.value, rate.layer)
end

return M
