-- SPDX-License-Identifier: BSD-3-Clause

--- Values of header fields, as a plan writes them and as they are printed.
--
-- How a field is written follows from its row in the protocol's table (core/protocols.lua). A value is a
-- number or, for addresses and bytes, a string of its bytes.
local address = require "framegauge.plan.address"
local bit = require "bit"
local octets = require "framegauge.core.octets"
local problems = require "framegauge.plan.problems"
local tables = require "framegauge.core.tables"

local M = {}

--- The word for a computed value that is then made wrong.
M.BAD = "bad"

local function read_integer(text)
   local digits = text:match("^0[xX](%x+)$")
   if digits then
      return tonumber(digits, 16)
   end
   return text:find("^%d+$") and tonumber(text) or nil
end

local function named(field, text)
   for _, row in ipairs(field.names or {}) do
      if row.name == text then
         return row.value
      end
   end
   return nil
end

local function read_number(field, text)
   return read_integer(text) or named(field, text)
end

-- "syn+ack"
local function read_flags(field, text)
   local value = text == "none" and 0 or read_integer(text)
   if value then
      return value
   end
   value = 0
   for word in (text .. "+"):gmatch("([^+]*)%+") do
      local flag = named(field, word)
      if not flag then
         return nil
      end
      value = bit.bor(value, flag)
   end
   return value
end

local function read_octets(text)
   local digits = text:gsub("^0[xX]", ""):gsub("[ :]", "")
   if digits:find("%X") or #digits % 2 == 1 then
      return nil
   end
   return (digits:gsub("%x%x", function(pair)
      return string.char(tonumber(pair, 16))
   end))
end

local function read_mac(text)
   return text:find("^%x%x:%x%x:%x%x:%x%x:%x%x:%x%x$") and read_octets(text)
end

local readers = {
   number = read_number, hex = read_number, flags = read_flags,
   mac = function(_, text) return read_mac(text) end,
   ipv4 = function(_, text) return address.bytes(text, 4) end,
   ipv6 = function(_, text) return address.bytes(text, 6) end,
   octets = function(_, text) return read_octets(text) end,
}

local nouns = {
   number = "a number", hex = "a number, such as 0x88b5", flags = "flags", mac = "a MAC address",
   ipv4 = "an IPv4 address", ipv6 = "an IPv6 address", octets = "bytes in hex, such as deadbeef",
}

local function names_of(field)
   return tables.field(field.names or {}, "name")
end

--- The values that a field takes, in words.
function M.expected(field)
   local names, noun = names_of(field), nouns[field.kind]
   if field.kind == "flags" then
      return "none or some of " .. table.concat(names, "+")
   elseif names[1] then
      noun = noun .. " or one of " .. table.concat(names, ", ")
   elseif field.kind == "number" and field.width > 0 then
      noun = ("%s up to %.0f"):format(noun, 2 ^ field.width - 1)
   end
   return field.computed and noun .. ", or " .. M.BAD or noun
end

--- Read a value.
-- @return a number or a string of bytes; or nil, what is wrong and what was expected
function M.read(field, text)
   local value = readers[field.kind](field, text)
   if not value then
      return nil, ("%s is not %s"):format(problems.quote(text), nouns[field.kind]), M.expected(field)
   elseif type(value) == "number" and value >= 2 ^ field.width then
      return nil, ("%s does not fit %d bits"):format(problems.quote(text), field.width),
         ("at most %.0f"):format(2 ^ field.width - 1)
   elseif type(value) == "string" and field.width > 0 and #value * 8 ~= field.width then
      return nil, ("%d bytes"):format(#value), field.width / 8 .. " bytes"
   end
   return value
end

local function hex(value)
   return (value:gsub(".", function(octet)
      return ("%02x"):format(octet:byte())
   end))
end

local function ipv4_text(value)
   return ("%d.%d.%d.%d"):format(value:byte(1, 4))
end

local function flags_text(field, value)
   local words = {}
   for _, row in ipairs(field.names) do
      if bit.band(value, row.value) ~= 0 then
         words[#words + 1] = row.name
      end
   end
   return words[1] and table.concat(words, "+") or "none"
end

-- A field to the end of the header may hold several addresses.
local function several(value, size, one)
   local list = {}
   for at = 1, #value - size + 1, size do
      list[#list + 1] = one(value:sub(at, at + size - 1))
   end
   return table.concat(list, ", ")
end

local writers = {
   mac = function(_, value) return several(value, 6, octets.mac_text) end,
   ipv4 = function(_, value) return several(value, 4, ipv4_text) end,
   ipv6 = function(_, value) return several(value, 16, octets.ipv6_text) end,
   octets = function(_, value) return hex(value) end,
   flags = flags_text,
   hex = function(field, value) return ("0x%0" .. math.ceil(field.width / 4) .. "x"):format(value) end,
   number = function(_, value) return ("%.0f"):format(value) end,
}

--- Write a value so that read() takes it. Several addresses are separated by commas.
function M.write(field, value)
   for _, row in ipairs(field.kind ~= "flags" and field.names or {}) do
      if row.value == value then
         return row.name
      end
   end
   return writers[field.kind](field, value)
end

return M
