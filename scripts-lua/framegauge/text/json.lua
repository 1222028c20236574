-- SPDX-License-Identifier: BSD-3-Clause

--- JSON that is the same to the byte whenever the values are the same.
--
-- lua-cjson reads well but writes the keys of an object in the order of the hash, so writing is done here:
-- keys in the order the caller declares, the others sorted behind them; whole numbers without point or
-- exponent; other numbers with the fewest digits that read back as the same double. An empty table is an
-- empty list unless marked as an object. Integers of 64 bits keep all their digits, and octets that are no
-- text (addresses in the frames of a plan) become text in hex.
local cjson = require "cjson"
local ffi = require "ffi"

local M = {}

--- Stands for JSON's null, in and out: an absent key and a known absence differ.
M.null = cjson.null

local PLAIN = { is_object = true }
local ranked = setmetatable({}, { __mode = "k" }) -- metatables by their ranks

--- Mark a table as an object even when it is empty.
-- @param rank  place of its keys, by key; without one they are sorted
-- @return the table
function M.object(t, rank)
   if rank and not ranked[rank] then
      ranked[rank] = { is_object = true, rank = rank }
   end
   return setmetatable(t, rank and ranked[rank] or PLAIN)
end

--- Read JSON text. Raises on bad input.
M.decode = cjson.decode

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local INT64, UINT64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

-- Is it UTF-8? Leading octets say how many follow.
local function is_text(text)
   local rest = text:gsub("[\194-\223][\128-\191]", ""):gsub("[\224-\239][\128-\191][\128-\191]", "")
      :gsub("[\240-\244][\128-\191][\128-\191][\128-\191]", "")
   return not rest:find "[\128-\255]"
end

local function quote(text)
   if not is_text(text) then
      return '"0x' .. text:gsub(".", function(c)
         return string.format("%02x", c:byte())
      end) .. '"'
   end
   return '"' .. text:gsub('[%c"\\\127]', function(c)
      return ESCAPES[c] or string.format("\\u%04x", c:byte())
   end) .. '"'
end

local function number(value)
   assert(value == value and math.abs(value) ~= math.huge, "JSON has no infinity and no NaN")
   if value % 1 == 0 and math.abs(value) < 2 ^ 53 then
      return value == 0 and "0" or string.format("%.0f", value) -- JSON need not know of -0
   end
   for digits = 15, 17 do
      local text = string.format("%." .. digits .. "g", value)
      if tonumber(text) == value then
         return text
      end
   end
end

local function is_list(t)
   local meta = getmetatable(t)
   return t[1] ~= nil or (next(t) == nil and not (meta and meta.is_object))
end

local function sorted_keys(t, rank)
   local keys, meta = {}, getmetatable(t)
   rank = meta and meta.rank or rank
   for key in pairs(t) do
      assert(type(key) == "string", "JSON objects need text for keys")
      keys[#keys + 1] = key
   end
   table.sort(keys, function(a, b)
      local ra, rb = rank[a] or math.huge, rank[b] or math.huge
      if ra ~= rb then
         return ra < rb
      end
      return a < b
   end)
   return keys
end

local write

local function join(parts, open, close, style, indent)
   if #parts == 0 then
      return open .. close
   elseif not style.pretty or #parts == 1 and not parts[1]:find "[\n{]" then
      return open .. table.concat(parts, style.pretty and ", " or ",") .. close
   end
   local inner = indent .. "  "
   return open .. "\n" .. inner .. table.concat(parts, ",\n" .. inner) .. "\n" .. indent .. close
end

local function write_list(t, style, indent)
   local parts, flat = {}, true
   for i, item in ipairs(t) do
      parts[i] = write(item, style, indent .. "  ")
      flat = flat and type(item) ~= "table"
   end
   if flat and style.pretty and #table.concat(parts, ", ") < 100 then
      return "[" .. table.concat(parts, ", ") .. "]"
   end
   return join(parts, "[", "]", style, indent)
end

local function write_object(t, style, indent)
   local parts = {}
   for i, key in ipairs(sorted_keys(t, style.rank)) do
      parts[i] = quote(key) .. (style.pretty and ": " or ":") .. write(t[key], style, indent .. "  ")
   end
   return join(parts, "{", "}", style, indent)
end

function write(value, style, indent)
   local kind = type(value)
   if kind == "table" then
      return (is_list(value) and write_list or write_object)(value, style, indent)
   elseif kind == "string" then
      return quote(value)
   elseif kind == "number" then
      return number(value)
   elseif kind == "boolean" then
      return tostring(value)
   elseif kind == "cdata" and (ffi.istype(INT64, value) or ffi.istype(UINT64, value)) then
      return (tostring(value):gsub("U?LL$", ""))
   elseif value == M.null then
      return "null"
   end
   error("JSON has no " .. kind)
end

--- Write a value as JSON text.
-- @param value     tables, texts (UTF-8), numbers, booleans, null
-- @param o.order   list of keys that come first in any object, in this order
-- @param o.pretty  indented over many lines; else all in one
function M.encode(value, o)
   local rank = {}
   for i, key in ipairs(o and o.order or {}) do
      rank[key] = i
   end
   return write(value, { rank = rank, pretty = o and o.pretty }, "")
end

return M
