-- SPDX-License-Identifier: BSD-3-Clause

--- Reading frames: from bytes to layers and fields, by the tables they were made from.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local field_value = require "framegauge.plan.field_value"
local protocols = require "framegauge.core.protocols"

local C = api.C
local M = {}

local MOST = 64 -- headers of a frame
local COPY = 2 ^ 47 -- FG_SIGNATURE_COPY

-- The value of a field in the header at an offset, nil when the header does not have it.
local function value_of(protocol, field, header, size)
   local at = C.fg_field_bit(protocol.c, field.c, header)
   if at < 0 then
      return nil
   elseif field.width == 0 then
      return ffi.string(header + at / 8, size - at / 8)
   elseif field.kind == "mac" or field.kind == "ipv4" or field.kind == "ipv6" then
      return ffi.string(header + at / 8, field.width / 8)
   end
   return tonumber(C.fg_field_read(header, at, field.width))
end

local function fields_of(protocol, header, size)
   local list = {}
   for _, field in ipairs(protocol.fields) do
      local value = value_of(protocol, field, header, size)
      if value and value ~= "" then
         list[#list + 1] = { name = field.name, value = value, text = field_value.write(field, value) }
      end
   end
   return list
end

--- Find the layers of a frame.
-- @param octets  without FCS
-- @param first   the outermost protocol; by default Ethernet
-- @return list of { protocol =, offset =, size =, option = boolean, padding = boolean, fields = { { name =,
-- value =, text = } } }, and the offset of the payload
function M.read(octets, first)
   local found = ffi.new("struct fg_found[?]", MOST)
   local bytes = ffi.cast("const uint8_t *", octets)
   local list, payload = {}, 0
   for i = 0, C.fg_dissect(first or "ethernet", bytes, #octets, found, MOST) - 1 do
      local protocol = protocols.by_name[ffi.string(found[i].protocol.name)]
      local one = {
         protocol = protocol.name, offset = found[i].offset, size = found[i].size,
         option = protocol.option, padding = found[i].padding,
      }
      one.fields = one.padding and {} or fields_of(protocol, bytes + one.offset, one.size)
      payload = one.offset + one.size
      list[#list + 1] = one
   end
   return list, payload
end

-- Of big-endian bytes; exact up to 2^53.
local function number(octets)
   local value = 0
   for i = 1, #octets do
      value = value * 256 + octets:byte(i)
   end
   return value
end

--- Bytes of the signature (lib/frame/fg_signature.h).
M.SIGNATURE = 18

--- What the signature of a test frame says.
-- @param octets  without FCS
-- @return { stream =, sequence =, again = whether it is sent a second time on purpose, time_ns = }
function M.signature(octets)
   local at = #octets - M.SIGNATURE
   local sequence = number(octets:sub(at + 5, at + 10))
   return {
      stream = number(octets:sub(at + 3, at + 4)), sequence = sequence % COPY, again = sequence >= COPY,
      time_ns = number(octets:sub(at + 11, at + 16)),
   }
end

return M
