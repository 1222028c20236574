-- SPDX-License-Identifier: BSD-3-Clause

--- Messages of the API as protobuf: the same tables that JSON decodes to and encodes from, by the schema.
--
-- What a message has that the schema does not know is skipped. A number of an enum that is not known stays a
-- number, which reading (services.otg.read) refuses with its path; and a field whose message is not listed
-- is there as `true`, for the same end. Each field that has a value is written, zero included.
local ffi = require "ffi"
local tables = require "framegauge.core.tables"
local json = require "framegauge.text.json"
local schema = require "framegauge.services.otg.schema"

local M = {}

local VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
local MAX_VARINT = 10 -- bytes
local WIDTH = { [FIXED64] = 8, [FIXED32] = 4 }

local Malformed = {}
Malformed.__index = Malformed
function Malformed:__tostring()
   return "protobuf: " .. self.text
end

local function malformed(text, ...)
   error(setmetatable({ text = text:format(...) }, Malformed), 0)
end

local function read_varint(octets, at, to)
   local value, factor = 0, 1
   for i = at, math.min(at + MAX_VARINT - 1, to) do
      local byte = octets:byte(i)
      value = value + byte % 128 * factor
      if byte < 128 then
         return value, i + 1
      end
      factor = factor * 128
   end
   malformed "a number is cut"
end

-- The end of a length-delimited field, whose length stands at a place: first and last byte.
local function extent(octets, at, to)
   local length, first = read_varint(octets, at, to)
   if first + length - 1 > to then
      malformed "a field is cut"
   end
   return first, first + length - 1
end

local number = ffi.new "union { uint8_t octets[8]; float single; double double_; }"

local function fixed(width, member)
   return function(_, octets, at, to)
      if at + width - 1 > to then
         malformed "a number is cut"
      end
      ffi.copy(number.octets, octets:sub(at, at + width - 1), width)
      return number[member], at + width
   end
end

local function integer(_, octets, at, to)
   return read_varint(octets, at, to)
end

-- How a value of a kind is read: function(field, bytes, at, to) -> value, where it ends. By wire type.
local readers = {
   [VARINT] = {
      u32 = integer, u64 = integer, i32 = integer,
      bool = function(_, octets, at, to)
         local value, after = read_varint(octets, at, to)
         return value ~= 0, after
      end,
      enum = function(field, octets, at, to)
         local value, after = read_varint(octets, at, to)
         return field.values[value] or value, after
      end,
   },
   [FIXED32] = { float = fixed(4, "single") }, [FIXED64] = { double = fixed(8, "double_") }, [BYTES] = {},
}

local function read_text(field, octets, at, to)
   local first, last = extent(octets, at, to)
   local text = octets:sub(first, last)
   if not json.is_text(text) then
      malformed("%s is not UTF-8", field.name)
   end
   return text, last + 1
end

readers[BYTES].bytes = function(_, octets, at, to)
   local first, last = extent(octets, at, to)
   return octets:sub(first, last), last + 1
end

local wire_of = { message = BYTES }
for kind in ("str mac ipv4 ipv6 hex"):gmatch "%S+" do
   readers[BYTES][kind] = read_text
end
for wire, kinds in pairs(readers) do
   for kind in pairs(kinds) do
      wire_of[kind] = wire
   end
end

local function skip(wire, octets, at, to)
   if wire == VARINT then
      return select(2, read_varint(octets, at, to))
   elseif wire == BYTES then
      return select(2, extent(octets, at, to)) + 1
   elseif not WIDTH[wire] or at + WIDTH[wire] - 1 > to then
      malformed("a field of wire type %d is cut or not allowed", wire)
   end
   return at + WIDTH[wire]
end

local decode

-- One message more; a second one of a field that is not repeated adds to the first, as protobuf has it.
local function read_message(field, octets, at, to, before)
   local first, last = extent(octets, at, to)
   local message = schema.message(field.type)
   return not message or decode(message, octets, first, last, before or {}), last + 1
end

-- Numbers of a repeated field may stand behind each other in one.
local function read_packed(field, octets, at, to, list)
   local read = readers[wire_of[field.kind]][field.kind]
   local first, last = extent(octets, at, to)
   while first <= last do
      list[#list + 1], first = read(field, octets, first, last)
   end
   return last + 1
end

local function read_field(field, wire, octets, at, to, out)
   local list = field.repeated and (out[field.name] or {}) or nil
   if field.kind == "any" then -- an automatic value, which only the choice counts of
      out.choice = out.choice or field.name
      return skip(wire, octets, at, to)
   elseif list and wire == BYTES and wire_of[field.kind] ~= BYTES then
      out[field.name] = list
      return read_packed(field, octets, at, to, list)
   elseif wire ~= wire_of[field.kind] then
      malformed("%s has wire type %d", field.name, wire)
   end
   local read = readers[wire][field.kind] or read_message
   local value, after = read(field, octets, at, to, not list and out[field.name] or nil)
   if list then
      list[#list + 1] = value
   end
   if field.kind ~= "enum" or value ~= 0 then -- 0 is unspecified
      out[field.name] = list or value
   end
   return after
end

-- The fields of a message by their number.
local function numbered(message)
   if not message.by_number then
      message.by_number = {}
      for _, field in ipairs(message) do
         message.by_number[field.number] = field
      end
   end
   return message.by_number
end

function decode(message, octets, at, to, out)
   local by_number = numbered(message)
   while at <= to do
      local tag
      tag, at = read_varint(octets, at, to)
      local field, wire = by_number[math.floor(tag / 8)], tag % 8
      if tag < 8 then
         malformed "a field has the number 0"
      end
      at = field and read_field(field, wire, octets, at, to, out) or skip(wire, octets, at, to)
   end
   return out
end

-- What a length-delimited field holds; of several the one behind the other, which is how protobuf adds up
-- messages.
local function content(octets, number_of_field)
   local parts, at = {}, 1
   while at <= #octets do
      local tag, after = read_varint(octets, at, #octets)
      if tag == number_of_field * 8 + BYTES then
         local first, last = extent(octets, after, #octets)
         parts[#parts + 1] = octets:sub(first, last)
      end
      at = skip(tag % 8, octets, after, #octets)
   end
   return table.concat(parts)
end

--- Decode a message in a field of an envelope.
-- @param octets  of one envelope, or of several, whose fields are then put together
-- @return the table; or nil and what is wrong with the bytes
function M.decode_field(name, octets, number_of_field)
   local ok, result = pcall(function()
      local inner = content(octets, number_of_field)
      return decode(schema.message(name), inner, 1, #inner, {})
   end)
   if not ok and getmetatable(result) ~= Malformed then
      error(result, 0)
   end
   return ok and result or nil, not ok and tostring(result) or nil
end

local function varint(value)
   local octets, n = {}, 0
   while value >= 128 do
      n = n + 1
      octets[n] = string.char(value % 128 + 128)
      value = math.floor(value / 128)
   end
   octets[n + 1] = string.char(value)
   return table.concat(octets)
end

local function delimited(octets)
   return varint(#octets) .. octets
end

local function write_number(_, value)
   return varint(tonumber(value))
end

local encode

-- How a value of a kind is written: function(field, value) -> bytes
local writers = {
   u32 = write_number, u64 = write_number, i32 = write_number,
   bool = function(_, value) return varint(value and 1 or 0) end,
   enum = function(field, value) return varint(field.by_value[value]) end,
   float = function(_, value)
      number.single = value
      return ffi.string(number.octets, 4)
   end,
   double = function(_, value)
      number.double_ = value
      return ffi.string(number.octets, 8)
   end,
   message = function(field, value) return delimited(encode(schema.message(field.type), value)) end,
}
for kind in pairs(readers[BYTES]) do
   writers[kind] = function(_, value) return delimited(value) end
end

local function write_field(field, value, parts)
   local wire, write = wire_of[field.kind], writers[field.kind]
   if field.kind == "enum" and not field.by_value then
      field.by_value = {}
      for i, name in ipairs(field.values) do
         field.by_value[name] = i
      end
   end
   if field.repeated and wire ~= BYTES then
      local packed = tables.map(value, function(one) return write(field, one) end)
      parts[#parts + 1] = varint(field.number * 8 + BYTES) .. delimited(table.concat(packed))
      return
   end
   for _, one in ipairs(field.repeated and value or { value }) do
      parts[#parts + 1] = varint(field.number * 8 + wire) .. write(field, one)
   end
end

-- The alternative that a value has; an alternative beside it may be anything, for it was never read.
local function chosen(message, alternatives, value)
   if type(value.choice) == "string" then
      return value.choice
   end
   for _, field in ipairs(message) do
      local one = value[field.name]
      if alternatives[field.name] and one ~= nil and one ~= json.null then
         return field.name
      end
   end
   return nil
end

function encode(message, value)
   local parts = {}
   local choice, alternatives = schema.choice(message)
   local name = choice and chosen(message, alternatives, value)
   for _, field in ipairs(message) do
      local one = value[field.name]
      if field == choice then
         one = name
      elseif field.kind == "any" or field.kind == "message" and not schema.message(field.type)
         or choice and alternatives[field.name] and field.name ~= name then
         one = nil
      end
      if one ~= nil and one ~= json.null then
         write_field(field, one, parts)
      end
   end
   return table.concat(parts)
end

--- Encode a message.
-- @param value  a table that was read by the schema, or that follows it
function M.encode(name, value)
   return encode(schema.message(name), value)
end

--- Bytes as the first field of an envelope.
function M.envelope(octets)
   return varint(8 + BYTES) .. delimited(octets)
end

return M
