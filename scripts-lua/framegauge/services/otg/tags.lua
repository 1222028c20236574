-- SPDX-License-Identifier: BSD-3-Clause

--- Metric tags of a flow: bits of its headers by whose values its frames are told apart when they arrive.
--
-- Where the flow says how its frames arrive (egress_packet) the tags of those headers count, else the tags of
-- its packet. Either way the bits are read from the frame that has come.
local api = require "framegauge.core.api"
local frame = require "framegauge.traffic.frame"
local headers = require "framegauge.services.otg.headers"
local read = require "framegauge.services.otg.read"
local schema = require "framegauge.services.otg.schema"
local tables = require "framegauge.core.tables"

local C = api.C

local M = {}

local MAX_BITS, MAX_FRAME = 32, 16128 -- of a tag; bytes
local RX_NAME = "rx_name" -- the name of the tag that tells the port
local WIDTHS = { mac = 48, ipv4 = 32, ipv6 = 128 }
-- Where the fields of a header do not follow each other as the message has them, or are of other widths.
local OTHER_WIDTHS = {
   FlowIpv4 = { priority = 8, fragment_offset = 13 }, FlowEthernet = { pfc_queue = 0 },
   FlowIcmp = { echo = 0 }, FlowIcmpv6 = { echo = 0 },
}
local GAPS = { FlowTcp = { ecn_ns = 3 } } -- bits in front of a field

local function width_of(message, field)
   local other = OTHER_WIDTHS[message.name] and OTHER_WIDTHS[message.name][field.name]
   local def = field.kind == "message" and schema.message(field.type)
   if other or not def then
      return other or 0
   end
   return def.pattern and (def.bits or WIDTHS[def.pattern]) or field.type == "CK" and 16 or 0
end

-- Call a function with all tags of the fields of a message: function(tag, bits in front, width, path).
local function each_tag(message, value, before, path, visit)
   local is_choice = schema.choice(message)
   for _, field in ipairs(message) do
      local def = field.kind == "message" and schema.message(field.type)
      local one, width = value[field.name], width_of(message, field)
      local gap = GAPS[message.name] and GAPS[message.name][field.name] or 0
      before = before + gap
      if def and def.pattern then
         for i, tag in ipairs(one and one.metric_tags or {}) do
            visit(tag, before, width, read.item_path(("%s.%s.metric_tags"):format(path, field.name), i, tag))
         end
      elseif def and one and not field.repeated then
         each_tag(def, one, before, path .. "." .. field.name, visit)
      end
      before = before + (is_choice and 0 or width)
   end
end

-- Bits in front of a header; nil after a fault.
local function bits_before(packet, i, path, found)
   if i == 1 then
      return 0
   end
   local ok, template = pcall(function()
      return frame.build(MAX_FRAME, headers.layers({ unpack(packet, 1, i - 1) }, path, read.found()),
         { unsigned = true })
   end)
   return ok and template.header * 8 or found:fault(path, "where its header %d begins is not known", i - 1)
end

-- The field of a tag; nil after a fault.
local function field_of(tag, before, width, path, found)
   local length = tag.length or width - tag.offset
   if not tag.name then
      return nil
   elseif length < 1 or tag.offset + length > width then
      return found:fault(path, "offset %d and length %d do not fit the field's %d bits", tag.offset, length,
         width)
   elseif length > MAX_BITS then
      return found:fault(path .. ".length", "%d bits; at most %d, which offset and length choose", length,
         MAX_BITS)
   end
   return { name = tag.name, offset = before + tag.offset, bits = length, path = path }
end

-- The tags of a list of headers.
local function tags_of(packet, path, found)
   local list = {}
   for i, header in ipairs(packet) do
      local value, below = header[header.choice], ("%s[%d].%s"):format(path, i - 1, tostring(header.choice))
      local before
      local function visit(tag, offset, width, at)
         before = before or bits_before(packet, i, path, found)
         list[#list + 1] = before and field_of(tag, before + offset, width, at, found)
      end
      if header.choice == "custom" then
         for k, tag in ipairs(value and value.metric_tags or {}) do
            visit(tag, 0, 4 * #value.bytes:gsub("^0[xX]", ""):gsub("[ :]", ""), read.item_path(below
               .. ".metric_tags", k, tag))
         end
      elseif value then
         each_tag(schema.message(schema.message("FlowHeader").by_name[header.choice].type), value, 0, below,
            visit)
      end
   end
   return list
end

local function check(list, flow, found)
   local names, bits = { [RX_NAME] = "metrics.predefined_metric_tags" }, 0
   for i, tag in ipairs(list) do
      if names[tag.name] then
         found:fault(tag.path .. ".name", "is taken by %s", names[tag.name])
      end
      names[tag.name], bits = names[tag.name] or tag.path, bits + tag.bits
      if i > C.FG_VALUE_FIELDS or bits > C.FG_VALUE_BITS then
         return found:fault(tag.path, "%d tags with %d bits; at most %d with %d", i, bits, C.FG_VALUE_FIELDS,
            C.FG_VALUE_BITS)
      elseif not (flow.metrics and flow.metrics.enable) then
         found:fault(tag.path, "needs metrics.enable")
      end
   end
end

--- The tags of a flow.
-- @param flow   Flow that was read
-- @return nil: it has none; else list of { name =, bits = }, with `fields` = as tester/live.lua takes them
function M.read(flow, path, found)
   local list = tags_of(flow.egress_packet or {}, path .. ".egress_packet", found)
   list = list[1] and list or tags_of(flow.packet, path .. ".packet", found)
   if not list[1] then
      return nil
   end
   check(list, flow, found)
   local bits = 0
   for _, tag in ipairs(list) do
      bits = bits + tag.bits
   end
   list.fields = {
      n = #list, most = math.min(2 ^ math.min(bits, 31), C.FG_MAX_VALUES),
      field = tables.map({ unpack(list, 1, C.FG_VALUE_FIELDS) }, function(tag)
         return { offset = tag.offset, bits = tag.bits }
      end),
   }
   return list
end

--- The values of tags, of bits that follow each other: hexadecimal digits by name.
function M.values(list, value)
   local out = {}
   for i = #list, 1, -1 do
      local tag = list[i]
      local one = tonumber(value % 2ULL ^ tag.bits)
      out[tag.name] = ("%0" .. math.ceil(tag.bits / 4) .. "x"):format(one)
      value = value / 2ULL ^ tag.bits
   end
   return out
end

--- Is a value among those that a request names?
function M.is_named(value, names)
   local function plain(text)
      return (text:lower():gsub("^0x", ""):gsub("^0+(%x)", "%1"))
   end
   return tables.any(names, function(name)
      return plain(name) == plain(value)
   end)
end

M.RX_NAME = RX_NAME

return M
