-- SPDX-License-Identifier: BSD-3-Clause

--- The types a single value of a plan can have.
--
-- Each type: `read(text, row)` gives the canonical value, or nil, what is wrong and, if more precise than the
-- row, what was expected; `expected(row)` gives the expected values; `order(value)` gives the number that min
-- and max compare, where there is one.
local address = require "framegauge.plan.address"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local mixes = require "framegauge.core.mixes"
local payload = require "framegauge.traffic.payload"
local problems = require "framegauge.plan.problems"
local units = require "framegauge.text.units"

local M = {}

-- The names of devices, as a plan writes them.
--
-- Only the form is checked, by the library that will open them, so that a plan can be checked on any machine;
-- whether the device exists shows when its port is opened.
local DEVICES = "wireN, kernel:IF, memif:PATH, pcap:FILE, a PCI address or vdev:STRING"

-- The length that an open port keeps (struct fg_port).
local LONGEST_DEVICE = 95

-- The port of an agent is opened there; here only its address counts.
local function agent_device(text)
   local expected = "agent:NAME/PORT, agent:ADDRESS:PORT or agent:/PATH of its socket"
   if text:find "^agent:%w[%w_-]*/%w[%w_-]*$" then
      return { name = text, id = text, kind = "fleet", physical = false }
   end
   if not address.of_service(text:sub(#"agent:" + 1)) then
      return nil, ("%q is not the address of an agent"):format(text), expected
   end
   return { name = text, id = text, kind = "agent", physical = false }
end

local physical = ffi.new("bool[1]")

-- The identity of a device, without a kernel interface's mode, and whatever the form of a PCI address.
local function identity(kind, text)
   if kind == "kernel" then
      return text:match("^[^,]*")
   elseif kind == "pci" then
      return (text:find(":.*:") and text or "0000:" .. text):lower()
   end
   return text
end

-- Read the name of a device.
-- @return { name = as it was written, id = what tells it from others, kind = "wire", "kernel", "memif",
-- "pcap", "pci" or "vdev", physical = whether it may reach a network }; or nil, what is wrong and what was
-- expected
local function parse_device(text)
   local err = api.error()
   if #text > LONGEST_DEVICE then
      return nil, ("longer than %d characters"):format(LONGEST_DEVICE), DEVICES
   elseif text:find "^agent:" then
      return agent_device(text)
   elseif api.C.fg_port_check_name(text, physical, err) ~= 0 then
      local wrong, expected = ffi.string(err.message):match("^(.-); expected (.*)$")
      return nil, wrong or ffi.string(err.message), expected
   end
   local kind = text:match("^(wire)%d+$") or text:match("^(%l+):") or "pci"
   return { name = text, id = identity(kind, text), kind = kind, physical = physical[0] }
end

local function same(value)
   return value
end

local function always(text)
   return function() return text end
end

-- A type read by a function of units.
local function quantity(name, order)
   return { read = units["parse_" .. name], expected = always(units.expected[name]), order = order or same }
end

-- A type read by a function that returns nil for invalid text.
local function form(read, expected)
   local noun = expected:match("^(.-), such as") or expected
   return {
      read = function(text)
         local value = read(text)
         if value == nil then
            return nil, ("%s is not %s"):format(problems.quote(text), noun)
         end
         return value
      end,
      expected = always(expected),
   }
end

M.string = {
   read = function(text, row)
      if text == "" then
         return nil, "empty"
      elseif #text > (row.longest or 1000) then
         return nil, ("longer than %d characters"):format(row.longest or 1000)
      elseif row.match and not text:find(row.match) then
         return nil, problems.quote(text) .. " does not fit"
      end
      return text
   end,
   expected = function(row) return row.expected or "text" end,
}

M.boolean = {
   read = function(text)
      if text == "true" or text == "false" then
         return text == "true"
      end
      return nil, problems.quote(text) .. " is neither true nor false"
   end,
   expected = always("true or false"),
}

local function read_number(text)
   return text:find("^[+-]?[%d.]") and not text:find("[xX]") and tonumber(text) or nil
end

M.number = form(read_number, "a number")
M.number.order = same

M.integer = form(function(text)
   local number = read_number(text)
   return number and number % 1 == 0 and number or nil
end, "a whole number")
M.integer.order = same

M.time = quantity("time")
M.bits = quantity("bits")
M.frame_rate = quantity("frame_rate")
M.ratio = quantity("ratio")
M.size = quantity("size")
local read_size = M.size.read
function M.size.read(text, ...)
   if mixes.CYCLES[text] then
      return nil, text .. " is a mix of sizes", "one size; mixes are for rfc2544.frame_sizes and streams"
   end
   return read_size(text, ...)
end
-- Bytes with FCS, or a mix of sizes by its name.
M.frame_size = {
   read = function(text)
      if mixes.CYCLES[text] then
         return text
      end
      local size, wrong = units.parse_size(text)
      if size and (size < 64 or size > 16128 or size % 1 ~= 0) then
         return nil, problems.quote(text) .. " is out of range", "64 to 16128"
      end
      return size, wrong
   end,
   expected = always("bytes with FCS, such as 64, or a mix: imix, imix_576, imix_594, emix"),
}
M.buffer = quantity("buffer", function(buffer) return buffer.value end)
-- Frames and bits are measured against the line, which a row cannot know; a share can be compared at once.
M.rate = quantity("rate", function(rate) return rate.unit == "ratio" and rate.value or nil end)
M.load_step = {
   read = function(text)
      local rate, wrong = units.parse_rate(text)
      if rate and rate.unit == "bps" then
         return nil, problems.quote(text) .. " is in bits"
      end
      return rate, wrong
   end,
   expected = always("a share of the line (0.1%) or frames per second (500fps)"),
   order = M.rate.order,
}

M.enum = {
   read = function(text, row)
      for _, value in ipairs(row.values) do
         if value == text then
            return value
         end
      end
      return nil, problems.quote(text) .. " is not known"
   end,
   expected = function(row)
      if #row.values == 1 then
         return row.values[1]
      end
      return table.concat(row.values, ", ", 1, #row.values - 1) .. " or " .. row.values[#row.values]
   end,
}

M.ipv4 = form(function(text) return address.parse(text, 4) end, "an IPv4 address, such as 198.18.1.1")
M.ipv6 = form(function(text) return address.parse(text, 6) end, "an IPv6 address, such as 2001:2:0:1::1")
M.ipv4_prefix = form(function(text) return address.parse_prefix(text, 4) end,
   "an IPv4 address with its prefix length, such as 198.18.1.2/24")
M.network = form(function(text) return address.parse_prefix(text, 4) or address.parse_prefix(text, 6) end,
   "a network, such as 198.18.0.0/15 or 2001:2::/48")
M.ipv6_prefix = form(function(text) return address.parse_prefix(text, 6) end,
   "an IPv6 address with its prefix length, such as 2001:2:0:1::2/64")
M.ip = form(function(text) return address.parse(text, 4) or address.parse(text, 6) end,
   "an IP address, such as 198.18.1.10 or 2001:2:0:1::10")
M.mac = form(address.parse_mac, "the MAC address of a station, such as 02:00:00:00:00:01")
M.payload = form(payload.parse, payload.expected)
M.device = { read = parse_device, expected = always(DEVICES) }

--- How values of each type are written, for the help: { label, examples }, in the order people meet them.
M.legend = {
   { "load", "`40%` of the line, `900kfps`, `5Gbps L1` (`L1` wire, `L2` frame with FCS, `L3` IP packet)" },
   { "frame rate", "`900kfps`, `1.488Mfps`" },
   { "bit rate", "`1Gbps`, `950Mbps`" },
   { "time", "`60s`, `200ms`, `20us`, `2min`, `0`" },
   { "share", "`0.1%`, `10ppm`" },
   { "bytes", "`64`, `64KiB`, `2GiB`" },
   { "frames or bytes", "`512` (frames), `64KiB`" },
}

local labels = {
   string = "text", boolean = "`true` or `false`", integer = "whole number", number = "number", rate = "load",
   load_step = "load, no bits", frame_rate = "frame rate", bits = "bit rate", time = "time", ratio = "share",
   size = "bytes", frame_size = "bytes or mix", payload = "content", buffer = "frames or bytes",
   ipv4 = "`198.18.1.1`", ipv6 = "`2001:2:0:1::1`",
   ip = "IP address", network = "`198.18.0.0/15`",
   ipv4_prefix = "`198.18.1.2/24`", ipv6_prefix = "`2001:2:0:1::2/64`",
   mac = "`02:00:00:00:00:01`", device = "device", group = "keys", map = "keys by name",
   stack = "protocol stack", bytes = "list of bytes",
}

--- What a row takes, in a word or two.
function M.label(row)
   if row.type == "enum" then
      return "`" .. table.concat(row.values, "`, `") .. "`"
   elseif row.type == "list" then
      return "list of: " .. M.label(row.of)
   end
   return labels[row.type]
end

return M
