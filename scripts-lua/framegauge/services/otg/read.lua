-- SPDX-License-Identifier: BSD-3-Clause

--- Reads a request by the schema: every fault with its path, defaults filled in, one alternative per choice.
--
-- Text of addresses and hexadecimal digits stays text; numbers of 64 bits may come as decimal text. A field
-- that is null is absent. An unknown key is a fault, since a misspelt one must not pass unseen.
local address = require "framegauge.plan.address"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local octets = require "framegauge.core.octets"
local schema = require "framegauge.services.otg.schema"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local M = {}

local LONG = 2e7 -- nanoseconds for which others wait
local MAX_NAME = 200 -- bytes of a name in a path

--- What was found in a request: its faults and warnings, a text each that begins with the path.
local Found = {}
Found.__index = Found

function M.found()
   return setmetatable({ errors = {}, warnings = {}, since = uv.hrtime() }, Found)
end

--- Let other jobs run when this one has read for long: thousands of flows take seconds.
function Found:give_way()
   if uv.hrtime() - self.since > LONG and job.current() then
      job.sleep(0)
      self.since = uv.hrtime()
   end
end

local function sentence(path, text, ...)
   return (path ~= "" and path .. ": " or "") .. (select("#", ...) > 0 and text:format(...) or text)
end

--- Add a fault. @return nil
function Found:fault(path, text, ...)
   self.errors[#self.errors + 1] = sentence(path, text, ...)
end

--- Whether there are faults in what stands at a path, which is then not to be looked at further.
function Found:has(path)
   return tables.any(self.errors, function(text) return text:sub(1, #path) == path end)
end

--- Add a warning.
function Found:warn(path, text, ...)
   self.warnings[#self.warnings + 1] = sentence(path, text, ...)
end

--- A MAC as we write it; nil after a fault.
function Found:mac(text, path)
   return address.parse_mac((text:gsub("-", ":")))
      or self:fault(path, "%s is no MAC of a station", (text:gsub("%c", "?")))
end

--- What each of a list of names stands for; one that stands for nothing is a fault.
-- @param path    of the list
-- @param one_of  function(name) -> what it stands for; or nil and why not
function Found:named(names, path, one_of)
   return tables.map(names, function(name, i)
      local one, why = one_of(name)
      return one or self:fault(("%s[%d]"):format(path, i - 1), '"%s" %s', name, why)
   end)
end

--- The same, of a list of things with names; all of them where none is named.
-- @param what  they are
function Found:named_among(list, names, path, what)
   return names[1] and self:named(names, path, function(name)
      return tables.find(list, "name", name), "is no " .. what
   end) or list
end

local NULL = json.null

local function is_given(value)
   return value ~= nil and value ~= NULL
end

local function is_list(value)
   return type(value) == "table" and (value[1] ~= nil or next(value) == nil)
end

local function is_object(value)
   return type(value) == "table" and (value[1] == nil or next(value) == nil)
end

local function shown(value)
   if type(value) == "table" then
      return is_list(value) and next(value) and "a list" or "an object"
   end
   local text = tostring(value)
   text = type(value) == "string" and ('"%s"'):format(#text > 40 and text:sub(1, 37) .. "..." or text) or text
   return (text:gsub("%c", "?"))
end

local INTEGERS = { u32 = 2 ^ 32 - 1, u64 = 2 ^ 64 - 2048, i32 = 2 ^ 31 - 1 } -- as doubles
local FORMATS = {
   mac = { "a MAC address", function(text)
      return text:find "^%x%x[:-]%x%x[:-]%x%x[:-]%x%x[:-]%x%x[:-]%x%x$"
   end },
   ipv4 = { "an IPv4 address", function(text) return address.bytes(text, 4) end },
   ipv6 = { "an IPv6 address", function(text) return address.bytes(text, 6) end },
   hex = { "hexadecimal digits", function(text) return text:gsub("^0[xX]", ""):find "^%x+$" end },
}

-- A number within the bounds of its field.
local function bounded(field, value, path, found)
   local least = field.min or (field.kind ~= "float" and field.kind ~= "double" and 0 or nil)
   local most = field.max or INTEGERS[field.kind]
   if (least and value < least) or (most and value > most) or value ~= value
      or math.abs(value) == math.huge then
      local range = field.max and ("%s to %.0f"):format(least or "any", most)
         or ("at least %s"):format(least or 0)
      return found:fault(path, "%s is out of range; expected %s", shown(value), range)
   end
   return value
end

local function read_number(field, value, path, found)
   local number = type(value) == "number" and value
      or field.kind == "u64" and type(value) == "string" and value:find "^%d+$" and tonumber(value) or nil
   if not number then
      return found:fault(path, "%s is not a number", shown(value))
   elseif INTEGERS[field.kind] and number % 1 ~= 0 then
      return found:fault(path, "%s is not a whole number", shown(value))
   end
   return bounded(field, number, path, found)
end

local function read_text(field, value, path, found)
   local format = FORMATS[field.kind]
   if type(value) ~= "string" then
      return found:fault(path, "%s is not text", shown(value))
   elseif format and not format[2](value) then
      return found:fault(path, "%s is not %s", shown(value), format[1])
   elseif value == "" and field.required then
      return found:fault(path, "is empty")
   end
   return value
end

local function read_enum(field, value, path, found)
   if type(value) ~= "string" or not tables.contains(field.values, value) then
      local hint = type(value) == "string" and suggest.hint(value, field.values) or ""
      return found:fault(path, "%s is not one of %s%s", shown(value), table.concat(field.values, ", "), hint)
   end
   return value
end

local function read_bool(_, value, path, found)
   if type(value) ~= "boolean" then
      return found:fault(path, "%s is not true or false", shown(value))
   end
   return value
end

local read_message

local readers = {
   bool = read_bool, enum = read_enum, any = function(_, value) return value end,
}
for kind in pairs(INTEGERS) do
   readers[kind] = read_number
end
readers.float, readers.double = read_number, read_number
readers.str = read_text
for kind in pairs(FORMATS) do
   readers[kind] = read_text
end

-- The path of a list's item: [i], and the beginning of its name if it has one.
local function item_path(path, i, item)
   local name = type(item) == "table" and type(item.name) == "string" and item.name:sub(1, MAX_NAME)
   return ("%s[%d]%s"):format(path, i - 1, name and (' "%s"'):format(name:gsub("%c", "?")) or "")
end

local function below(path, name)
   return path == "" and name or path .. "." .. name
end

-- A value that is no message. Its path is made where there is a fault: thousands would be made for nobody.
-- @param path_of  function(path, at) -> its path
local function read_scalar(field, value, path_of, path, at, found)
   local faults = #found.errors
   local item = readers[field.kind](field, value, "", found)
   if #found.errors > faults then
      found.errors[#found.errors] = sentence(path_of(path, at), found.errors[#found.errors])
   end
   return item
end

local function read_list(field, value, path, found)
   if not is_list(value) then
      return found:fault(path, "%s is not a list", shown(value))
   end
   local list, n = {}, 0
   for _ in pairs(value) do
      n = n + 1
   end
   for i = 1, n do
      if not is_given(value[i]) then
         found:fault(item_path(path, i), "null in a list")
      elseif field.kind == "message" then
         found:give_way()
         list[i] = read_message(field.type, value[i], item_path(path, i, value[i]), found)
      else
         list[#list + 1] = read_scalar(field, value[i], item_path, path, i, found)
      end
      if field.kind == "message" and list[i] == nil then
         list[i] = {} -- what follows keeps its number
      end
   end
   return list
end

-- Why a field of a message that is not listed cannot be had.
local function is_refused(field)
   return field.kind == "message" and not schema.message(field.type)
end

local function is_empty(value)
   return type(value) == "table" and next(value) == nil
end

-- @param path  of the message
local function read_field(field, value, path, found)
   local key = field.name
   if is_refused(field) then
      if not (field.repeated and is_empty(value)) then
         found:fault(below(path, key), "not supported")
      end
      return nil
   elseif field.repeated then
      return read_list(field, value, below(path, key), found)
   elseif field.kind == "message" then
      return read_message(field.type, value, below(path, key), found)
   end
   return read_scalar(field, value, below, path, key, found)
end

-- Which alternative is meant; nil after a fault.
local function chosen(message, value, path, found)
   local choice, alternatives = schema.choice(message)
   local present = {}
   for _, field in ipairs(message) do
      if alternatives[field.name] and is_given(value[field.name]) then
         present[#present + 1] = field.name
      end
   end
   if is_given(value.choice) then
      local name = read_enum(choice, value.choice, below(path, "choice"), found)
      local has = name and message.by_name[name] and is_given(value[name])
      if name and not has and message.by_name[name] and present[1] then
         return found:fault(below(path, "choice"), "is %s, but only %s is there", name,
            table.concat(present, ", "))
      elseif has and present[2] then
         found:warn(path, "only %s is used, as the choice says", name)
      end
      return name
   elseif present[2] then
      return found:fault(path, "has no choice, and several alternatives: %s", table.concat(present, ", "))
   elseif present[1] or choice.default then
      return present[1] or choice.default
   end
   return found:fault(below(path, "choice"), "is missing; expected one of %s", table.concat(choice.values,
      ", "))
end

local function unknown_keys(message, value, path, found)
   local unknown
   for key in pairs(value) do
      unknown = unknown or not message.by_name[key]
   end
   for _, key in ipairs(unknown and tables.keys(value) or {}) do
      if not message.by_name[key] then
         found:fault(below(path, key), "unknown key%s", suggest.hint(key, tables.field(message, "name")))
      end
   end
end

-- An alternative that was chosen but is not there has its defaults. @param path  of the message
local function alternative(field, value, path, found)
   if is_given(value) then
      return read_field(field, value, path, found)
   elseif field.repeated then
      return {}
   elseif is_refused(field) then
      return found:fault(below(path, field.name), "not supported")
   elseif field.kind == "message" then
      return read_message(field.type, {}, below(path, field.name), found)
   end
   return field.default
end

function read_message(name, value, path, found)
   local message, out = schema.message(name), {}
   if not is_object(value) then
      return found:fault(path, "%s is not an object", shown(value))
   end
   unknown_keys(message, value, path, found)
   local choice, alternatives = schema.choice(message)
   out.choice = choice and chosen(message, value, path, found)
   for _, field in ipairs(message) do
      local key, given = field.name, is_given(value[field.name])
      if key == "choice" and choice then
         given = false
      elseif choice and alternatives[key] then
         if key == out.choice then
            out[key] = alternative(field, value[key], path, found)
         end
         given = false
      elseif given then
         out[key] = read_field(field, value[key], path, found)
      elseif field.required then
         found:fault(below(path, key), "is required")
      end
      if not given and out[key] == nil and not (alternatives and alternatives[key]) then
         out[key] = field.default
      end
      if field.repeated and out[key] == nil and not (alternatives and alternatives[key]) then
         out[key] = {}
      end
   end
   return out
end

--- Read a message.
-- @param name   of the message
-- @param value  decoded JSON
-- @param found  collects faults and warnings (M.found)
-- @return a table with defaults; of use only if found has no errors
function M.message(name, value, found)
   return read_message(name, value, "", found)
end

--- The message with nothing but defaults.
function M.default(name)
   return read_message(name, {}, "", M.found())
end

local common = {}

--- The same for those who only read it.
function M.common_default(name)
   common[name] = common[name] or M.default(name)
   return common[name]
end

--- The bytes of hexadecimal digits, to which a zero is put in front where one is missing.
function M.bytes(text)
   local digits = text:gsub("^0[xX]", "")
   return octets.unhex(#digits % 2 == 1 and "0" .. digits or digits)
end

--- Mark the objects of a request as such, for an empty table may be a list.
-- @return the value, for framegauge.text.json
function M.mark(name, value)
   for key, one in pairs(value) do
      local field = schema.message(name).by_name[key]
      if field and field.kind == "message" and schema.message(field.type) and type(one) == "table" then
         for _, item in ipairs(field.repeated and one or { one }) do
            M.mark(field.type, item)
         end
      end
   end
   return json.object(value)
end

--- Sentences as JSON can carry them: names in them come from the client, and may be cut in a character.
function M.printable(sentences)
   return tables.map(sentences, function(text)
      return (text:gsub("%c", "?"):gsub("[\128-\255]+", function(bytes)
         return json.is_text(bytes) and bytes or "?"
      end))
   end)
end

M.item_path = item_path

return M
