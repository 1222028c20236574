-- SPDX-License-Identifier: BSD-3-Clause

--- The messages of the Open Traffic Generator API (models 1.61) that this server knows, as data.
--
-- otg/messages/ has one message per paragraph, one field per word:
--
--    Message  field:number[*]:type[min..max][=default][!]     * repeated   ! required
--
-- Types are str bool u32 u64 i32 float double, formats of text (mac ipv4 ipv6 hex), enums {a b c} and other
-- messages. A message whose field `choice` is an enum has one alternative at a time. A field whose message
-- is not listed here is not supported: reading refuses it. The numbers are the protobuf fields' numbers.
--
-- P(format,default,features) is a pattern, a field of a header whose value may change from frame to frame; of
-- the features A is auto, R random, T metric_tags, and def=auto the default. Format uN is a number of N bits.
-- CK is a checksum. Both become messages here.
local M = {}

local TEXT = table.concat({
   require "framegauge.services.otg.messages.config", require "framegauge.services.otg.messages.flow",
   require "framegauge.services.otg.messages.control", require "framegauge.services.otg.messages.device",
   require "framegauge.services.otg.messages.link",
}, "\n")

local SCALARS = {}
for name in ("str bytes bool u32 u64 i32 float double mac ipv4 ipv6 hex"):gmatch "%S+" do
   SCALARS[name] = true
end

local messages = {}

local function words(text)
   local list = {}
   for word in text:gmatch "%S+" do
      list[#list + 1] = word
   end
   return list
end

local function scalar_default(kind, text)
   if kind == "bool" then
      return text == "true"
   end
   return (kind == "u32" or kind == "u64" or kind == "float" or kind == "double") and tonumber(text) or text
end

local function add(message, field)
   message[#message + 1] = field
   message.by_name[field.name] = field
end

-- uN -> its type and its largest value; other formats are types
local function format_of(format)
   if format == "u48/64" then
      return "u64", nil
   end
   local bits = tonumber(format:match "^u(%d+)$")
   return bits and "u32" or format, bits and 2 ^ bits - 1, bits
end

local UNITS = { mac = "00:00:00:00:00:01", ipv4 = "0.0.0.1", ipv6 = "::1" } -- of a step

-- Protobuf numbers of a pattern's fields: with auto, without, and of the few that are numbered otherwise.
local AUTO_NUMBERS = { auto = 4, increment = 6, decrement = 7, metric_tags = 8 }
local PLAIN_NUMBERS = { increment = 5, decrement = 6, metric_tags = 7, random = 8 }
local ADDRESS_NUMBERS = { increment = 5, decrement = 6, metric_tags = 7, auto = 8, random = 9 }

-- The message of P(...), made once for each.
local function pattern(text, owner, name)
   local format, default, rest = text:match "^([%w/]+),([^,]*),?(.*)$"
   local features = { A = rest:find "^%w*A" ~= nil, R = rest:find "^%w*R" ~= nil,
      T = rest:find "^%w*T" ~= nil }
   local address = (owner == "FlowIpv4" or owner == "FlowIpv6") and (name == "src" or name == "dst")
      or owner == "FlowGre" and name == "protocol"
   local key = ("P(%s)%s"):format(text, address and owner or "")
   if messages[key] then
      return key
   end
   local kind, most, bits = format_of(format)
   local n = address and ADDRESS_NUMBERS or features.A and AUTO_NUMBERS or PLAIN_NUMBERS
   local value = function(field, number, repeated)
      return {
         name = field, number = number, kind = kind, max = most, repeated = repeated,
         default = scalar_default(kind, default),
      }
   end
   local counter, range = key .. ".counter", key .. ".random"
   local step = value("step", 2)
   step.default = UNITS[format] or 1
   messages[counter] = { name = counter, by_name = {} }
   add(messages[counter], value("start", 1))
   add(messages[counter], step)
   add(messages[counter], { name = "count", number = 3, kind = "u32", default = 1, min = 1 })
   local def = { name = key, by_name = {}, pattern = format, bits = bits }
   local choices = { "auto", "value", "values", "increment", "decrement", "random" }
   add(def, {
      name = "choice", number = 1, kind = "enum", values = choices,
      default = rest:find "def=auto" and "auto" or "value",
   })
   add(def, value("value", 2))
   add(def, value("values", 3, true))
   if features.A then
      add(def, { name = "auto", number = n.auto, kind = "any" })
   end
   add(def, { name = "increment", number = n.increment, kind = "message", type = counter })
   add(def, { name = "decrement", number = n.decrement, kind = "message", type = counter })
   if features.R then
      messages[range] = { name = range, by_name = {} }
      add(messages[range], value("min", 1))
      add(messages[range], value("max", 2))
      add(messages[range], { name = "seed", number = 3, kind = "u32", default = 1 })
      add(messages[range], { name = "count", number = 4, kind = "u32", default = 1, min = 1 })
      add(def, { name = "random", number = n.random, kind = "message", type = range })
   end
   if features.T then
      add(def, {
         name = "metric_tags", number = n.metric_tags, repeated = true, kind = "message", type = "MetricTag",
      })
   end
   messages[key] = def
   return key
end

-- One field of a message.
local function field_of(owner, token)
   local name, number, star, rest = token:match "^([%w_]+):(%d+)(%*?):(.*)$"
   local field = { name = name, number = tonumber(number), repeated = star == "*" }
   local enum, inner = rest:match "^(%b{})", rest:match "^P(%b())"
   local kind = enum or inner and "P" .. inner or rest:match "^%w+"
   rest = rest:sub(#kind + 1)
   if enum then
      field.kind, field.values = "enum", words(enum:sub(2, -2))
   elseif inner then
      field.kind, field.type = "message", pattern(inner:sub(2, -2), owner, name)
   elseif SCALARS[kind] then
      field.kind = kind
   else
      field.kind, field.type = "message", kind
   end
   local least, most = rest:match "^%[([%d.]-)%.%.(%d*)%]"
   field.min, field.max = tonumber(least), tonumber(most)
   field.required = rest:sub(-1) == "!"
   local default = rest:match "=([^!]+)"
   if default then
      field.default = scalar_default(field.kind, default)
   end
   return field
end

-- The fields of a paragraph; enums have blanks in them.
local function tokens(text)
   text = text:gsub("%b{}", function(enum)
      return enum:gsub("%s+", "\1")
   end)
   local list = {}
   for _, word in ipairs(words(text)) do
      list[#list + 1] = (word:gsub("\1", " "))
   end
   return list
end

local function read_text()
   for paragraph in ("\n" .. TEXT):gsub("\n   ", " "):gmatch "[^\n]+" do
      local list = tokens(paragraph)
      local message = { name = list[1], by_name = {} }
      messages[list[1]] = message
      for i = 2, #list do
         add(message, field_of(list[1], list[i]))
      end
   end
end

messages.CK = { name = "CK", by_name = {} }
add(messages.CK, { name = "choice", number = 1, kind = "enum", values = { "generated", "custom" },
   default = "generated" })
add(messages.CK, { name = "generated", number = 2, kind = "enum", values = { "good", "bad" },
   default = "good" })
add(messages.CK, { name = "custom", number = 3, kind = "u32", max = 0xffffffff, default = 0 })
read_text()

--- The message of a name: a list of fields { name =, number =, kind =, type = of a message, values = of an
-- enum, repeated =, min =, max =, default =, required = }, with by_name; or nil: not supported.
function M.message(name)
   return messages[name]
end

--- The alternatives of a message with a choice: its field `choice`, and whether a field is one of them.
function M.choice(message)
   local choice = message.by_name.choice
   if not choice or choice.kind ~= "enum" then
      return nil
   end
   if not message.alternatives then
      message.alternatives = {}
      for _, name in ipairs(choice.values) do
         message.alternatives[name] = true
      end
   end
   return choice, message.alternatives
end

--- Is this a kind that the API has and that this server never has any of?
function M.is_never_there(message, kind)
   local field = M.message(message).by_name[kind]
   return field ~= nil and field.kind == "message" and M.message(field.type) == nil
end

return M
